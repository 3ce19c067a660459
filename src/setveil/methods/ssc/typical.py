"""The typical bag of a cluster: what is published for each of its slots. [Liu2010b] section IV-B"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy.neighbours import common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.ssc.cluster import Clusters

if TYPE_CHECKING:
    from setveil.kernels.ssc.centre import NearTerms


class Typical(NamedTuple):
    """One bag per cluster; its items are terms, or nodes of the hierarchy, or slots."""

    bags: Bags
    hierarchy: Hierarchy | None = None
    slots: Bags | None = None
    by_majority: bool = False
    """Whether leaves of the hierarchy are terms that only half of the members may have."""


def closest(data: Bags, clusters: Clusters, near: NearTerms, size: int) -> Typical:
    """From each slot the term closest to the others."""
    from setveil.kernels.ssc.centre import choose_terms

    slots = clusters.slot_sizes, clusters.terms
    items = choose_terms(near, _frequency(data), *slots).astype(np.int64)
    return Typical(_bags(clusters, items, data.vocabulary, size))


def voted(data: Bags, clusters: Clusters, size: int) -> Typical:
    """From each slot a term that many members have, as a rule none more often than it occurs."""
    return Typical(_bags(clusters, _shared_out(data, clusters), data.vocabulary, size))


def mixed(data: Bags, clusters: Clusters, hierarchy: Hierarchy, size: int) -> Typical:
    """From each slot a term that at least half of the members have, else the lowest node."""
    terms, nodes = _shared_out(data, clusters, halves=True), _nodes(data, clusters, hierarchy)
    leaves = hierarchy.leaf_numbers(data.vocabulary)
    items = np.where(terms < 0, nodes, leaves[np.maximum(terms, 0)])
    return Typical(_bags(clusters, items, hierarchy.nodes, size), hierarchy, by_majority=True)


def generalized(data: Bags, clusters: Clusters, hierarchy: Hierarchy, size: int) -> Typical:
    """From each slot the lowest node over its terms."""
    items = _nodes(data, clusters, hierarchy)
    return Typical(_bags(clusters, items, hierarchy.nodes, size), hierarchy)


def slots(data: Bags, clusters: Clusters, size: int) -> Typical:
    """Each slot itself, with all its terms."""
    count = len(clusters.slot_times)
    held = Bags.from_pairs(clusters.slot_owners, clusters.terms, data.vocabulary, size=count)
    numbers = Vocabulary(str(number) for number in range(count))
    return Typical(_bags(clusters, np.arange(count), numbers, size), slots=held)


def _shared_out(data: Bags, clusters: Clusters, *, halves: bool = False) -> Int64s:
    """The term of each slot that most members have and that is not used up; -1 if `halves` is set
    and no term belongs to half of the members.

    A term is used up if it would be published more often than it occurs in the data, or for more
    people than have it. The slots whose members agree most choose first. Ties go to the term that
    is most frequent in the data, then to the first. If all are used up, the one of which most
    occurrences are left is taken nevertheless."""
    from setveil.kernels.ssc.terms import Left, Votes, share_out

    width, count = max(len(data.vocabulary), 1), len(clusters.slot_times)
    codes, votes = np.unique(clusters.slot_owners * width + clusters.terms, return_counts=True)
    owners, terms = np.divmod(codes, width)
    frequency, sizes = _frequency(data), clusters.slot_sizes
    is_candidate = 2 * votes >= sizes[owners] if halves else votes > 0
    owners, terms, votes = owners[is_candidate], terms[is_candidate], votes[is_candidate]
    order = np.lexsort((terms, -frequency[terms], -votes, owners))
    owners, terms, votes = owners[order], terms[order], votes[order]
    starts = np.searchsorted(owners, np.arange(count + 1))
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, owners, votes)
    turns = np.argsort(-(most / np.maximum(sizes, 1)), kind="stable")
    pairs = np.unique(clusters.slot_cluster[owners] * width + terms, return_inverse=True)[1]
    people = np.bincount(data.items, minlength=width)
    left = Left(frequency, people, np.zeros(len(pairs), dtype=np.int64))
    chosen: Int64s = share_out(Votes(starts, terms, pairs, sizes, clusters.slot_times), turns, left)
    return chosen


def _nodes(data: Bags, clusters: Clusters, hierarchy: Hierarchy) -> Int64s:
    """The lowest node over the terms of each slot."""
    leaves = hierarchy.leaf_numbers(data.vocabulary)[clusters.terms]
    nodes = common_ancestors(hierarchy, clusters.slot_owners, leaves, len(clusters.slot_times))
    return nodes.astype(np.int64)


def _frequency(data: Bags) -> Int64s:
    """How often each term occurs in the data."""
    totals = np.bincount(data.items, weights=data.counts, minlength=len(data.vocabulary))
    return totals.astype(np.int64)


def _bags(clusters: Clusters, items: Int64s, vocabulary: Vocabulary, size: int) -> Bags:
    times = clusters.slot_times
    return Bags.from_pairs(clusters.slot_cluster, items, vocabulary, size=size, counts=times)
