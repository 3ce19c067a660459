"""The typical vocabulary of each cluster, in three ways, as the published form. [Liu2010b] section IV-B"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.hierarchy.ancestors import common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.ssc import centre as kernels
from setveil.methods.ssc.cluster import Clusters
from setveil.promises.promise import Promise
from setveil.published.typical_bags import Matches, TypicalBags

Int64s = npt.NDArray[np.int64]

MOST_MATCHES = 1 << 31
"""How many published occurrences are remembered with whose they are; each takes twenty bytes."""


def publish(
    data: Bags,
    clusters: Clusters,
    near: kernels.Near,
    hierarchy: Hierarchy,
    promise: Promise,
    method: Mapping[str, object],
) -> TypicalBags:
    """The release: one bag for each cluster, and an empty one for all vocabularies that are in none."""
    count = len(clusters)
    alignment = np.full(len(data), count, dtype=np.int64)
    alignment[clusters.members] = np.repeat(np.arange(count), clusters.sizes)
    size = count + bool((alignment == count).any())
    slots = tree = None
    if method["typical"] == "slots":
        items, vocabulary, slots = _slots(clusters, data.vocabulary)
    elif method["typical"] == "generalized":
        items, vocabulary, tree = (
            _generalized(data, clusters, hierarchy),
            hierarchy.nodes,
            hierarchy,
        )
    else:
        items, vocabulary = _majority(data, clusters, near), data.vocabulary
    rows = Bags.from_pairs(
        clusters.slot_cluster, items, vocabulary, size=size, counts=clusters.slot_times
    )
    semantics = None if tree is not None or hierarchy.origin.is_public else hierarchy.origin
    return TypicalBags.of_rows(
        rows,
        promise,
        method,
        alignment=alignment,
        hierarchy=tree,
        slots=slots,
        semantics=semantics,
        matches=_matches(clusters),
        epsilon=method["epsilon"],
        omega=method["omega"],
    )


def _majority(data: Bags, clusters: Clusters, near: kernels.Near) -> Int64s:
    """Of each slot the term closest to the others."""
    frequency = np.bincount(data.items, weights=data.counts, minlength=len(data.vocabulary)).astype(
        np.int64
    )
    chosen: Int64s = kernels.choose_terms(
        near, frequency, clusters.slot_sizes, clusters.terms
    ).astype(np.int64)
    return chosen


def _generalized(data: Bags, clusters: Clusters, hierarchy: Hierarchy) -> Int64s:
    """The lowest node over the terms of each slot."""
    leaves, owners = hierarchy.leaf_numbers(data.vocabulary)[clusters.terms], _owners(clusters)
    return common_ancestors(hierarchy, owners, leaves, len(clusters.slot_times)).astype(np.int64)


def _slots(clusters: Clusters, terms: Vocabulary) -> tuple[Int64s, Vocabulary, Bags]:
    """Each slot itself, and what it holds."""
    count = len(clusters.slot_times)
    held = Bags.from_pairs(_owners(clusters), clusters.terms, terms, size=count)
    return np.arange(count), Vocabulary(str(number) for number in range(count)), held


def _matches(clusters: Clusters) -> Matches:
    """Every published occurrence with its slot; a slot that stands several times is as many slots."""
    times, sizes = clusters.slot_times, clusters.slot_sizes
    published = int((times * sizes).sum())
    if published > MOST_MATCHES:
        raise DataError(
            f"{published:.3g} occurrences would be published, too many to tell one by one whose they are: make counts smaller"
        )
    owners = np.repeat(_owners(clusters), np.repeat(times, sizes))
    starts = np.concatenate(([0], np.cumsum(sizes)))
    place = np.arange(len(clusters.terms)) - np.repeat(starts[:-1], sizes)
    people = clusters.members[np.repeat(clusters.bounds[clusters.slot_cluster], sizes) + place]
    copies = np.repeat(times, sizes)
    ends = np.cumsum(copies)
    turn = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - copies, copies)
    first = np.concatenate(([0], np.cumsum(times)))[:-1]
    return Matches(
        np.repeat(people, copies), np.repeat(clusters.terms, copies), first[owners] + turn
    )


def _owners(clusters: Clusters) -> Int64s:
    """The slot of each entry of `terms`."""
    return np.repeat(np.arange(len(clusters.slot_times)), clusters.slot_sizes)
