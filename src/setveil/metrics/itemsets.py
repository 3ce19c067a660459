"""Top itemsets: those that are in the most records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int64s
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError, check_count
from setveil.published.release import Release, Support

if TYPE_CHECKING:
    from setveil.kernels.top import Counted, Found, Wanted, Weighted

_MOST_COUNT = 100_000_000
_MOST_WEIGHT = 1 << 53
_MOST_ASKED = 1_000
_USUAL = 1_000
"""How many itemsets most metrics ask for."""
MOST_TIES = 100_000  # how many itemsets that tie for the last rank are kept at most


@dataclass(frozen=True, eq=False, repr=False)
class Itemsets:
    """Itemsets with their supports, the greatest first; equal ones by length, then by their items.

    After the rank that was asked for come those that tie with it: any of them could be at the top.
    """

    itemsets: Transactions  # each itemset as a record
    supports: Int64s
    wanted: int  # how many were asked for
    complete: bool = True  # whether all ties are here; at most `MOST_TIES` are kept

    def __len__(self) -> int:
        return len(self.supports)

    def __repr__(self) -> str:
        shown = f", supports {self.supports[0]} to {self.supports[-1]}" if len(self) else ""
        return f"Itemsets({len(self)} itemsets for the {self.wanted} asked for{shown})"

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], int]]:
        return zip(self.itemsets, self.supports.tolist(), strict=True)

    @property
    def least_support(self) -> int:
        """The support at the last rank asked for; 0 if there are fewer itemsets."""
        return int(self.supports[self.wanted - 1]) if len(self) >= self.wanted else 0

    @property
    def certain(self) -> int:
        """How many are among the top however ties are broken: the first ones."""
        above = self.supports > self.least_support
        return int(above.sum()) if len(self) > self.wanted else len(self)

    def first(self, count: int) -> Itemsets | None:
        """The first `count` and those that tie with the last of them; None if some may be missing.

        Example:
            >>> found = top_itemsets([["a", "b"], ["a", "b"], ["a"]], 3)
            >>> list(found.first(1))
            [(('a',), 3)]
        """
        if count > self.wanted:
            return None
        kept = self.supports >= (self.supports[count - 1] if count <= len(self) else 0)
        if kept.all() and not self.complete:
            return None
        rows = np.flatnonzero(kept)
        return Itemsets(self.itemsets.take(rows), self.supports[rows], count)


class Finder(Protocol):
    """Finds top itemsets, as `top_itemsets` does."""

    def __call__(
        self,
        data: object,
        count: int,
        *,
        least_size: int = 1,
        most_size: int | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> Itemsets: ...


def top_itemsets(
    data: object,
    count: int = 1000,
    *,
    least_size: int = 1,
    most_size: int | None = None,
    weights: npt.ArrayLike | None = None,
) -> Itemsets:
    """The itemsets with the greatest supports, exactly, and those that tie with the last of them.

    Counts of bags are ignored. `weights` says how often each record occurs.

    Cost: each pair of items in each record is counted once or twice; larger itemsets are counted by
    bitmaps over the records of their rarest item. 1,000 itemsets of 88,000 real baskets take less
    than a second.

    Example:
        >>> baskets = [["beer", "wine"], ["beer", "wine", "milk"], ["beer", "milk"], ["bread"]]
        >>> found = top_itemsets(baskets, 2)
        >>> list(found)
        [(('beer',), 3), (('milk',), 2), (('wine',), 2), (('beer', 'milk'), 2), ...]
        >>> found.certain, found.least_support
        (1, 2)
        >>> list(top_itemsets(baskets, 1, least_size=3))
        [(('beer', 'milk', 'wine'), 1)]
        >>> list(top_itemsets(baskets, 3, least_size=2, most_size=2))
        [(('beer', 'milk'), 2), (('beer', 'wine'), 2), (('milk', 'wine'), 1)]
    """
    from setveil.kernels.top import find_top

    return _found(find_top, data, _wanted(count, least_size, most_size), weights)


class Remembering:
    """A finder for several metrics of the same records: it finds no list of them twice, and counts
    only once what several lists have in common.

    Several threads may ask at once. Records always come with the same weights."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, int | None], Itemsets] = {}
        # The records are kept, so that no other object gets the same id.
        self._counted: dict[int, tuple[object, Counted]] = {}
        self._locks: dict[object, Lock] = defaultdict(Lock)
        self._lock = Lock()

    def prepare(self, data: object) -> None:
        """Count what every list of these records needs."""
        self._count(data, _weighted(as_transactions(data), None))

    def __call__(
        self,
        data: object,
        count: int,
        *,
        least_size: int = 1,
        most_size: int | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> Itemsets:
        key = id(data), least_size, most_size
        with self._locked(key):
            first = self._known[key].first(count) if key in self._known else None
            if first is not None:
                return first
            if (least_size, most_size) == (1, None):
                first = _with_items(data, self(data, count, least_size=2, weights=weights), weights)
            if first is None:
                from setveil.kernels.top import find_top

                wanted = _wanted(count, least_size, most_size)
                first = _found(
                    lambda rows, want: find_top(self._count(data, rows), want),
                    data,
                    wanted,
                    weights,
                )
            self._known[key] = first
        return first

    def _locked(self, key: object) -> Lock:
        with self._lock:
            return self._locks[key]

    def _count(self, data: object, rows: Weighted) -> Counted:
        """What is counted of records for all their lists: pairs are counted only once."""
        from setveil.kernels.top import count_needed

        with self._locked(id(data)):
            if id(data) not in self._counted:
                self._counted[id(data)] = data, count_needed(rows, _USUAL)
            return self._counted[id(data)][1]


def closed_itemsets(
    data: object, count: int = 1000, *, least_size: int = 1, weights: npt.ArrayLike | None = None
) -> Itemsets:
    """The closed itemsets with the greatest supports, exactly, and those that tie with the last.

    An itemset is closed if every larger one is in fewer records; the supports of all others follow
    from these. [Liu2010b] section V-B

    Cost: for each itemset found, the records of its rarest item are read once. 1,000 itemsets of
    88,000 real baskets take about a second.

    Example:
        Milk is never bought without beer, so milk alone is not closed:

        >>> baskets = [["beer", "wine"], ["beer", "wine", "milk"], ["beer", "milk"], ["bread"]]
        >>> list(closed_itemsets(baskets, 3))
        [(('beer',), 3), (('beer', 'milk'), 2), (('beer', 'wine'), 2)]
    """
    from setveil.kernels.closed import find_closed

    return _found(find_closed, data, _wanted(count, least_size, None), weights)


def top_itemsets_with_bounds(
    release: Release, count: int = 100, *, least_size: int = 1, seed: int = 0
) -> list[tuple[tuple[str, ...], Support]]:
    """The itemsets that most records certainly contain, with bounds, from the release alone.

    The candidates are the top itemsets among what is certain and those of one reconstruction, twice
    as many as asked for of each. They are sorted by lower bound, then by guess, then by length. An
    itemset whose items are separated everywhere may be missed if that one reconstruction happens to
    join them rarely.

    Example:
        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> cluster = SimpleCluster(4, [{("a", "b"): 3}, {("c",): 2}])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
        >>> for itemset, support in top_itemsets_with_bounds(release, 2, least_size=2):
        ...     print(itemset, support)
        ('a', 'b') Support(lower=3, upper=3, expected=3.0, accuracy='exact')
        ('a', 'c') Support(lower=1, upper=2, expected=1.5, accuracy='within 33.4 %')
    """
    if not isinstance(release, Release):
        kind = type(release).__name__
        raise ParameterError("release", kind, "it must be a release; top_itemsets takes data")
    check_count("count", count, 1)
    rows, weights = release.certain_rows()
    certain = top_itemsets(rows, 2 * count, least_size=least_size, weights=weights)
    drawn = top_itemsets(release.reconstruct(seed), 2 * count, least_size=least_size)
    most = max(2 * count, _MOST_ASKED)  # beyond it, thousands may tie for the last rank
    found = {itemset for each in (certain, drawn) for itemset, _ in islice(each, most)}
    bounded = [(itemset, release.support(itemset)) for itemset in found]
    bounded.sort(key=lambda entry: (-entry[1].lower, -entry[1].guess, len(entry[0]), entry[0]))
    return bounded[:count]


def _wanted(count: int, least_size: int, most_size: int | None) -> Wanted:
    from setveil.kernels.top import ANY_SIZE, Wanted

    count, least_size = check_count("count", count, 1), check_count("least_size", least_size, 1)
    if count > _MOST_COUNT:
        raise ParameterError("count", count, f"at most {_MOST_COUNT:,} itemsets are found at once")
    most = ANY_SIZE if most_size is None else check_count("most_size", most_size, least_size)
    return Wanted(count, least_size, MOST_TIES, most)


def _found(
    find: Callable[..., Found], thing: object, wanted: Wanted, weights: npt.ArrayLike | None
) -> Itemsets:
    data = as_transactions(thing)
    return _sorted(find(_weighted(data, weights), wanted), data, wanted.itemsets)


def _with_items(thing: object, longer: Itemsets, weights: npt.ArrayLike | None) -> Itemsets | None:
    """The top itemsets of any size, from as many of two or more; None if ties are missing."""
    from setveil.kernels.top import Found, supports_of

    data, count = as_transactions(thing), longer.wanted
    single = supports_of(_weighted(data, weights))
    supports = np.concatenate((single, longer.supports))
    least = max(int(np.sort(supports)[-count:][0]), 1) if len(supports) >= count else 1
    kept = supports >= least
    if not longer.complete or kept.sum() > count + MOST_TIES:
        return None
    sizes = np.concatenate((np.ones(len(single), dtype=np.int64), longer.itemsets.lengths))
    items: Int64s = np.concatenate((np.arange(len(single)), longer.itemsets.items))
    found = Found(sizes[kept], supports[kept], items[np.repeat(kept, sizes)], True)
    return _sorted(found, data, count)


def _weighted(data: Transactions, weights: npt.ArrayLike | None) -> Weighted:
    from setveil.kernels.top import Weighted

    given = np.ones(len(data), dtype=np.int64) if weights is None else _weights(weights, len(data))
    return Weighted(data.indptr, data.items, given, len(data.vocabulary))


def _weights(weights: npt.ArrayLike, records: int) -> Int64s:
    given = np.asarray(weights)
    if given.shape != (records,) or (records and (given.dtype.kind not in "iu" or given.min() < 0)):
        allowed = f"it must have a whole number of 0 or more for each of the {records} records"
        raise ParameterError("weights", weights, allowed)
    if given.sum(dtype=np.float64) >= _MOST_WEIGHT:
        allowed = f"together they must be below {_MOST_WEIGHT:.0e}, so that supports are exact"
        raise ParameterError("weights", weights, allowed)
    return given.astype(np.int64)


def _sorted(found: Found, data: Transactions, count: int) -> Itemsets:
    sizes, supports = found.sizes, found.supports
    owners = np.repeat(np.arange(len(sizes)), sizes)
    rows = Transactions.from_pairs(owners, found.items, data.vocabulary, size=len(sizes))
    longest = int(sizes.max(initial=0))
    table = np.full((len(sizes), longest), -1, dtype=np.int64)
    table[rows.rows, np.arange(len(rows.items)) - np.repeat(rows.indptr[:-1], sizes)] = rows.items
    order = np.lexsort((*table.T[::-1], sizes, -supports))
    return Itemsets(rows.take(order), supports[order], count, found.complete)
