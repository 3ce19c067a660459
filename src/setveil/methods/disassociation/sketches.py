"""What of a release is judged: its records in clusters, and the chunk of each occurrence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Floats, Int32s, Int64s, changes, offsets, ranges
from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Block, Chunks, Given
from setveil.methods.disassociation.partitioning import Clusters
from setveil.methods.disassociation.refine import Joints, numbered
from setveil.published.disassociated.supports import further_records, mean_drawn


class Divided(NamedTuple):
    """The records in clusters, the clusters in chunks, and what they share."""

    clusters: Clusters
    chunks: Chunks
    joints: Joints


class Sketch(NamedTuple):
    """What is judged of a release: records in clusters, or parts that count as one."""

    rows: Transactions  # over the numbers of what is judged
    bounds: Int64s  # where each cluster begins among the records
    number: Int32s  # the chunk of each occurrence, or -1
    listed: Floats  # in how many records of each cluster an item of its term chunk is expected
    given: Given  # what shared chunks give to each cluster

    @property
    def block(self) -> Block:
        return Block(self.rows.indptr, self.rows.items, self.bounds)

    def masses(self, width: int) -> Floats:
        """How many records are expected to have each item."""
        clusters = np.repeat(np.arange(len(self.listed)), np.diff(self.rows.indptr[self.bounds]))
        left = self.number < 0
        codes = np.unique(np.compress(left, clusters * width + self.rows.items))
        weights = self.listed[codes // width]
        found = np.bincount(codes % width, weights=weights, minlength=width).astype(np.float64)
        found += np.bincount(np.compress(~left, self.rows.items), minlength=width)
        return found


class Layers(NamedTuple):
    """Parts of the records, each with head chunks above all its clusters or none."""

    divided: Divided
    below: Sequence[Divided]  # what is below the head chunks of each part


class Small:
    """Clusters of which only some items count."""

    def __init__(self, divided: Divided, place: Int64s, k: int) -> None:
        self.divided, self.sketch = divided, sketch_of(divided, place, k)
        self._cluster, self._sizes = divided.clusters.cluster_of_row, divided.clusters.sizes

    def of(self, records: Int64s) -> Sketch:
        """The clusters without all other records, which are ascending."""
        whole, cluster = self.sketch, self._cluster[records]
        bounds = np.append(np.flatnonzero(changes(cluster)), len(records))
        sizes, own = np.diff(bounds), cluster[bounds[:-1]]
        places = ranges(whole.rows.indptr[records], whole.rows.lengths[records])
        lengths = np.diff(whole.given.ptr)[own]
        inside = ranges(whole.given.ptr[own], lengths)
        share = np.repeat(sizes / self._sizes[own], lengths)
        given = Given(
            offsets(lengths),
            whole.given.items[inside],
            whole.given.chunks[inside],
            whole.given.masses[inside] * share,
        )
        return Sketch(
            whole.rows.take(records),
            bounds,
            whole.number[places],
            np.minimum(whole.listed[own], sizes),
            given,
        )


def sketch_of(divided: Divided, place: Int64s, k: int) -> Sketch:
    """A release, as far as items that have a place are concerned; -1 for others, places ascend."""
    from setveil.kernels.disassociation.expected import count_terms, spread_shared

    clusters, rows, joints = divided.clusters, divided.clusters.rows, divided.joints
    number, kept = numbered(*divided)[0], int(divided.chunks.counts.sum())
    block = Block(rows.indptr, rows.items, clusters.bounds)
    shown, listed = count_terms(block, number, kept, len(rows.vocabulary))
    further, most = further_records(shown, listed, k), np.minimum(clusters.sizes, max(k - 1, 1))
    places = place[rows.items]
    is_kept = places >= 0
    number = np.compress(is_kept, number)
    rows = Transactions.trusted(
        offsets(is_kept)[rows.indptr], np.compress(is_kept, places), rows.vocabulary
    )
    block, width = Block(rows.indptr, rows.items, clusters.bounds), int(place.max(initial=-1)) + 1
    given = spread_shared(block, number, joints.parent, joints.chunk_node, kept, width)
    return Sketch(rows, clusters.bounds, number, mean_drawn(further, most), given)


def sketch_head(rows: Transactions, chunk: Int32s) -> Sketch:
    """Records as one cluster, of which only the head counts."""
    bounds = np.array([0, len(rows)])
    none = np.zeros(0, dtype=np.int64)  # nothing is given by shared chunks above
    given = Given(np.zeros(2, dtype=np.int64), none, none, np.zeros(0))
    return Sketch(rows, bounds, chunk[rows.items], np.ones(1), given)


def join_rows(parts: Sequence[Transactions]) -> Transactions:
    """The records of all parts, one after the other."""
    indptr = offsets(np.concatenate([part.lengths for part in parts]))
    items = np.concatenate([part.items for part in parts])
    return Transactions.trusted(indptr, items, parts[0].vocabulary)


def known_supports(divided: Divided) -> Int64s:
    """How many records have each item for certain: those in chunks, and one per term chunk."""
    number, _ = numbered(*divided)
    rows, width = divided.clusters.rows, len(divided.clusters.rows.vocabulary)
    left = number < 0
    items, clusters = (
        np.compress(left, each) for each in (rows.items, divided.clusters.cluster_of_occurrence)
    )
    listed = np.sort(clusters.astype(np.int64) * width + items)
    listed = listed[changes(listed)]  # faster than numpy.unique, which hashes
    known: Int64s = np.bincount(np.compress(~left, rows.items), minlength=width)
    return known + np.bincount(listed % width, minlength=width)
