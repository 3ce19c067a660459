"""Chunks over all records for the items of frequent pairs: the head of the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.judging import Targets
from setveil.methods.disassociation.partitioning import without

WORK = 200  # the steps of annealing, per occurrence of an item, that the time allows
SHORT = 3  # items of the head; records with fewer can be a part of their own
MOST_SPLITS = 3  # the top items that records are parted by, at most
TOP_WEIGHT, TOP_WEIGHTS = 0.5, (0.25, 1.0)
"""What the pairs of the top items are worth, beside the frequent pairs: in the search for parts,
and for the parts found."""


class Arranged(NamedTuple):
    """The parts of the records, and how the head is cut into chunks in each of them."""

    part: Int64s  # of each record
    chunks: Int64s  # [part, item] the chunk of each item, -1 if it is not in the head of the part
    pairs: float  # the expected error of the frequent pairs
    head: float  # of the most frequent ones
    top: float  # of all pairs of the top items


class Counts(NamedTuple):
    """How often the items of the head occur in some records."""

    rows: Rows
    together: Int64s  # [item, item]
    held: Int64s  # of each item


class Head:
    """The items that occur in frequent pairs, and the records over them."""

    def __init__(self, rows: Transactions, targets: Targets, rule: Rule) -> None:
        from setveil.kernels.disassociation.annealing import SWEEPS

        self._rule, width = rule, max(len(rows.vocabulary), 1)
        supports = np.bincount(rows.items, minlength=width)
        items = np.unique(np.concatenate((targets.first, targets.second)))
        self._items = items[np.argsort(-supports[items], kind="stable")]
        number = np.full(width, -1, dtype=np.int64)
        number[self._items] = np.arange(len(items))
        self._width, self._rows = width, _over(without(rows, number[rows.items] < 0), number)
        self._targets = targets._replace(first=number[targets.first], second=number[targets.second])
        self._lengths = np.diff(self._rows[0])
        self._is_long = (self._lengths >= SHORT).astype(np.int64)
        steps = WORK * rows.occurrences / max(len(items), 1) ** 2
        self.sweeps = int(min(steps, SWEEPS))

    def arrange(self, most: float) -> Arranged:
        """Of the arrangements tried, the one that is expected to err least, if possible with an
        error of the top pairs of at most `most`.

        All records as one part; the short ones apart; and parted by the most frequent items, one
        more each time, while that helps. The best is made again with more care."""
        best, last = self._tried(np.zeros(len(self._lengths), dtype=np.int64)), None
        best = min(best, self._tried(self._is_long), key=partial(_badness, most=most))
        for splits in range(1, min(MOST_SPLITS, len(self._items)) + 1):
            found = self._tried(self._parted(splits))
            if last is not None and _badness(found, most) >= _badness(last, most):
                break
            last = found
            best = min(best, found, key=partial(_badness, most=most))
        return min(best, *self._refined(best.part), key=partial(_badness, most=most))

    def arrange_whole(self) -> Arranged:
        """The best arrangement with all records as one part."""
        whole = np.zeros(len(self._lengths), dtype=np.int64)
        return min(self._refined(whole), key=lambda each: each.pairs + each.head)

    def _tried(self, part: Int64s) -> Arranged:
        part = _large_enough(part, self._rule.k)
        counts = self._counts(part)
        sweeps = max(self.sweeps // (2 * len(counts)), 1)
        return self._arranged(part, counts, self._targets.cost(TOP_WEIGHT), sweeps)

    def _refined(self, part: Int64s) -> Iterator[Arranged]:
        counts = self._counts(part)
        for top_weight in TOP_WEIGHTS:
            yield self._arranged(part, counts, self._targets.cost(top_weight), self.sweeps)

    def _parted(self, splits: int) -> Int64s:
        """Records parted by which of the most frequent items they have."""
        ptr, items = self._rows
        owners, part = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)), np.zeros(len(ptr) - 1)
        for item in range(splits):
            part[owners[items == item]] += 1 << item
        return part.astype(np.int64)

    def _counts(self, part: Int64s) -> list[Counts]:
        return [self._count(np.flatnonzero(part == each)) for each in range(int(part.max()) + 1)]

    def _count(self, records: Int64s) -> Counts:
        from setveil.kernels.disassociation.heads import count_together

        rows = _taken(self._rows, records)
        together = count_together(*rows, len(self._items))
        return Counts(rows, together, together.diagonal().copy())

    def _arranged(
        self, part: Int64s, counts: Sequence[Counts], cost: Floats, sweeps: int
    ) -> Arranged:
        expected = np.zeros(len(cost))
        chunks = np.full((len(counts), self._width), -1, dtype=np.int64)
        for number, each in enumerate(counts):
            chunk = self._cut(each, cost, sweeps)
            chunks[number, self._items] = chunk
            expected += self._expected(each, chunk)
        return Arranged(part, chunks, *self._targets.errors(expected))

    def _cut(self, counts: Counts, cost: Floats, sweeps: int) -> Int64s:
        """The chunk of each item, or -1 if fewer than k records have it.

        Keeping a pair is worth what it costs to have it as often as independence explains."""
        from setveil.kernels.disassociation.annealing import anneal
        from setveil.kernels.disassociation.heads import settle

        first, second, k = self._targets.first, self._targets.second, self._rule.k
        together, held = counts.together, counts.held
        apart = held[first] * held[second] / (len(counts.rows[0]) - 1)
        pairs = together[first, second]
        worth = cost * np.abs(pairs - apart) * (pairs >= k)
        weights = np.zeros(together.shape)
        weights[first, second] = weights[second, first] = worth
        conflicts = (together > 0) & (together < k)
        live = np.flatnonzero(held >= k)
        inside, wanted = np.ix_(live, live), np.full(len(held), -1, dtype=np.int64)
        wanted[live] = anneal(weights[inside].copy(), conflicts[inside].copy(), sweeps)
        chunk: Int64s = settle(*counts.rows, wanted, self._rule)
        return chunk

    def _expected(self, counts: Counts, chunk: Int64s) -> Floats:
        """The supports of the targets that some records lead one to expect."""
        first, second, held = self._targets.first, self._targets.second, counts.held
        shown = np.where(held >= self._rule.k, held, np.minimum(held, 1))
        apart = shown[first] * shown[second] / (len(counts.rows[0]) - 1)
        joined = (chunk[first] >= 0) & (chunk[first] == chunk[second])
        return np.where(joined, counts.together[first, second], apart)


def _large_enough(part: Int64s, k: int) -> Int64s:
    """The parts, numbered from 0; those of fewer than k records are put into the largest one."""
    sizes = np.bincount(part)
    moved = np.where(sizes < k, sizes.argmax(), np.arange(len(sizes)))
    _, numbers = np.unique(moved[part], return_inverse=True)
    return numbers.astype(np.int64)


def _badness(arranged: Arranged, most: float) -> tuple[float, float]:
    return max(arranged.top - most, 0.0), arranged.pairs + arranged.head + arranged.top / 2


Rows = tuple[Int64s, Int64s]


def _over(rows: Transactions, number: Int64s) -> Rows:
    """Records over other numbers, ascending in each record."""
    numbers = number[rows.items]
    order = np.lexsort((numbers, rows.rows))
    return rows.indptr, numbers[order]


def _taken(rows: Rows, records: Int64s) -> Rows:
    """Some of the records."""
    ptr, items = rows
    lengths = np.diff(ptr)[records]
    starts = np.concatenate(([0], np.cumsum(lengths)))
    places = np.arange(starts[-1]) + np.repeat(ptr[records] - starts[:-1], lengths)
    return starts, items[places]
