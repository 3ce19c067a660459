"""Algorithm 1 on blocks of bags: clusters of k, exchanges, typical bags. [Liu2010b] section IV"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from setveil.data.arrays import Int32s, Int64s
from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.engines.base import Engine, Progress
from setveil.errors import DataError
from setveil.hierarchy.neighbours import common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.ssc import exchange, grow
from setveil.kernels.ssc.centre import (
    CountedBags,
    NearTerms,
    Rule,
    Space,
    choose_terms,
    match_members,
)
from setveil.published.typical_bags import Matches

BUDGET = 50  # how many clusters a task works on before progress is reported
EFFORT, NO_EFFORT = exchange.Effort(looks=60, tries=6), exchange.Effort(looks=0, tries=0)
ROOM = 1 << 12  # the initial capacity of the store of centres; it doubles


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


class Growing(NamedTuple):
    """The clustering of a block, and how far it is."""

    space: Space
    state: grow.State
    store: grow.Store

    @property
    def done(self) -> int:
        return int(self.state.numbers[grow.MEMBERS])

    @property
    def total(self) -> int:
        """All bags but the fewer than k that are left at the end."""
        return len(self.state.alive) // int(self.space.rule.k) * int(self.space.rule.k)


class Exchanging(NamedTuple):
    """The exchanges between the clusters of a block, and how far they are."""

    space: Space
    groups: exchange.Groups
    done: int  # how many clusters were visited in all rounds; round 0 finds out what they are worth
    total: int


def cluster(
    spaces: Sequence[Space], rounds: int, engine: Engine, progress: Progress | None = None
) -> list[Clusters]:
    """The clusters of each block."""
    growing = [begin_growing(space) for space in spaces]
    growing = _finished(grow_some, growing, "clustering", engine, progress)
    exchanging = [begin_exchanging(block.space, *members_of(block), rounds) for block in growing]
    exchanging = _finished(exchange_some, exchanging, "exchanging", engine, progress)
    made = [(block.space, block.groups.members, block.groups.bounds) for block in exchanging]
    return list(engine.map(with_centres, made))


Part = TypeVar("Part", Growing, Exchanging)


def _finished(
    step: Callable[[Part], Part],
    parts: list[Part],
    stage: str,
    engine: Engine,
    progress: Progress | None,
) -> list[Part]:
    """The parts after all their steps."""
    parts, total = list(parts), sum(part.total for part in parts)
    while pending := [i for i, part in enumerate(parts) if part.done < part.total]:
        answers = engine.map(step, [parts[i] for i in pending])
        for i, answer in zip(pending, answers, strict=True):
            parts[i] = answer
            if progress is not None:
                progress(sum(part.done for part in parts), total, stage)
    return parts


def begin_growing(space: Space) -> Growing:
    """The clustering of a block before its first step."""
    count, k = len(space.bags.sizes), int(space.rule.k)
    centres, terms = count // k + k + 2, len(space.near.indptr) - 1
    state = grow.State(
        alive=np.arange(count),
        upper=np.full(count, grow.FAR),
        seen=np.zeros(count, dtype=np.int64),
        members=np.empty(count, dtype=np.int64),
        target=np.empty(k, dtype=np.int64),
        numbers=np.array([count, 0, 0], dtype=np.int64),
    )
    store = grow.Store(
        cluster=np.full(centres, -1, dtype=np.int64),
        size=np.zeros(centres, dtype=np.int64),
        nil=np.zeros(centres, dtype=np.int64),
        slots=np.zeros(centres + 1, dtype=np.int64),
        times=np.empty(ROOM, dtype=np.int64),
        starts=np.zeros(ROOM, dtype=np.int64),
        items=np.empty(ROOM, dtype=np.int32),
        sums=np.empty(ROOM, dtype=np.int32),
        peaks=np.empty(ROOM, dtype=np.int32),
        peak=np.empty(ROOM, dtype=np.int32),
        head=np.full(terms, -1, dtype=np.int64),
        following=np.empty(ROOM, dtype=np.int64),
        centre=np.empty(ROOM, dtype=np.int64),
        gain=np.empty(ROOM, dtype=np.int64),
        room=np.empty(ROOM, dtype=np.int64),
        used=np.zeros(2, dtype=np.int64),
    )
    return Growing(space, state, store)


def grow_some(block: Growing) -> Growing:
    """The block with some more clusters; what was given stays as it is."""
    state = grow.State._make(array.copy() for array in block.state)
    store = grow.Store._make(array.copy() for array in block.store)
    store = grow.build_clusters(block.space, state, store, np.int64(BUDGET))
    return Growing(block.space, state, store)


def members_of(block: Growing) -> tuple[Int64s, Int64s]:
    """The bags of one cluster after the other, and where each begins; left-over bags come last."""
    state, k = block.state, block.space.rule.k
    alive, clusters, members = state.numbers.tolist()
    owners = np.concatenate((np.repeat(np.arange(clusters), k), state.target[:alive]))
    rows = np.concatenate((state.members[:members], state.alive[:alive]))
    bounds = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=clusters))))
    return rows[np.argsort(owners, kind="stable")], bounds


def begin_exchanging(space: Space, members: Int64s, bounds: Int64s, rounds: int) -> Exchanging:
    """The exchanges of a block before their first step."""
    count = len(bounds) - 1
    owner, rest = np.empty(len(members), dtype=np.int64), np.zeros(len(members), dtype=np.int64)
    owner[members] = np.repeat(np.arange(count), np.diff(bounds))
    groups = exchange.Groups(members, bounds, owner, np.zeros(count, dtype=np.int64), rest)
    return Exchanging(space, groups, 0, (rounds + 1) * count if rounds else 0)


def exchange_some(block: Exchanging) -> Exchanging:
    """The block after exchanges of some more clusters; what was given stays as it is."""
    groups = exchange.Groups._make(array.copy() for array in block.groups)
    count = len(groups.worth)
    first = block.done % count
    last = min(first + BUDGET, count)
    effort = EFFORT if block.done >= count else NO_EFFORT
    exchange.exchange(block.space, groups, np.int64(first), np.int64(last), effort)
    return block._replace(groups=groups, done=block.done + last - first)


def with_centres(clusters: tuple[Space, Int64s, Int64s]) -> Clusters:
    """Clusters with their centres; given are the bags of one after the other, and the bounds."""
    space, members, bounds = clusters
    made, times, terms = match_members(space, members, bounds)
    return Clusters(members, bounds, np.repeat(np.arange(len(made)), made), times, terms)


def space_of(data: Bags, near: NearTerms, rule: Rule) -> Space:
    """Bags as the kernels take them."""
    return Space(CountedBags(data.indptr, data.items, data.counts, data.totals), near, rule)


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
