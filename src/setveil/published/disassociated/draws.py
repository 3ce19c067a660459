"""Random distinct places, for a million small draws at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.data.arrays import changes, ranges
from setveil.data.transactions import Counts, Offsets

_SMALL = 64
_MOST_CELLS = 1 << 22


def draw_places(
    first: Offsets, sizes: Counts, counts: Counts, random: np.random.Generator
) -> Offsets:
    """For each draw d, `counts[d]` distinct places from `first[d]` to `first[d] + sizes[d] - 1`, in
    random order, one draw after the other.

    Every ordered choice is equally likely. `counts` must not exceed `sizes`.

    Example:
        >>> first, sizes, counts = np.array([0, 10]), np.array([3, 5]), np.array([3, 2])
        >>> places = draw_places(first, sizes, counts, np.random.default_rng(1)).tolist()
        >>> sorted(places[:3]), len(set(places[3:])), set(places[3:]) <= set(range(10, 15))
        ([0, 1, 2], 2, True)
    """
    ends = np.cumsum(counts)
    places = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    single = counts == 1
    places[ends[single] - 1] = first[single] + random.integers(0, sizes[single])
    dense = ~single & (counts > 0) & ((sizes <= _SMALL) | (2 * counts > sizes))
    asked = _Asked(first, sizes, counts, ends - counts, random)
    _permute(np.flatnonzero(dense), asked, places)
    _reject(np.flatnonzero(~single & ~dense & (counts > 0)), asked, places)
    return places


class _Asked(NamedTuple):
    """All draws, and where the places of each are written."""

    first: Offsets
    sizes: Counts
    counts: Counts
    starts: Offsets
    random: np.random.Generator


def _permute(draws: Offsets, asked: _Asked, places: Offsets) -> None:
    """The beginning of a random order of all places; draws of one size together."""
    first, sizes, counts, starts, random = asked
    draws = draws[np.argsort(sizes[draws], kind="stable")]
    cuts = np.flatnonzero(np.diff(sizes[draws])) + 1
    for group in np.split(draws, cuts):
        size = int(sizes[group[0]]) if len(group) else 1
        step = max(_MOST_CELLS // size, 1)
        for at in range(0, len(group), step):
            block = group[at : at + step]
            order = random.random((len(block), size)).argsort(axis=1)
            columns = np.arange(size)
            used = columns < counts[block, None]
            places[(starts[block, None] + columns)[used]] = (first[block, None] + order)[used]


def _reject(draws: Offsets, asked: _Asked, places: Offsets) -> None:
    """Any places, and anew for those that were drawn before, until all are distinct."""
    first, sizes, counts, starts, random = asked
    owners = np.repeat(draws, counts[draws])
    target = ranges(starts[draws], counts[draws])
    places[target] = first[owners] + random.integers(0, sizes[owners])
    while len(target):
        order = np.lexsort((places[target], owners))
        again = np.sort(order[~changes(owners[order], places[target[order]])])
        places[target[again]] = first[owners[again]] + random.integers(0, sizes[owners[again]])
        open_draws = np.isin(owners, np.unique(owners[again]))
        owners, target = owners[open_draws], target[open_draws]
