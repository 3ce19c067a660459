"""The tree as DiffPart walks it: no node has many children."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.data.arrays import Int64s
from setveil.hierarchy.tree import Hierarchy


@dataclass(frozen=True)
class Taxonomy:
    """A tree in which each node has at most so many children; each covers an interval of leaves.

    Nodes with more children get groups of neighbours in between. That depends on the tree alone, so
    it is as public as the tree is. Chains of single children are one node."""

    first: Int64s
    """The first leaf below each node."""
    stop: Int64s
    children: tuple[tuple[int, ...], ...]
    """The children of each node; none if it is a leaf."""
    inner: Int64s
    """How many nodes with children each node has, at or below itself."""
    height: Int64s
    """How many steps lead from each node down to its deepest leaf."""
    root: int

    @classmethod
    def of(cls, tree: Hierarchy, most: int) -> Taxonomy:
        """The tree with at most so many children for each node."""
        made = _Builder(most)
        root = made.node(tree, tree.root)
        numbers = (made.first, made.stop, made.inner, made.height)
        first, stop, inner, height = (np.array(values, dtype=np.int64) for values in numbers)
        return cls(first, stop, tuple(made.children), inner, height, root)


class _Builder:
    def __init__(self, most: int) -> None:
        self.most = most
        self.first: list[int] = []
        self.stop: list[int] = []
        self.children: list[tuple[int, ...]] = []
        self.inner: list[int] = []
        self.height: list[int] = []

    def node(self, tree: Hierarchy, root: int) -> int:
        """Add a node of the tree with all below it, children before parents."""
        below: dict[int, int] = {}
        order = [root]
        for node in order:
            order += tree.children(node).tolist() if node >= tree.leaf_count else []
        for node in reversed(order):
            if node < tree.leaf_count:
                below[node] = self.add(int(tree.first[node]), int(tree.stop[node]), [])
            else:
                below[node] = self.parent([below[child] for child in tree.children(node).tolist()])
        return below[root]

    def parent(self, children: list[int]) -> int:
        """A node over these, with groups of neighbours in between if there are too many."""
        while len(children) > self.most:
            # As few groups as possible, of almost equal size.
            groups = -(-len(children) // self.most)
            bounds = [at * len(children) // groups for at in range(groups + 1)]
            parts = zip(bounds, bounds[1:], strict=False)
            children = [self.parent(children[start:stop]) for start, stop in parts]
        if len(children) == 1:
            return children[0]
        return self.add(self.first[children[0]], self.stop[children[-1]], children)

    def add(self, first: int, stop: int, children: list[int]) -> int:
        self.first.append(first)
        self.stop.append(stop)
        self.children.append(tuple(children))
        self.inner.append(sum(self.inner[child] for child in children) + bool(children))
        self.height.append(max((self.height[child] + 1 for child in children), default=0))
        return len(self.first) - 1
