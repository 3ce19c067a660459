"""Where the values of a column of numbers or dates may be cut: never at a value of few people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.columns import Column

_SMALLEST = -12
"""The power of ten of the finest cut points."""


class Cuts(NamedTuple):
    """Cut points of a column: a cell begins at one, or ends before it."""

    texts: tuple[str, ...]
    """Ascending, as in the column."""
    bins: Int64s
    """For each value of the column, how many cut points are at or below it."""
    is_whole: bool
    """Whether all values and cut points are whole numbers, or dates."""


def cuts_of(column: Column, least: int) -> Cuts:
    """Cut points between the values of a column, at most one between two neighbours.

    An end of an interval shows that somebody has a value next to it. So a cut point is a value that
    at least `least` people have, or a value that nobody has: the roundest one in the gap. Whole
    numbers are cut at whole ones, unless that leaves fewer than half of the places: then also
    between two of them. Where neither exists, neighbours stay together.

    Example:
        >>> cuts_of(Column("born", "number", ("1931", "1932", "1945"), [0, 1, 1, 2]), 2)
        Cuts(texts=('1932', '1940'), bins=array([0, 1, 2]), is_whole=True)
    """
    known = column.values[:-1] if column.has_missing else column.values
    counts = column.counts[: len(known)]
    if column.kind == "date":
        days = [date.fromisoformat(value) for value in known]
        found = [
            _between_days(low, high, common)
            for (low, high), common in zip(pairwise(days), counts[1:] >= least, strict=True)
        ]
        return _laid_out(column, [None if day is None else day.isoformat() for day in found], True)
    numbers = [Decimal(value) for value in known]
    whole = all(number == number.to_integral_value() for number in numbers)
    finest = 0 if whole else _SMALLEST
    gaps = list(zip(pairwise(numbers), (counts[1:] >= least).tolist(), strict=True))
    points = [_between(*gap, common, finest) for gap, common in gaps]
    if whole and 2 * sum(point is not None for point in points) < len(points):
        points = [_between(*gap, common, -1) for gap, common in gaps]
    stays = all(point is None or point == point.to_integral_value() for point in points)
    texts = [None if point is None else f"{point.normalize() + 0:f}" for point in points]
    return _laid_out(column, texts, whole and stays)


def _between(low: Decimal, high: Decimal, common: bool, finest: int) -> Decimal | None:
    """The roundest number above the one and below the other, which it may be if it is `common`."""
    for unit in _units(max(abs(low), abs(high)), finest):
        point = (low // unit) * unit
        while point <= low:
            point += unit
        if point < high or (point == high and common):
            return point
    return high if common else None


def _units(largest: Decimal, finest: int) -> Iterator[Decimal]:
    """... 10, 5, 1, 0.5, 0.1 ..., down to a power of ten."""
    for power in range(largest.adjusted() + 1, finest - 1, -1):
        yield Decimal(1).scaleb(power)
        if power > finest:
            yield Decimal(5).scaleb(power - 1)


def _between_days(low: date, high: date, common: bool) -> date | None:
    """The same of days: the first day of a year or a month, or the next day."""
    later = low + timedelta(days=1)
    for day in _round_days(low):
        if later <= day and (day < high or (day == high and common)):
            return day
    return high if common else None


def _round_days(low: date) -> Iterator[date]:
    if low.year < date.max.year:
        yield date(low.year + 1, 1, 1)
    if low.month < 12:
        yield date(low.year, low.month + 1, 1)
    yield low + timedelta(days=1)


def _laid_out(column: Column, points: list[str | None], is_whole: bool) -> Cuts:
    """The cut points that there are, and the bin of each value; the missing one has the last."""
    cut = np.array([point is not None for point in points], dtype=np.int64)
    bins = np.concatenate((np.zeros(min(len(column.values), 1), dtype=np.int64), np.cumsum(cut)))
    if column.has_missing and len(column.values) > 1:
        bins = np.append(bins, bins[-1] + 1)
    return Cuts(tuple(point for point in points if point is not None), bins, is_whole)
