"""Head chunks above small clusters: what is frequent is exact, what is rare stays among its like.

Each part of the records is one joint cluster. Its head chunks have the items of frequent pairs, of
all its records. Below are HORPART's clusters over what is left of the records, the tail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Int32s, offsets
from setveil.data.transactions import Transactions
from setveil.engines.base import Engine
from setveil.engines.local import LOCAL
from setveil.kernels.disassociation.given import Chunks, Rule
from setveil.methods.disassociation.head import Arranged
from setveil.methods.disassociation.judging import Judge
from setveil.methods.disassociation.partitioning import (
    Clusters,
    Range,
    horpart,
    in_order,
    only_items,
)
from setveil.methods.disassociation.refine import Joints, no_joints, together
from setveil.methods.disassociation.sketches import Divided, Layers, join_rows
from setveil.threads import at_once

FEW = 200_000
"""Up to so many records the parts are divided at the same time: more would need much memory."""


class Way(NamedTuple):
    """How clusters are made and divided."""

    rule: Rule
    least: int  # the fewest records of a cluster
    limit: int  # small clusters have fewer records than this
    divide: Callable[[Clusters], Divided]  # VERPART and REFINE
    judge: Judge | None = None  # what was counted before
    engine: Engine = LOCAL


def lay(clusters: Clusters, arranged: Arranged, way: Way) -> Layers:
    """The release of the records of some clusters, with the head chunks of each part above."""
    works = (partial(_lay_part, clusters, arranged, way, n) for n in range(len(arranged.chunks)))
    parts = at_once(*works, width=way.engine.width if len(clusters.rows) <= FEW else 1)
    wholes, below = zip(*parts, strict=True)
    return Layers(_merge(wholes), below)


def _lay_part(
    clusters: Clusters, arranged: Arranged, way: Way, number: int
) -> tuple[Divided, Divided]:
    """A part, and what is below its head chunks."""
    rows, origin, chunks = clusters.rows, clusters.origin, arranged.chunks[number]
    chosen = np.flatnonzero(arranged.part == number)
    below = _tail_clusters(rows.take(chosen), chunks, way)
    order = chosen[below.origin]
    whole = Clusters(rows.take(order), origin[order], below.bounds)
    head, made = chunks[whole.rows.items], way.divide(below)
    join = _join if len(below) > 1 else partial(_put_beside, rule=way.rule)
    return join(whole, head, made), made


def _tail_clusters(rows: Transactions, chunks: Int32s, way: Way) -> Clusters:
    """HORPART's clusters of the records without the head.

    Records that have nothing else are put into the last cluster, where they say nothing."""
    tail = only_items(rows, chunks < 0)
    empty = np.flatnonzero(tail.lengths == 0)
    if len(empty) == len(tail):
        return Clusters(tail, empty, np.array([0, len(tail)]))
    small = horpart(
        in_order(tail, way.engine), way.rule.sensitive, way.least, way.limit, way.engine
    )
    order, bounds = np.concatenate((small.origin, empty)), small.bounds.copy()
    bounds[-1] = len(order)
    return Clusters(join_rows([small.rows, tail.take(empty)]), order, bounds)


def _join(whole: Clusters, head: Int32s, made: Divided) -> Divided:
    """The clusters of the tail under one joint cluster, which shares the head chunks."""
    chunks, joints = _spread(made, head < 0)
    if head.max(initial=-1) < 0:
        return Divided(whole, chunks, joints)
    top, shared = len(joints.parent), len(joints.chunk_node)
    parent = np.append(np.where(joints.parent < 0, top, joints.parent), -1)
    chunk_node = np.append(joints.chunk_node, np.full(head.max() + 1, top))
    above = np.where(head >= 0, shared + head, joints.shared).astype(np.int32, copy=False)
    return Divided(whole, chunks, Joints(parent, chunk_node, above))


def _put_beside(whole: Clusters, head: Int32s, made: Divided, rule: Rule) -> Divided:
    """One cluster, with the head chunks as record chunks.

    If it has no term chunk and too few subrecords for Lemma 2, it gives up its rarest item."""
    tail, _ = _spread(made, head < 0)
    own = int(made.chunks.counts[0])
    chunk = np.where(head >= 0, own + head, tail.chunk)
    count = own + int(head.max(initial=-1)) + 1
    inside = chunk >= 0
    found = len(np.unique(chunk[inside]))
    codes = whole.rows.rows[inside] * (found + 1) + chunk[inside]
    needed = len(whole.rows) + rule.k * (min(rule.m, found) - 1)  # by Lemma 2
    is_short = not found or len(np.unique(codes)) < needed
    if is_short and chunk.min(initial=0) >= 0:
        items = whole.rows.items
        supports = np.bincount(items, minlength=1)
        supports[supports == 0] = supports.max() + 1
        rarest = len(supports) - 1 - int(supports[::-1].argmin())
        chunk = np.where(items == rarest, -1, chunk)
        kept, numbers = np.unique(chunk[chunk >= 0], return_inverse=True)
        chunk[chunk >= 0], count = numbers, len(kept)
    chunks = Chunks(chunk.astype(np.int32), np.array([count]), np.array([is_short]))
    return Divided(whole, chunks, no_joints(whole))


def _spread(made: Divided, tail: Flags) -> tuple[Chunks, Joints]:
    """What was made of the tail, for all occurrences; those of the head are in no chunk."""
    chunk, shared = (np.full(len(tail), -1, dtype=np.int32) for _ in range(2))
    chunk[tail], shared[tail] = made.chunks.chunk, made.joints.shared
    return made.chunks._replace(chunk=chunk), made.joints._replace(shared=shared)


def _merge(parts: Sequence[Divided]) -> Divided:
    """The parts as one: all clusters first, then the joint clusters of each part."""
    if len(parts) == 1:
        return parts[0]
    whole = Clusters(
        join_rows([part.clusters.rows for part in parts]),
        np.concatenate([part.clusters.origin for part in parts]),
        offsets(np.concatenate([part.clusters.sizes for part in parts])),
    )
    ends = pairwise(offsets([len(part.clusters) for part in parts]).tolist())
    joints = together(whole, [Range(whole, *each) for each in ends], [p.joints for p in parts])
    chunks = (np.concatenate(each) for each in zip(*(p.chunks for p in parts), strict=True))
    return Divided(whole, Chunks(*chunks), joints)
