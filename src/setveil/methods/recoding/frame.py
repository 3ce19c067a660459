"""The contract of global recodings, and their records and tree as the kernels take them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from setveil.data.arrays import Int32s, Int64s, offsets, positions, sums
from setveil.data.transactions import Transactions
from setveil.engines.base import Engine, Progress
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.method import Method, Request
from setveil.parameters import with_default
from setveil.promises import KmAnonymity, Promise
from setveil.published.generalized import Generalized

if TYPE_CHECKING:
    from setveil.kernels.recoding.raising import Records
    from setveil.kernels.recoding.threats import SearchScratch, Tree


@dataclass(frozen=True, kw_only=True)
class GlobalRecoding(Method[Generalized]):
    """A method that finds one cut of the tree for all records; it may suppress some of its nodes.

    The release says that it is global, which makes more of it certain: a node is in a published
    record exactly if an item under it is in the original."""

    promises: ClassVar[tuple[type[Promise], ...]] = (KmAnonymity,)
    needs_hierarchy: ClassVar[bool] = True
    runs_anywhere: ClassVar[bool] = True
    tunes: ClassVar[Mapping[str, tuple[Any, ...]]] = {"restarts": (4, 20)}
    trial: ClassVar[Promise] = KmAnonymity(k=2, m=3)

    variant: Literal["best", "paper"] = with_default(
        "best", "`best` loses less; `paper` is the published algorithm, for comparison."
    )
    restarts: int = with_default(
        4,
        "How many more searches `best` makes, in other orders; the result is not random.",
        least=0,
    )

    def _anonymize(self, request: Request[KmAnonymity]) -> Generalized:
        promise = request.promise
        frame = Frame.of(request.records, request.tree, promise.m)
        shown = frame.tree.over
        if len(frame.records.leaves):
            shown = self.solve(frame, promise.k, request.engine, request.progress)
        return frame.release(shown, request.tree, promise, self.to_dict())

    @abstractmethod
    def solve(self, frame: Frame, k: int, engine: Engine, progress: Progress | None) -> Shown:
        """The node to show for each leaf, -1 to suppress it, without any threat."""


Shown = Int32s  # the node that is shown for each leaf; -1 if it is suppressed

SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Frame:
    """Records over a tree with nodes in preorder; a chain of single children is its lowest node."""

    records: Records
    tree: Tree
    nodes: Int32s  # the node of the hierarchy that each node is
    occurrences: Int64s  # how often each leaf occurs in the records, counts included
    m: int

    @classmethod
    def of(cls, data: Transactions, hierarchy: Hierarchy, m: int) -> Frame:
        from setveil.kernels.recoding.raising import Records
        from setveil.kernels.recoding.threats import Tree, list_holders

        leaves, occurrences = _on_leaves(data, hierarchy)
        # The nodes in preorder, of each chain of single children the lowest.
        fanout = np.bincount(hierarchy.parent[hierarchy.parent >= 0], minlength=len(hierarchy))
        kept = np.flatnonzero(fanout != 1).astype(np.int32)
        nodes = kept[np.lexsort((-hierarchy.widths[kept], hierarchy.first[kept]))]
        first, stop = hierarchy.first[nodes], hierarchy.stop[nodes]
        over, is_leaf = np.zeros(hierarchy.leaf_count, dtype=np.int32), first + 1 == stop
        over[first[is_leaf]] = np.flatnonzero(is_leaf)
        before = offsets(occurrences)
        weight, widths = before[stop] - before[first], (stop - first).astype(np.int64)
        penalty = np.where(widths == 1, 0, widths)
        up = _parents(hierarchy, nodes)
        tree = Tree(up, first, stop, over, weight, penalty, hierarchy.leaf_count)
        records = Records(data.indptr, leaves, *list_holders(data.indptr, leaves, up, over))
        longest = int(np.diff(data.indptr).max(initial=0))
        return cls(records, tree, nodes, occurrences, max(1, min(m, longest)))

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @cached_property
    def worth(self) -> Int64s:
        """What is lost if each shown node is suppressed."""
        return self.tree.weight * (self.tree.whole - self.tree.penalty)

    @cached_property
    def spans(self) -> list[slice]:
        """The leaves under each node."""
        return list(map(slice, self.tree.first.tolist(), self.tree.stop.tolist()))

    @cached_property
    def children(self) -> list[list[int]]:
        below: list[list[int]] = [[] for _ in self.nodes]
        for node, above in enumerate(self.tree.up.tolist()):
            if above >= 0:
                below[above].append(node)
        return below

    def scratch(self, m: int, rows: int | None = None, out: int | None = None) -> SearchScratch:
        """Room to search for itemsets of up to m nodes, over rows with this many entries in all."""
        from setveil.kernels.recoding.threats import SearchScratch

        size, depths = len(self), m + 1
        room = (len(self.records.leaves) if rows is None else rows) + len(self.records.indptr) + 1
        return SearchScratch(
            rows=np.empty(room, dtype=np.int32),
            places=np.empty((depths, room), dtype=np.int32),
            counts=np.zeros((depths, size), dtype=np.int32),
            begins=np.zeros((depths, size), dtype=np.int32),
            touched=np.zeros((depths, size + 1), dtype=np.int32),
            path=np.zeros(depths + 1, dtype=np.int32),
            marks=np.zeros((depths, 2), dtype=np.int64),
            dead=np.zeros(size, dtype=np.uint8),
            out=np.zeros(size + 1 if out is None else out, dtype=np.int32),
            used=np.zeros(3, dtype=np.int64),
        )

    def loss(self, shown: Shown) -> int:
        """NCP times the leaves and the occurrences."""
        costs = np.where(shown < 0, self.tree.whole, self.tree.penalty[shown])
        return int((costs * self.occurrences).sum())

    def release(
        self, shown: Shown, hierarchy: Hierarchy, promise: Promise, method: Mapping[str, object]
    ) -> Generalized:
        """The records with the shown nodes in place of their items."""
        nodes, size = shown[self.records.leaves], len(self.records.indptr) - 1
        rows = np.repeat(np.arange(size), np.diff(self.records.indptr))
        kept = nodes >= 0
        published = Transactions.from_pairs(
            rows[kept], self.nodes[nodes[kept]], hierarchy.nodes, size=size
        )
        told = {"alignment": np.arange(size), "is_global": True}
        return Generalized.of_rows(published, hierarchy, promise, method, **told)


def _parents(tree: Hierarchy, nodes: Int32s) -> Int32s:
    """The parent of each of these nodes among them; -1 for the root."""
    place = positions(nodes, len(tree) + 1).astype(np.int32)
    for node in np.argsort(-tree.depth, kind="stable").tolist():
        if place[node] < 0:
            place[node] = place[tree.children(node)[0]]
    top = nodes.copy()
    while True:
        parents = tree.parent[top]
        chained = (parents >= 0) & (tree.widths[parents] == tree.widths[top])
        if not chained.any():
            return place[parents]
        top[chained] = parents[chained]


def _on_leaves(data: Transactions, tree: Hierarchy) -> tuple[Int32s, Int64s]:
    """The leaves of each record, ascending, and how often each leaf occurs, counts included."""
    numbers = tree.leaf_numbers(data.vocabulary)
    leaves = numbers[data.items]
    occurrences = sums(leaves, data.times, tree.leaf_count)
    if not (numbers[1:] > numbers[:-1]).all():
        codes = data.rows * tree.leaf_count + leaves
        codes.sort()
        leaves = (codes % tree.leaf_count).astype(np.int32)
    return np.ascontiguousarray(leaves), occurrences
