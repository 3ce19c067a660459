"""The typical bag of each cluster, in three ways. [Liu2010b] section IV-B"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.hierarchy.neighbours import common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.ssc.centre import NearTerms, choose_terms
from setveil.methods.ssc.cluster import Clusters
from setveil.published.typical_bags import Matches

MOST_MATCHES = 1 << 31
"""How many published occurrences can be linked to their records; each takes 20 bytes."""


class Typical(NamedTuple):
    """One bag per cluster; its items are terms, or nodes of the hierarchy, or slots."""

    bags: Bags
    hierarchy: Hierarchy | None = None
    slots: Bags | None = None


def majority(data: Bags, clusters: Clusters, near: NearTerms, size: int) -> Typical:
    """From each slot the term closest to the others."""
    frequency = np.bincount(data.items, weights=data.counts, minlength=len(data.vocabulary))
    slots = clusters.slot_sizes, clusters.terms
    items = choose_terms(near, frequency.astype(np.int64), *slots).astype(np.int64)
    return Typical(_bags(clusters, items, data.vocabulary, size))


def generalized(data: Bags, clusters: Clusters, hierarchy: Hierarchy, size: int) -> Typical:
    """From each slot the lowest node over its terms."""
    leaves = hierarchy.leaf_numbers(data.vocabulary)[clusters.terms]
    items = common_ancestors(hierarchy, clusters.slot_owners, leaves, len(clusters.slot_times))
    return Typical(_bags(clusters, items.astype(np.int64), hierarchy.nodes, size), hierarchy)


def slots(data: Bags, clusters: Clusters, size: int) -> Typical:
    """Each slot itself, with all its terms."""
    count = len(clusters.slot_times)
    held = Bags.from_pairs(clusters.slot_owners, clusters.terms, data.vocabulary, size=count)
    numbers = Vocabulary(str(number) for number in range(count))
    return Typical(_bags(clusters, np.arange(count), numbers, size), slots=held)


def _bags(clusters: Clusters, items: Int64s, vocabulary: Vocabulary, size: int) -> Bags:
    times = clusters.slot_times
    return Bags.from_pairs(clusters.slot_cluster, items, vocabulary, size=size, counts=times)


def matches_of(clusters: Clusters) -> Matches:
    """Every published occurrence with its slot; a slot that occurs n times counts as n slots."""
    times, sizes, owners = clusters.slot_times, clusters.slot_sizes, clusters.slot_owners
    published = int((times * sizes).sum())
    if published > MOST_MATCHES:
        raise DataError(
            f"{published:.3g} occurrences would be published, too many to link each to its record",
            remedy="make the counts smaller",
        )
    starts = np.concatenate(([0], np.cumsum(sizes)))
    place = np.arange(len(clusters.terms)) - np.repeat(starts[:-1], sizes)
    people = clusters.members[np.repeat(clusters.bounds[clusters.slot_cluster], sizes) + place]
    copies = np.repeat(times, sizes)
    ends = np.cumsum(copies)
    turn = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - copies, copies)
    first = np.concatenate(([0], np.cumsum(times)))[:-1][np.repeat(owners, copies)]
    return Matches(np.repeat(people, copies), np.repeat(clusters.terms, copies), first + turn)
