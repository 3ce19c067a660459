"""Choose how far the records are split: by what the release is expected to say about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from setveil.data.arrays import Flags, Int64s
from setveil.data.transactions import Transactions
from setveil.methods.disassociation.judging import Divided, Judge
from setveil.methods.disassociation.partitioning import Clusters, canonical_order

PARTS = (8,)  # how many parts are cut off before the rest is left together
FAR_WORSE, FAR_BETTER = 1.25, 0.4  # times the error of the small clusters
MOST_PAIRS = 12.0  # the pairs of items in records, per occurrence, up to which they are counted
FEW_PAIRS = 6.5  # and up to which parts are cut off, which takes as long as one cluster again


def choose(
    small: Divided, others: Iterator[Clusters], divide: Callable[[Clusters], Divided]
) -> Divided:
    """The small clusters, or the one of the other groupings that is expected to err least.

    What is compared is the total of `Judged`. A grouping that is expected to do worse than the
    small clusters in one of its measures is not taken. No more are tried after one that is far
    better or far worse."""
    judge = Judge(small.clusters.rows)
    best, least = small, judge.of(small)
    limit = least
    for clusters in others:
        made = divide(clusters)
        found = judge.of(made)
        if found.is_safe(limit) and found.total < least.total:
            best, least = made, found
        if found.pairs > FAR_WORSE * limit.pairs or least.total < FAR_BETTER * limit.total:
            break
    return best


def large_groups(data: Transactions, sensitive: Flags, least: int) -> Iterator[Clusters]:
    """All records as one cluster; then without the records of the most frequent terms, which are
    parts of their own: one after the other, each cut off the rest as HORPART does."""
    origin = canonical_order(data)
    rows = data.take(origin)
    yield Clusters(rows, origin, np.array([0, len(rows)], dtype=np.int64))
    if pairs_in(data) > FEW_PAIRS:
        return
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
    return pairs_in(data) > MOST_PAIRS


def pairs_in(data: Transactions) -> float:
    """The pairs of items in records, per occurrence of an item."""
    lengths = data.lengths.astype(np.float64)
    return float((lengths * (lengths - 1)).sum()) / 2 / max(float(lengths.sum()), 1.0)


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
