"""Blocks of lines of whole numbers as arrays, parsed by array functions or by compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Flags, Int64s

Bytes = npt.NDArray[np.uint8]

SMALL_NUMBER = 1 << 22
"""Distinct numbers below this are found with a table, others by sorting."""
_LONGEST_NUMBER = 18
_BLANK = np.zeros(256, dtype=bool)
_BLANK[list(b" \t\n\r\v\f")] = True


class Parsed(NamedTuple):
    """The tokens of a text."""

    text: bytes
    per_line: Int64s
    """How many tokens each line has; the last one may go on."""
    last: int
    """The last line that is not wholly empty; -1 if all are."""
    values: Int64s | None = None
    """The tokens as numbers, if all of them are whole numbers without a sign or a leading zero, and
    not too long."""
    distinct: Int64s = np.zeros(0, dtype=np.int64)
    """The numbers that occur, ascending."""


def parse(block: bytes) -> Parsed:
    """The tokens of a text whose lines end with newlines, found by array functions."""
    text = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    starts, widths = _tokens(text)
    per_line = np.diff(np.searchsorted(starts, ends), prepend=0, append=len(starts))
    last = _last_written(text, ends)
    if not _all_plain_numbers(text, starts, widths):
        return Parsed(block, per_line, last)
    values = _values(text, starts, widths)
    return Parsed(block, per_line, last, values, _distinct(values))


def parse_compiled(block: bytes) -> Parsed:
    """The same, by a compiled loop if all tokens are plain numbers."""
    from setveil.kernels.records import parse_numbers

    plain, per_line, values, last = parse_numbers(np.frombuffer(block, dtype=np.uint8))
    if not plain:
        return parse(block)
    return Parsed(block, per_line, int(last), values, _distinct(values))


def _tokens(text: Bytes) -> tuple[Int64s, Int64s]:
    """Where each token starts, and how long it is."""
    solid = ~_BLANK[text]
    edges = np.flatnonzero(np.diff(solid, prepend=False, append=False))
    return edges[::2], edges[1::2] - edges[::2]


def _last_written(text: Bytes, ends: Int64s) -> int:
    written = np.flatnonzero(text != ord("\n"))
    return int(np.searchsorted(ends, written[-1])) if len(written) else -1


def _all_plain_numbers(text: Bytes, starts: Int64s, widths: Int64s) -> bool:
    digits: Flags = (text >= ord("0")) & (text <= ord("9"))
    zero_first: Flags = (text[starts] == ord("0")) & (widths > 1)
    short = widths.max(initial=0) <= _LONGEST_NUMBER
    return bool(short and (digits | _BLANK[text]).all() and not zero_first.any())


def _values(text: Bytes, starts: Int64s, widths: Int64s) -> Int64s:
    values = np.zeros(len(starts), dtype=np.int64)
    for place in range(int(widths.max(initial=0))):
        longer = np.flatnonzero(widths > place)
        values[longer] = values[longer] * 10 + (text[starts[longer] + place] - ord("0"))
    return values


def _distinct(values: Int64s) -> Int64s:
    if values.max(initial=0) < SMALL_NUMBER:
        return np.flatnonzero(np.bincount(values))
    return np.unique(values)
