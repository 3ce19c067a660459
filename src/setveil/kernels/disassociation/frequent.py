"""Kernels that list frequent pairs and triples of items; `expected` counts them in all records."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.jit import kernel, patient, step
from setveil.kernels.steps import roomier


class Pairs(NamedTuple):
    """Pairs of items, listed under the first of them: first[i] to first[i + 1] - 1 for item i."""

    first: Int64s
    second: Int64s
    supports: Int64s


class Triples(NamedTuple):
    """Triples of items, listed under the pair of the first two; see `Pairs`."""

    first: Int64s
    third: Int64s
    outer: Int64s  # the pair of the first and the third item
    inner: Int64s  # the pair of the second and the third item


@patient
@kernel
def frequent_pairs(indptr, items, holders, asked, top):
    """The most frequent pairs, those that tie with the last of them, and all pairs of two `top`
    items; and the support of the last. `asked` is how many, and what this support is at least.

    `holders` are the records of each item: where they begin, and their numbers. Pairs are counted
    item by item, over the records of the item. A pair below the `bar`, the support of the last of
    the most frequent ones so far, is not listed."""
    (starts, rows), (wanted, bar) = holders, asked
    width = len(starts) - 1
    counts, touched = np.zeros(width, np.int64), np.empty(width, np.int64)
    first, many = np.zeros(width + 1, np.int64), np.zeros(len(indptr) + 1, np.int64)
    second, supports = np.empty(1024, np.int64), np.empty(1024, np.int64)
    end, above = np.int64(0), np.int64(0)
    for item in range(width):
        met = np.int64(0)
        for at in range(starts[item], starts[item + 1]):
            for i in range(indptr[rows[at] + 1] - 1, indptr[rows[at]] - 1, -1):
                if items[i] <= item:
                    break
                if counts[items[i]] == 0:
                    touched[met] = items[i]
                    met += 1
                counts[items[i]] += 1
        if top[item]:
            met = add_absent(item, top, counts, touched, met)
        for i in range(met):
            count = counts[touched[i]]
            counts[touched[i]] = 0
            many[count] += 1
            above += count > bar
            if count >= bar or (top[item] and top[touched[i]]):
                second, supports = roomier(second, end + 1), roomier(supports, end + 1)
                second[end], supports[end] = touched[i], count
                end += 1
        first[item + 1] = end
        # `above` counts the pairs so far that are above the bar. While enough are, it can rise: it
        # never passes the support of the last wanted pair, so nothing that is needed was dropped.
        while above >= wanted:
            bar += 1
            above -= many[bar]
    return drop_rare(Pairs(first, second, supports), bar, top), bar


@step
def add_absent(item, top, counts, touched, met):
    """List the top items that never occur with this one too."""
    for other in range(item + 1, len(top)):
        if top[other] and counts[other] == 0:
            touched[met] = other
            met += 1
    return met


@step
def drop_rare(pairs, bar, top):
    """Without what was listed before the bar was as high as it is now."""
    end, start = np.int64(0), np.int64(0)
    for item in range(len(pairs.first) - 1):
        stop = pairs.first[item + 1]
        for i in range(start, stop):
            if pairs.supports[i] >= bar or (top[item] and top[pairs.second[i]]):
                pairs.second[end], pairs.supports[end] = pairs.second[i], pairs.supports[i]
                end += 1
        pairs.first[item + 1], start = end, stop
    return Pairs(pairs.first, pairs.second[:end].copy(), pairs.supports[:end].copy())


@patient
@kernel
def list_triples(pairs, bar, most):
    """All triples of which every pair has at least the support `bar`, at most `most`: under which
    pair, the third items, and their pairs with the first and the second."""
    width = len(pairs.first) - 1
    first, place = np.zeros(len(pairs.second) + 1, np.int64), np.full(width, -1, np.int64)
    third, outer = np.empty(1024, np.int64), np.empty(1024, np.int64)
    inner, end = np.empty(1024, np.int64), np.int64(0)
    for item in range(width):
        for i in range(pairs.first[item], pairs.first[item + 1]):
            if pairs.supports[i] >= bar:
                place[pairs.second[i]] = i
        for i in range(pairs.first[item], pairs.first[item + 1]):
            other = pairs.second[i]
            for j in range(pairs.first[other], pairs.first[other + 1]):
                both = pairs.supports[i] >= bar and pairs.supports[j] >= bar
                if both and place[pairs.second[j]] >= 0 and end < most:
                    third, outer = roomier(third, end + 1), roomier(outer, end + 1)
                    inner = roomier(inner, end + 1)
                    third[end], outer[end], inner[end] = pairs.second[j], place[pairs.second[j]], j
                    end += 1
            first[i + 1] = end
        for i in range(pairs.first[item], pairs.first[item + 1]):
            place[pairs.second[i]] = -1
    return first, third[:end].copy(), outer[:end].copy(), inner[:end].copy()
