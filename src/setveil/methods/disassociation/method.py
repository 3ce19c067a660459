"""The method Disassociation: HORPART, VERPART and REFINE, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from setveil.data.exchange import as_transactions
from setveil.data.hashing import hash_records
from setveil.data.transactions import Bags, Transactions
from setveil.engines.local import LOCAL, Local, Progress
from setveil.errors import ParameterError
from setveil.hierarchy.hierarchy import Hierarchy
from setveil.methods.disassociation.horpart import Clusters, horpart
from setveil.methods.disassociation.refine import Joints, no_joints, refine, refine_as_paper
from setveil.methods.disassociation.verpart import Chunks, verpart
from setveil.methods.method import Method
from setveil.promises import KmAnonymity, Promise
from setveil.published.disassociated import Disassociated

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Disassociation(Method):
    """Cuts similar records into subrecords that are no longer linked, so that every term stays and rare combinations vanish."""

    name: ClassVar[str] = "disassociation"
    promises: ClassVar[tuple[type[Promise], ...]] = (KmAnonymity,)
    needs_hierarchy: ClassVar[bool] = False

    max_cluster: int | None = None
    """Groups of more records than this are cut; by default 6 k - 1."""
    refine: bool = True
    """Whether clusters are joined over the terms that their term chunks have in common."""
    order: Literal["default", "paper"] = "default"
    """`paper` joins clusters as the paper does, for comparison."""

    def anonymize(
        self,
        data: Transactions,
        promise: Promise,
        hierarchy: Hierarchy | None = None,
        *,
        engine: Local = LOCAL,
        progress: Progress | None = None,
    ) -> Disassociated:
        data = as_transactions(data)
        if isinstance(data, Bags):
            data = data.sets()
        self.check(len(data), promise, hierarchy)
        assert isinstance(promise, KmAnonymity)
        k, m = promise.k, promise.m
        limit = (self.max_cluster or 6 * k - 1) + 1
        if limit <= k:
            raise ParameterError("max_cluster", self.max_cluster, f"it must be at least k = {k}")
        sensitive = np.zeros(max(len(data.vocabulary), 1), dtype=bool)
        clusters = horpart(data, canonical_order(data), sensitive, k, limit)
        chunks = verpart(data, clusters, sensitive, k, m, engine, progress)
        if not self.refine:
            joints = no_joints(data, clusters)
        elif self.order == "paper":
            joints = refine_as_paper(data, clusters, chunks, sensitive, k, m)
        else:
            joints = refine(data, clusters, chunks, sensitive, k, m, limit, engine, progress)
        return _published(data, clusters, chunks, joints, promise, self.to_dict())


def canonical_order(data: Transactions) -> Int64s:
    """The records that are not empty, in an order that depends on what they hold alone; equal ones stand together."""
    order = np.lexsort((hash_records(data, 1), data.lengths))
    return order[data.lengths[order] > 0]


def warmup() -> None:
    """Compile the kernels, so that the next call starts at once."""


def _published(
    data: Transactions, clusters: Clusters, chunks: Chunks, joints: Joints, promise: Promise, method: dict[str, object]
) -> Disassociated:
    """The release, with parents before their parts and empty records as a last cluster."""
    from setveil.kernels.subrecords import collect_subrecords

    simple, nodes = len(clusters), len(joints.parent)
    empty = len(data) - len(clusters.order)
    place = nodes - 1 - np.arange(nodes)
    parent = np.where(joints.parent[::-1] >= 0, place[joints.parent[::-1]], -1)
    sizes = np.zeros(nodes, dtype=np.int64)
    sizes[:simple] = clusters.sizes
    for node in range(nodes):
        if joints.parent[node] >= 0:
            sizes[joints.parent[node]] += sizes[node]
    cluster = np.full(len(data), -1, dtype=np.int64)
    cluster[clusters.order] = clusters.cluster_of_place
    first = np.concatenate(([0], np.cumsum(chunks.counts)))
    rows = data.rows
    number = np.where(chunks.chunk >= 0, first[cluster[rows]] + chunks.chunk, np.where(joints.shared >= 0, first[-1] + joints.shared, -1))
    starts, owner, times, terms = collect_subrecords(data.indptr, data.items, number, np.int64(first[-1] + len(joints.chunk_node)))
    chunk_node = np.concatenate((np.repeat(np.arange(simple), chunks.counts), joints.chunk_node))
    left = number < 0
    left_terms = Transactions.from_pairs(place[cluster[rows[left]]], data.items[left], data.vocabulary, size=nodes + (empty > 0))
    if empty:
        parent, sizes = np.append(parent, -1), np.append(sizes[::-1], empty)
    else:
        sizes = sizes[::-1]
    return Disassociated(
        parent,
        sizes,
        place[chunk_node],
        Transactions(starts, terms, data.vocabulary),
        owner,
        times,
        left_terms,
        promise,
        method,
        np.where(cluster >= 0, place[cluster], nodes),
    )
