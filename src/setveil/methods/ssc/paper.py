"""Algorithm 1 on blocks of bags: clusters of k around centres. [Liu2010b] section IV"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags
from setveil.engines.base import Engine, Progress
from setveil.kernels.ssc import grow
from setveil.kernels.ssc.centre import CountedBags, NearTerms, Rule, Space, match_members
from setveil.methods.ssc.cluster import Clusters, finished

BUDGET = 50  # how many clusters a task works on before progress is reported
ROOM = 1 << 12  # the initial capacity of the store of centres; it doubles


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


def cluster(
    spaces: Sequence[Space], engine: Engine, progress: Progress | None = None
) -> list[Clusters]:
    """The clusters of each block."""
    growing = [begin_growing(space) for space in spaces]
    growing = finished(grow_some, growing, "clustering", engine, progress)
    return list(engine.map(with_centres, [(block.space, *members_of(block)) for block in growing]))


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


def with_centres(clusters: tuple[Space, Int64s, Int64s]) -> Clusters:
    """Clusters with their centres; given are the bags of one after the other, and the bounds."""
    space, members, bounds = clusters
    made, times, terms = match_members(space, members, bounds)
    return Clusters(members, bounds, np.repeat(np.arange(len(made)), made), times, terms)


def space_of(data: Bags, near: NearTerms, rule: Rule) -> Space:
    """Bags as the kernels take them."""
    return Space(CountedBags(data.indptr, data.items, data.counts, data.totals), near, rule)
