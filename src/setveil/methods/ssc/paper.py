"""Algorithm 1 on blocks of bags: clusters of k around centres. [Liu2010b] section IV"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setveil.data.arrays import Int64s, offsets
from setveil.data.transactions import Bags
from setveil.engines.base import Engine, Progress
from setveil.kernels.ssc import grow
from setveil.kernels.ssc.centre import CountedBags, NearTerms, Rule, Space, match_members
from setveil.kernels.ssc.profiles import ALIVE
from setveil.methods.ssc.clusters import Clusters, Growing, finished

BUDGET = 50  # how many clusters a task works on before progress is reported


def cluster(
    spaces: Sequence[Space], engine: Engine, progress: Progress | None = None
) -> list[Clusters]:
    """The clusters of each block."""
    growing = [begin_growing(space) for space in spaces]
    growing = finished(grow_some, growing, "clustering", engine, progress)
    return list(engine.map(completed, growing))


def begin_growing(space: Space) -> Growing:
    """The clustering of a block before its first step."""
    count, k = len(space.bags.sizes), int(space.rule.k)
    members, numbers = np.empty(count // k * k, dtype=np.int64), np.array([count, 0])
    return Growing(space, grow.State(np.arange(count), members, numbers, np.full(count, grow.FAR)))


def grow_some(block: Growing) -> Growing:
    """The block with some more clusters; what was given stays as it is."""
    state = grow.State._make(array.copy() for array in block.state)
    grow.build_clusters(block.block, state, np.int64(BUDGET))
    return block._replace(state=state)


def completed(block: Growing) -> Clusters:
    """All clusters of a block: each bag that is left joins the nearest one, which then changes."""
    space, state = block
    groups = [*state.members.reshape(-1, int(space.rule.k))]
    left = state.alive[: state.numbers[ALIVE]]
    if len(left):
        far = np.stack([grow.distances_to(space, group, left) for group in groups])
        for place, row in enumerate(left.tolist()):
            nearest = int(np.argmin(far[:, place]))
            groups[nearest] = np.append(groups[nearest], row)
            far[nearest] = grow.distances_to(space, groups[nearest], left)
    return with_centres((space, np.concatenate(groups), offsets([len(each) for each in groups])))


def with_centres(clusters: tuple[Space, Int64s, Int64s]) -> Clusters:
    """Clusters with their centres; given are the bags of each in turn, and the bounds."""
    space, members, bounds = clusters
    made, times, terms = match_members(space, members, bounds)
    return Clusters(members, bounds, np.repeat(np.arange(len(made)), made), times, terms)


def space_of(data: Bags, near: NearTerms, rule: Rule) -> Space:
    """Bags as the kernels take them."""
    return Space(CountedBags(data.indptr, data.items, data.counts, data.totals), near, rule)
