"""Kernels of frequent itemsets that begin with a table of the supports of all pairs.

The table is filled row by row, so that memory is read in order; one item after the other, as in
`itemsets`, most of the time goes into fetching rows. Itemsets of three or more items are then met
as there, but only under items with a pair that is frequent enough."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.itemsets import (
    FULL,
    LIMIT,
    ItemScratch,
    Partners,
    RankedRows,
    Sink,
    Sizes,
    descend,
    meet,
)
from setveil.kernels.jit import kernel, step


class PairTable(NamedTuple):
    """The supports of pairs of items: those of i with each item below it, one i after the other."""

    supports: Int64s  # of {j, i} with j < i at i (i - 1) / 2 + j


@kernel
def count_pairs(indptr: Int64s, items: Int32s, weights: Int64s, supports: Int64s) -> None:
    """Add the weight of each row to all its pairs; items ascend within a row."""
    for row in range(len(indptr) - 1):
        start, weight = indptr[row], weights[row]
        for at in range(start + 1, indptr[row + 1]):
            item = np.int64(items[at])
            first = item * (item - 1) // 2
            for before in range(start, at):
                supports[first + items[before]] += weight


@kernel
def count_chosen(indptr: Int64s, items: Int32s, weights: Int64s, place: Int64s) -> Int64s:
    """The supports of all pairs of a few items as a square table, with those of the items on its
    diagonal: `place` is the row of each item, -1 for the others, and last the number of rows."""
    size = place[-1]
    table, held = np.zeros((size, size), dtype=np.int64), np.empty(size, dtype=np.int64)
    for row in range(len(indptr) - 1):
        count = 0
        weight = weights[row] if len(weights) else np.int64(1)
        for at in range(indptr[row], indptr[row + 1]):
            one = place[items[at]]
            if one >= 0:
                held[count] = one
                count += 1
                for other in range(count):
                    table[one, held[other]] += weight
    for one in range(size):
        for other in range(one):
            both = table[one, other] + table[other, one]
            table[one, other], table[other, one] = both, both
    return table


@kernel
def mine_pairs(
    rows: RankedRows, pairs: PairTable, sink: Sink, scratch: ItemScratch, sizes: Sizes
) -> None:
    """Meet all itemsets of the sizes asked for with a support above the limit, as `mine` does and
    in the same order."""
    for item in range(len(rows.supports)):
        if rows.supports[item] <= sink.state[LIMIT] or sink.state[FULL] > 0:
            break
        if sizes.least <= 1:
            scratch.path[0] = item
            meet(sink, scratch.path, np.int64(1), rows.supports[item])
        if sizes.most >= 2:
            grow_pairs(rows, pairs.supports, sink, scratch, np.int64(item), sizes)


@step
def grow_pairs(rows, supports, sink, scratch, item, sizes):
    """Meet every itemset of two or more items in which `item` is the least frequent."""
    first, width = item * (item - 1) // 2, 0
    for other in range(item):
        if supports[first + other] > sink.state[LIMIT]:
            width += 1
    partners = Partners(np.empty(width, dtype=np.int32), np.empty(width, dtype=np.int64))
    width = 0
    for other in range(item):
        if supports[first + other] > sink.state[LIMIT]:
            partners.items[width] = other
            partners.supports[width] = supports[first + other]
            width += 1
    scratch.path[0] = item
    for at in range(width):
        if sizes.least <= 2:
            scratch.path[1] = partners.items[at]
            meet(sink, scratch.path, np.int64(2), partners.supports[at])
    if width > 1 and sizes.most > 2:
        descend(rows, sink, scratch, item, partners, sizes)
