"""Clusters of bags with their slots, and the typical bag of each. [Liu2010b] section IV-B"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from setveil.data.arrays import Int32s, Int64s, offsets, ranges
from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.engines.base import Engine, Progress
from setveil.errors import DataError
from setveil.hierarchy.neighbours import common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.ssc.centre import NearTerms
from setveil.kernels.ssc.profiles import MEMBERS
from setveil.published.typical_bags import Matches


@dataclass(frozen=True)
class Clusters:
    """Clusters of bags with their centres."""

    members: Int64s  # the bags of one cluster after the other, in the order in which they joined
    bounds: Int64s
    slot_cluster: Int64s  # the cluster of each slot
    slot_times: Int64s  # how often each slot occurs in its cluster
    terms: Int32s
    """The terms of one slot after the other, one per member, in the order of the members."""

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def of(self, rows: Int64s) -> Clusters:
        """The same clusters, with these numbers for the bags."""
        return replace(self, members=rows[self.members])

    @property
    def sizes(self) -> Int64s:
        return np.diff(self.bounds)

    @property
    def slot_sizes(self) -> Int64s:
        """How many terms each slot holds."""
        return self.sizes[self.slot_cluster]

    @property
    def slot_owners(self) -> Int64s:
        """The slot of each entry of `terms`."""
        return np.repeat(np.arange(len(self.slot_times)), self.slot_sizes)


class Work(Protocol):
    """Work on a block, and how far it is."""

    @property
    def done(self) -> int: ...

    @property
    def total(self) -> int: ...


class Growing(NamedTuple):
    """The clustering of a block, and how far it is."""

    block: Any  # what its kernel takes
    state: Any

    @property
    def done(self) -> int:
        return int(self.state.numbers[MEMBERS])

    @property
    def total(self) -> int:
        """All bags but the fewer than k that are left at the end."""
        return len(self.state.members)


Part = TypeVar("Part", bound=Work)


def finished(
    step: Callable[[Part], Part],
    parts: Sequence[Part],
    stage: str,
    engine: Engine,
    progress: Progress | None,
) -> list[Part]:
    """The parts after all their steps."""
    made, total = list(parts), sum(part.total for part in parts)
    while pending := [i for i, part in enumerate(made) if part.done < part.total]:
        answers = engine.map(step, [made[i] for i in pending])
        for i, answer in zip(pending, answers, strict=True):
            made[i] = answer
            if progress is not None:
                progress(sum(part.done for part in made), total, stage)
    return made


def of_equal(data: Bags, groups: list[Int64s]) -> Clusters:
    """Groups of equal bags as clusters: each term is a slot."""
    none = np.empty(0, dtype=np.int64)
    firsts = data.take(np.array([group[0] for group in groups], dtype=np.int64))
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    return Clusters(
        np.concatenate([none, *groups]),
        np.concatenate(([0], np.cumsum(sizes))),
        firsts.rows,
        firsts.counts,
        np.repeat(firsts.items, sizes[firsts.rows]),
    )


def joined_clusters(parts: list[Clusters]) -> Clusters:
    """Several parts as one."""
    none = np.empty(0, dtype=np.int64)
    before = np.cumsum([0, *map(len, parts)]).tolist()
    return Clusters(
        members=np.concatenate([none, *(part.members for part in parts)]),
        bounds=np.cumsum(np.concatenate([[0], *(part.sizes for part in parts)])).astype(np.int64),
        slot_cluster=np.concatenate(
            [none, *(part.slot_cluster + first for part, first in zip(parts, before, strict=False))]
        ),
        slot_times=np.concatenate([none, *(part.slot_times for part in parts)]),
        terms=np.concatenate([np.empty(0, dtype=np.int32), *(part.terms for part in parts)]),
    )


MOST_MATCHES = 1 << 31
"""How many published occurrences can be linked to their records; each takes 20 bytes."""


def matches_of(clusters: Clusters) -> Matches:
    """Every published occurrence with its slot; a slot that occurs n times counts as n slots."""
    times, sizes, owners = clusters.slot_times, clusters.slot_sizes, clusters.slot_owners
    published = int((times * sizes).sum())
    if published > MOST_MATCHES:
        raise DataError(
            f"{published:.3g} occurrences would be published, too many to link each to its record",
            remedy="make the counts smaller",
        )
    people = clusters.members[ranges(clusters.bounds[clusters.slot_cluster], sizes)]
    copies = np.repeat(times, sizes)
    slots = ranges(offsets(times)[owners], copies)
    return Matches(np.repeat(people, copies), np.repeat(clusters.terms, copies), slots)


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
    from setveil.kernels.ssc.slots import Left, Votes, share_out

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
