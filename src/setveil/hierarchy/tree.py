"""The hierarchy: a tree whose leaves are items and whose inner nodes are groups of items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int32s, Int64s
from setveil.data.vocabulary import Order, Vocabulary, vocabulary_of
from setveil.errors import HierarchyError, ParameterError, UnknownItemError, brief
from setveil.showing import Shown

if TYPE_CHECKING:
    from setveil.hierarchy.layouts import ReadingWords
    from setveil.hierarchy.neighbours import Neighbours

Nodes = Int32s
OriginKind = Literal["given", "balanced", "prefix", "wordnet"]

_REMEMBERED = 4  # how many neighbour indexes a tree keeps; they may be large


@dataclass(frozen=True)
class Origin:
    """Where a hierarchy comes from, and so who may see it.

    A `given` tree is the user's own, made without the data, and is published whole. So is one whose
    labels name items because the list of items is public (`public_items`). Any other tree built
    from the items of the data reveals which items the data has, so only the part that the release
    shows anyway is published (see `Hierarchy.pruned`), with the recipe in `parameters`: with the
    original data the whole tree can be built again."""

    kind: OriginKind = "given"
    parameters: Mapping[str, object] = field(default_factory=dict)
    pruned: bool = False

    @property
    def is_public(self) -> bool:
        return self.kind == "given" or bool(self.parameters.get("public_items"))


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy(Shown):
    """A tree with numbered nodes: leaves first, and each node covers an interval of leaves.

    Leaves are 0 to `leaf_count - 1` in the order of the tree. Inner nodes follow, parents before
    children, so the root is node `leaf_count` (or 0 if the tree is a single leaf). Node v covers
    the leaves `first[v]` to `stop[v] - 1`.

    Example:
        >>> alcohol = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL")]
        >>> tree = Hierarchy.from_paths([*alcohol, ("milk", "ALL")])
        >>> tree.labels[tree.root], tree.leaf_count, tree.height
        ('ALL', 3, 2)
        >>> tree.path("wine")
        ('wine', 'Alcohol', 'ALL')
    """

    nodes: Vocabulary
    """The label of each node."""
    parent: Int32s
    """The parent of each node; -1 at the root."""
    depth: Int32s
    """The number of edges between each node and the root."""
    first: Int32s
    stop: Int32s
    origin: Origin = field(default_factory=Origin)

    @classmethod
    def from_parents(
        cls, labels: Sequence[object], parents: npt.ArrayLike, origin: Origin | None = None
    ) -> Hierarchy:
        """From any numbering: `parents[v]` is the parent of the node `labels[v]`, -1 for the root.

        Children keep the given order. The input must be a tree with distinct labels;
        `setveil.hierarchy.check` lists the faults of an input that is not."""
        names, given = list(map(str, labels)), np.asarray(parents)
        if given.shape != (len(names),) or (given.size and given.dtype.kind not in "iu"):
            fault = "each label needs the number of its parent, or -1 for the root"
            raise HierarchyError([fault])
        wrong = given[(given < -1) | (given >= len(names))]
        if len(wrong):
            nodes = f"nodes are numbered from 0 to {len(names) - 1}"
            raise HierarchyError([f"there is no parent {int(wrong[0])}: {nodes}"])
        if len(set(names)) != len(names):
            repeated = next(label for label, count in Counter(names).items() if count > 1)
            raise HierarchyError([f"two nodes have the label {brief(repeated)}"])
        return numbered(names, given, origin or Origin())

    @classmethod
    def from_paths(
        cls,
        paths: Iterable[Iterable[object]],
        origin: Origin | None = None,
        **options: Unpack[ReadingWords],
    ) -> Hierarchy:
        """From paths `(leaf, parent, ..., root)`, one for each leaf, or a table of levels.

        A table is read as `read` would read a file of it, with the same options."""
        from setveil.hierarchy.check import tree_of_paths
        from setveil.hierarchy.layouts import TreeOptions

        return tree_of_paths(paths, origin, TreeOptions(**options))

    @classmethod
    def from_edges(
        cls, edges: Iterable[Iterable[object]] | Mapping[Any, object], origin: Origin | None = None
    ) -> Hierarchy:
        """From pairs `(child, parent)`, a mapping or a table; a missing parent marks the root."""
        from setveil.hierarchy.check import tree_of_edges

        return tree_of_edges(edges, origin)

    @classmethod
    def read(cls, path: str | Path, **options: Unpack[ReadingWords]) -> Hierarchy:
        """From a file; `setveil.hierarchy.files` describes the layouts and `layout=`, `levels=` and
        `qualify=`."""
        from setveil.hierarchy.files import read_hierarchy

        return read_hierarchy(path, **options)

    @classmethod
    def balanced(
        cls,
        vocabulary: Vocabulary | Iterable[object],
        fanout: int = 5,
        order: Order | Literal["frequency"] | None = None,
        supports: npt.NDArray[np.integer] | None = None,
        public_items: bool = False,
    ) -> Hierarchy:
        """A tree of equal fan-out over the sorted items; see `setveil.hierarchy.build.balanced`."""
        from setveil.hierarchy.build import balanced

        return balanced(vocabulary, fanout, order, supports, public_items)

    @classmethod
    def prefix(
        cls,
        vocabulary: Vocabulary | Iterable[object],
        lengths: Sequence[int] | None = None,
        separators: str = ".-/ ",
        shape: Literal["atc", "icd9", "icd10", "parts"] | None = None,
    ) -> Hierarchy:
        """A tree over codes such as ICD or ATC; see `setveil.hierarchy.prefix.prefix`."""
        from setveil.hierarchy.prefix import prefix

        return prefix(vocabulary, lengths, separators, shape)

    def __len__(self) -> int:
        return len(self.parent)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes with the same parents in the same order."""
        return (
            isinstance(other, Hierarchy)
            and self.nodes == other.nodes
            and np.array_equal(self.parent, other.parent)
        )

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, label: object) -> bool:
        """Whether a node has this label."""
        return label in self.nodes

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the tree alone, without what is computed on first use, such as neighbours."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for array in (self.parent, self.depth, self.first, self.stop):
            array.flags.writeable = False

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
    def widths(self) -> Int64s:
        """The number of leaves under each node."""
        return (self.stop - self.first).astype(np.int64)

    @cached_property
    def ancestors(self) -> Int32s:
        """A table: row = leaf, column d = its ancestor at depth d; -1 if the leaf is less deep."""
        table = np.full((self.leaf_count, self.height + 1), -1, dtype=np.int32)
        nodes = np.arange(self.leaf_count, dtype=np.int32)
        alive = np.flatnonzero(nodes >= 0)
        while len(alive):
            table[alive, self.depth[nodes[alive]]] = nodes[alive]
            nodes[alive] = self.parent[nodes[alive]]
            alive = alive[nodes[alive] >= 0]
        return table

    def children(self, node: int | str) -> Int32s:
        """The children of a node (a number or a label), in the order of the tree."""
        number = self.nodes.number(node) if isinstance(node, str) else node
        if not 0 <= number < len(self):
            raise ParameterError("node", node, self._nodes_allowed)
        order, starts = self._children
        return order[starts[number] : starts[number + 1]]

    @cached_property
    def _children(self) -> tuple[Int32s, Int64s]:
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
        labels, count = self.labels, self.leaf_count
        parents = self.parent.tolist()
        above: list[tuple[str, ...]] = []
        for node in range(count, len(self)):
            parent = parents[node]
            above.append((labels[node], *above[parent - count]) if parent >= 0 else (labels[node],))
        for leaf in range(count):
            parent = parents[leaf]
            yield (labels[leaf], *above[parent - count]) if parent >= 0 else (labels[leaf],)

    def leaf_numbers(self, vocabulary: Vocabulary | Iterable[object]) -> Int32s:
        """The leaf of each item of a vocabulary, of data or of a list.

        Raises:
            UnknownItemError: if items are not leaves; it names them."""
        vocabulary, count = vocabulary_of(vocabulary), self.leaf_count
        if vocabulary.labels == self.labels[:count]:
            return np.arange(count, dtype=np.int32)
        numbers = self.nodes.numbers
        leaves = np.fromiter(
            (numbers.get(item, count) for item in vocabulary), dtype=np.int32, count=len(vocabulary)
        )
        missing = np.flatnonzero(leaves >= count)
        if len(missing):
            raise UnknownItemError([vocabulary[item] for item in missing.tolist()])
        return leaves

    def neighbours(self, vocabulary: Vocabulary | Iterable[object], epsilon: int) -> Neighbours:
        """For each item all items at most `epsilon` edges away; the last few answers are kept.

        Raises:
            UnknownItemError: if items are not leaves; it names them."""
        items, known = vocabulary_of(vocabulary), self._neighbours
        found = known.get((items, epsilon))
        if found is None:
            found = self._find_neighbours(items, epsilon)
            for old in list(known)[: len(known) + 1 - _REMEMBERED]:
                known.pop(old, None)
            known[items, epsilon] = found
        return found

    @cached_property
    def _neighbours(self) -> dict[tuple[Vocabulary, int], Neighbours]:
        return {}

    def _find_neighbours(self, vocabulary: Vocabulary, epsilon: int) -> Neighbours:
        from setveil.hierarchy.neighbours import tree_neighbours

        return tree_neighbours(self, vocabulary, epsilon)

    @property
    def _nodes_allowed(self) -> str:
        return f"the nodes of this tree are 0 to {len(self) - 1}"

    def published(self, nodes: Iterable[int]) -> Hierarchy:
        """The part of the tree that may be published if these nodes are."""
        return self if self.origin.is_public else self.pruned(nodes)

    def pruned(self, nodes: Iterable[int]) -> Hierarchy:
        """The part of the tree that these nodes show: only they and their ancestors."""
        keep = np.zeros(len(self), dtype=bool)
        level = np.unique(np.fromiter(nodes, dtype=np.int64))
        if len(level) and not 0 <= level[0] <= level[-1] < len(self):
            raise ParameterError("nodes", level.tolist()[:3], self._nodes_allowed)
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
        return numbered([self.labels[node] for node in kept], place[self.parent[kept]], origin)


