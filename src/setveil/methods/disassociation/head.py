"""Chunks over all records for the items of frequent pairs: the head of the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.judging import Targets
from setveil.methods.disassociation.partitioning import without

WORK = 200  # the steps of annealing, per occurrence of an item, that the time allows
CUTS = (0, 3)
"""Records with fewer items of the head than this are a part of their own; 0 for one part. Records of
two items have one pair: they put no item between others that do not fit."""
TOP_WEIGHTS = (0.25, 1.0)  # what the pairs of the top items are worth, beside the frequent pairs


class Arranged(NamedTuple):
    """The parts of the records, and how the head is cut into chunks in each of them."""

    part: Int64s  # of each record
    chunks: Int64s  # [part, item] the chunk of each item, -1 if it is not in the head of the part
    errors: tuple[float, float, float]  # of the targets, as expected


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

    def arrange(self, most: float) -> Arranged:
        """Of the arrangements tried, the one that is expected to err least, if possible with an
        error of the top pairs of at most `most`."""
        return min(self._arrangements(), key=lambda each: _badness(each.errors, most))

    def _arrangements(self) -> Iterator[Arranged]:
        lengths = np.diff(self._rows[0])
        for cut in CUTS:
            part = (lengths >= cut).astype(np.int64) if cut else np.zeros_like(lengths)
            sizes = np.bincount(part)
            if cut == 0 or (len(sizes) == 2 and sizes.min() >= self._rule.k):
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
        return Arranged(part, chunks, self._targets.errors(expected))

    def _cut(self, counts: Counts, cost: Floats) -> Int64s:
        """The chunk of each item, or -1 if fewer than k records have it.

        Keeping a pair is worth what it costs to have it as often as independence explains."""
        from setveil.kernels.disassociation.annealing import anneal
        from setveil.kernels.disassociation.heads import settle

        first, second, k = self._targets.first, self._targets.second, self._rule.k
        together, held = counts.together, counts.held
        apart = held[first] * held[second] / (len(counts.rows[0]) - 1)
        worth = cost * np.abs(together[first, second] - apart) * (together[first, second] >= k)
        weights = np.zeros(together.shape)
        weights[first, second] = weights[second, first] = worth
        live = np.flatnonzero(held >= k)
        inside, wanted = np.ix_(live, live), np.zeros(len(held), dtype=np.int64)
        conflicts = (together > 0) & (together < k)
        wanted[live] = anneal(weights[inside].copy(), conflicts[inside].copy(), self.sweeps)
        chunk: Int64s = settle(*counts.rows, wanted, self._rule)
        return chunk

    def _expected(self, counts: Counts, chunk: Int64s) -> Floats:
        """The supports of the targets that some records lead one to expect."""
        first, second, held = self._targets.first, self._targets.second, counts.held
        shown = np.where(held >= self._rule.k, held, np.minimum(held, 1))
        apart = shown[first] * shown[second] / (len(counts.rows[0]) - 1)
        joined = (chunk[first] >= 0) & (chunk[first] == chunk[second])
        return np.where(joined, counts.together[first, second], apart)


def _badness(errors: tuple[float, float, float], most: float) -> tuple[float, float]:
    pairs, head, top = errors
    return max(top - most, 0.0), pairs + head + top / 2


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
