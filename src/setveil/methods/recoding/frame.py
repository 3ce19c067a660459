"""The frame of a global recoding: the records and the tree as the kernels take them, and the release that a cut gives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Bags, Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.promise import Promise
from setveil.published.generalized import Generalized

if TYPE_CHECKING:
    from setveil.kernels.recoding import threats

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Shown = npt.NDArray[np.int32]
"""For each leaf the node that is shown for it, -1 where it is suppressed."""

SUPPRESSED = -1


class Frame:
    """Records over a tree whose nodes are numbered in preorder, each chain of single children taken as its lowest node."""

    def __init__(self, data: Transactions, hierarchy: Hierarchy, m: int) -> None:
        from setveil.kernels.recoding import threats

        self.kernels, self.hierarchy = threats, hierarchy
        self.nodes = _without_chains(hierarchy)
        self.leaf_count, self.records = hierarchy.leaf_count, len(data)
        self.indptr, self.leaves, self.occurrences = _on_leaves(data, hierarchy)
        self.longest = int(np.diff(self.indptr).max(initial=0))
        self.m = max(1, min(m, self.longest))
        self.up, self.first, self.stop = self._tree()
        self.over = np.zeros(self.leaf_count, dtype=np.int32)
        self.over[self.first[self.first + 1 == self.stop]] = np.flatnonzero(
            self.first + 1 == self.stop
        )
        before = np.concatenate(([0], np.cumsum(self.occurrences)))
        self.weight = before[self.stop] - before[self.first]
        widths = (self.stop - self.first).astype(np.int64)
        self.penalty = np.where(widths == 1, 0, widths)
        self.worth = self.weight * (self.leaf_count - self.penalty)
        """What is lost when a shown node is suppressed."""

    def _tree(self) -> tuple[Int32s, Int32s, Int32s]:
        tree, nodes = self.hierarchy, self.nodes
        place = np.full(len(tree) + 1, -1, dtype=np.int32)
        place[nodes] = np.arange(len(nodes))
        for node in np.argsort(-tree.depth, kind="stable").tolist():
            if place[node] < 0:
                place[node] = place[tree.children(node)[0]]
        top = nodes.copy()
        parents = tree.parent[top]
        chained = (parents >= 0) & (tree.widths[parents] == tree.widths[top])
        while chained.any():
            top[chained] = parents[chained]
            parents = tree.parent[top]
            chained = (parents >= 0) & (tree.widths[parents] == tree.widths[top])
        return (
            place[parents].astype(np.int32),
            tree.first[nodes].astype(np.int32),
            tree.stop[nodes].astype(np.int32),
        )

    @cached_property
    def children(self) -> list[list[int]]:
        below: list[list[int]] = [[] for _ in self.up]
        for node, above in enumerate(self.up.tolist()):
            if above >= 0:
                below[above].append(node)
        return below

    @cached_property
    def data(self) -> threats.Data:
        starts = np.zeros(len(self.up) + 1, dtype=np.int64)
        arguments = self.indptr, self.leaves, self.up, self.over
        self.kernels.list_holders(*arguments, starts, np.empty(0, dtype=np.int32))
        starts = np.cumsum(starts)
        holders = np.empty(starts[-1], dtype=np.int32)
        if len(holders):
            self.kernels.list_holders(*arguments, starts, holders)
        return self.kernels.Data(self.indptr, self.leaves, starts, holders)

    @cached_property
    def tree(self) -> threats.Tree:
        return self.kernels.Tree(
            self.up, self.first, self.stop, self.weight, self.penalty, self.leaf_count
        )

    def desk(self, m: int, rows: int | None = None, out: int | None = None) -> threats.Desk:
        """Room for a search of itemsets up to m over rows of so many entries in all."""
        size, room = len(self.up), (len(self.leaves) if rows is None else rows) + self.records + 2
        depths = m + 1
        return self.kernels.Desk(
            rows=np.empty(room, dtype=np.int32),
            places=np.empty((depths, room), dtype=np.int32),
            counts=np.zeros((depths, size), dtype=np.int32),
            begins=np.zeros((depths, size), dtype=np.int32),
            touched=np.zeros((depths, size + 1), dtype=np.int32),
            path=np.zeros(depths + 1, dtype=np.int32),
            marks=np.zeros(3 * depths, dtype=np.int64),
            dead=np.zeros(size, dtype=np.uint8),
            out=np.zeros(size + 1 if out is None else out, dtype=np.int32),
            used=np.zeros(3, dtype=np.int64),
        )

    def holders(self, node: int) -> int:
        """The number of records with an item under the node."""
        return int(self.data.starts[node + 1] - self.data.starts[node])

    def show(self, shown: Shown, node: int) -> None:
        shown[self.first[node] : self.stop[node]] = node

    def hide(self, shown: Shown, node: int) -> None:
        shown[self.first[node] : self.stop[node]] = SUPPRESSED

    def loss(self, shown: Shown) -> int:
        """NCP times the leaves and the occurrences."""
        costs = np.where(shown < 0, self.leaf_count, self.penalty[shown])
        return int((costs * self.occurrences).sum())

    def release(self, shown: Shown, promise: Promise, method: Mapping[str, object]) -> Generalized:
        """The records with the shown nodes in the place of their items."""
        nodes = shown[self.leaves]
        rows = np.repeat(np.arange(self.records), np.diff(self.indptr))
        kept = nodes >= 0
        published = Transactions.from_pairs(
            rows[kept], self.nodes[nodes[kept]], self.hierarchy.nodes, size=self.records
        )
        return Generalized.of_rows(
            published,
            self.hierarchy,
            promise,
            method,
            alignment=np.arange(self.records),
            is_global=True,
        )


def _without_chains(tree: Hierarchy) -> Int32s:
    """The nodes in preorder, of each chain of single children the lowest."""
    fanout = np.bincount(tree.parent[tree.parent >= 0], minlength=len(tree))
    kept = np.flatnonzero(fanout != 1).astype(np.int32)
    return kept[np.lexsort((-tree.widths[kept], tree.first[kept]))]


def _on_leaves(data: Transactions, tree: Hierarchy) -> tuple[Int64s, Int32s, Int64s]:
    """The leaves of each record, ascending, and how often each leaf stands in the records (of bags: with its counts)."""
    numbers = tree.leaf_numbers(data.vocabulary)
    leaves = numbers[data.items]
    counts = data.counts if isinstance(data, Bags) else None
    occurrences = np.bincount(leaves, weights=counts, minlength=tree.leaf_count).astype(np.int64)
    if not (numbers[1:] > numbers[:-1]).all():
        codes = data.rows * tree.leaf_count + leaves
        codes.sort()
        leaves = (codes % tree.leaf_count).astype(np.int32)
    return data.indptr, np.ascontiguousarray(leaves), occurrences
