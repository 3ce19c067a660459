"""Top itemsets of rows of numbers: the kernels of `itemsets` called one after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.kernels.itemsets import (
    COUNT,
    FULL,
    LIMIT,
    USED,
    Desk,
    Int32s,
    Int64s,
    Rows,
    Sink,
    list_holders,
    mine,
    rank_rows,
)


class Found(NamedTuple):
    """Itemsets in no order: the size and support of each, and the items of all one after the other."""

    sizes: Int64s
    supports: Int64s
    items: Int64s
    complete: bool  # whether all that tie for the last place are there


def find_top(
    indptr: Int64s,
    items: Int32s,
    width: int,
    weights: Int64s,
    count: int,
    least_size: int,
    most_ties: int,
) -> Found:
    """The `count` itemsets of greatest support and of at least `least_size` items, and up to `most_ties` that tie with the last."""
    rows, order = ranked_rows(
        indptr,
        items,
        width,
        weights,
        _least_support(indptr, items, width, weights, count if least_size == 1 else 0),
    )
    desk = _desk(rows)
    sink = Sink(
        np.zeros(4, np.int64),
        np.zeros(count, np.int64),
        np.empty(0, np.int32),
        np.empty(0, np.int64),
        np.empty(0, np.int64),
    )
    mine(rows, sink, desk, least_size)
    least = max(int(sink.state[LIMIT]), 1)
    stored = _stored(rows, desk, least - 1, least_size, count + most_ties)
    found = _decoded(stored, order)
    if found.complete:
        return found
    ties, certain = (
        _only_support(found, least),
        _decoded(_stored(rows, desk, least, least_size, count), order),
    )
    sizes, supports = (
        np.concatenate((ties.sizes, certain.sizes)),
        np.concatenate((ties.supports, certain.supports)),
    )
    return Found(sizes, supports, np.concatenate((ties.items, certain.items)), False)


def _least_support(indptr: Int64s, items: Int32s, width: int, weights: Int64s, count: int) -> int:
    """The support of the item of rank `count`, below which no item can be among the top; 1 when there are fewer."""
    supports = np.sort(_supports(indptr, items, width, weights))[::-1]
    return max(int(supports[count - 1]), 1) if 0 < count <= width else 1


def _supports(indptr: Int64s, items: Int32s, width: int, weights: Int64s) -> Int64s:
    return np.bincount(items, weights=np.repeat(weights, np.diff(indptr)), minlength=width).astype(
        np.int64
    )


def ranked_rows(
    indptr: Int64s, items: Int32s, width: int, weights: Int64s, least: int
) -> tuple[Rows, Int64s]:
    """The rows over items by falling support, and the item of each rank; without the items whose support is below `least`."""
    supports = _supports(indptr, items, width, weights)
    order = np.lexsort((np.arange(width), -supports))
    order = order[: int((supports >= least).sum())]
    rank = np.full(width, -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    kept_indptr, kept = np.zeros(len(indptr), dtype=np.int64), np.empty(len(items), dtype=np.int32)
    rank_rows(indptr, items, rank, kept_indptr, kept)
    kept = kept[: kept_indptr[-1]]
    starts = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(np.bincount(kept, minlength=len(order)), out=starts[1:])
    holders = np.empty(len(kept), dtype=np.int64)
    list_holders(kept_indptr, kept, starts, holders)
    return Rows(kept_indptr, kept, weights, supports[order], starts, holders), order


def _desk(rows: Rows) -> Desk:
    width = len(rows.supports)
    longest = int(np.diff(rows.indptr).max(initial=0))
    return Desk(
        np.zeros(width, np.int64),
        np.empty(width, np.int32),
        np.full(width, -1, np.int32),
        np.empty(longest + 2, np.int32),
    )


def _stored(rows: Rows, desk: Desk, limit: int, least_size: int, capacity: int) -> Sink:
    """All itemsets with a support above the limit, `capacity` at most."""
    space = 8 * capacity
    while True:
        sizes, supports = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        sink = Sink(
            np.zeros(4, np.int64), np.empty(0, np.int64), np.empty(space, np.int32), sizes, supports
        )
        sink.state[LIMIT] = limit
        mine(rows, sink, desk, least_size)
        if sink.state[FULL] == 0 or sink.state[COUNT] == capacity:
            return sink
        space *= 4


def _decoded(sink: Sink, order: Int64s) -> Found:
    count, used = int(sink.state[COUNT]), int(sink.state[USED])
    return Found(
        sink.sizes[:count],
        sink.supports[:count],
        order[sink.items[:used]],
        bool(sink.state[FULL] == 0),
    )


def _only_support(found: Found, support: int) -> Found:
    keep = found.supports == support
    return Found(
        found.sizes[keep],
        found.supports[keep],
        found.items[np.repeat(keep, found.sizes)],
        found.complete,
    )
