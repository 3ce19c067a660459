"""The tree of groups: all rows at the root, split column by column, and the best cut of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s
from setveil.methods.groups.axes import Axis

_NOTHING = 1e-12
"""A gain that is none but for rounding."""


@dataclass(frozen=True)
class Tree:
    """Groups of rows; the children of a node have all its rows, and come after it."""

    parent: list[int] = field(default_factory=list)
    cells: list[tuple[Any, ...]] = field(default_factory=list)
    """For each node, the cell of each column."""
    rows: list[Int64s] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def sizes(self) -> Int64s:
        """How many rows each node has."""
        return np.fromiter(map(len, self.rows), dtype=np.int64, count=len(self))

    @property
    def leaves(self) -> list[int]:
        """The smallest groups."""
        return sorted({*range(len(self))} - {*self.parent})

    def add(self, parent: int, cells: tuple[Any, ...], rows: Int64s) -> int:
        """Add a node; returns its number."""
        self.parent.append(parent)
        self.cells.append(cells)
        self.rows.append(rows)
        return len(self) - 1


def grown(axes: Sequence[Axis], counts: Flags, least: int) -> Tree:
    """The tree of groups that have at least `least` rows that count; the others hide nobody.

    Each node is split by the column that lowers its loss of columns most; of equal ones by the
    first. [Poulis2013] has the promise; the splits are those of Mondrian.

    Cost: Each row is read once per level and column."""
    tree, everybody = Tree(), np.arange(len(counts))
    open_nodes = [_added(tree, axes, -1, tuple(axis.whole for axis in axes), everybody)]
    while open_nodes:
        node = open_nodes.pop()
        cells, rows = tree.cells[node], tree.rows[node]
        for place, part in _best_split(axes, cells, rows, counts[rows], least):
            changed = (*cells[:place], part.cell, *cells[place + 1 :])
            open_nodes.append(_added(tree, axes, node, changed, rows[part.places]))
    return tree


def _added(
    tree: Tree, axes: Sequence[Axis], parent: int, cells: tuple[Any, ...], rows: Int64s
) -> int:
    tight = (axis.tightened(cell, rows) for axis, cell in zip(axes, cells, strict=True))
    return tree.add(parent, tuple(tight) if len(rows) else cells, rows)


def _best_split(
    axes: Sequence[Axis], cells: tuple[Any, ...], rows: Int64s, counts: Flags, least: int
) -> list[tuple[int, Any]]:
    """The column to split by, with each part; nothing if no split lowers the loss."""
    if np.count_nonzero(counts) < 2 * least:
        return []
    best, found = _NOTHING, list[tuple[int, Any]]()
    for place, axis in enumerate(axes):
        loss = axis.loss(cells[place]) * len(rows)
        if loss <= best:
            continue
        parts = axis.split(cells[place], rows, counts, least)
        gain = loss - sum(axis.loss(part.cell) * len(part.places) for part in parts)
        if len(parts) > 1 and gain > best * (1 + _NOTHING):
            best, found = gain, [(place, part) for part in parts]
    return found


def column_losses(tree: Tree, axes: Sequence[Axis]) -> Floats:
    """For each node the mean loss of its columns, times its share of all rows."""
    share = tree.sizes / max(len(tree.rows[0]), 1)
    losses = [
        sum(axis.loss(cell) for axis, cell in zip(axes, cells, strict=True)) for cells in tree.cells
    ]
    found: Floats = share * np.array(losses) / max(len(axes), 1)
    return found


def best_cut(parent: Sequence[int], losses: Floats) -> list[int]:
    """The nodes, one on every path from the root to a leaf, whose losses add up to least.

    Bottom up: the best of a node is its own loss, or what its children lose at best if that is
    less. Since losses add up over groups, this is the optimum over all cuts of the tree. Children
    come after their parents.

    Example:
        >>> best_cut([-1, 0, 0], np.array([1.0, 0.5, 0.4])), best_cut([-1, 0], np.array([1.0, 1.0]))
        ([1, 2], [0])
    """
    below, is_leaf = np.zeros(len(parent)), np.ones(len(parent), dtype=bool)
    stays = np.ones(len(parent), dtype=bool)
    for node in range(len(parent) - 1, -1, -1):
        stays[node] = is_leaf[node] or losses[node] <= below[node] * (1 + _NOTHING) + _NOTHING
        if parent[node] >= 0:
            below[parent[node]] += losses[node] if stays[node] else below[node]
            is_leaf[parent[node]] = False
    chosen, covered = list[int](), np.zeros(len(parent), dtype=bool)
    for node in range(len(parent)):
        covered[node] = parent[node] >= 0 and covered[parent[node]]
        if stays[node] and not covered[node]:
            covered[node] = True
            chosen.append(node)
    return chosen
