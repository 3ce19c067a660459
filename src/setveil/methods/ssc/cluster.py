"""Algorithm 1 on blocks of vocabularies: clusters of k, then what is left joins them; then exchanges. [Liu2010b] section IV-A"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Bags
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.kernels.ssc import centre as kernels
from setveil.kernels.ssc import exchange, grow

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

BUDGET = 50
"""Clusters that a block makes before the progress is told."""
LOOKS, TRIES = 60, 6
"""Of all vocabularies, so many are matched with a cluster that offers a member in exchange, and the exchange is tried with so many."""
ROOM = 1 << 12
"""What the store of centres has room for at first; it doubles."""


@dataclass(frozen=True)
class Clusters:
    """Clusters of vocabularies with their centres."""

    members: Int64s
    """The vocabularies of one cluster after the other, in the order in which they joined."""
    bounds: Int64s
    slot_cluster: Int64s
    """The cluster of each slot."""
    slot_times: Int64s
    """How often each slot stands in its cluster."""
    terms: Int32s
    """The terms of one slot after the other, one of each member in the order of the members."""

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def sizes(self) -> Int64s:
        return np.diff(self.bounds)

    @property
    def slot_sizes(self) -> Int64s:
        """How many terms each slot holds."""
        return self.sizes[self.slot_cluster]

    def of(self, rows: Int64s) -> Clusters:
        """The same clusters, of rows whose numbers are these."""
        return replace(self, members=rows[self.members])


def cluster(
    data: Bags,
    blocks: list[Int64s],
    near: kernels.Near,
    rule: kernels.Rule,
    rounds: int = 0,
    engine: Engine = LOCAL,
    progress: Progress | None = None,
) -> Clusters:
    """The clusters of the rows of each block, which must be in canonical order and at least k.

    Args:
        data: The vocabularies.
        blocks: Which rows are clustered together.
        near: The relevant terms of each term.
        rule: What decides who is near.
        rounds: How often members are exchanged between clusters.
        engine: Runs blocks beside each other.
        progress: Is told how many vocabularies are in clusters.
    """
    work = [Block(data, rows, near, rule) for rows in blocks]
    _run(work, "clustering", engine, progress)
    groups = [Exchange(block.rows, near, rule, *block.members(), rounds) for block in work]
    _run(groups, "exchanging", engine, progress)
    places = dict(engine.map(lambda number: (number, groups[number].finish()), range(len(groups))))
    return joined_clusters([places[number].of(rows) for number, rows in enumerate(blocks)])


class Work(Protocol):
    """Something that is done step by step."""

    @property
    def done(self) -> int: ...

    @property
    def total(self) -> int: ...

    def step(self) -> None: ...


def _run(work: Sequence[Work], stage: str, engine: Engine, progress: Progress | None) -> None:
    """Do all of it, several beside each other."""
    pending = [part for part in work if part.done < part.total]
    while pending:
        for _ in engine.map(lambda part: part.step(), pending):
            if progress is not None:
                progress(sum(part.done for part in work), sum(part.total for part in work), stage)
        pending = [part for part in pending if part.done < part.total]


class Block:
    """The clustering of some vocabularies."""

    def __init__(self, data: Bags, numbers: Int64s, near: kernels.Near, rule: kernels.Rule) -> None:
        self.rows, self.near, self.rule = rows_of(data.take(numbers)), near, rule
        count = len(numbers)
        self.state = grow.State(
            alive=np.arange(count),
            upper=np.full(count, grow.FAR),
            seen=np.zeros(count, dtype=np.int64),
            members=np.empty(count, dtype=np.int64),
            numbers=np.array([count, 0, 0], dtype=np.int64),
        )
        self.target = np.empty(int(rule.k), dtype=np.int64)
        self.store = new_store(count // int(rule.k) + int(rule.k) + 2, len(near.indptr) - 1)

    @property
    def done(self) -> int:
        return int(self.state.numbers[grow.MEMBERS])

    @property
    def total(self) -> int:
        """What is left at the end is too little for a cluster."""
        return len(self.state.alive) // int(self.rule.k) * int(self.rule.k)

    def step(self) -> None:
        """Make some clusters."""
        work = (self.rows, self.near, self.rule, self.state)
        self.store = grow.build_clusters(*work, self.store, self.target, np.int64(BUDGET))

    def members(self) -> tuple[Int64s, Int64s]:
        """The members of one cluster after the other, and where each begins; those that were left over come last."""
        state, numbers = self.state, self.state.numbers
        owners = np.concatenate(
            (
                np.repeat(np.arange(numbers[grow.CLUSTERS]), self.rule.k),
                self.target[: numbers[grow.ALIVE]],
            )
        )
        members = np.concatenate(
            (state.members[: numbers[grow.MEMBERS]], state.alive[: numbers[grow.ALIVE]])
        )
        bounds = np.concatenate(
            ([0], np.cumsum(np.bincount(owners, minlength=numbers[grow.CLUSTERS])))
        )
        return members[np.argsort(owners, kind="stable")], bounds


class Exchange:
    """The clusters of a block, between which members are exchanged in some rounds."""

    def __init__(
        self,
        rows: kernels.Rows,
        near: kernels.Near,
        rule: kernels.Rule,
        members: Int64s,
        bounds: Int64s,
        rounds: int,
    ) -> None:
        self.rows, self.near, self.rule, self.done = rows, near, rule, 0
        self.count = len(bounds) - 1
        self.total = (rounds + 1) * self.count if rounds else 0
        owner, none = np.empty(len(members), dtype=np.int64), np.zeros(len(members), dtype=np.int64)
        owner[members] = np.repeat(np.arange(self.count), np.diff(bounds))
        self.groups = exchange.Groups(
            members, bounds, owner, np.zeros(self.count, dtype=np.int64), none
        )

    def step(self) -> None:
        """Look at some clusters; in a first round to see what they are worth."""
        first = self.done % self.count
        last = min(first + BUDGET, self.count)
        work = (self.rows, self.near, self.rule, self.groups, np.int64(first), np.int64(last))
        exchange.exchange(*work, np.int64(0 if self.done < self.count else LOOKS), np.int64(TRIES))
        self.done += last - first

    def finish(self) -> Clusters:
        """The clusters as they are now, with their centres."""
        return with_centres(
            self.rows, self.near, self.rule, self.groups.members, self.groups.bounds
        )


def rows_of(data: Bags) -> kernels.Rows:
    """TypicalBags as the kernels take them."""
    return kernels.Rows(data.indptr, data.items, data.counts, data.totals)


def new_store(centres: int, terms: int) -> grow.Store:
    """Room for so many centres; that for what they hold grows."""
    return grow.Store(
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


def with_centres(
    rows: kernels.Rows, near: kernels.Near, rule: kernels.Rule, members: Int64s, bounds: Int64s
) -> Clusters:
    """Clusters whose members join in the order given, with their centres."""
    made, times, terms = kernels.match_members(rows, near, rule, members, bounds)
    return Clusters(members, bounds, np.repeat(np.arange(len(made)), made), times, terms)


def of_equal(data: Bags, groups: list[Int64s]) -> Clusters:
    """Groups of equal vocabularies as clusters: each term is a slot."""
    none = np.empty(0, dtype=np.int64)
    firsts = data.take(np.array([group[0] for group in groups], dtype=np.int64))
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    return Clusters(
        np.concatenate([none, *groups]),
        bounds,
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
