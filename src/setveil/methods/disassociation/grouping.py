"""Choose how far the records are split: by what the release is expected to say about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Block, Chunks
from setveil.methods.disassociation.partitioning import Clusters, canonical_order
from setveil.methods.disassociation.refine import Joints, numbered, sizes_of

PAIRS, ITEMS, HEAD = 1000, 1000, 100  # how many of the most frequent ones are judged
PARTS = (8,)  # how many parts are cut off before the rest is left together
MOST_PAIRS = 100  # the pairs of items in records, per occurrence, up to which they are counted


class Divided(NamedTuple):
    """The records in clusters, the clusters in chunks, and what they share."""

    clusters: Clusters
    chunks: Chunks
    joints: Joints


class Judged(NamedTuple):
    """How wrong the supports of frequent items and pairs are expected to be, on average."""

    items: float
    pairs: float
    head: float

    @property
    def total(self) -> float:
        return self.items + self.pairs + self.head


def choose(
    small: Divided, others: Iterator[Clusters], divide: Callable[[Clusters], Divided]
) -> Divided:
    """The small clusters, or the one of the other groupings that is expected to err least.

    What is compared is the expected relative error of the supports of the 1,000 most frequent
    items, of the 1,000 most frequent pairs, and once more of the first 100 of these. A grouping
    that errs more on the 1,000 pairs than the small clusters is not taken."""
    judge = Judge(small.clusters.rows)
    best, least = small, judge.of(small)
    limit = least.pairs
    for clusters in others:
        made = divide(clusters)
        found = judge.of(made)
        if found.pairs <= limit and found.total < least.total:
            best, least = made, found
    return best


def large_groups(data: Transactions, sensitive: Flags, least: int) -> Iterator[Clusters]:
    """All records as one cluster; then without the records of the most frequent terms, which are
    parts of their own: one after the other, each cut off the rest as HORPART does."""
    origin = canonical_order(data)
    rows = data.take(origin)
    yield Clusters(rows, origin, np.array([0, len(rows)], dtype=np.int64))
    part, made = _cut_off(rows, sensitive, max(PARTS)), 0
    for parts in PARTS:
        owner = np.where(part < parts, part, parts)
        sizes = np.bincount(owner, minlength=parts + 1)
        if sizes.min() < least or parts == made:
            return
        made, order = parts, np.argsort(owner, kind="stable")
        bounds = np.concatenate(([0], np.cumsum(sizes)))
        yield Clusters(rows.take(order), origin[order], bounds)


def is_dense(data: Transactions) -> bool:
    """Whether records are so long that counting the pairs in them takes too long."""
    lengths = data.lengths.astype(np.float64)
    return float((lengths * (lengths - 1)).sum()) > 2 * MOST_PAIRS * float(lengths.sum())


def _cut_off(rows: Transactions, sensitive: Flags, parts: int) -> Int64s:
    """The part of each record; those that are in none of so many parts get the next number."""
    part = np.full(len(rows), parts, dtype=np.int64)
    width, owners = len(rows.vocabulary), rows.rows
    for number in range(parts):
        counts = np.bincount(rows.items[part[owners] == parts], minlength=width)
        counts[sensitive[:width]] = 0
        term = int(counts.argmax()) if width else 0
        if not width or counts[term] == 0:
            break
        holders = owners[rows.items == term]
        part[holders[part[holders] == parts]] = number
    return part


class Judge:
    """The most frequent items and pairs of some records, and how wrong a release gets them."""

    def __init__(self, rows: Transactions) -> None:
        from setveil.kernels.disassociation.expected import frequent_pairs

        order = np.argsort(rows.items, kind="stable")
        starts = np.zeros(len(rows.vocabulary) + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows.items, minlength=len(rows.vocabulary)), out=starts[1:])
        holders = (starts, rows.rows[order])
        _, many = frequent_pairs(rows.indptr, rows.items, holders, 0)
        reached = np.flatnonzero(np.cumsum(many[::-1]) >= min(PAIRS, int(many.sum())))
        least = max(len(many) - 1 - int(reached[0]), 1)
        self._pairs, _ = frequent_pairs(rows.indptr, rows.items, holders, least)
        self._items = np.diff(starts)
        self._weights = [_weights(self._pairs.supports, count) for count in (PAIRS, HEAD)]
        self._item_weights = _weights(self._items, ITEMS)

    def of(self, divided: Divided) -> Judged:
        """The expected errors of a release."""
        from setveil.kernels.disassociation.expected import expect_supports

        clusters = divided.clusters
        number, _ = numbered(*divided)
        block = Block(clusters.rows.indptr, clusters.rows.items, clusters.bounds)
        expected, singles = expect_supports(block, number, _masses(divided), self._pairs)
        pairs = _errors(self._pairs.supports, expected)
        items = _errors(self._items, singles)
        many, few = (float(pairs @ weights) for weights in self._weights)
        return Judged(float(items @ self._item_weights), many, few)


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


def _weights(supports: Int64s, count: int) -> Floats:
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
