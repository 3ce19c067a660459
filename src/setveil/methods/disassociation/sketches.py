"""What of a release is judged: its records in clusters, and the chunk of each occurrence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s, Int64s, changes, offsets, ranges
from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Chunks
from setveil.methods.disassociation.partitioning import Clusters, only_items
from setveil.methods.disassociation.refine import Joints, numbered, sizes_of
from setveil.threads import at_once


class Divided(NamedTuple):
    """The records in clusters, the clusters in chunks, and what they share."""

    clusters: Clusters
    chunks: Chunks
    joints: Joints


class Sketch(NamedTuple):
    """What is judged of a release: records in clusters, or parts that count as one."""

    rows: Transactions
    bounds: Int64s  # where each cluster begins among the records
    number: Int32s  # the chunk of each occurrence, or -1
    mass: Floats  # what its joint cluster gives to the cluster, for an item that is shared; or 0

    def only(self, inside: Flags) -> Sketch:
        """The same of some items."""
        kept = inside[self.rows.items]
        rows = only_items(self.rows, inside)
        return Sketch(
            rows, self.bounds, np.compress(kept, self.number), np.compress(kept, self.mass)
        )


class Layers(NamedTuple):
    """Parts of the records, each with head chunks above all its clusters or none."""

    divided: Divided
    rest: Sequence[Sketch]  # of the parts without head chunks


class Small:
    """Small clusters of which only some items count."""

    def __init__(self, divided: Divided, inside: Flags, width: int = 1) -> None:
        number, _ = numbered(*divided)
        self.sketch, self.known = at_once(
            lambda: sketch_of(divided, number).only(inside),
            lambda: known_supports(divided, number),
            width=width,
        )
        self._cluster, self._sizes = divided.clusters.cluster_of_row, divided.clusters.sizes

    def of(self, records: Int64s) -> Sketch:
        """The clusters without all other records, which are ascending."""
        whole, cluster = self.sketch, self._cluster[records]
        lengths = whole.rows.lengths[records]
        bounds = np.append(np.flatnonzero(changes(cluster)), len(records))
        sizes = np.diff(bounds)
        share = sizes / self._sizes[cluster[bounds[:-1]]]
        places = ranges(whole.rows.indptr[records], lengths)
        mass = whole.mass[places] * np.repeat(np.repeat(share, sizes), lengths)
        return Sketch(whole.rows.take(records), bounds, whole.number[places], mass)


def sketch_of(divided: Divided, number: Int32s) -> Sketch:
    """All of a release, with the chunk of each occurrence."""
    clusters = divided.clusters
    return Sketch(clusters.rows, clusters.bounds, number, _masses(divided))


def sketch_head(rows: Transactions, chunk: Int32s) -> Sketch:
    """Records as one cluster, of which only the head counts."""
    bounds, none = np.array([0, len(rows)]), np.zeros(len(rows.items))
    return Sketch(rows, bounds, chunk[rows.items], none)


def join_sketches(parts: Sequence[Sketch]) -> Sketch:
    """Several parts of the records as one."""
    starts = offsets([len(part.rows) for part in parts])
    bounds = [part.bounds[:-1] + start for part, start in zip(parts, starts, strict=False)]
    return Sketch(
        join_rows([part.rows for part in parts]),
        np.concatenate((*bounds, starts[-1:])),
        np.concatenate([part.number for part in parts]),
        np.concatenate([part.mass for part in parts]),
    )


def join_rows(parts: Sequence[Transactions]) -> Transactions:
    """The records of all parts, one after the other."""
    indptr = offsets(np.concatenate([part.lengths for part in parts]))
    items = np.concatenate([part.items for part in parts])
    return Transactions.trusted(indptr, items, parts[0].vocabulary)


def _masses(divided: Divided) -> Floats:
    """For each occurrence of a shared item, how often the joint cluster has the item for as many
    records as the cluster has; 0 for all others."""
    clusters, _, joints = divided
    rows, inside = clusters.rows, np.flatnonzero(joints.shared >= 0)
    masses = np.zeros(len(rows.items))
    chunks = joints.shared[inside].astype(np.int64)
    codes = chunks * len(rows.vocabulary) + rows.items[inside]
    _, which, totals = np.unique(codes, return_inverse=True, return_counts=True)
    sizes = clusters.sizes[clusters.cluster_of_occurrence[inside]]
    joint_sizes = sizes_of(clusters, joints)[joints.chunk_node[chunks]]
    masses[inside] = totals[which] * sizes / joint_sizes
    return masses


def known_supports(divided: Divided, number: Int32s) -> Int64s:
    """How many records have each item for certain: those in chunks, and one per term chunk."""
    rows, width = divided.clusters.rows, len(divided.clusters.rows.vocabulary)
    left = number < 0
    items, clusters = (
        np.compress(left, each) for each in (rows.items, divided.clusters.cluster_of_occurrence)
    )
    listed = np.sort(clusters.astype(np.int64) * width + items)
    listed = listed[changes(listed)]  # faster than numpy.unique, which hashes
    known: Int64s = np.bincount(np.compress(~left, rows.items), minlength=width)
    return known + np.bincount(listed % width, minlength=width)
