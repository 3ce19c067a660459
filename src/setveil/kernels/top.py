"""The top itemsets of rows of numbers: calls the kernels of `itemsets` one after the other."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.itemsets import (
    COUNT,
    FULL,
    LIMIT,
    USED,
    ItemScratch,
    RankedRows,
    Sink,
    Sizes,
    mine,
    rank_rows,
)
from setveil.kernels.steps import fill_holders

ANY_SIZE = 1 << 40
"""In place of the most items of an itemset: no limit."""


class Weighted(NamedTuple):
    """Records with weights, over items 0 to `width - 1`."""

    indptr: Int64s
    items: Int32s
    weights: Int64s
    width: int


class Wanted(NamedTuple):
    """How many itemsets, of how many items, and how many that tie with the last of them."""

    itemsets: int
    least_size: int
    most_ties: int
    most_size: int = ANY_SIZE


class Found(NamedTuple):
    """Itemsets in no order: their sizes and supports, and their items one after the other."""

    sizes: Int64s
    supports: Int64s
    items: Int64s
    complete: bool  # whether all that tie for the last place are there


def find_top(data: Weighted, wanted: Wanted) -> Found:
    """The wanted itemsets of greatest support."""
    count, sizes = wanted.itemsets, Sizes(wanted.least_size, wanted.most_size)
    rows, order = ranked_rows(data, support_of_rank(data, count) if sizes.least == 1 else 1)
    scratch = _new_scratch(rows)
    sink = _new_sink(heap=count)
    mine(rows, sink, scratch, sizes)
    least = max(int(sink.state[LIMIT]), 1)
    stored = _stored(rows, scratch, least - 1, sizes, count + wanted.most_ties)
    found = _decoded(stored, order)
    if found.complete:
        return found
    ties = _only_support(found, least)
    certain = _decoded(_stored(rows, scratch, least, sizes, count), order)
    return Found(
        np.concatenate((ties.sizes, certain.sizes)),
        np.concatenate((ties.supports, certain.supports)),
        np.concatenate((ties.items, certain.items)),
        False,
    )


def support_of_rank(data: Weighted, count: int) -> int:
    """The support of the `count`-th most frequent item, at least 1; no other item can be needed."""
    if count > data.width:
        return 1
    return max(int(np.sort(_supports(data))[::-1][count - 1]), 1)


def ranked_rows(data: Weighted, least: int) -> tuple[RankedRows, Int64s]:
    """The rows over items ranked by falling support, `least` or more; and the item of each rank."""
    supports = _supports(data)
    order = np.lexsort((np.arange(data.width), -supports))
    order = order[: int((supports >= least).sum())]
    rank = np.full(data.width, -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    indptr, kept = rank_rows(data.indptr, data.items, rank)
    starts = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(np.bincount(kept, minlength=len(order)), out=starts[1:])
    holders = np.empty(len(kept), dtype=np.int64)
    fill_holders(indptr, kept, starts, holders)
    return RankedRows(indptr, kept, data.weights, supports[order], starts, holders), order


def _supports(data: Weighted) -> Int64s:
    weights = np.repeat(data.weights, np.diff(data.indptr))
    return np.bincount(data.items, weights=weights, minlength=data.width).astype(np.int64)


def _new_scratch(rows: RankedRows) -> ItemScratch:
    width, longest = len(rows.supports), int(np.diff(rows.indptr).max(initial=0))
    return ItemScratch(
        counts=np.zeros(width, np.int64),
        touched=np.empty(width, np.int32),
        slot=np.full(width, -1, np.int32),
        path=np.empty(longest + 2, np.int32),
    )


def _new_sink(*, heap: int = 0, itemsets: int = 0, items: int = 0) -> Sink:
    return Sink(
        state=np.zeros(4, np.int64),
        heap=np.zeros(heap, np.int64),
        items=np.empty(items, np.int32),
        sizes=np.empty(itemsets, np.int64),
        supports=np.empty(itemsets, np.int64),
    )


def _stored(
    rows: RankedRows, scratch: ItemScratch, limit: int, sizes: Sizes, capacity: int
) -> Sink:
    """All itemsets with a support above the limit, `capacity` at most."""
    space = 8 * capacity
    while True:
        sink = _new_sink(itemsets=capacity, items=space)
        sink.state[LIMIT] = limit
        mine(rows, sink, scratch, sizes)
        if sink.state[FULL] == 0 or sink.state[COUNT] == capacity:
            return sink
        space *= 4


def _decoded(sink: Sink, order: Int64s) -> Found:
    count, items = int(sink.state[COUNT]), order[sink.items[: sink.state[USED]]]
    return Found(sink.sizes[:count], sink.supports[:count], items, bool(sink.state[FULL] == 0))


def _only_support(found: Found, support: int) -> Found:
    keep = found.supports == support
    items = found.items[np.repeat(keep, found.sizes)]
    return found._replace(sizes=found.sizes[keep], supports=found.supports[keep], items=items)
