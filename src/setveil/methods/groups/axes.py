"""Columns as a tree of groups sees them: cells, what they lose, and how they are split."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s
from setveil.data.columns import Column
from setveil.errors import ParameterError, UnknownItemError, brief
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.methods.groups.cuts import Cuts, cuts_of
from setveil.published import Node, PublishedColumn, Span

ANY = "any"
"""The root of a tree of words for which none is given."""


class Part(NamedTuple):
    """A part of a group that is split: its cell, and its rows by their places in the group."""

    cell: Any
    places: Int64s


class Axis(ABC):
    """A column: the position of each row, and cells that cover ranges of positions."""

    column: Column

    @property
    @abstractmethod
    def whole(self) -> Any:
        """The cell that covers everything."""

    @abstractmethod
    def loss(self, cell: Any) -> float:
        """The NCP of a cell, from 0 to 1."""

    @abstractmethod
    def split(self, cell: Any, rows: Int64s, counts: Flags, least: int) -> list[Part]:
        """The parts of a group, each with `least` rows that count; fewer than two if there is no
        way to split it."""

    def tightened(self, cell: Any, rows: Int64s) -> Any:
        """The smallest cell for these rows."""
        return cell

    @abstractmethod
    def published(self, cells: list[Any]) -> PublishedColumn:
        """The column with these cells."""


class Range(NamedTuple):
    """The bins `low` to `high - 1` of a column of numbers, and whether the missing value too."""

    low: int
    high: int
    or_missing: bool


@dataclass(frozen=True, eq=False)
class NumberAxis(Axis):
    """Numbers or dates, cut at the median into intervals between cut points."""

    column: Column
    cuts: Cuts

    @classmethod
    def of(cls, column: Column, least: int) -> NumberAxis:
        """With cut points that reveal no value of fewer than `least` people."""
        return cls(column, cuts_of(column, least))

    @cached_property
    def positions(self) -> Int64s:
        return self.cuts.bins[self.column.codes]

    @property
    def _bins(self) -> int:
        """How many bins there are; the missing value is after the last."""
        known = len(self.column.values) - self.column.has_missing
        return len(self.cuts.texts) + 1 if known else 0

    @property
    def whole(self) -> Range:
        return Range(0, self._bins, self.column.has_missing)

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        """The smallest and the largest value in each bin."""
        known = len(self.column.values) - self.column.has_missing
        values, bins = self.column.numbers[:known], self.cuts.bins[:known]
        numbers = np.arange(self._bins)
        lows = values[np.searchsorted(bins, numbers)]
        return lows, values[np.searchsorted(bins, numbers, side="right") - 1]

    def loss(self, cell: Range) -> float:
        """The distance of the outermost values that an interval covers, as a share of that of all
        values."""
        if cell.low == cell.high:
            return 0.0
        lows, highs = self._ends
        width = highs[-1] - lows[0]
        return float((highs[cell.high - 1] - lows[cell.low]) / width) if width else 0.0

    def split(self, cell: Range, rows: Int64s, counts: Flags, least: int) -> list[Part]:
        """At the cut point nearest to the median. The missing value is apart if enough people have
        it, and else on the smaller side."""
        at = self.positions[rows]
        gone = at == self._bins
        known = np.flatnonzero(~gone)
        missing = Part(Range(self._bins, self._bins, True), np.flatnonzero(gone))
        halves = self._halves(cell, at, known, counts, least)
        if np.count_nonzero(counts[gone]) >= least:
            # An interval that is open at both ends is `any` value, so the missing one too.
            is_whole = (cell.low, cell.high) == (0, self._bins)
            rest = cell._replace(or_missing=is_whole)
            alone = [Part(rest, known)] if np.count_nonzero(counts[known]) >= least else []
            return [missing, *(halves or alone)]
        if halves and len(missing.places):
            small = min(range(2), key=lambda side: len(halves[side].places))
            cell, places = halves[small]
            both = np.sort(np.concatenate((places, missing.places)))
            halves[small] = Part(cell._replace(or_missing=True), both)
        return halves

    def _halves(
        self, cell: Range, at: Int64s, known: Int64s, counts: Flags, least: int
    ) -> list[Part]:
        if cell.high - cell.low < 2:
            return []
        bins = at[known] - cell.low
        counted = np.bincount(bins[counts[known]], minlength=cell.high - cell.low)
        below = np.cumsum(counted)
        total, below = int(below[-1]), below[:-1]
        allowed = np.flatnonzero((below >= least) & (total - below >= least))
        if not len(allowed):
            return []
        best = int(allowed[np.argmin(np.abs(2 * below[allowed] - total))]) + 1
        low = bins < best
        middle = cell.low + best
        return [
            Part(Range(cell.low, middle, False), known[low]),
            Part(Range(middle, cell.high, False), known[~low]),
        ]

    def published(self, cells: list[Range]) -> PublishedColumn:
        kind, whole = self.column.kind, self.cuts.is_whole
        spans = tuple(self._span(cell) for cell in cells)
        return PublishedColumn(self.column.name, kind, spans, None, whole)

    def _span(self, cell: Range) -> Span | Node:
        if cell.low == cell.high:
            return Node("")
        texts = self.cuts.texts
        low = texts[cell.low - 1] if cell.low else None
        high = texts[cell.high - 1] if cell.high < self._bins else None
        return Span(low, high, cell.or_missing and (low, high) != (None, None))


@dataclass(frozen=True, eq=False)
class WordAxis(Axis):
    """Words, which go up a tree; a group is split by the children of its node."""

    column: Column
    tree: Hierarchy
    positions: Int64s

    @classmethod
    def of(cls, column: Column) -> WordAxis:
        """With the tree of the column, or one in which any word becomes `any`."""
        tree = column.tree if column.tree is not None else flat_tree(column)
        if not isinstance(tree, Hierarchy):
            raise ParameterError("column_hierarchy", tree, "it must be a Hierarchy")
        used = [column.values[code] for code in np.unique(column.codes).tolist()]
        try:
            leaves = tree.leaf_numbers(used)
        except UnknownItemError as error:
            where = f"the hierarchy of the column {brief(column.name)} lacks"
            raise UnknownItemError(error.items, where, "add them to the file") from error
        leaf = np.zeros(len(column.values), dtype=np.int64)
        leaf[np.unique(column.codes)] = leaves
        return cls(column, tree, leaf[column.codes])

    @property
    def whole(self) -> int:
        return int(self.tree.root)

    def loss(self, cell: int) -> float:
        width = int(self.tree.widths[cell])
        return width / self.tree.leaf_count if width > 1 else 0.0

    def tightened(self, cell: int, rows: Int64s) -> int:
        at = self.positions[rows]
        low, high, tree = int(at.min()), int(at.max()), self.tree
        node = low
        while high >= tree.stop[node]:
            node = int(tree.parent[node])
        return node

    def split(self, cell: int, rows: Int64s, counts: Flags, least: int) -> list[Part]:
        """By the children of the node. Those with too few rows are put together, and if that is not
        enough, with the child whose rows then lose least."""
        children = self.tree.children(cell).astype(np.int64)
        if not len(children):
            return []
        child = np.searchsorted(self.tree.first[children], self.positions[rows], side="right") - 1
        sizes = np.bincount(child, minlength=len(children))
        counted = np.bincount(child[counts], minlength=len(children))
        large, small = counted >= least, (counted < least) & (sizes > 0)
        if small.any() and counted[small].sum() < least:
            if not large.any():
                return []
            losses = [self.loss(int(node)) for node in children]
            price = sizes * (self.loss(cell) - np.array(losses))
            cheapest = min(np.flatnonzero(large), key=lambda one: (price[one], one))
            large[cheapest], small[cheapest] = False, True
        order = np.argsort(child, kind="stable")
        ends = np.cumsum(sizes)
        parts = [
            Part(int(children[one]), order[ends[one] - sizes[one] : ends[one]])
            for one in np.flatnonzero(large).tolist()
        ]
        together = np.flatnonzero(small[child])
        return [*parts, Part(cell, together)] if len(together) else parts

    def published(self, cells: list[int]) -> PublishedColumn:
        nodes = tuple(Node(self.tree.labels[cell]) for cell in cells)
        tree = self.tree.published(cells)
        return PublishedColumn(self.column.name, "word", nodes, tree)


def axis_of(column: Column, least: int) -> Axis:
    """A column as the tree of groups sees it; ends of intervals are values that nobody or at least
    `least` people have."""
    return WordAxis.of(column) if column.kind == "word" else NumberAxis.of(column, least)


def flat_tree(column: Column) -> Hierarchy:
    """All words of a column below one root, `any`, with stars if a word is called like that."""
    root = ANY
    while root in column.values:
        root += "*"
    labels = [root, *column.values]
    origin = Origin("balanced", {"fanout": len(column.values)})
    return Hierarchy.from_parents(labels, [-1] + [0] * len(column.values), origin)