def numbered(labels: Sequence[str], parents: npt.ArrayLike, origin: Origin) -> Hierarchy:
    """Number the nodes: leaves, then inner nodes, each depth-first; `labels` must be distinct."""
    given = np.asarray(parents, dtype=np.int64)
    roots = np.flatnonzero(given < 0)
    if len(roots) != 1:
        raise HierarchyError([f"there must be one root, not {len(roots)}"])
    depth = _summed_above(given, (given >= 0).astype(np.int64))
    if depth is None:
        raise HierarchyError(["a cycle: some nodes do not lead to the root"])
    sizes = _subtree_sizes(given, depth)
    place = _summed_above(given, _offsets(given, sizes))
    assert place is not None
    is_leaf = sizes == 1
    preorder = np.argsort(place)
    leaves_before = np.concatenate(([0], np.cumsum(is_leaf[preorder])))
    order = np.concatenate((preorder[is_leaf[preorder]], preorder[~is_leaf[preorder]]))
    new = np.full(len(given) + 1, -1, dtype=np.int64)
    new[order] = np.arange(len(order))
    first, stop = leaves_before[place[order]], leaves_before[(place + sizes)[order]]
    nodes = Vocabulary(map(labels.__getitem__, order.tolist()))
    parent, edges = _fixed(new[given[order]]), _fixed(depth[order])
    return Hierarchy(nodes, parent, edges, _fixed(first), _fixed(stop), origin)


