"""The generalized values of a column: spans of numbers and dates, and nodes of a tree of words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.columns import Kind
from setveil.errors import DataError, brief
from setveil.hierarchy.tree import Hierarchy

Point = Decimal | datetime
"""What a number or a date is compared by."""
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,2})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)
_YEAR = re.compile(r"(?<![a-z])years?(?![a-z])", re.IGNORECASE)
_FIRST_YEAR, _LAST_YEAR = 1000, 2999
ANY, MISSING = "any", "missing"
"""What a cell is called that covers every value, and the one of the missing value."""


@dataclass(frozen=True)
class Span:
    """The values v of a number or date column with `low <= v < high`; an end that is None is open.

    Ends are texts as in the column: numbers, or dates such as `2024-03-01`. If both are open, the
    span covers every value, the missing one too.

    Example:
        >>> Span("1931", "1941"), Span() == Span(None, None)
        (Span(low='1931', high='1941', or_missing=False), True)
    """

    low: str | None = None
    high: str | None = None
    or_missing: bool = False
    """Whether it also covers the missing value."""

    @property
    def is_any(self) -> bool:
        """Whether it covers every value."""
        return self.low is None and self.high is None


@dataclass(frozen=True)
class Node:
    """The values of a word column at or below a node of its tree, by the label of the node. In a
    column of any kind, the empty label is the missing value.

    Example:
        >>> tree = Hierarchy.from_paths([("F", "any"), ("M", "any")])
        >>> PublishedColumn("sex", "word", (Node("any"), Node("")), tree).texts
        ('any', '')
    """

    label: str


Cell = Span | Node
GONE = Node("")
"""The missing value."""


@dataclass(frozen=True, eq=False, repr=False)
class PublishedColumn:
    """A column of a grouped release: its name, and the generalized values that occur in it.

    Example:
        >>> column = PublishedColumn("born", "number", (Span(None, "1931"), Span("1931", "1941")))
        >>> [column.shown(cell) for cell in range(2)]
        ['1930 or less', '1931 to 1940']
    """

    name: str
    kind: Kind
    cells: tuple[Cell, ...]
    """Distinct; the release numbers them."""
    tree: Hierarchy | None = None
    """The tree of a word column; None for numbers and dates."""
    is_whole: bool = True
    """Whether all its values are whole numbers, or dates without a time."""

    def __post_init__(self) -> None:
        fault = next(self.faults(), None)
        if fault is None and len(set(self.texts)) < len(self.texts):
            fault = "two of its cells read the same"
        if fault is not None:
            raise DataError(f"the column {brief(self.name)}: {fault}")

    def __eq__(self, other: object) -> bool:
        """Whether both are called the same and have the same cells, in whatever order; of a tree
        only what the cells show counts."""
        return isinstance(other, PublishedColumn) and self._key == other._key

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"PublishedColumn({self.name!r}, {self.kind!r}, {len(self.cells)} cells)"

    def faults(self) -> Iterator[str]:
        """What is wrong with its cells, a few words each."""
        if (self.kind == "word") == (self.tree is None):
            yield "a column of words, and no other, has a tree"
        if len(set(self.cells)) < len(self.cells):
            yield "a cell is there twice"
        for cell in self.cells:
            yield from self._faults(cell)

    def _faults(self, cell: Cell) -> Iterator[str]:
        if isinstance(cell, Node):
            if cell != GONE and (self.tree is None or cell.label not in self.tree.nodes):
                yield f"{brief(cell.label)} is not in its tree"
            return
        if self.kind == "word":
            yield "an interval is not a word"
            return
        ends = [point_of(end, self.kind) for end in (cell.low, cell.high) if end is not None]
        if any(end is None for end in ends):
            yield f"an end of an interval is no {self.kind}"
        elif len(ends) == 2 and not ends[0] < ends[1]:  # type: ignore[operator]
            yield "an interval ends before it begins"
        elif self.is_whole and not all(is_whole(end) for end in ends if end is not None):
            yield "an interval of whole values has an end between them"
        if cell.is_any and cell.or_missing:
            yield "the interval of any value has the missing one already"

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text of each cell in files and tables: that of `shown`, empty if missing."""
        return tuple("" if cell == GONE else self._text(cell) for cell in self.cells)

    def shown(self, cell: int) -> str:
        """A cell, by its number, for people."""
        return self.texts[cell] or MISSING

    def to_dict(self) -> dict[str, object]:
        """The column as `release.json` has it: spans by their ends, words by themselves."""
        about: dict[str, object] = {"name": self.name, "kind": self.kind}
        if self.kind == "word":
            return about
        spans = [cell for cell in map(self.cells.__getitem__, self.order) if isinstance(cell, Span)]
        listed = [[span.low, span.high, *[True] * span.or_missing] for span in spans]
        return {**about, "whole": self.is_whole, "spans": listed}

    @cached_property
    def order(self) -> Int64s:
        """The numbers of the cells in their order: by where they begin, words by their tree, and
        what is missing last."""
        keys = list(map(self._place, range(len(self.cells))))
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)

    def _place(self, cell: int) -> tuple[Any, ...]:
        held = self.cells[cell]
        if isinstance(held, Node):
            return (1,) if held == GONE else (0, *reversed(self.path(cell)))
        low, high = self.points(cell)
        return (0, low is not None, low or 0, high is None, high or 0, held.or_missing)

    def path(self, cell: int) -> tuple[str, ...]:
        """The labels from the node of a cell up to the root."""
        held = self.cells[cell]
        assert self.tree is not None and isinstance(held, Node)
        return self.tree.path(held.label)

    def points(self, cell: int) -> tuple[Point | None, Point | None]:
        """The ends of a span, to compare values with; None if open."""
        span = self.cells[cell]
        assert isinstance(span, Span)
        low, high = (
            end if end is None else point_of(end, self.kind) for end in (span.low, span.high)
        )
        return low, high

    @property
    def _key(self) -> object:
        words = (cell for cell in range(len(self.cells)) if self.kind == "word")
        paths = frozenset(self.path(cell) for cell in words if self.cells[cell] != GONE)
        return self.name, self.kind, frozenset(self.cells), paths, self.is_whole

    def _text(self, cell: Cell) -> str:
        if isinstance(cell, Node):
            return cell.label
        low, high = (self._end(end) for end in (cell.low, cell.high))
        is_time = self.kind == "date" or self._is_year
        if high is None:
            said = ANY if low is None else f"{low} or {'later' if is_time else 'more'}"
        elif not self.is_whole:
            said = f"below {high}" if low is None else f"{low} to below {high}"
        else:
            last = _before(high, self.kind)
            earlier = f"{last} or {'earlier' if is_time else 'less'}"
            said = earlier if low is None else last if last == low else f"{low} to {last}"
        return f"{said}, or {MISSING}" if cell.or_missing else said

    def _end(self, end: str | None) -> str | None:
        """An end as it is shown: a whole number without a point."""
        if end is None or not self.is_whole or self.kind == "date":
            return end
        return str(int(Decimal(end)))

    @cached_property
    def _is_year(self) -> bool:
        """Whether its numbers are years, by its name and its cut points."""
        ends = (
            end for cell in self.cells if isinstance(cell, Span) for end in (cell.low, cell.high)
        )
        known = [int(end) for end in ends if end is not None and end.isdecimal()]
        is_near = all(_FIRST_YEAR <= year <= _LAST_YEAR for year in known)
        named = _YEAR.search(self.name.replace("_", " ")) is not None
        return self.kind == "number" and self.is_whole and named and is_near


def point_of(value: str, kind: Kind) -> Point | None:
    """What a number or a date is compared by; None if it is none.

    Example:
        >>> point_of("07.50", "number"), point_of("2024-03-01", "date"), point_of("old", "number")
        (Decimal('7.50'), datetime.datetime(2024, 3, 1, 0, 0), None)
    """
    if kind == "number":
        return Decimal(value) if _NUMBER.fullmatch(value) else None
    try:
        found = datetime.fromisoformat(value) if _DATE.fullmatch(value) else None
    except ValueError:
        return None
    return found if found is not None and found.year > 1 else None


def is_whole(point: Point) -> bool:
    """Whether it is a whole number, or a date without a time."""
    if isinstance(point, Decimal):
        return point == point.to_integral_value()
    return point == datetime(point.year, point.month, point.day)


def _before(high: str, kind: Kind) -> str:
    """The last whole value before an end."""
    point = point_of(high, kind)
    if isinstance(point, datetime):
        return (point - timedelta(days=1)).date().isoformat()
    return str(int(high) - 1)
