"""VERPART: the terms of each cluster in chunks. [Terrovitis2012] section 4"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.engines.base import Engine, Progress
from setveil.methods.disassociation.horpart import Clusters

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Chunks:
    """The record chunks of all clusters."""

    chunk: npt.NDArray[np.int32]
    """For each occurrence its chunk within its cluster; -1 in the term chunk."""
    counts: Int64s
    """The number of record chunks of each cluster."""
    is_short: npt.NDArray[np.bool_]
    """Which clusters hold too few subrecords for Lemma 2, and so need a term in their term
    chunk."""


def verpart(
    clusters: Clusters,
    apart: npt.NDArray[np.bool_],
    k: int,
    m: int,
    engine: Engine,
    progress: Progress | None,
) -> Chunks:
    """The terms of each cluster, most frequent first, each in the first chunk that stays
    k^m-anonymous with it.

    Terms below k records and those to be kept apart form the term chunk. A cluster without one that
    has fewer subrecords than Lemma 2 asks for gives up its least frequent term."""
    from setveil.kernels.disassociation.vertical import split_vertically

    rows, bounds = clusters.rows, clusters.bounds
    chunk = np.full(len(rows.items), -1, dtype=np.int32)
    counts, is_short = np.zeros(len(clusters), dtype=np.int64), np.zeros(len(clusters), dtype=bool)
    width = np.int64(max(len(rows.vocabulary), 1))

    def work(task: tuple[int, int]) -> int:
        first, last = np.int64(task[0]), np.int64(task[1])
        split_vertically(
            rows.indptr,
            rows.items,
            width,
            bounds,
            first,
            last,
            np.int64(k),
            np.int64(m),
            apart,
            chunk,
            counts,
            is_short,
        )
        return int(bounds[last] - bounds[first])

    done = 0
    for records in engine.map(work, tasks(clusters, 100_000)):
        done += records
        if progress is not None:
            progress(done, len(rows), "cutting clusters into chunks")
    return Chunks(chunk, counts, is_short)


def tasks(clusters: Clusters, records: int) -> list[tuple[int, int]]:
    """Ranges of clusters of about `records` records each; they depend on the clusters alone."""
    cuts = np.searchsorted(clusters.bounds, np.arange(0, len(clusters.rows), records))
    edges = np.unique(np.append(cuts, len(clusters)))
    return [(int(first), int(last)) for first, last in zip(edges, edges[1:], strict=False)]
