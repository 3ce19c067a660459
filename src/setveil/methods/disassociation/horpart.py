"""HORPART: the records in clusters of similar ones. [Terrovitis2012] section 4"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.data.hashing import hash_records
from setveil.data.transactions import Transactions

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Clusters:
    """Records laid out cluster by cluster: cluster c holds the rows `bounds[c]` to `bounds[c +
    1] - 1`."""

    rows: Transactions
    origin: Int64s
    """The number of each row among the original records."""
    bounds: Int64s

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def sizes(self) -> Int64s:
        return np.diff(self.bounds)

    @property
    def cluster_of_row(self) -> Int64s:
        return np.repeat(np.arange(len(self)), self.sizes)


def horpart(data: Transactions, apart: npt.NDArray[np.bool_], least: int, limit: int) -> Clusters:
    """Clusters of `least` to `limit - 1` similar records (more than that only where `least` asks
    for it); empty records are left out.

    Args:
        data: The records.
        apart: Which terms must not decide who is with whom.
        least: How many records a cluster holds at least.
        limit: A group of this many records is cut.
    """
    from setveil.kernels.disassociation.horizontal import split_horizontally

    origin = canonical_order(data)
    rows, order = data.take(origin), np.arange(len(origin))
    width = max(len(data.vocabulary), 1)
    bounds = split_horizontally(
        rows.indptr, rows.items, np.int64(width), order, apart, np.int64(least), np.int64(limit)
    )
    return Clusters(rows.take(order), origin[order], bounds)


def canonical_order(data: Transactions) -> Int64s:
    """The records that are not empty, in an order that depends on what they hold alone.

    Those that share their most frequent terms stand beside each other, so that what is cut together
    lies together in memory; equal ones stand together."""
    full = np.flatnonzero(data.lengths)
    if len(full) == 0:
        return full
    rank = np.empty(len(data.vocabulary), dtype=np.uint64)
    rank[np.argsort(-data.supports(), kind="stable")] = np.arange(len(rank), dtype=np.uint64)
    starts, lengths = data.indptr[full], data.lengths[full]
    values, none = rank[data.items], np.uint64(len(rank))
    key = np.zeros(len(full), dtype=np.uint64)
    for _ in range(3):
        first = np.minimum.reduceat(values, starts)
        key = key * np.uint64(min(len(rank) + 1, 1 << 21)) + np.minimum(
            first, np.uint64((1 << 21) - 1)
        )
        values[values == np.repeat(first, lengths)] = none
    return full[np.lexsort((hash_records(data, 1)[full], key))]
