"""REFINE: clusters joined over the terms that their term chunks have in common. [Terrovitis2012]
section 4"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from setveil.engines.base import Engine, Progress
from setveil.errors import ParameterError
from setveil.methods.disassociation.horpart import Clusters
from setveil.methods.disassociation.verpart import Chunks, tasks

if TYPE_CHECKING:
    from setveil.kernels.disassociation.lists import Lists

Int64s = npt.NDArray[np.int64]

BLOCK = 100_000
"""Records that one joint cluster may hold at most, about; larger data fall into several."""
WEIGHT = 0.5
"""How likely a joint cluster must make a term, as a share of how likely the clusters that hold
it make it now. Measured, see the docs."""
MOST = 2**31 - 1
"""Occurrences that one joint cluster may hold at most."""


@dataclass(frozen=True)
class Joints:
    """The forest of clusters and the shared chunks."""

    parent: Int64s
    """The joint cluster of each cluster, simple ones first; -1 for none."""
    chunk_node: Int64s
    """The joint cluster of each shared chunk."""
    shared: Int64s
    """For each occurrence its shared chunk; -1 for none."""


def no_joints(clusters: Clusters) -> Joints:
    """Every cluster by itself."""
    return Joints(
        np.full(len(clusters), -1, dtype=np.int64),
        np.empty(0, dtype=np.int64),
        _not_shared(clusters),
    )


def refine(
    clusters: Clusters,
    chunks: Chunks,
    never: npt.NDArray[np.bool_],
    k: int,
    m: int,
    limit: int,
    with_lost: bool,
    engine: Engine,
    progress: Progress | None,
) -> Joints:
    """Joint clusters as the paper makes them, and then of 2, 4, 8, ... neighbours over terms that
    these make likely enough.

    With `with_lost`, a term that stands in no chunk at all is shared in the first joint cluster
    that has it k times."""
    from setveil.kernels.disassociation.refine import refine as refine_range

    shared = _not_shared(clusters)
    ranges = tasks(clusters, BLOCK)

    def work(number: int) -> tuple[int, Int64s, Int64s]:
        lists, sizes, cluster, part = _open(clusters, chunks, never, k, *ranges[number], shared)
        reach = k * limit / WEIGHT
        return number, *refine_range(
            lists, sizes, cluster, np.int64(k), np.int64(m), reach, WEIGHT, with_lost, part
        )

    done, parts = 0, {}
    for number, parent, chunk_node in engine.map(work, range(len(ranges))):
        parts[number] = (parent, chunk_node)
        done += int(clusters.bounds[ranges[number][1]] - clusters.bounds[ranges[number][0]])
        if progress is not None:
            progress(done, len(clusters.rows), "joining clusters")
    return _together(clusters, ranges, [parts[number] for number in range(len(ranges))], shared)


def refine_as_paper(
    clusters: Clusters, chunks: Chunks, never: npt.NDArray[np.bool_], k: int, m: int
) -> Joints:
    """Joint clusters as the paper makes them, but for its unsound Property 1."""
    from setveil.kernels.disassociation.refine import refine_as_paper as refine_all

    if clusters.rows.occurrences > MOST:
        raise ParameterError(
            "order",
            "paper",
            f"the paper's way takes at most {MOST} occurrences, the default as many as there are",
        )
    shared = _not_shared(clusters)
    lists, sizes, cluster, part = _open(clusters, chunks, never, k, 0, len(clusters), shared)
    parent, chunk_node = refine_all(lists, sizes, cluster, np.int64(k), np.int64(m), part)
    return Joints(parent, chunk_node, shared)


def _open(
    clusters: Clusters,
    chunks: Chunks,
    never: npt.NDArray[np.bool_],
    k: int,
    first: int,
    last: int,
    shared: Int64s,
) -> tuple[Lists, Int64s, Int64s, Int64s]:
    """What the clusters of a range may share, their sizes, the cluster of each of their records,
    and their part of `shared`."""
    from setveil.kernels.disassociation.leftover import list_open

    rows, bounds = clusters.rows, clusters.bounds
    width = np.int64(max(len(rows.vocabulary), 1))
    ends = np.int64(first), np.int64(last)
    lists = list_open(
        rows.indptr,
        rows.items,
        width,
        bounds,
        *ends,
        chunks.chunk,
        chunks.is_short,
        never,
        np.int64(k),
    )
    sizes = clusters.sizes[first:last]
    part = shared[rows.indptr[bounds[first]] : rows.indptr[bounds[last]]]
    return lists, sizes, np.repeat(np.arange(last - first), sizes), part


def _not_shared(clusters: Clusters) -> Int64s:
    return np.full(len(clusters.rows.items), -1, dtype=np.int64)


def _together(
    clusters: Clusters,
    ranges: list[tuple[int, int]],
    parts: list[tuple[Int64s, Int64s]],
    shared: Int64s,
) -> Joints:
    """Put the forests of the ranges into one; simple clusters keep their numbers, joint ones and
    shared chunks follow each other."""
    parents, chunk_nodes = (
        [np.full(len(clusters), -1, dtype=np.int64)],
        [np.empty(0, dtype=np.int64)],
    )
    nodes, made = len(clusters), 0
    for (first, last), (parent, chunk_node) in zip(ranges, parts, strict=True):
        simple = last - first
        moved = np.where(parent >= 0, parent - simple + nodes, -1)
        parents[0][first:last] = moved[:simple]
        parents.append(moved[simple:])
        chunk_nodes.append(chunk_node - simple + nodes)
        own = shared[
            clusters.rows.indptr[clusters.bounds[first]] : clusters.rows.indptr[
                clusters.bounds[last]
            ]
        ]
        own[own >= 0] += made
        nodes += len(parent) - simple
        made += len(chunk_node)
    return Joints(np.concatenate(parents), np.concatenate(chunk_nodes), shared)
