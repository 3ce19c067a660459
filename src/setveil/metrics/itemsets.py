"""Top itemsets: those that stand in the most records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Counts, Transactions
from setveil.errors import ParameterError
from setveil.kernels.itemsets import COUNT, FULL, LIMIT, USED, Desk, Rows, Sink, list_holders, mine, rank_rows

MOST_TIES = 100_000
"""How many itemsets that tie for the last rank are kept at most."""


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Itemsets with their supports, the greatest first; of equal supports the shorter first, then in the order of the items.

    Below the rank that was asked for stand those that tie with it: any of them might as well be among the top.
    """

    itemsets: Transactions
    """Each itemset as a record."""
    supports: Counts
    wanted: int
    """How many were asked for."""
    complete: bool = True
    """Whether all ties are here; there may be astronomically many, and only `MOST_TIES` are kept."""

    def __len__(self) -> int:
        return len(self.supports)

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], int]]:
        return zip(self.itemsets, self.supports.tolist(), strict=True)

    @property
    def least_support(self) -> int:
        """The support at the last rank asked for; 0 when there are fewer itemsets."""
        return int(self.supports[self.wanted - 1]) if len(self) >= self.wanted else 0

    @property
    def certain(self) -> int:
        """How many are among the top whatever happens to ties: the first so many."""
        return len(self) if len(self) <= self.wanted else int((self.supports > self.least_support).sum())


def top_itemsets(data: Transactions, count: int = 1000, *, least_size: int = 1, weights: npt.NDArray[np.int64] | None = None) -> Itemsets:
    """The itemsets with the greatest supports, exactly, and those that tie with the last of them.

    Args:
        data: The records; of bags the counts are left aside.
        count: How many itemsets.
        least_size: How many items each must have at least.
        weights: How often each record stands; once when not given.

    Cost: counting pairs looks at each pair of items in each record once or twice; larger itemsets are counted by bitmaps over the records
    of their least frequent item. 1000 itemsets of 88,000 real baskets take less than a second.

    Example:
        >>> data = Transactions.of([["beer", "wine"], ["beer", "wine", "milk"], ["beer", "milk"], ["bread"]])
        >>> found = top_itemsets(data, 2)
        >>> list(found)
        [(('beer',), 3), (('milk',), 2), (('wine',), 2), (('beer', 'milk'), 2), (('beer', 'wine'), 2)]
        >>> found.certain, found.least_support
        (1, 2)
        >>> list(top_itemsets(data, 1, least_size=3))
        [(('beer', 'milk', 'wine'), 1)]
    """
    for name, value in (("count", count), ("least_size", least_size)):
        if value < 1:
            raise ParameterError(name, value, "it must be a whole number of 1 or more")
    given = np.ones(len(data), dtype=np.int64) if weights is None else np.ascontiguousarray(weights, dtype=np.int64)
    rows, order = _ranked_rows(data, given, count if least_size == 1 else 0)
    desk = _desk(rows)
    sink = Sink(
        np.zeros(4, dtype=np.int64), np.zeros(count, dtype=np.int64), np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64)
    )
    mine(rows, sink, desk, least_size)
    least = max(int(sink.state[LIMIT]), 1)
    found = _stored(rows, desk, least - 1, least_size, count + MOST_TIES)
    complete = bool(found.state[FULL] == 0)
    parts = [_decoded(found, order)]
    if not complete:
        parts = [_only_support(parts[0], least), _decoded(_stored(rows, desk, least, least_size, count), order)]
    return _sorted(parts, data, count, complete)


def _ranked_rows(data: Transactions, weights: Counts, count: int) -> tuple[Rows, npt.NDArray[np.int64]]:
    """The records over items by falling support, and the item of each rank; without the items that cannot be among the top `count`."""
    owners = np.repeat(weights, data.lengths)
    supports = np.bincount(data.items, weights=owners, minlength=len(data.vocabulary)).astype(np.int64)
    order = np.lexsort((np.arange(len(supports)), -supports))
    least = int(supports[order[count - 1]]) if 0 < count <= len(order) else 1
    order = order[: int((supports >= max(least, 1)).sum())]
    rank = np.full(len(supports), -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    indptr, kept = np.zeros(len(data) + 1, dtype=np.int64), np.empty(data.items.size, dtype=np.int32)
    rank_rows(data.indptr, data.items, rank, indptr, kept)
    kept = kept[: indptr[-1]]
    starts = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(np.bincount(kept, minlength=len(order)), out=starts[1:])
    holders = np.empty(len(kept), dtype=np.int64)
    list_holders(indptr, kept, starts, holders)
    return Rows(indptr, kept, weights, supports[order], starts, holders), order


def _desk(rows: Rows) -> Desk:
    width = len(rows.supports)
    longest = int(np.diff(rows.indptr).max(initial=0))
    return Desk(np.zeros(width, np.int64), np.empty(width, np.int32), np.full(width, -1, np.int32), np.empty(longest + 2, np.int32))


def _stored(rows: Rows, desk: Desk, limit: int, least_size: int, capacity: int) -> Sink:
    """All itemsets with a support above the limit, `capacity` at most."""
    space = 8 * capacity
    while True:
        sizes, supports = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        sink = Sink(np.zeros(4, dtype=np.int64), np.empty(0, np.int64), np.empty(space, np.int32), sizes, supports)
        sink.state[LIMIT] = limit
        mine(rows, sink, desk, least_size)
        if sink.state[FULL] == 0 or sink.state[COUNT] == capacity:
            return sink
        space *= 4


_Part = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Sizes, supports, and the items of all itemsets one after the other."""


def _decoded(sink: Sink, order: npt.NDArray[np.int64]) -> _Part:
    count, used = int(sink.state[COUNT]), int(sink.state[USED])
    return sink.sizes[:count], sink.supports[:count], order[sink.items[:used]]


def _only_support(part: _Part, support: int) -> _Part:
    sizes, supports, items = part
    keep = supports == support
    return sizes[keep], supports[keep], items[np.repeat(keep, sizes)]


def _sorted(parts: list[_Part], data: Transactions, count: int, complete: bool) -> Itemsets:
    sizes, supports, items = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    rows = Transactions.from_pairs(np.repeat(np.arange(len(sizes)), sizes), items, data.vocabulary, size=len(sizes))
    longest = int(sizes.max(initial=0))
    table = np.full((len(sizes), longest), -1, dtype=np.int64)
    table[rows.rows, np.arange(len(rows.items)) - np.repeat(rows.indptr[:-1], sizes)] = rows.items
    order = np.lexsort((*table.T[::-1], sizes, -supports))
    return Itemsets(rows.take(order), supports[order], count, complete)
