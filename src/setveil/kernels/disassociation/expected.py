"""What a release is expected to say about frequent pairs, computed from its chunks."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.jit import kernel
from setveil.kernels.steps import roomier

SPREAD = 0.3
"""How evenly a joint cluster is taken to spread an item over its clusters. Measured."""


class Pairs(NamedTuple):
    """Pairs of items, listed under the first of them: first[i] to first[i + 1] - 1 for item i."""

    first: Int64s
    second: Int64s
    supports: Int64s


@kernel
def frequent_pairs(indptr, items, holders, least):
    """All pairs of items that at least so many records contain, and how often each count occurs.

    `holders` are the records of each item: where they begin, and their numbers. Pairs are counted
    item by item, over the records of the item. With `least` 0 nothing is listed."""
    starts, rows = holders
    width, records = len(starts) - 1, len(indptr) - 1
    counts, touched = np.zeros(width, np.int64), np.empty(width, np.int64)
    first, many = np.zeros(width + 1, np.int64), np.zeros(records + 1, np.int64)
    second, supports = np.empty(1024, np.int64), np.empty(1024, np.int64)
    end = np.int64(0)
    for item in range(width):
        met = np.int64(0)
        if starts[item + 1] - starts[item] >= least:
            for at in range(starts[item], starts[item + 1]):
                for i in range(indptr[rows[at] + 1] - 1, indptr[rows[at]] - 1, -1):
                    if items[i] <= item:
                        break
                    if counts[items[i]] == 0:
                        touched[met] = items[i]
                        met += 1
                    counts[items[i]] += 1
        for i in range(met):
            count = counts[touched[i]]
            counts[touched[i]] = 0
            many[count] += 1
            if 0 < least <= count:
                second, supports = roomier(second, end + 1), roomier(supports, end + 1)
                second[end], supports[end] = touched[i], count
                end += 1
        first[item + 1] = end
    return Pairs(first, second[:end].copy(), supports[:end].copy()), many


@kernel
def expect_supports(block, number, mass, pairs):
    """The expected supports of pairs, and of items, in the records of clusters.

    `number` is the chunk of each occurrence, or -1. A pair inside a chunk is exact. Else, if a and
    b of s records of a cluster have the two items, a b / s are expected to have both. An item of a
    term chunk counts once; one that is shared has its `mass` there, what its joint cluster gives to
    a cluster of this size (for all others that is 0), mixed with what it really has: clusters that
    share an item are alike."""
    indptr, items, bounds = block.indptr, block.items, block.bounds
    first, second = pairs.first, pairs.second
    width = len(first) - 1
    expected, singles = np.zeros(len(second), np.float64), np.zeros(width, np.int64)
    held, chunk, touched = (
        np.zeros(width, np.int64),
        np.empty(width, np.int64),
        np.empty(width, np.int64),
    )
    in_record, here = np.full(width, -1, np.int64), np.zeros(width, np.float64)
    for cluster in range(len(bounds) - 1):
        distinct = np.int64(0)
        for record in range(bounds[cluster], bounds[cluster + 1]):
            for at in range(indptr[record], indptr[record + 1]):
                item = items[at]
                in_record[item] = record
                chunk[item], here[item] = number[at], mass[at]
                if held[item] == 0:
                    touched[distinct] = item
                    distinct += 1
                held[item] += 1
            for at in range(indptr[record], indptr[record + 1]):
                for i in range(first[items[at]], first[items[at] + 1]):
                    if in_record[second[i]] == record and number[at] >= 0:
                        expected[i] += chunk[second[i]] == number[at]
        for i in range(distinct):
            if chunk[touched[i]] < 0:
                held[touched[i]] = 1
            singles[touched[i]] += held[touched[i]]
            if here[touched[i]] > 0:
                here[touched[i]] = SPREAD * here[touched[i]] + (1 - SPREAD) * held[touched[i]]
            else:
                here[touched[i]] = held[touched[i]]
        for i in range(distinct):
            item = touched[i]
            for at in range(first[item], first[item + 1]):
                other = second[at]
                if held[other] > 0 and (chunk[item] < 0 or chunk[item] != chunk[other]):
                    size = bounds[cluster + 1] - bounds[cluster]
                    expected[at] += here[item] * here[other] / size
        for i in range(distinct):
            held[touched[i]] = 0
    return expected, singles
