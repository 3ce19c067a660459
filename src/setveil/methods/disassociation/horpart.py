"""HORPART: the records in clusters of similar ones. [Terrovitis2012] section 4"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Transactions

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Clusters:
    """The records in the order of their clusters: cluster c holds `order[bounds[c]:bounds[c + 1]]`."""

    order: Int64s
    bounds: Int64s

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def sizes(self) -> Int64s:
        return np.diff(self.bounds)

    @property
    def cluster_of_place(self) -> Int64s:
        """The cluster of each place in `order`."""
        return np.repeat(np.arange(len(self)), self.sizes)


def horpart(data: Transactions, records: Int64s, sensitive: npt.NDArray[np.bool_], least: int, limit: int) -> Clusters:
    """Clusters of `least` to `limit - 1` similar records (more than that only where `least` asks for it).

    Args:
        data: All records.
        records: Those to cluster, none of them empty, in a canonical order: what is equal otherwise goes by it.
        sensitive: Which terms must not decide who is with whom.
        least: How many records a cluster holds at least.
        limit: A group of this many records is cut.
    """
    from setveil.kernels.horizontal import split_horizontally

    order = records.copy()
    width = max(len(data.vocabulary), 1)
    bounds = split_horizontally(data.indptr, data.items, np.int64(width), order, sensitive, np.int64(least), np.int64(limit))
    return Clusters(order, bounds)
