"""How wrong a release is expected to be about the frequent items, pairs and triples of records."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s, Int64s, offsets, positions
from setveil.data.transactions import Transactions
from setveil.methods.disassociation.partitioning import only_items
from setveil.methods.disassociation.sketches import (
    Divided,
    Layers,
    Sketch,
    Small,
    known_supports,
    sketch_head,
    sketch_of,
)

if TYPE_CHECKING:
    from setveil.kernels.disassociation.expected import Supports
    from setveil.kernels.disassociation.frequent import Pairs, Triples

SAMPLE = 256  # items whose pairs are counted first, to see how frequent the others must be
MANY = 200_000  # of more records than this, the pairs are counted in a table
MOST_TRIPLES = 100_000  # that are counted to find the most frequent ones
MOST_WORK = 400.0
"""Pairs to count per occurrence of an item; if there are more, what is frequent is looked for in
some of the records, and counted in all."""
WIDEST = 2048  # the most items of frequent pairs for which a table of these pairs is made


class Scope(NamedTuple):
    """How many of the most frequent ones are judged."""

    many: int = 1000
    head: int = 100
    top: int = 20


class Targets(NamedTuple):
    """The pairs that should be right: the frequent ones, and those of the top items."""

    first: Int64s
    second: Int64s
    supports: Int64s
    apart: Floats  # what independence explains of the support
    many: Floats  # the weight of each in the average over the frequent ones
    head: Floats  # over the most frequent ones
    is_top: Flags

    def cost(self, top_weight: float) -> Floats:
        """What an error of one record costs in each pair, relative to its support; for pairs of the
        top items, which need not be frequent, relative to about what `top_error` divides by."""
        cost: Floats = (self.many + self.head) / np.maximum(self.supports, 1)
        top = self.is_top / max(int(self.is_top.sum()), 1)
        return cost + top_weight * top / np.maximum((self.supports + self.apart) / 2, 1)

    def some(self, which: Flags) -> Targets:
        """Some of them."""
        ints = self.first[which], self.second[which], self.supports[which]
        return Targets(
            *ints, self.apart[which], self.many[which], self.head[which], self.is_top[which]
        )

    def errors(self, expected: Floats) -> tuple[float, float, float]:
        """The errors of the frequent, the most frequent and the top pairs."""
        errors = _errors(self.supports, expected)
        top = self.is_top
        return (
            float(errors @ self.many),
            float(errors @ self.head),
            top_error(self.supports[top], expected[top]),
        )


class Judged(NamedTuple):
    """Expected average errors of the supports of frequent items, pairs and triples; of the most
    frequent pairs; of all pairs of the top items; and the shares of the most frequent itemsets that
    are no longer among them, by expected supports and by those that chunks show for certain."""

    items: float
    pairs: float
    triples: float
    head: float
    top: float
    lost: float
    lost_sure: float

    @property
    def badness(self) -> float:
        """How wrong it is about everything."""
        return sum(self)


class Judge:
    """The most frequent items, pairs and triples of some records, and how wrong a release is."""

    def __init__(self, rows: Transactions, scope: Scope, width: int = 1, k: int = 2) -> None:
        """Of these records, which are published with this k, with so many threads."""
        self._width, self._k, self._is_counted = width, k, False
        width = len(rows.vocabulary)
        self._items = np.bincount(rows.items, minlength=width)
        self._top = np.zeros(width, dtype=bool)
        self._top[np.argsort(-self._items, kind="stable")[: scope.top]] = True
        self._scope = scope
        likely = self._likely(rows)
        lengths = likely.lengths.astype(np.float64)
        pairs = float((lengths * (lengths - 1)).sum()) / 2
        self.work = pairs / max(rows.occurrences, 1)
        self._likely_rows, self._rows = likely, rows

    def count(self) -> None:
        """Count the pairs and triples, once; takes time in proportion to `work`."""
        if self._is_counted:
            return
        self._is_counted = True
        many, rows = self._scope.many, self._likely_rows
        pairs, bar = self._frequent_pairs(rows)
        firsts = np.repeat(np.arange(len(self._items)), np.diff(pairs.first))
        self._is_top = self._top[firsts] & self._top[pairs.second]
        triples, self._triple_supports = self._frequent_triples(rows, pairs, bar)
        supports = (self._items, pairs.supports, self._triple_supports)
        self._weights = [_weights(each, many) for each in supports]
        self._head = _weights(pairs.supports, self._scope.head)
        self._first = _weights(np.concatenate(supports), many)
        self.targets = self._targets(firsts, pairs)
        self._number(pairs, triples)
        del self._likely_rows

    def share_kept(self, k: int) -> float:
        """The share of the frequent pairs that occur k times, so that a chunk can have them."""
        weights = self._weights[1]
        return float(weights[self._pairs.supports >= k].sum()) if len(weights) else 0.0

    def small(self, divided: Divided) -> Small:
        """Clusters, as far as the targets are concerned."""
        return Small(divided, self._place, self._k)

    def kept(self, small: Small, records: Int64s) -> Floats:
        """What small clusters are expected to keep of the targets in some records."""
        found: Floats = self._expected(small.of(records))[self._used]
        return found

    def pairs_of(self, small: Small) -> float:
        """The expected error of the frequent pairs in some clusters."""
        return float(_errors(self._pairs.supports, self._expected(small.sketch)) @ self._weights[1])

    def of(self, small: Small) -> Judged:
        """All expected errors of some clusters."""
        found = self._supports(small.sketch, self._pairs, self._table, self._triples)
        return self._judged(found, small.divided)

    def of_clusters(self, divided: Divided) -> Judged:
        """The same of a release without head chunks."""
        return self.of(self.small(divided))

    def of_layers(self, layers: Layers, small: Small, part: Int64s, chunks: Int32s) -> Judged:
        """All expected errors of a release whose parts, of the records of small clusters, may have
        head chunks."""
        rows, own = small.sketch.rows, chunks[:, self._place >= 0]
        found = (
            self._of_part(rows.take(np.flatnonzero(part == number)), own[number], below)
            for number, below in enumerate(layers.below)
        )
        return self._judged(reduce(_added, found), layers.divided)

    def _of_part(self, rows: Transactions, chunk: Int32s, below: Divided) -> Supports:
        """Expected supports in the records of a part; head chunks do not depend on the rest."""
        from setveil.kernels.disassociation.expected import Supports

        given = self._pairs, self._table, self._triples
        inside = only_items(rows, chunk >= 0)
        head = self._supports(sketch_head(inside, chunk), *given)
        if inside.occurrences == rows.occurrences:
            return head
        sketch, width = sketch_of(below, self._place, self._k), len(chunk)
        tail, of_head = self._supports(sketch, *given), np.bincount(inside.items, minlength=width)
        up, low = of_head / max(len(rows), 1), sketch.masses(width)
        pairs, triples = self._pairs, self._triples
        firsts = np.repeat(np.arange(width), np.diff(pairs.first))
        under = np.repeat(np.arange(len(firsts)), np.diff(triples.first))
        joined = up[firsts] * low[pairs.second] + low[firsts] * up[pairs.second]
        thirds = np.zeros(len(under))
        ends = (under, triples.third), (triples.outer, pairs.second[under])
        for pair, item in (*ends, (triples.inner, firsts[under])):
            thirds += head.pairs[pair] * low[item] / max(len(rows), 1) + tail.pairs[pair] * up[item]
        nothing = np.zeros_like(head.sure_pairs), np.zeros_like(head.sure_triples)
        return reduce(_added, (head, tail, Supports(joined, thirds, *nothing)))

    def _expected(self, sketch: Sketch) -> Floats:
        """The expected supports of all pairs."""
        found = self._supports(sketch, self._pairs, self._table, no_triples(self._pairs))
        return found.pairs

    @staticmethod
    def _supports(sketch: Sketch, pairs: Pairs, table: Int32s, triples: Triples) -> Supports:
        from setveil.kernels.disassociation.expected import Shown, expect_supports

        shown = Shown(sketch.number, sketch.listed, sketch.given)
        found: Supports = expect_supports(sketch.block, shown, pairs, table, triples)
        return found

    def _judged(self, found: Supports, divided: Divided) -> Judged:
        known, pairs = known_supports(divided), _errors(self._pairs.supports, found.pairs)
        return Judged(
            float(_errors(self._items, known) @ self._weights[0]),
            float(pairs @ self._weights[1]),
            float(_errors(self._triple_supports, found.triples) @ self._weights[2]),
            float(pairs @ self._head),
            top_error(self._pairs.supports[self._is_top], found.pairs[self._is_top]),
            self._lost(known, found.pairs, found.triples),
            self._lost(known, found.sure_pairs, found.sure_triples),
        )

    def _lost(self, *found: Floats | Int64s) -> float:
        """The share of the most frequent itemsets that are not the most frequent of those found."""
        supports = np.concatenate([each.astype(np.float64) for each in found])
        kept = np.minimum(self._first, _weights(supports, self._scope.many))
        whole = float(self._first.sum())
        return 1 - float(kept.sum()) / whole if whole else 0.0

    def _targets(self, firsts: Int64s, pairs: Pairs) -> Targets:
        apart = self._items[firsts] * self._items[pairs.second] / max(len(self._rows), 1)
        self._used = (self._weights[1] > 0) | (self._head > 0) | self._is_top
        ends, many, head = (firsts, pairs.second), self._weights[1], self._head
        whole = Targets(*ends, pairs.supports, apart, many, head, self._is_top)
        return whole.some(self._used)

    def _number(self, pairs: Pairs, triples: Triples) -> None:
        """Number the items of the pairs without gaps, so that less memory is touched."""
        lengths = np.diff(pairs.first)
        is_found = lengths > 0
        is_found[pairs.second] = True
        self.is_common = self._items >= self._items[is_found].min(initial=len(self._rows))
        self._place = place = np.where(is_found, np.cumsum(is_found) - 1, -1)
        self._pairs = pairs._replace(first=offsets(lengths[is_found]), second=place[pairs.second])
        self._triples = triples._replace(third=place[triples.third])
        count = len(self._pairs.first) - 1
        self._table = np.full((count, count) if count <= WIDEST else (0, 0), -1, dtype=np.int32)
        if len(self._table):
            firsts = np.repeat(np.arange(count), lengths[is_found])
            self._table[firsts, self._pairs.second] = np.arange(len(firsts))

    def _likely(self, rows: Transactions) -> Transactions:
        """The records without items that are too rare to be in a frequent pair.

        The pairs of the most frequent items alone show how often the last of the frequent pairs
        occurs at least."""
        from setveil.kernels.itemsets import count_chosen

        first = np.argsort(-self._items, kind="stable")[:SAMPLE]
        place = np.append(positions(first, len(self._items)), len(first))
        counts = count_chosen(rows.indptr, rows.items, np.zeros(0, dtype=np.int64), place)
        pairs = counts[np.triu_indices(len(first), 1)]
        many = self._scope.many
        bar = int(np.partition(pairs, len(pairs) - many)[-many]) if len(pairs) >= many else 0
        self._least = max(bar, 1)
        return only_items(rows, (self._items >= bar) | self._top)

    def _frequent_pairs(self, rows: Transactions) -> tuple[Pairs, int]:
        if self.work <= MOST_WORK:
            return self._pairs_of(rows, self._scope.many)
        some = rows.take(np.arange(0, len(rows), int(np.ceil(self.work / MOST_WORK))))
        pairs, _ = self._pairs_of(some, 2 * self._scope.many)
        found = self._counts(rows, pairs, no_triples(pairs)).sure_pairs
        return pairs._replace(supports=found), self._bar(found)

    def _counts(self, rows: Transactions, pairs: Pairs, triples: Triples) -> Supports:
        """How many records have each pair and triple: as one cluster with one chunk all is sure."""
        whole = sketch_head(rows, np.zeros(len(self._items), dtype=np.int32))
        return self._supports(whole, pairs, np.zeros((0, 0), dtype=np.int32), triples)

    def _bar(self, supports: Int64s) -> int:
        """How often the last of the frequent pairs occurs."""
        met, many = supports[supports > 0], self._scope.many
        return int(np.partition(met, -many)[-many]) if len(met) >= many else 1

    def _pairs_of(self, rows: Transactions, many: int) -> tuple[Pairs, int]:
        """So many of the most frequent pairs of these records, and how often the last occurs."""
        from setveil.kernels.disassociation.frequent import frequent_pairs

        found = self._all_pairs(rows) if len(rows) > MANY else None
        if found is not None:
            return found
        order = np.argsort(rows.items, kind="stable")
        counts = np.bincount(rows.items, minlength=len(self._items))
        holders = np.concatenate(([0], np.cumsum(counts))), rows.rows[order]
        least = self._least if rows is self._likely_rows else 1
        asked = np.int64(many), np.int64(least)
        pairs, bar = frequent_pairs(rows.indptr, rows.items, holders, asked, self._top)
        firsts = np.repeat(np.arange(len(self._items)), np.diff(pairs.first))
        order = np.lexsort((pairs.second, firsts))
        return pairs._replace(second=pairs.second[order], supports=pairs.supports[order]), bar

    def _all_pairs(self, rows: Transactions) -> tuple[Pairs, int] | None:
        """The same of many records, out of a table of all pairs, which is filled record by record:
        fetching the records of one item after the other takes longer. None if it would be too
        large."""
        from setveil.kernels.disassociation.frequent import Pairs
        from setveil.kernels.top import Weighted, count_frequent, split_places

        weights, width = np.ones(len(rows), dtype=np.int64), len(self._items)
        counted = count_frequent(Weighted(rows.indptr, rows.items, weights, width))
        if counted.beyond or len(counted.order) < self._scope.top:
            return None
        table = counted.pairs
        bar = self._bar(table)
        low, high = split_places(np.flatnonzero(table >= bar))
        top = np.flatnonzero(self._top[counted.order])
        one, other = np.triu_indices(len(top), 1)
        low, high = np.append(low, top[one]), np.append(high, top[other])
        ends = counted.order[low], counted.order[high]
        codes = np.unique(np.minimum(*ends) * width + np.maximum(*ends), return_index=True)
        first, second = np.divmod(codes[0], width)
        supports = table[high * (high - 1) // 2 + low][codes[1]]
        return Pairs(offsets(np.bincount(first, minlength=width)), second, supports), bar

    def _frequent_triples(
        self, rows: Transactions, pairs: Pairs, bar: int
    ) -> tuple[Triples, Int64s]:
        """The triples that occur as often as the last of the frequent pairs."""
        from setveil.kernels.disassociation.frequent import Triples, list_triples

        listed = Triples(*list_triples(pairs, bar, MOST_TRIPLES))
        supports = self._counts(rows, pairs, listed).sure_triples
        kept = (supports >= bar) & (_weights(supports, self._scope.many) > 0)
        first = np.concatenate(([0], np.cumsum(kept)))[listed.first]
        return Triples(first, *(each[kept] for each in listed[1:])), supports[kept]


def no_triples(pairs: Pairs) -> Triples:
    """None under each of these pairs."""
    from setveil.kernels.disassociation.frequent import Triples

    none = np.zeros(0, dtype=np.int64)
    return Triples(np.zeros(len(pairs.second) + 1, dtype=np.int64), none, none, none)


def _added(one: Supports, other: Supports) -> Supports:
    return type(one)(*map(np.add, one, other))


def top_error(truth: Int64s, expected: Floats) -> float:
    """The average of |a - b| / ((a + b) / 2), as in the metric re_top. A pair that does not occur
    counts as far as it is likely to be seen."""
    seen = np.where(truth > 0, 1.0, -np.expm1(-expected))
    if not seen.sum():
        return 0.0
    errors = np.abs(expected - truth) / np.maximum((expected + truth) / 2, 1e-9)
    return float(errors @ seen / seen.sum())


def _weights(supports: Int64s | Floats, count: int) -> Floats:
    """What each counts in the average over the first `count`; ties share the last places."""
    count = min(count, int(np.count_nonzero(supports)))
    if count == 0:
        return np.zeros(len(supports))
    last = np.partition(supports, len(supports) - count)[len(supports) - count]
    above, ties = supports > last, supports == last
    left = count - np.count_nonzero(above)
    weights: Floats = (above + ties * (left / np.count_nonzero(ties))) / count
    return weights


def _errors(truth: Int64s, expected: Floats | Int64s) -> Floats:
    errors: Floats = np.abs(expected - truth) / np.maximum(truth, 1)
    return errors
