"""Assemble the release from clusters, chunks and joint clusters."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Chunks
from setveil.methods.disassociation.partitioning import Clusters
from setveil.methods.disassociation.refine import Joints
from setveil.promises import Promise
from setveil.published.disassociated.form import Disassociated


def assemble(
    records: int,
    clusters: Clusters,
    chunks: Chunks,
    joints: Joints,
    promise: Promise,
    method: Mapping[str, object],
) -> Disassociated:
    """The release of so many records; those in no cluster are empty.

    Joint clusters were made after their parts, so reversed numbers put parents first. Empty records
    come last."""
    from setveil.kernels.disassociation.subrecords import collect_subrecords

    rows, nodes, empty = clusters.rows, len(joints.parent), records - len(clusters.rows)
    number, made = _numbered(clusters, chunks, joints)
    starts, owner, times, terms = collect_subrecords(
        rows.indptr, rows.items, number, np.int64(made)
    )
    chunk_node = np.concatenate(
        (np.repeat(np.arange(len(clusters)), chunks.counts), joints.chunk_node)
    )
    left = np.flatnonzero(number < 0)
    left_clusters = np.searchsorted(rows.indptr[clusters.bounds], left, side="right") - 1
    alignment = np.full(records, nodes, dtype=np.int64)
    alignment[clusters.origin] = nodes - 1 - clusters.cluster_of_row
    return Disassociated(
        np.append(_reversed(joints.parent), [-1] * (empty > 0)).astype(np.int64),
        np.append(_sizes(clusters, joints)[::-1], [empty] * (empty > 0)).astype(np.int64),
        nodes - 1 - chunk_node,
        Transactions(starts, terms, rows.vocabulary),
        owner,
        times,
        Transactions.from_pairs(
            nodes - 1 - left_clusters, rows.items[left], rows.vocabulary, size=nodes + (empty > 0)
        ),
        promise,
        method,
        alignment,
    )


def _numbered(clusters: Clusters, chunks: Chunks, joints: Joints) -> tuple[Int64s, int]:
    """The chunk of each occurrence, or -1, and how many there are; record chunks come first."""
    first = np.concatenate(([0], np.cumsum(chunks.counts)))
    number = np.repeat(first[:-1], np.diff(clusters.rows.indptr[clusters.bounds]))
    number += chunks.chunk
    in_terms = chunks.chunk < 0
    number[in_terms] = np.where(
        joints.shared[in_terms] >= 0, first[-1] + joints.shared[in_terms], -1
    )
    return number, int(first[-1]) + len(joints.chunk_node)


def _reversed(parent: Int64s) -> Int64s:
    backwards = parent[::-1]
    return np.where(backwards >= 0, len(parent) - 1 - backwards, -1)


def _sizes(clusters: Clusters, joints: Joints) -> Int64s:
    """The records of each cluster; parts have smaller numbers than the joint cluster above."""
    sizes = np.zeros(len(joints.parent), dtype=np.int64)
    sizes[: len(clusters)] = clusters.sizes
    for node, parent in enumerate(joints.parent.tolist()):
        if parent >= 0:
            sizes[parent] += sizes[node]
    return sizes
