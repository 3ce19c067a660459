"""How wrong a release is expected to be about the frequent items, pairs and triples of records."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.data.arrays import Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Block, Chunks
from setveil.methods.disassociation.partitioning import Clusters
from setveil.methods.disassociation.refine import Joints, numbered, sizes_of

if TYPE_CHECKING:
    from setveil.kernels.disassociation.expected import Supports, Triples

MANY, HEAD, TOP = 1000, 100, 20  # how many of the most frequent ones are judged
MOST_TRIPLES = 100_000  # that are counted to find the most frequent ones


LOST, LOST_SURE = 0.025, 0.005
"""What the shares may seem to rise by: small clusters lose more than it seems. Measured."""


class Divided(NamedTuple):
    """The records in clusters, the clusters in chunks, and what they share."""

    clusters: Clusters
    chunks: Chunks
    joints: Joints


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
    def total(self) -> float:
        return self.items + self.pairs + self.triples + self.head

    def is_safe(self, small: Judged) -> bool:
        """Whether nothing is expected to be worse than in small clusters."""
        return (
            self.pairs <= small.pairs
            and self.top <= small.top
            and self.lost <= small.lost + LOST
            and self.lost_sure <= small.lost_sure + LOST_SURE
        )


class Judge:
    """The most frequent items, pairs and triples of some records, and how wrong a release is."""

    def __init__(self, rows: Transactions) -> None:
        from setveil.kernels.disassociation.frequent import frequent_pairs

        width = len(rows.vocabulary)
        self._items = np.bincount(rows.items, minlength=width)
        holders = np.concatenate(([0], np.cumsum(self._items)))
        order = np.argsort(rows.items, kind="stable")
        self._top = np.zeros(width, dtype=bool)
        self._top[np.argsort(-self._items, kind="stable")[:TOP]] = True
        self._pairs, bar = frequent_pairs(
            rows.indptr, rows.items, (holders, rows.rows[order]), MANY, self._top
        )
        firsts = np.repeat(np.arange(width), np.diff(self._pairs.first))
        self._is_top = self._top[firsts] & self._top[self._pairs.second]
        self._triples, self._triple_supports = self._frequent_triples(rows, bar)
        supports = (self._items, self._pairs.supports, self._triple_supports)
        self._weights = [_weights(each, MANY) for each in supports]
        self._head = _weights(self._pairs.supports, HEAD)
        self._first = _weights(np.concatenate(supports), MANY)

    def of(self, divided: Divided) -> Judged:
        """The expected errors of a release."""
        from setveil.kernels.disassociation.expected import expect_supports

        clusters = divided.clusters
        number, _ = numbered(*divided)
        block = Block(clusters.rows.indptr, clusters.rows.items, clusters.bounds)
        found = expect_supports(block, number, _masses(divided), self._pairs, self._triples)
        return self._judged(found)

    def _judged(self, found: Supports) -> Judged:
        pairs = _errors(self._pairs.supports, found.pairs)
        return Judged(
            float(_errors(self._items, found.items) @ self._weights[0]),
            float(pairs @ self._weights[1]),
            float(_errors(self._triple_supports, found.triples) @ self._weights[2]),
            float(pairs @ self._head),
            _top_error(self._pairs.supports[self._is_top], found.pairs[self._is_top]),
            self._lost(found.items, found.pairs, found.triples),
            self._lost(found.items, found.sure_pairs, found.sure_triples),
        )

    def _lost(self, *found: Floats | Int64s) -> float:
        """The share of the most frequent itemsets that are not the most frequent of those found."""
        supports = np.concatenate([each.astype(np.float64) for each in found])
        kept = np.minimum(self._first, _weights(supports, MANY))
        whole = float(self._first.sum())
        return 1 - float(kept.sum()) / whole if whole else 0.0

    def _frequent_triples(self, rows: Transactions, bar: int) -> tuple[Triples, Int64s]:
        """The triples that occur as often as the last of the frequent pairs."""
        from setveil.kernels.disassociation.expected import Triples
        from setveil.kernels.disassociation.frequent import count_triples, list_triples

        listed = Triples(*list_triples(self._pairs, bar, MOST_TRIPLES))
        supports = count_triples(rows.indptr, rows.items, self._pairs, listed)
        kept = (supports >= bar) & (_weights(supports, MANY) > 0)
        first = np.concatenate(([0], np.cumsum(kept)))[listed.first]
        return Triples(first, *(each[kept] for each in listed[1:])), supports[kept]


def _masses(divided: Divided) -> Floats:
    """For each occurrence of a shared item, how often the joint cluster has the item for as many
    records as the cluster has; 0 for all others."""
    clusters, _, joints = divided
    rows, inside = clusters.rows, np.flatnonzero(joints.shared >= 0)
    masses = np.zeros(len(rows.items))
    chunks = joints.shared[inside]
    codes = chunks * len(rows.vocabulary) + rows.items[inside]
    _, which, totals = np.unique(codes, return_inverse=True, return_counts=True)
    sizes = clusters.sizes[clusters.cluster_of_row[rows.rows[inside]]]
    joint_sizes = sizes_of(clusters, joints)[joints.chunk_node[chunks]]
    masses[inside] = totals[which] * sizes / joint_sizes
    return masses


def _weights(supports: Int64s | Floats, count: int) -> Floats:
    """What each counts in the average over the first `count`; those that tie for the last rank
    share what is left."""
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


def _top_error(truth: Int64s, expected: Floats) -> float:
    """The average of |a - b| / ((a + b) / 2), as in the metric re_top. A pair that does not occur
    counts as far as it is likely to be seen."""
    seen = np.where(truth > 0, 1.0, -np.expm1(-expected))
    if not seen.sum():
        return 0.0
    errors = np.abs(expected - truth) / np.maximum((expected + truth) / 2, 1e-9)
    return float(errors @ seen / seen.sum())
