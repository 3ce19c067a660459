"""The top itemsets of rows of numbers: which kernels of `itemsets` find them soonest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Flags, Int32s, Int64s
from setveil.kernels.itemsets import (
    COUNT,
    FULL,
    LIMIT,
    USED,
    ItemScratch,
    RankedRows,
    Sink,
    Sizes,
    count_pairs,
    mine,
    mine_pairs,
    rank_rows,
)
from setveil.kernels.steps import fill_holders

ANY_SIZE = 1 << 40
"""In place of the most items of an itemset: no limit."""
_FEW, _MANY = 256, 6000
"""The least and the greatest number of items whose pairs are counted in a table."""
_AT_ONCE = 1 << 20
_SAMPLE, _THIN = 1 << 16, 4
"""How many records a sample has, and of how many times as many records it is taken."""
_QUICK, _MOST_MORE = 8, 100_000
"""How many times as many itemsets as are wanted, or how many more, are stored before it is known
which these are."""
_DEVIATIONS = 4
"""By how many standard deviations of a support in a sample the true one may be lower."""


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


class Counted(NamedTuple):
    """Records over their most frequent items, by rank, and the supports of all pairs of these."""

    data: Weighted
    indptr: Int64s
    items: Int32s
    order: Int64s  # the item of each rank
    supports: Int64s
    pairs: Int64s  # as `count_pairs` writes them
    beyond: int  # the support of the most frequent item that is not among them


class Found(NamedTuple):
    """Itemsets in no order: their sizes and supports, and the items of each in turn."""

    sizes: Int64s
    supports: Int64s
    items: Int64s
    complete: bool  # whether all that tie for the last place are there


def find_top(data: Weighted | Counted, wanted: Wanted) -> Found:
    """The wanted itemsets of greatest support.

    First by the supports of all pairs of the most frequent items (`count_needed`). Other items are
    needed only if they may be in a wanted itemset: then by the pairs of more items and, if these
    are too many, item by item."""
    counted = data if isinstance(data, Counted) else count_needed(data, wanted.itemsets)
    sizes, capacity = Sizes(wanted.least_size, wanted.most_size), wanted.itemsets + wanted.most_ties
    mined = _mine(counted, wanted.itemsets, sizes)
    if mined.least <= counted.beyond and len(counted.supports) < _width(counted.data):
        counted = count_frequent(counted.data)
        mined = _mine(counted, wanted.itemsets, sizes)
    if mined.least <= counted.beyond:
        mined = _mine_all(counted.data, wanted.itemsets, sizes)
    if mined.found is not None and len(mined.found.sizes) <= capacity:
        return mined.found
    mining, least = mined.mining, mined.least
    found = mining.stored(least - 1, capacity)
    if found.complete:
        return found
    ties = _of_support(found, found.supports == least)
    certain = mining.stored(least, wanted.itemsets)
    return Found(
        np.concatenate((ties.sizes, certain.sizes)),
        np.concatenate((ties.supports, certain.supports)),
        np.concatenate((ties.items, certain.items)),
        False,
    )


def count_needed(data: Weighted, itemsets: int) -> Counted:
    """Count the pairs of the items that this many top itemsets probably have.

    A sample shows how frequent the last of as many pairs and triples is; rarer items are in none of
    them. `find_top` notices if the sample was wrong."""
    step = len(data.weights) // _SAMPLE
    if step < _THIN or not (data.weights == 1).all():
        return count_frequent(data)
    sample = count_frequent(_every(data, step))
    least = min(_mine(sample, itemsets, Sizes(size, size)).least for size in (2, 3))
    return count_frequent(data, int(step * (least - _DEVIATIONS * least**0.5)))


def _every(data: Weighted, step: int) -> Weighted:
    """Each record that comes `step` after another."""
    starts = data.indptr[:-1:step]
    lengths = data.indptr[1::step] - starts
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    items = data.items[np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])]
    indptr.flags.writeable = items.flags.writeable = False
    return Weighted(indptr, items, data.weights[::step].copy(), data.width)


def count_frequent(data: Weighted, least: int = 0) -> Counted:
    """Count the pairs of the most frequent items, for any number of calls of `find_top`.

    The table has at most twice as many entries as the data has; items are left out that have a
    support below `least`, except for the first few."""
    supports = supports_of(data)
    width = min(_width(data), max(int((supports >= least).sum()), _FEW))
    order = np.lexsort((np.arange(data.width), -supports))
    beyond = int(supports[order[width]]) if width < data.width else 0
    order = order[:width]
    rank = np.full(data.width, -1, dtype=np.int32)
    rank[order] = np.arange(width)
    indptr, items = rank_rows(data.indptr, data.items, rank)
    indptr.flags.writeable = items.flags.writeable = False  # as those of `data`, for one variant
    pairs = np.zeros(width * (width - 1) // 2, dtype=np.int64)
    count_pairs(indptr, items, data.weights, pairs)
    return Counted(data, indptr, items, order, supports[order], pairs, beyond)


def _width(data: Weighted) -> int:
    """How many items a table of pairs has at most."""
    return min(data.width, max(int((4 * len(data.items)) ** 0.5), _FEW), _MANY)


def split_places(places: Int64s) -> tuple[Int64s, Int64s]:
    """The lower and the higher item of the pairs at these places of a table."""
    high = ((1 + np.sqrt(1 + 8 * places.astype(np.float64))) // 2).astype(np.int64)
    high -= high * (high - 1) // 2 > places  # in case the root was rounded up
    return places - high * (high - 1) // 2, high


class _Mined(NamedTuple):
    """Rows with the wanted itemsets, the support of the last of these, and all if few tie."""

    mining: _Mining
    least: int
    found: Found | None


def _mine(counted: Counted, count: int, sizes: Sizes) -> _Mined:
    """Mine the `count` top itemsets of the items of a table.

    The supports of items and pairs, if these are wanted, show from which support on to search. If
    not, it is guessed: there may be too few, or so many that the last wanted one is found first."""
    pairs = counted.pairs
    known = [counted.supports] if sizes.least <= 1 else []
    known += [pairs] if sizes.least <= 2 <= sizes.most else []
    if known:
        greatest = _greatest(np.concatenate(known), count)
        mining = _pruned(counted, max(int(greatest[0]), 1), sizes)
        return _Mined(mining, _least_support(mining, greatest, int(greatest[0])), None)
    guess = int(_greatest(pairs, count)[0])
    while True:
        mining = _pruned(counted, max(guess, 1), sizes)
        found = mining.stored(max(guess, 1) - 1, min(_QUICK * count, count + _MOST_MORE))
        if not found.complete:
            return _Mined(mining, _least_support(mining, np.zeros(count, np.int64), guess), None)
        if len(found.sizes) >= count or guess <= 1:
            least = max(int(_greatest(found.supports, count)[0]), 1)
            return _Mined(mining, least, _of_support(found, found.supports >= least))
        guess //= 4


def _least_support(mining: _Mining, greatest: Int64s, guess: int) -> int:
    """The support of the last wanted itemset; there are enough of the support guessed."""
    sizes = mining.sizes
    if sizes.most > 2:
        sink = _new_sink(heap=len(greatest))
        sink.heap[:], sink.state[LIMIT] = np.sort(greatest), guess
        deeper = Sizes(max(sizes.least, 3), sizes.most)
        assert mining.pairs is not None
        mine_pairs(mining.rows, mining.pairs, sink, mining.scratch, deeper)
        return max(int(sink.heap[0]), guess, 1)
    return max(guess, 1)


def _greatest(supports: Int64s, count: int) -> Int64s:
    """The `count` greatest, the least of them first; filled with 0 if there are fewer."""
    supports = supports[supports > 0]
    if len(supports) < count:
        return np.concatenate((np.zeros(count - len(supports), np.int64), supports))
    return np.partition(supports, len(supports) - count)[len(supports) - count :]


def _pruned(counted: Counted, least: int, sizes: Sizes) -> _Mining:
    """What is left of the rows if only items matter that may be in a wanted itemset."""
    width, pairs = len(counted.supports), counted.pairs
    kept = counted.supports >= least
    if sizes.least > 1:
        low, high = split_places(np.flatnonzero(pairs >= least))
        kept = np.zeros(width, dtype=bool)
        kept[high], kept[low] = True, True
    chosen = np.flatnonzero(kept)
    rank = np.full(width, -1, dtype=np.int32)
    rank[chosen] = np.arange(len(chosen))
    parts = [pairs[i * (i - 1) // 2 + chosen[:at]] for at, i in enumerate(chosen.tolist())]
    table = np.concatenate((pairs[:0], *parts))
    indptr, items = rank_rows(counted.indptr, counted.items, rank)
    rows = _with_holders(indptr, items, counted.data.weights, counted.supports[chosen])
    return _Mining(rows, counted.order[chosen], _new_scratch(rows), sizes, table)


class _Mining(NamedTuple):
    """Rows to mine, and the supports of their pairs if these are known."""

    rows: RankedRows
    order: Int64s
    scratch: ItemScratch
    sizes: Sizes
    pairs: Int64s | None

    def stored(self, limit: int, capacity: int) -> Found:
        """All itemsets with a support above the limit, `capacity` at most."""
        space = 8 * capacity
        while True:
            sink = _new_sink(itemsets=capacity, items=space)
            sink.state[LIMIT] = limit
            if self.pairs is None:
                mine(self.rows, sink, self.scratch, self.sizes)
            else:
                mine_pairs(self.rows, self.pairs, sink, self.scratch, self.sizes)
            if sink.state[FULL] == 0 or sink.state[COUNT] == capacity:
                count, items = int(sink.state[COUNT]), self.order[sink.items[: sink.state[USED]]]
                complete = bool(sink.state[FULL] == 0)
                return Found(sink.sizes[:count], sink.supports[:count], items, complete)
            space *= 4


def _mine_all(data: Weighted, count: int, sizes: Sizes) -> _Mined:
    """Mine the `count` top itemsets of all items."""
    rows, order = ranked_rows(data, support_of_rank(data, count) if sizes.least == 1 else 1)
    scratch, sink = _new_scratch(rows), _new_sink(heap=count)
    mine(rows, sink, scratch, sizes)
    mining = _Mining(rows, order, scratch, sizes, None)
    return _Mined(mining, max(int(sink.state[LIMIT]), 1), None)


def support_of_rank(data: Weighted, count: int) -> int:
    """The support of the `count`-th most frequent item, at least 1; no other item can be needed."""
    if count > data.width:
        return 1
    return max(int(np.sort(supports_of(data))[::-1][count - 1]), 1)


def ranked_rows(data: Weighted, least: int) -> tuple[RankedRows, Int64s]:
    """The rows over items ranked by falling support, `least` or more; and the item of each rank."""
    supports = supports_of(data)
    order = np.lexsort((np.arange(data.width), -supports))
    order = order[: int((supports >= least).sum())]
    rank = np.full(data.width, -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    indptr, kept = rank_rows(data.indptr, data.items, rank)
    return _with_holders(indptr, kept, data.weights, supports[order]), order


def _with_holders(indptr: Int64s, items: Int32s, weights: Int64s, supports: Int64s) -> RankedRows:
    starts = np.zeros(len(supports) + 1, dtype=np.int64)
    np.cumsum(np.bincount(items, minlength=len(supports)), out=starts[1:])
    holders = np.empty(len(items), dtype=np.int32)
    fill_holders(indptr, items, starts, holders)
    return RankedRows(indptr, items, weights, supports, starts, holders)


def supports_of(data: Weighted) -> Int64s:
    """The summed weight of the records that contain each item."""
    if (data.weights == 1).all():
        supports = np.zeros(data.width, dtype=np.int64)
        for start in range(0, len(data.items), _AT_ONCE):  # `bincount` copies what it counts
            supports += np.bincount(data.items[start : start + _AT_ONCE], minlength=data.width)
        return supports
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


def _of_support(found: Found, keep: Flags) -> Found:
    items = found.items[np.repeat(keep, found.sizes)]
    return found._replace(sizes=found.sizes[keep], supports=found.supports[keep], items=items)
