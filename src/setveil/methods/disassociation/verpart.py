"""VERPART: divide the terms of each cluster into chunks. [Terrovitis2012] section 4"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.kernels.disassociation.given import Block, Chunks, Rule
from setveil.methods.disassociation.horpart import Clusters

RECORDS = 100_000
"""The records of one task, about."""


class Task(NamedTuple):
    """Clusters to divide."""

    block: Block
    rule: Rule


def verpart(
    clusters: Clusters, rule: Rule, engine: Engine = LOCAL, progress: Progress | None = None
) -> Chunks:
    """The chunks of all clusters: each term is in the first chunk that can take it.

    A chunk can take a term if it stays k^m-anonymous with it. Terms in fewer than k records and
    sensitive terms form the term chunk. A cluster without one that has fewer subrecords than Lemma
    2 asks for gives up its least frequent term."""
    rows, ranges = clusters.rows, list(clusters.ranges(RECORDS))
    chunks = Chunks(
        np.full(len(rows.items), -1, dtype=np.int32),
        np.zeros(len(clusters), dtype=np.int64),
        np.zeros(len(clusters), dtype=bool),
    )
    tasks = (Task(each.block(), rule) for each in ranges)
    for each, found in zip(ranges, engine.map(split_clusters, tasks), strict=True):
        chunks.chunk[each.occurrences] = found.chunk
        chunks.counts[each.clusters] = found.counts
        chunks.is_short[each.clusters] = found.is_short
        if progress is not None:
            progress(each.records.stop, len(rows), "cutting clusters into chunks")
    return chunks


def split_clusters(task: Task) -> Chunks:
    """The chunks of some clusters."""
    from setveil.kernels.disassociation.vertical import split_vertically

    return split_vertically(*task)  # type: ignore[no-any-return]
