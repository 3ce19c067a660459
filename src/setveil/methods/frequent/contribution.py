"""How much one record may contribute: cut to its first items, and what the cut loses.

Nothing here adds noise. Which items are first is decided by a ranking, which is itself a noisy
count or drawn at random, and so public."""

from __future__ import annotations

import numpy as np

from setveil.data.arrays import Floats, Int64s, positions
from setveil.data.transactions import Transactions
from setveil.methods.noise import Keys

MOST_LENGTH = 20
"""Records with more frequent items than this are counted together."""
CERTAIN = 3.0
"""A noisy count above this many scales is not noise alone."""
WIDER = 4
"""How many times as far each range of ranks ends as the one before; few ranges have less noise."""
LEAST_KEPT = 0.7
"""Supports are divided by no less to make up for what was cut: it would raise noise as well."""


def shortened(data: Transactions, order: Int64s | Keys, most: int) -> tuple[Int64s, Int64s]:
    """The rows and items that are left if each record keeps its first `most` items.

    Args:
        data: The records.
        order: A number for each entry of `data.vocabulary`; small ones come first.
        most: How many items a record keeps.
    """
    rows = data.rows
    places = np.lexsort((order, rows))
    kept = places[np.arange(len(places)) - data.indptr[rows] < most]
    return rows[kept], data.items[kept].astype(np.int64)


def cut_ranges(most: int, items: int) -> Int64s:
    """The first rank of each range of ranks in which records are said to be cut.

    An item is lost by a record only if the first item that the record loses does not come after
    it. So the first `most` items are lost by no record, and others by no more records than those
    that are cut in the ranges up to their own. Each range ends WIDER times as far as the last."""
    starts = [most]
    while starts[-1] < items:
        starts.append(starts[-1] * WIDER)
    return np.array(starts[:-1], dtype=np.int64)


def cut_records(data: Transactions, rank: Int64s, starts: Int64s, items: int) -> Int64s:
    """How many records lose their first item in each range, among the first `items` ranks."""
    if not len(starts):
        return starts
    rows, order = data.rows, rank[data.items]
    places = np.lexsort((order, rows))
    first = order[places[np.arange(len(places)) - data.indptr[rows] == starts[0]]]
    ranges = np.searchsorted(starts, first[first < items], side="right") - 1
    return np.bincount(ranges, minlength=len(starts))


def ranks(counts: Int64s) -> Int64s:
    """The place of each item if the largest count comes first."""
    return positions(np.argsort(-counts, kind="stable"))


def frequent_lengths(data: Transactions, rank: Int64s, frequent: int) -> Int64s:
    """How many records have 0, 1, 2, ... of the first `frequent` items; the last count is of all
    that have more."""
    rows = data.rows[rank[data.items] < frequent]
    lengths = np.bincount(rows, minlength=len(data))
    return np.bincount(np.minimum(lengths, MOST_LENGTH), minlength=MOST_LENGTH + 1)


def pair_counts(rows: Int64s, places: Int64s, frequent: int) -> Int64s:
    """How many records contain each two of the frequent items, in a square table.

    Args:
        rows: The record of each occurrence, ascending.
        places: The item of each, as a number below `frequent`.
        frequent: How many items there are.
    """
    table = np.zeros(frequent * frequent, dtype=np.int64)
    for step in range(1, int(np.bincount(rows).max(initial=0))):
        inside = np.flatnonzero(rows[:-step] == rows[step:])
        one, other = places[inside], places[inside + step]
        table += np.bincount(one * frequent + other, minlength=len(table))
    square = table.reshape(frequent, frequent)
    return np.asarray(square + square.T)


def smoothed(histogram: Int64s, scale: float) -> Floats:
    """A noisy histogram of lengths as a plausible one: never below 0, and falling after its peak.

    The fit is the best one by least squares (pool adjacent violators). Levels that noise alone
    could explain are 0: in the tail it would count many times, once for each pair of items."""
    peak, values = int(np.argmax(histogram)), histogram.astype(np.float64)
    levels: list[float] = []
    widths: list[int] = []
    for value in values[peak:].tolist():
        levels.append(value)
        widths.append(1)
        while len(levels) > 1 and levels[-2] < levels[-1]:
            width = widths[-2] + widths[-1]
            level = (levels[-2] * widths[-2] + levels[-1] * widths[-1]) / width
            levels[-2:], widths[-2:] = [level], [width]
    values[:peak][values[:peak] < CERTAIN * scale] = 0.0
    noise = CERTAIN * scale / np.sqrt(widths)  # of the mean of as many counts
    values[peak:] = np.repeat(np.where(levels < noise, 0.0, levels), widths)
    return values


def lost_items(histogram: Floats, most: int) -> float:
    """The share of the occurrences of frequent items that is lost if records keep `most`."""
    lengths = np.arange(len(histogram))
    total = float((histogram * lengths).sum())
    return float((histogram * np.maximum(lengths - most, 0)).sum()) / total if total else 0.0


def lost_pairs(histogram: Floats, most: int) -> float:
    """The share of the pairs of frequent items that is lost if records keep `most` items."""
    lengths = np.arange(len(histogram))
    left = np.minimum(lengths, most)
    total = float((histogram * lengths * (lengths - 1)).sum())
    return 1 - float((histogram * left * (left - 1)).sum()) / total if total else 0.0


def kept_shares(histogram: Floats, supports: Floats, most: int, size: int) -> Floats:
    """The estimated share of the occurrences of frequent itemsets that the cut has kept.

    An occurrence in a record with c frequent items is kept if fewer than `most` of them come
    before it. If others come before it independently, as often as they occur, their number is
    binomial.

    Args:
        histogram: How many records have 0, 1, 2, ... frequent items.
        supports: The supports of the frequent items, in the order in which records keep them.
        most: How many items a record keeps.
        size: 1 for items; 2 for pairs, whose later item decides.
    """
    mass = np.maximum(supports, 0.0)
    before = (np.cumsum(mass) - mass) / max(float(mass.sum()), 1.0)
    chances = np.zeros((len(supports), len(histogram) + 1))
    chances[:, 0] = 1.0
    kept, total = np.zeros(len(supports)), 0.0
    for length in range(size, len(histogram)):
        weight = float(histogram[length]) * length * (length - 1 if size == 2 else 1)
        kept += weight * chances[:, : max(most - size + 1, 0)].sum(axis=1)
        total += weight
        moved = chances[:, :-1] * before[:, None]
        chances *= 1 - before[:, None]
        chances[:, 1:] += moved
    return np.clip(kept / total, LEAST_KEPT, 1.0) if total else np.ones(len(supports))
