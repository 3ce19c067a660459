"""REFINE: join clusters over terms that their term chunks share; then assemble the release."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int32s, Int64s, offsets
from setveil.data.transactions import Transactions
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.errors import ParameterError
from setveil.kernels.disassociation.given import Block, Chunks, Plan, Rule
from setveil.methods.disassociation.partitioning import Clusters, Range
from setveil.promises import Promise
from setveil.published.disassociated.form import Disassociated

BLOCK = 100_000  # the records of one joint cluster at most, about; larger data have several
WEIGHT = 0.5  # how likely a joint cluster must make a term, compared to its clusters. Measured.
OCCURRENCES, MOST_RANGES = 1_000_000, 8  # of the chunks whose subrecords one task collects
MOST = 2**31 - 1  # the occurrences of one joint cluster at most
PAPER = Plan(with_levels=False, with_lost=False, reach=0.0, weight=WEIGHT)
"""Clusters are joined as the paper does, except for its unsound Property 1."""


class Task(NamedTuple):
    """Clusters to join."""

    block: Block
    chunks: Chunks
    rule: Rule
    plan: Plan


class Joints(NamedTuple):
    """The forest of clusters and the shared chunks."""

    parent: Int64s  # the joint cluster of each cluster, or -1; clusters come before joint clusters
    chunk_node: Int64s  # the joint cluster of each shared chunk
    shared: Int32s  # the shared chunk of each occurrence, or -1


def level_plan(k: int, limit: int, *, with_lost: bool) -> Plan:
    """After the paper's rounds, join 2, 4, 8, ... neighbours over terms that they make likely
    enough.

    Args:
        k: The k of the promise.
        limit: Clusters have fewer records than this.
        with_lost: Whether a term that is in no chunk is shared in the first joint cluster that has
            it k times."""
    return Plan(with_levels=True, with_lost=with_lost, reach=k * limit / WEIGHT, weight=WEIGHT)


def refine(
    clusters: Clusters,
    chunks: Chunks,
    rule: Rule,
    plan: Plan,
    *,
    engine: Engine = LOCAL,
    progress: Progress | None = None,
) -> Joints:
    """The joint clusters that the plan makes; with the plan `PAPER` all clusters may be joined."""
    if plan is PAPER and clusters.rows.occurrences > MOST:
        allowed = f"it handles at most {MOST:,} occurrences; the default has no such limit"
        raise ParameterError("arrangement", "paper", allowed)
    ranges = list(clusters.ranges(max(len(clusters.rows), 1) if plan is PAPER else BLOCK))
    tasks = (Task(each.block(), _chunks_of(chunks, each), rule, plan) for each in ranges)
    found = []
    for each, joints in zip(ranges, engine.map(join_clusters, tasks), strict=True):
        found.append(joints)
        if progress is not None:
            progress(each.records.stop, len(clusters.rows), "joining clusters")
    return together(clusters, ranges, found)


def no_joints(clusters: Clusters) -> Joints:
    """Every cluster on its own."""
    return together(clusters, [], [])


def join_clusters(task: Task) -> Joints:
    """The joint clusters and shared chunks of some clusters, numbered from 0."""
    from setveil.kernels.disassociation.lists import list_open
    from setveil.kernels.disassociation.refine import refine

    block, chunks, rule, plan = task
    return Joints(*refine(list_open(block, chunks, rule), block, rule, plan))


def _chunks_of(chunks: Chunks, part: Range) -> Chunks:
    clusters = part.clusters
    return Chunks(
        chunks.chunk[part.occurrences], chunks.counts[clusters], chunks.is_short[clusters]
    )


def together(clusters: Clusters, ranges: Sequence[Range], found: Sequence[Joints]) -> Joints:
    """The forests of all ranges as one; clusters first, then the joint clusters of each range."""
    simple = np.full(len(clusters), -1, dtype=np.int64)
    parents, chunk_nodes = [simple], [np.empty(0, dtype=np.int64)]
    shared = np.full(len(clusters.rows.items), -1, dtype=np.int32)
    nodes, made = len(clusters), 0
    for each, joints in zip(ranges, found, strict=True):
        count = each.last - each.first
        moved = np.where(joints.parent >= 0, joints.parent - count + nodes, -1)
        simple[each.clusters] = moved[:count]
        parents.append(moved[count:])
        chunk_nodes.append(joints.chunk_node - count + nodes)
        shared[each.occurrences] = np.where(joints.shared >= 0, joints.shared + made, -1)
        nodes += len(joints.parent) - count
        made += len(joints.chunk_node)
    return Joints(np.concatenate(parents), np.concatenate(chunk_nodes), shared)


def assemble(
    records: int,
    clusters: Clusters,
    chunks: Chunks,
    joints: Joints,
    promise: Promise,
    method: Mapping[str, object],
    engine: Engine = LOCAL,
) -> Disassociated:
    """The release; records that are in no cluster are empty.

    Joint clusters were made after their parts, so reversed numbers put parents first. Empty records
    come last."""
    rows, nodes, empty = clusters.rows, len(joints.parent), records - len(clusters.rows)
    number, made = numbered(clusters, chunks, joints)
    subrecords, owner, times = _subrecords(rows, number, made, engine)
    chunk_node = np.concatenate(
        (np.repeat(np.arange(len(clusters)), chunks.counts), joints.chunk_node)
    )
    left = np.flatnonzero(number < 0)
    left_clusters = np.searchsorted(rows.indptr[clusters.bounds], left, side="right") - 1
    alignment = np.full(records, nodes, dtype=np.int64)
    alignment[clusters.origin] = nodes - 1 - clusters.cluster_of_row
    backwards = joints.parent[::-1]
    parent = np.where(backwards >= 0, nodes - 1 - backwards, -1)
    return Disassociated(
        np.append(parent, [-1] * (empty > 0)).astype(np.int64),
        np.append(sizes_of(clusters, joints)[::-1], [empty] * (empty > 0)).astype(np.int64),
        nodes - 1 - chunk_node,
        subrecords,
        owner,
        times,
        Transactions.from_pairs(
            nodes - 1 - left_clusters, rows.items[left], rows.vocabulary, size=nodes + (empty > 0)
        ),
        promise,
        method,
        alignment,
    )


class Collected(NamedTuple):
    """Some of the chunks of all records."""

    rows: tuple[Int64s, Int32s]
    number: Int32s  # the chunk of each occurrence, or -1
    low: np.int64
    high: np.int64


def _subrecords(
    rows: Transactions, number: Int32s, made: int, engine: Engine
) -> tuple[Transactions, Int64s, Int64s]:
    """The distinct subrecords, chunk by chunk, the chunk of each, and how often it occurs."""
    edges = _chunk_ranges(number, made)
    tasks = (
        Collected((rows.indptr, rows.items), number, np.int64(low), np.int64(high))
        for low, high in zip(edges, edges[1:], strict=False)
    )
    starts, owners, times, terms = zip(*engine.map(collect, tasks), strict=True)
    indptr = offsets(np.concatenate([np.diff(each) for each in starts]))
    found = Transactions.trusted(indptr, np.concatenate(terms), rows.vocabulary)
    return found, np.concatenate(owners), np.concatenate(times)


def collect(task: Collected) -> tuple[Int64s, Int64s, Int64s, Int32s]:
    """The subrecords of some chunks; see `collect_subrecords`."""
    from setveil.kernels.disassociation.subrecords import collect_subrecords

    rows, *rest = task
    found: tuple[Int64s, Int64s, Int64s, Int32s] = collect_subrecords(*rows, *rest)
    return found


def _chunk_ranges(number: Int32s, made: int) -> list[int]:
    """Where to cut the chunks into ranges of about as many occurrences, if there are many."""
    count = min(len(number) // OCCURRENCES, MOST_RANGES)
    if count < 2:
        return [0, made]
    ends = np.cumsum(np.bincount(number + 1, minlength=made + 1)[1:])
    cuts = np.searchsorted(ends, np.arange(1, count) * (ends[-1] / count)) + 1
    return [0, *np.unique(cuts[cuts < made]).tolist(), made]


def numbered(clusters: Clusters, chunks: Chunks, joints: Joints) -> tuple[Int32s, int]:
    """The chunk of each occurrence, or -1, and how many there are; record chunks come first."""
    first = np.concatenate(([0], np.cumsum(chunks.counts)))
    lengths = np.diff(clusters.rows.indptr[clusters.bounds])
    number = np.repeat(first[:-1].astype(np.int32), lengths)
    number += chunks.chunk
    shared = np.where(joints.shared >= 0, joints.shared + np.int32(first[-1]), np.int32(-1))
    np.copyto(number, shared, where=chunks.chunk < 0)
    return number, int(first[-1]) + len(joints.chunk_node)


def sizes_of(clusters: Clusters, joints: Joints) -> Int64s:
    """The records of each cluster; parts have smaller numbers than the joint cluster above."""
    sizes = np.zeros(len(joints.parent), dtype=np.int64)
    sizes[: len(clusters)] = clusters.sizes
    for node, parent in enumerate(joints.parent.tolist()):
        if parent >= 0:
            sizes[parent] += sizes[node]
    return sizes
