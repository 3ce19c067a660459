"""Where each node of a tree that is being edited is: labels, parents, children and counts.

Nodes are numbers that never change. A `Change` says where nodes were before an edit and where they
are after it, so that it can be made, undone and made again without a copy of the tree. Its cost
grows with the nodes it touches and their siblings, not with the tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from setveil.hierarchy.tree import Hierarchy, Origin, numbered

ABOVE_ROOT = -1  # the parent of the root


class Place(NamedTuple):
    """Where a node is: its label, its parent and its position among the children of that."""

    label: str
    parent: int
    position: int


@dataclass(frozen=True)
class Change:
    """The nodes that an edit touches: their places before and after it, None if not in the tree."""

    before: Mapping[int, Place | None]
    after: Mapping[int, Place | None]

    @property
    def reverse(self) -> Change:
        return Change(self.after, self.before)


class Places:
    """The nodes of a tree, which changes move around."""

    def __init__(self, tree: Hierarchy, support: Mapping[str, int]) -> None:
        inner = range(tree.leaf_count, len(tree))
        self.label = dict(enumerate(tree.labels))
        self.number = dict(tree.nodes.numbers)
        self.parent = dict(enumerate(tree.parent.tolist()))
        self.children: dict[int, list[int]] = {node: tree.children(node).tolist() for node in inner}
        self.children[ABOVE_ROOT] = [tree.root]
        self.items = set(range(tree.leaf_count))
        """The nodes that are items; they never have children. All others are groups."""
        self._support = support  # how often each item occurs in the data
        self._next = len(tree)
        self._sums: dict[int, tuple[int, int]] = {}

    @property
    def root(self) -> int:
        return self.children[ABOVE_ROOT][0]

    def new_node(self, *, is_item: bool) -> int:
        """The number of a new node, which a change may place in the tree."""
        node = self._next
        self._next += 1
        if is_item:
            self.items.add(node)
        else:
            self.children[node] = []
        return node

    def above(self, node: int) -> Iterator[int]:
        """A node and its ancestors, up to the root."""
        while node != ABOVE_ROOT:
            yield node
            node = self.parent[node]

    def places(self, nodes: Iterable[int]) -> dict[int, Place]:
        """The places of some nodes, sorted by position among those of the same parent."""
        by_parent: dict[int, set[int]] = {}
        for node in nodes:
            by_parent.setdefault(self.parent[node], set()).add(node)
        return {
            node: Place(self.label[node], parent, position)
            for parent, wanted in by_parent.items()
            for position, node in _positions(self.children[parent], wanted)
        }

    def make(self, change: Change) -> None:
        """Take the nodes of a change from where they were to where they are after it."""
        leaving = {node: place for node, place in change.before.items() if place is not None}
        coming = {node: place for node, place in change.after.items() if place is not None}
        self._forget_sums([*leaving.values(), *coming.values()])
        for parent, gone in _by_parent(leaving).items():
            nodes = {node for _, node in gone}
            self.children[parent] = [node for node in self.children[parent] if node not in nodes]
        for node, place in leaving.items():
            del self.number[place.label], self.label[node], self.parent[node]
            if node in self.items:
                self._sums.pop(node, None)
        for parent, new in _by_parent(coming).items():
            self.children[parent] = _merged(self.children[parent], sorted(new))
        for node, place in coming.items():
            self.number[place.label], self.label[node] = node, place.label
            self.parent[node] = place.parent
        self._forget_sums(coming.values())

    def sums(self, node: int) -> tuple[int, int]:
        """The number of items below a node, and how often they occur; kept until they change."""
        known, pending = self._sums, [] if node in self._sums else [node]
        while pending:
            last = pending[-1]
            if last in self.items:
                known[last] = (1, self._support.get(self.label[last], 0))
            unknown = [child for child in self.children.get(last, ()) if child not in known]
            if unknown:
                pending.extend(unknown)
                continue
            if last not in self.items:
                parts = [known[child] for child in self.children[last]]
                known[last] = (sum(part[0] for part in parts), sum(part[1] for part in parts))
            pending.pop()
        return known[node]

    def walk(self, node: int | None = None, depth: int | None = None) -> Iterator[tuple[int, int]]:
        """The nodes from one down, depth first, each with its depth; at most `depth` levels."""
        pending = [(self.root if node is None else node, 0)]
        while pending:
            last, level = pending.pop()
            yield last, level
            if depth is None or level < depth:
                below = self.children.get(last, ())
                pending.extend((child, level + 1) for child in reversed(below))

    def to_hierarchy(self) -> Hierarchy:
        """The tree without groups that have no items."""
        labels: list[str] = []
        parents: list[int] = []
        place = {ABOVE_ROOT: -1}
        for node, _ in self.walk():
            if self.sums(node)[0]:
                place[node] = len(labels)
                labels.append(self.label[node])
                parents.append(place[self.parent[node]])
        return numbered(labels, np.array(parents, dtype=np.int64), Origin())

    def _forget_sums(self, places: Iterable[Place]) -> None:
        """Drop the sums of the given places' parents and of what is above these."""
        done: set[int] = {ABOVE_ROOT}
        for parent in {place.parent for place in places}:
            while parent not in done:
                done.add(parent)
                self._sums.pop(parent, None)
                parent = self.parent.get(parent, ABOVE_ROOT)


def _positions(children: Sequence[int], wanted: set[int]) -> Iterator[tuple[int, int]]:
    if len(wanted) == 1:
        (node,) = wanted
        yield children.index(node), node
        return
    yield from ((position, node) for position, node in enumerate(children) if node in wanted)


def _by_parent(places: Mapping[int, Place]) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for node, place in places.items():
        found[place.parent].append((place.position, node))
    return found


def _merged(kept: Sequence[int], new: Sequence[tuple[int, int]]) -> list[int]:
    """The children with new ones at their positions in the result, which are ascending."""
    merged: list[int] = []
    used = 0
    for position, node in new:
        wanted = position - len(merged)
        merged.extend(kept[used : used + wanted])
        used += wanted
        merged.append(node)
    return [*merged, *kept[used:]]
