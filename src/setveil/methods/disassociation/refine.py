"""REFINE: clusters joined over the terms that their term chunks have in common. [Terrovitis2012] section 4"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.engines.local import Local, Progress
from setveil.methods.disassociation.horpart import Clusters
from setveil.methods.disassociation.verpart import Chunks, tasks

Int64s = npt.NDArray[np.int64]
Lists = tuple[Int64s, npt.NDArray[np.int32], Int64s, Int64s, Int64s, npt.NDArray[np.int32]]

BLOCK = 100_000
"""Records that one joint cluster may hold at most, about; larger data fall into several."""
WEIGHT = 0.5
"""How likely a joint cluster must make a term, as a share of how likely the clusters that hold it make it now. Measured, see the docs."""
FEW = 3
"""Up to this k two clusters often have a term k times, and the paper's way of joining loses least. Measured, see the docs."""


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
    return Joints(np.full(len(clusters), -1, dtype=np.int64), np.empty(0, dtype=np.int64), _not_shared(clusters))


def refine(
    clusters: Clusters, chunks: Chunks, never: npt.NDArray[np.bool_], k: int, m: int, limit: int, engine: Local, progress: Progress | None
) -> Joints:
    """Joint clusters of 2, 4, 8, ... neighbours, each over the terms that it makes likely enough; see `refine_by_level`.

    For k up to `FEW` as the paper makes them; in any case with what then stands in no chunk shared among all clusters of a block.
    """
    from setveil.kernels import chunks as kernels

    shared = _not_shared(clusters)
    ranges = tasks(clusters, BLOCK)
    cluster_of_row, bounds = clusters.cluster_of_row, clusters.bounds

    def work(number: int) -> tuple[int, Int64s, Int64s]:
        first, last = ranges[number]
        lists = open_lists(clusters, chunks, never, k, first, last)
        cluster = cluster_of_row[bounds[first] : bounds[last]] - first
        sizes = clusters.sizes[first:last]
        if k <= FEW:
            lists = _by_popularity(lists, len(clusters.rows.vocabulary))
            return number, *kernels.refine_as_paper(lists, sizes, cluster, np.int64(k), np.int64(m), True, shared)
        return number, *kernels.refine_by_level(lists, sizes, cluster, np.int64(k), np.int64(m), k * limit / WEIGHT, WEIGHT, shared)

    done, parts = 0, {}
    for number, parent, chunk_node in engine.map(work, range(len(ranges))):
        parts[number] = (parent, chunk_node)
        done += int(bounds[ranges[number][1]] - bounds[ranges[number][0]])
        if progress is not None:
            progress(done, len(clusters.rows), "joining clusters")
    return _together(clusters, ranges, [parts[number] for number in range(len(ranges))], shared)


def refine_as_paper(clusters: Clusters, chunks: Chunks, never: npt.NDArray[np.bool_], k: int, m: int) -> Joints:
    """Joint clusters as the paper makes them, but for its unsound Property 1."""
    from setveil.kernels.chunks import refine_as_paper

    shared = _not_shared(clusters)
    lists = _by_popularity(open_lists(clusters, chunks, never, k, 0, len(clusters)), len(clusters.rows.vocabulary))
    parent, chunk_node = refine_as_paper(lists, clusters.sizes, clusters.cluster_of_row, np.int64(k), np.int64(m), False, shared)
    return Joints(parent, chunk_node, shared)


def open_lists(clusters: Clusters, chunks: Chunks, never: npt.NDArray[np.bool_], k: int, first: int, last: int) -> Lists:
    """What the clusters of a range may share; places count from the first of the range."""
    from setveil.kernels.leftover import list_open

    rows, bounds = clusters.rows, clusters.bounds
    width = np.int64(max(len(rows.vocabulary), 1))
    ptr, term, place, occurrence, told_ptr, told = list_open(
        rows.indptr, rows.items, width, bounds, np.int64(first), np.int64(last), chunks.chunk, chunks.is_short, never, np.int64(k)
    )
    return ptr, term, place - bounds[first], occurrence, told_ptr, told


def _not_shared(clusters: Clusters) -> Int64s:
    return np.full(len(clusters.rows.items), -1, dtype=np.int64)


def _by_popularity(lists: Lists, width: int) -> Lists:
    """The lists with terms numbered by the number of term chunks that hold them, most first."""
    ptr, term, place, occurrence, told_ptr, told = lists
    owner = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    held = np.bincount(np.unique(owner * np.int64(width) + term) % width, minlength=width) if len(term) else np.zeros(width, dtype=np.int64)
    rank = np.empty(width, dtype=np.int32)
    rank[np.argsort(-held, kind="stable")] = np.arange(width, dtype=np.int32)
    order = np.lexsort((place, rank[term], owner))
    told_owner = np.repeat(np.arange(len(told_ptr) - 1), np.diff(told_ptr))
    told_rank = 2 * rank[told >> 1] + (told & 1)
    told_order = np.lexsort((told_rank, told_owner))
    return ptr, rank[term][order], place[order], occurrence[order], told_ptr, told_rank[told_order]


def _together(clusters: Clusters, ranges: list[tuple[int, int]], parts: list[tuple[Int64s, Int64s]], shared: Int64s) -> Joints:
    """Put the forests of the ranges into one; simple clusters keep their numbers, joint ones and shared chunks follow each other."""
    parents, chunk_nodes = [np.full(len(clusters), -1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    nodes, made = len(clusters), 0
    for (first, last), (parent, chunk_node) in zip(ranges, parts, strict=True):
        simple = last - first
        moved = np.where(parent >= 0, parent - simple + nodes, -1)
        parents[0][first:last] = moved[:simple]
        parents.append(moved[simple:])
        chunk_nodes.append(chunk_node - simple + nodes)
        own = shared[clusters.rows.indptr[clusters.bounds[first]] : clusters.rows.indptr[clusters.bounds[last]]]
        own[own >= 0] += made
        nodes += len(parent) - simple
        made += len(chunk_node)
    return Joints(np.concatenate(parents), np.concatenate(chunk_nodes), shared)