def _fixed(values: Int64s) -> Int32s:
    array = values.astype(np.int32)
    array.flags.writeable = False
    return array


def _summed_above(parents: Int64s, values: Int64s) -> Int64s | None:
    """For each node the sum of a value over itself and its ancestors; None if there is a cycle.

    Pointer doubling: after step i, `sums[v]` covers 2**i nodes and `above[v]` is the next one."""
    sums, above = values.copy(), parents.copy()
    for _ in range(len(parents).bit_length() + 1):
        open_ends = np.flatnonzero(above >= 0)
        if not len(open_ends):
            return sums
        targets = above[open_ends]
        sums[open_ends] += sums[targets]
        above[open_ends] = above[targets]
    return None


def _subtree_sizes(parents: Int64s, depth: Int64s) -> Int64s:
    """The number of nodes in the subtree of each node, itself included."""
    sizes = np.ones(len(parents), dtype=np.int64)
    by_depth = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[by_depth], np.arange(int(depth.max(initial=0)) + 2))
    for level in range(len(bounds) - 2, 0, -1):
        nodes = by_depth[bounds[level] : bounds[level + 1]]
        np.add.at(sizes, parents[nodes], sizes[nodes])
    return sizes


def _offsets(parents: Int64s, sizes: Int64s) -> Int64s:
    """How far each node comes after its parent in depth-first order; 0 at the root."""
    by_parent = np.argsort(parents, kind="stable")
    before = np.cumsum(sizes[by_parent]) - sizes[by_parent]
    starts = np.searchsorted(parents[by_parent], parents[by_parent])
    offsets = np.empty(len(parents), dtype=np.int64)
    offsets[by_parent] = 1 + before - before[starts]
    offsets[by_parent[0]] = 0
    return offsets
