"""What disassociation did to items and pairs of items: tlost, chunked, re and its variants."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.metrics.state import State, Worlds, draw_worlds, measured
from setveil.published.disassociated.form import Disassociated
from setveil.published.release import Release

TERMS = 20  # how many consecutive items are paired with each other. [Terrovitis2012] section 7
FIRST = 200
"""The rank of the first of them, counted from 0: neither the most frequent nor very rare."""


@dataclass(frozen=True, eq=False)
class Chunks(State):
    """What record and shared chunks show of the items of the original."""

    shared = ("k",)
    supports: Int64s
    inside: Flags
    """Which items are in a chunk."""
    published: int
    k: int | None

    @classmethod
    def of(cls, release: Disassociated, original: Transactions) -> Chunks:
        rows = release.subrecords
        inside = {release.items[number] for number in np.unique(rows.items).tolist()}
        published = int((rows.lengths * release.subrecord_counts).sum())
        marks = original.vocabulary.marks(inside)
        k = getattr(release.promise, "k", None)
        return cls(original.supports(), marks, published, k)


@measured(Chunks.of)
def tlost(found: Chunks, *, k: int | None = None) -> float:
    """Terms lost: the share of the frequent items that no cluster publishes with a count.

    Formula: of the items with a support of at least k in the original, the share that is in no
    subrecord of any record or shared chunk, only in term chunks. [Terrovitis2012] section 7

    Range: 0 (each of them is in a chunk somewhere) to 1. 0 if there are no such items.

    Example:
        Three items are in 2 or more records; c is only in a term chunk.

        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> cluster = SimpleCluster(3, [{("a", "b"): 2}], ["c", "d"])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
        >>> round(tlost(release, Transactions.of([["a", "b", "c"], ["a", "b", "c"], ["d"]])), 4)
        0.3333
    """
    least = found.k if k is None else k
    if least is None:
        raise ParameterError("k", k, "the promise of the release has no k; give one")
    frequent = found.supports >= least
    return float((frequent & ~found.inside).sum() / max(frequent.sum(), 1))


@measured(Chunks.of)
def chunked(found: Chunks) -> float:
    """Share in chunks: how much of all item occurrences is in record and shared chunks.

    Formula: the items of all subrecords, each as often as it occurs, divided by the number of
    occurrences in the original (bags: of distinct items per record).

    Range: 0 (only term chunks are left) to 1 (every occurrence is in a chunk). 1 if the original
    has no items.

    Example:
        Four of six occurrences are in the chunk.

        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> cluster = SimpleCluster(3, [{("a", "b"): 2}], ["c"])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
        >>> round(chunked(release, Transactions.of([["a", "b", "c"], ["a", "b"], ["c"]])), 4)
        0.6667
    """
    occurrences = int(found.supports.sum())
    return found.published / occurrences if occurrences else 1.0


@dataclass(frozen=True, eq=False)
class Pairs(State):
    """The supports of all pairs of some items in the original, and in what is published."""

    original: Floats
    published: Floats

    @classmethod
    def drawn(
        cls,
        release: Release,
        original: Transactions,
        *,
        first: int = FIRST,
        supports: Int64s | None = None,
        worlds: Worlds | None = None,
        **drawing: int,
    ) -> Pairs:
        """On average over possible originals; `supports` are those of all parts."""
        numbers = ranked_items(original.supports() if supports is None else supports, first)
        worlds = worlds or draw_worlds(release, **drawing)
        found = [_found_in(world, original, numbers) for world in worlds]
        return cls(pair_supports(original, numbers), np.mean(found, axis=0))

    @classmethod
    def certain(
        cls,
        release: Release,
        original: Transactions,
        *,
        first: int = FIRST,
        supports: Int64s | None = None,
    ) -> Pairs:
        """Inside chunks."""
        numbers = ranked_items(original.supports() if supports is None else supports, first)
        rows, counts = release.certain_rows()
        return cls(pair_supports(original, numbers), _found_in(rows, original, numbers, counts))


@measured(Pairs.drawn)
def re(found: Pairs) -> float:
    """Relative error of pairs: how wrong the supports of pairs of items at ranks 200 to 219 are.

    Formula: the average over all pairs {a, b} of 20 items with consecutive ranks by their support
    in the original (ranks from `first`; equal supports in the order of the vocabulary) of |so - sp|
    / ((so + sp) / 2), where so is the support of the pair in the original and sp that in a
    reconstruction (the average of several). Pairs that occur in neither are left out. If the
    original has fewer items, its last 20 are taken. [Terrovitis2012] section 6

    Range: 0 (all supports are right) to 2 (no pair is where it was). 0 if there are no pairs.

    Example:
        The pair {a, b} was in 2 records and certainly is in 2; {a, c} and {b, c} never occur.

        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> first = SimpleCluster(3, [{("a", "b"): 2, ("a",): 1}])
        >>> second = SimpleCluster(2, [{("c",): 2}])
        >>> release = Disassociated.of_clusters([first, second], KmAnonymity(k=2, m=2))
        >>> re(release, Transactions.of([["a", "b"], ["a", "b"], ["a"], ["c"], ["c"]]))
        0.0
    """
    upper = np.triu_indices(len(found.original), 1)
    before, after = found.original[upper], found.published[upper]
    anywhere = before + after > 0
    errors = np.abs(before - after)[anywhere] / ((before + after)[anywhere] / 2)
    return float(errors.mean()) if len(errors) else 0.0


@measured(partial(Pairs.drawn, first=0))
def re_top(found: Pairs) -> float:
    """Relative error of frequent pairs: as re, for the 20 most frequent items.

    Range: 0 to 2."""
    return re.figure(found)


@measured(Pairs.certain)
def re_a(found: Pairs) -> float:
    """Relative error of pairs that are certain: as re, but only pairs inside a chunk count.

    Formula: as `re`, where sp is the number of subrecords of record and shared chunks that contain
    the pair. It needs no reconstruction and does not depend on chance. [Terrovitis2012] section 7

    Range: 0 to 2.

    Example:
        Both records had the pair, but the release separates its items: |2 - 0| / 1.

        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> cluster = SimpleCluster(2, [{("a",): 2}, {("b",): 2}])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
        >>> re_a(release, Transactions.of([["a", "b"], ["a", "b"]]))
        2.0
    """
    return re.figure(found)


@measured(partial(Pairs.certain, first=0))
def re_a_top(found: Pairs) -> float:
    """Relative error of frequent pairs that are certain: as re_a, for the 20 most frequent items.

    Range: 0 to 2."""
    return re.figure(found)


def ranked_items(supports: Int64s, first: int) -> Int64s:
    """The items of 20 consecutive ranks by these supports, or the last 20."""
    order = np.lexsort((np.arange(len(supports)), -supports))
    start = min(first, max(len(order) - TERMS, 0))
    return order[start : start + TERMS]


def pair_supports(data: Transactions, numbers: Int64s, weights: Int64s | None = None) -> Floats:
    """A table of the supports of all pairs of some items; the diagonal has those of the items."""
    from setveil.kernels.itemsets import count_chosen

    place = np.full(len(data.vocabulary) + 1, -1, dtype=np.int64)
    place[numbers], place[-1] = np.arange(len(numbers)), len(numbers)
    given = np.zeros(0, np.int64) if weights is None else np.array(weights, dtype=np.int64)
    return count_chosen(data.indptr, data.items, given, place).astype(np.float64)


def _found_in(
    rows: Transactions, original: Transactions, numbers: Int64s, weights: Int64s | None = None
) -> Floats:
    """The same for items of the original in other rows, which may not have all of them."""
    places = rows.vocabulary.find(original.vocabulary[number] for number in numbers.tolist())
    known, table = np.flatnonzero(places >= 0), np.zeros((len(numbers), len(numbers)))
    table[np.ix_(known, known)] = pair_supports(rows, places[known], weights)
    return table
