"""Chunks over all records for the items of frequent pairs: the head of the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.judging import Targets
from setveil.methods.disassociation.partitioning import without

WORK = 200  # the steps of annealing, per occurrence of an item, that the time allows
ROUNDS = 3  # of annealing at most, if m is 3
CUTS: dict[int, tuple[tuple[int, ...], ...]] = {2: ((), (3,)), 3: ((3,),)}
"""For each m, the ways to part the records by how many items of the head they have. Records with
one or two say nothing of what fits into a chunk of three, and the longer ones are more alike
without them."""
TOP_WEIGHTS = (0.25, 1.0)  # what the pairs of the top items are worth, beside the frequent pairs


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
        self._targets = targets._replace(
            first=number[targets.first], second=number[targets.second]
        )
        steps = WORK * rows.occurrences / max(len(items), 1) ** 2
        self.sweeps = int(min(steps, SWEEPS))

    def arrange(self, most: float) -> Arranged | None:
        """Of the arrangements tried, the one that is expected to err least, if possible with an
        error of the top pairs of at most `most`; none if there are too few records."""
        return min(self._arrangements(), key=lambda each: _badness(each, most), default=None)

    def _arrangements(self) -> Iterator[Arranged]:
        lengths = np.diff(self._rows[0])
        for cut in CUTS[self._rule.m]:
            part = np.digitize(lengths, cut)
            sizes = np.bincount(part)
            if not cut or (len(sizes) == len(cut) + 1 and sizes.min() >= self._rule.k):
                counts = [self._count(np.flatnonzero(part == each)) for each in range(len(sizes))]
                for top_weight in TOP_WEIGHTS:
                    yield self._arranged(part, counts, self._targets.cost(top_weight))

    def _count(self, records: Int64s) -> Counts:
        from setveil.kernels.disassociation.heads import count_together

        rows = _taken(self._rows, records)
        together = count_together(*rows, len(self._items))
        return Counts(rows, together, together.diagonal().copy())

    def _arranged(self, part: Int64s, counts: Sequence[Counts], cost: Floats) -> Arranged:
        expected = np.zeros(len(cost))
        chunks = np.full((len(counts), self._width), -1, dtype=np.int64)
        for number, each in enumerate(counts):
            chunk = self._cut(each, cost)
            chunks[number, self._items] = chunk
            expected += self._expected(each, chunk)
        return Arranged(part, chunks, *self._targets.errors(expected))

    def _cut(self, counts: Counts, cost: Floats) -> Int64s:
        """The chunk of each item, or -1 if fewer than k records have it.

        Keeping a pair is worth what it costs to have it as often as independence explains."""
        from setveil.kernels.disassociation.heads import settle

        first, second, k = self._targets.first, self._targets.second, self._rule.k
        together, held = counts.together, counts.held
        apart = held[first] * held[second] / (len(counts.rows[0]) - 1)
        worth = cost * np.abs(together[first, second] - apart) * (together[first, second] >= k)
        weights = np.zeros(together.shape)
        weights[first, second] = weights[second, first] = worth
        conflicts = (together > 0) & (together < k)
        wanted = self._wanted(counts, weights, conflicts)
        chunk: Int64s = settle(*counts.rows, wanted, self._rule)
        return chunk

    def _wanted(self, counts: Counts, weights: Floats, conflicts: Flags) -> Int64s:
        """The best chunk found for each item. If m is 3, pairs of triples that are too rare are
        forbidden one after the other."""
        from setveil.kernels.disassociation.annealing import anneal
        from setveil.kernels.disassociation.heads import forbid_rare

        k, live = self._rule.k, np.flatnonzero(counts.held >= self._rule.k)
        inside, wanted = np.ix_(live, live), np.full(len(conflicts), -1, dtype=np.int64)
        chosen, sweeps = weights[inside].copy(), self.sweeps // (1 if self._rule.m < 3 else ROUNDS)
        for _ in range(ROUNDS):
            wanted[live] = anneal(chosen, conflicts[inside].copy(), sweeps)
            if self._rule.m < 3 or not forbid_rare(*counts.rows, wanted, weights, conflicts, k):
                break
        return wanted

    def _expected(self, counts: Counts, chunk: Int64s) -> Floats:
        """The supports of the targets that some records lead one to expect."""
        first, second, held = self._targets.first, self._targets.second, counts.held
        shown = np.where(held >= self._rule.k, held, np.minimum(held, 1))
        apart = shown[first] * shown[second] / (len(counts.rows[0]) - 1)
        joined = (chunk[first] >= 0) & (chunk[first] == chunk[second])
        return np.where(joined, counts.together[first, second], apart)


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
