"""The types of arrays, what numpy lacks for them, and random numbers from a seed."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from setveil.errors import ParameterError
from setveil.threads import on_threads

Int32s = npt.NDArray[np.int32]  # items and nodes
Int64s = npt.NDArray[np.int64]  # offsets, counts, and numbers of records
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

Scalar = TypeVar("Scalar", bound=np.generic)

_AT_ONCE = 1 << 20
_WORD = 63
_EXACT = 1 << 53
"""Sums of whole numbers below this are exact as floating point numbers, which add up faster."""


def ranges(starts: Int64s, lengths: Int64s) -> Int64s:
    """The numbers `starts[i]` to `starts[i] + lengths[i] - 1`, one range after the other."""
    ends = np.cumsum(lengths)
    shift: Int64s = np.repeat(starts - (ends - lengths), lengths)
    return np.arange(ends[-1] if len(ends) else 0) + shift


def gathered(values: npt.NDArray[Scalar], starts: Int64s, lengths: Int64s) -> npt.NDArray[Scalar]:
    """The values at `ranges(starts, lengths)`, a part of them at a time, to save memory."""
    bounds = offsets(lengths)
    found = np.empty(bounds[-1], dtype=values.dtype)

    def gather(part: tuple[int, int]) -> None:
        some = slice(*part)
        inside = slice(*bounds[[*part]].tolist())
        np.take(values, ranges(starts[some], lengths[some]), out=found[inside], mode="clip")

    cuts = np.searchsorted(bounds, np.arange(0, bounds[-1], _AT_ONCE))
    edges = [*np.unique(cuts).tolist(), len(lengths)]
    width = None if len(edges) > 2 else 1
    for _ in on_threads(gather, zip(edges, edges[1:], strict=False), width=width):
        continue
    return found


def offsets(lengths: npt.ArrayLike) -> Int64s:
    """Where each of some parts begins if they follow one another, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64, copy=False)


def sums(groups: npt.NDArray[np.integer], values: npt.ArrayLike, size: int) -> Int64s:
    """The sum of the values of each group, in whole numbers."""
    given = np.broadcast_to(np.asarray(values), groups.shape)
    largest = max(abs(int(given.max(initial=0))), abs(int(given.min(initial=0))))
    if largest * len(given) < _EXACT and given.dtype.kind in "iub":
        found = np.bincount(groups, weights=given, minlength=size)
        if len(found) > size:
            raise IndexError("a group has a number above that of the last one")
        return found.astype(np.int64)
    totals = np.zeros(size, dtype=np.int64)
    np.add.at(totals, groups, values)
    return totals


def positions(order: npt.ArrayLike, size: int | None = None) -> Int64s:
    """The position of each number in an order of all numbers from 0 on, or of some of those below
    `size`; -1 for the others."""
    numbers = np.asarray(order, dtype=np.int64)
    found = np.full(len(numbers) if size is None else size, -1, dtype=np.int64)
    found[numbers] = np.arange(len(numbers))
    return found


def order_of(keys: npt.NDArray[np.integer]) -> Int64s:
    """The numbers of the keys in the order of the keys, as a stable `numpy.argsort`; the keys must
    be 0 or more."""
    return sorted_pairs(keys, np.arange(len(keys)))[1]


def sorted_pairs(keys: npt.NDArray[np.integer], numbers: Int64s) -> tuple[Int64s, Int64s]:
    """Pairs of a key and a number, sorted; both must be 0 or more.

    Packed into one number each, if they fit, they sort several times as fast."""
    bits = int(numbers.max(initial=0)).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > _WORD:
        order = np.lexsort((numbers, keys))
        return keys[order].astype(np.int64), numbers[order]
    codes = keys.astype(np.int64)
    codes <<= bits
    codes |= numbers
    codes.sort()
    numbers = codes & ((1 << bits) - 1)
    codes >>= bits
    return codes, numbers


def find(ordered: Int64s, values: Int64s) -> Int64s:
    """The position of each value among ascending ones; -1 if it is missing."""
    if not len(ordered):
        return np.full(len(values), -1)
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.where(ordered[at] == values, at, -1)


def distinct(codes: Int64s) -> Int64s:
    """The distinct values, ascending; sorting is faster here than `numpy.unique`, which hashes."""
    ordered = np.sort(codes)
    return ordered[changes(ordered)]


def numbered(codes: Int64s) -> tuple[Int64s, Int64s]:
    """The distinct values, ascending, and the number of each value among them; the values must be
    0 or more."""
    if int(codes.max(initial=0)).bit_length() + len(codes).bit_length() <= _WORD:
        ordered, order = sorted_pairs(codes, np.arange(len(codes)))
    else:
        order = np.argsort(codes)
        ordered = codes[order]
    first = changes(ordered)
    numbers = np.empty(len(codes), dtype=np.int64)
    numbers[order] = np.cumsum(first) - 1
    return ordered[first], numbers


def changes(*columns: npt.NDArray[np.integer]) -> Flags:
    """Where a row of these columns differs from the row before it; the first one does."""
    changed = np.zeros(len(columns[0]), dtype=bool)
    changed[:1] = True
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed


def run_places(*columns: npt.NDArray[np.integer]) -> Int64s:
    """The position of each row, from 0, within its run of rows that are equal in these columns."""
    places = np.arange(len(columns[0]))
    return places - np.maximum.accumulate(np.where(changes(*columns), places, 0))


def random_from(seed: object) -> np.random.Generator:
    """A random generator from a seed; without one it is seeded by the system."""
    if seed is not None and (
        not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0
    ):
        raise ParameterError("seed", seed, "it must be a whole number of 0 or more, or None")
    return np.random.default_rng(None if seed is None else int(seed))
