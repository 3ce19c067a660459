"""The hierarchy: a tree whose leaves are the items and whose inner nodes stand for all items below them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from setveil.data.vocabulary import Order, Vocabulary
from setveil.errors import HierarchyError, UnknownItemError

Nodes = npt.NDArray[np.int32]
OriginKind = Literal["given", "balanced", "prefix"]


@dataclass(frozen=True)
class Origin:
    """Where a hierarchy comes from, and so who may see it.

    A `given` tree is the user's own, made without looking at the data, and is published whole. A tree that was built from the items of
    the data tells which items the data holds: of it only what the release shows anyway is published (see `Hierarchy.pruned`), with
    the recipe in `parameters`, by which whoever has the original data can build it again.
    """

    kind: OriginKind = "given"
    parameters: Mapping[str, object] = field(default_factory=dict)
    pruned: bool = False

    @property
    def is_public(self) -> bool:
        return self.kind == "given"


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A tree with nodes as numbers: leaves first, each node over one interval of leaves.

    Leaves are 0 to `leaf_count - 1` in the order of the tree; inner nodes follow, parents before children, so the root is node
    `leaf_count` (or 0 when the tree is a single leaf). Node v covers the leaves `first[v]` to `stop[v] - 1`.

    Example:
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")])
        >>> tree.labels[tree.root], tree.leaf_count, tree.height
        ('ALL', 3, 2)
        >>> tree.path("wine")
        ('wine', 'Alcohol', 'ALL')
    """

    nodes: Vocabulary
    """The label of each node."""
    parent: Nodes
    """The parent of each node; -1 at the root."""
    depth: Nodes
    """Edges between each node and the root."""
    first: Nodes
    stop: Nodes
    origin: Origin = field(default_factory=Origin)

    @classmethod
    def from_parents(cls, labels: Sequence[str], parents: Sequence[int], origin: Origin | None = None) -> Hierarchy:
        """From any numbering: `parents[v]` is the parent of the node with label `labels[v]`, -1 for the one root.

        Children keep the order in which they are given. The input must be a tree with distinct labels; `setveil.hierarchy.check`
        lists what is wrong with one that is not.
        """
        return _numbered(labels, parents, origin or Origin())

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]], origin: Origin | None = None) -> Hierarchy:
        """From paths `(leaf, parent, ..., root)`, one for each leaf."""
        from setveil.hierarchy.check import edges_of_paths, tree_of_edges

        return tree_of_edges(edges_of_paths(paths), origin=origin)

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]], origin: Origin | None = None) -> Hierarchy:
        """From pairs `(child, parent)`."""
        from setveil.hierarchy.check import tree_of_edges

        return tree_of_edges(edges, origin=origin)

    @classmethod
    def read(cls, path: str | Path) -> Hierarchy:
        """From a file; see `setveil.hierarchy.csvfile` for the layouts."""
        from setveil.hierarchy.csvfile import read_hierarchy

        return read_hierarchy(path)

    @classmethod
    def balanced(
        cls,
        vocabulary: Vocabulary,
        fanout: int = 5,
        order: Order | Literal["frequency"] | None = None,
        supports: npt.NDArray[np.integer] | None = None,
    ) -> Hierarchy:
        """A tree of equal fan-out over the sorted items; see `setveil.hierarchy.build.balanced`."""
        from setveil.hierarchy.build import balanced

        return balanced(vocabulary, fanout, order=order, supports=supports)

    @classmethod
    def prefix(cls, vocabulary: Vocabulary, lengths: Sequence[int] | None = None, separators: str = ".-/ ") -> Hierarchy:
        """A tree over codes such as ICD or ATC, by their prefixes; see `setveil.hierarchy.build.prefix`."""
        from setveil.hierarchy.build import prefix

        return prefix(vocabulary, lengths=lengths, separators=separators)

    def __len__(self) -> int:
        return len(self.parent)

    def __eq__(self, other: object) -> bool:
        """The same nodes with the same parents in the same order."""
        return isinstance(other, Hierarchy) and self.nodes == other.nodes and np.array_equal(self.parent, other.parent)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Hierarchy({self.leaf_count} leaves, {len(self)} nodes, height {self.height})"

    @property
    def labels(self) -> tuple[str, ...]:
        return self.nodes.labels

    @cached_property
    def leaf_count(self) -> int:
        return int(self.stop.max(initial=0))

    @property
    def root(self) -> int:
        return self.leaf_count if len(self) > self.leaf_count else 0

    @cached_property
    def height(self) -> int:
        return int(self.depth.max(initial=0))

    @cached_property
    def widths(self) -> npt.NDArray[np.int64]:
        """The number of leaves under each node."""
        return (self.stop - self.first).astype(np.int64)

    @cached_property
    def ancestors(self) -> Nodes:
        """A table: row = leaf, column d = the node over it at depth d; -1 below the leaf itself."""
        table = np.full((self.leaf_count, self.height + 1), -1, dtype=np.int32)
        nodes = np.arange(self.leaf_count, dtype=np.int32)
        alive = np.flatnonzero(nodes >= 0)
        while len(alive):
            table[alive, self.depth[nodes[alive]]] = nodes[alive]
            nodes[alive] = self.parent[nodes[alive]]
            alive = alive[nodes[alive] >= 0]
        return table

    def children(self, node: int) -> Nodes:
        """The children of a node in the order of the tree."""
        order, starts = self._children
        return order[starts[node] : starts[node + 1]]

    @cached_property
    def _children(self) -> tuple[Nodes, npt.NDArray[np.int64]]:
        below = np.flatnonzero(self.parent >= 0)
        order = below[np.lexsort((self.first[below], self.parent[below]))].astype(np.int32)
        return order, np.searchsorted(self.parent[order], np.arange(len(self) + 1))

    def path(self, label: str) -> tuple[str, ...]:
        """The labels from a node up to the root."""
        node, labels = self.nodes.number(label), []
        while node >= 0:
            labels.append(self.labels[node])
            node = int(self.parent[node])
        return tuple(labels)

    def paths(self) -> Iterator[tuple[str, ...]]:
        """The path of every leaf, in the order of the tree."""
        labels = self.labels
        for row, depth in zip(self.ancestors, self.depth[: self.leaf_count], strict=True):
            yield tuple(labels[node] for node in row[depth::-1]) if depth else (labels[row[0]],)

    def leaf_numbers(self, vocabulary: Vocabulary) -> Nodes:
        """The leaf of each item of a vocabulary.

        Raises:
            UnknownItemError: when items stand in no leaf; it names them.
        """
        numbers, count = self.nodes.numbers, self.leaf_count
        missing = [item for item in vocabulary if numbers.get(item, count) >= count]
        if missing:
            raise UnknownItemError(missing)
        return np.fromiter((numbers[item] for item in vocabulary), dtype=np.int32, count=len(vocabulary))

    def pruned(self, nodes: Iterable[int]) -> Hierarchy:
        """The part of the tree that these nodes show: them and all above them, nothing else."""
        keep = np.zeros(len(self), dtype=bool)
        level = np.unique(np.fromiter(nodes, dtype=np.int32))
        while len(level):
            keep[level] = True
            level = np.unique(self.parent[level])
            level = level[level >= 0]
        keep[self.root] = True
        kept = np.lexsort((self.depth, self.first))
        kept = kept[keep[kept]]
        place = np.full(len(self) + 1, -1)
        place[kept] = np.arange(len(kept))
        origin = Origin(self.origin.kind, self.origin.parameters, pruned=True)
        return _numbered([self.labels[node] for node in kept], place[self.parent[kept]].tolist(), origin)


