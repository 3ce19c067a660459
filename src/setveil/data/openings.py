"""How the lines of a file begin, before their items are sorted: what is at which position."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Int32s, Int64s, offsets

LEAST = 10
"""Fewer lines say nothing."""
ALMOST = 0.95
"""The share of lines that almost all are."""
SAMPLE, SAMPLE_OF_ITEMS, PLACES = 20_000, 2_000_000, 8
BOTH_ENDS = (*range(1, PLACES + 1), -1, -2, -3, -4)
_LAST_DIGITS = re.compile(r"\d{1,15}\Z")


class Opening(NamedTuple):
    """The first lines of a file, before their items were sorted."""

    lengths: Int64s
    items: Int32s
    labels: list[str]
    """Item i is `labels[i]`."""


def at_place(lengths: Int64s, place: int) -> Int64s:
    """Where the values at one position are, in all lines of two values or more that have it."""
    ends = np.cumsum(lengths)
    long = lengths >= max(abs(place), 2)
    found: Int64s = (ends[long] + place) if place < 0 else (ends - lengths)[long] + place - 1
    return found


def usual_places(lengths: Int64s) -> list[int]:
    """The positions that almost all lines have."""
    wanted = ALMOST * (lengths > 0).sum()
    return [place for place in BOTH_ENDS if len(at_place(lengths, place)) >= max(LEAST, wanted)]


def rates(lengths: Int64s, marks: Flags) -> dict[int, float]:
    """The share of marked values at each position that many lines have, from both ends."""
    found = {place: marks[at_place(lengths, place)] for place in BOTH_ENDS}
    least = max(LEAST, len(lengths) // 4)
    return {place: float(each.mean()) for place, each in found.items() if len(each) >= least}


def counts_up(opening: Opening, place: int) -> bool:
    """Whether the values at a position are numbers, almost each one more than that before."""
    labels = [
        opening.labels[item] for item in opening.items[at_place(opening.lengths, place)].tolist()
    ]
    found = [int(digits[0]) for each in labels if (digits := _LAST_DIGITS.findall(each))]
    return len(found) == len(labels) and bool(np.mean(np.diff(found) == 1) >= 0.8)


def are_sorted(lengths: Int64s, numbers: Int64s) -> bool:
    """Whether the lines are sorted by the order of the vocabulary, up or down."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    rises = np.sign(np.diff(numbers))[rows[1:] == rows[:-1]]
    return bool(not len(rises) or abs(rises.mean()) >= 2 * ALMOST - 1)


def opening_of(lengths: Int64s, items: Int32s, labels: Iterable[str]) -> Opening:
    """How a file begins: the first of its lines, and the labels that they have."""
    lengths, items = first_of(lengths, items)
    return Opening(lengths, items, list(islice(labels, int(items.max(initial=-1)) + 1)))


def first_of(lengths: Int64s, items: Int32s) -> tuple[Int64s, Int32s]:
    """The first lines, no more than are needed; a copy, so that the others need not be kept."""
    ends = offsets(lengths)
    lines = min(len(lengths), SAMPLE, max(int(np.searchsorted(ends, SAMPLE_OF_ITEMS // 10)), 1))
    return lengths[:lines].copy(), items[: ends[lines]].copy()