def _numbered(labels: Sequence[str], parents: Sequence[int], origin: Origin) -> Hierarchy:
    """Number the nodes leaves first, in depth-first order."""
    roots = [node for node, parent in enumerate(parents) if parent < 0]
    if len(roots) != 1:
        raise HierarchyError([f"{len(roots)} roots: a hierarchy has exactly one"])
    children: list[list[int]] = [[] for _ in labels]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    leaves, inner, depth, first = [], [], [0] * len(labels), [0] * len(labels)
    pending = [roots[0]]
    while pending:
        node = pending.pop()
        first[node] = len(leaves)
        (inner if children[node] else leaves).append(node)
        for child in reversed(children[node]):
            depth[child] = depth[node] + 1
            pending.append(child)
    order = np.array(leaves + inner, dtype=np.int64)
    if len(order) != len(labels):
        raise HierarchyError(["a cycle: some nodes are not reached from the root"])
    place = np.full(len(labels) + 1, -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    parent = place[np.asarray(parents, dtype=np.int64)[order]]
    start = np.asarray(first, dtype=np.int32)[order]
    stop = np.zeros(len(order), dtype=np.int32)
    stop[: len(leaves)] = start[: len(leaves)] + 1
    depths = np.asarray(depth, dtype=np.int32)[order]
    for level in range(int(depths.max(initial=0)), 0, -1):
        at = np.flatnonzero(depths == level)
        np.maximum.at(stop, parent[at], stop[at])
    arrays = [np.ascontiguousarray(array, dtype=np.int32) for array in (parent, depths, start, stop)]
    for array in arrays:
        array.flags.writeable = False
    nodes = Vocabulary(labels[node] for node in order)
    if len(nodes.numbers) != len(nodes):
        raise HierarchyError(["a label stands for two nodes"])
    return Hierarchy(nodes, *arrays, origin=origin)
