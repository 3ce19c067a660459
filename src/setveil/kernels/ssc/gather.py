"""Kernels of SSC: clusters of k bags that keep most together, one after the other."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.ssc.profiles import (
    bound_of,
    clear_common,
    new_common,
    set_common,
    set_reach,
    shared_with,
    value_of,
)

ALIVE, MEMBERS = 0, 1  # slots of `Gathered.numbers`


class Gathered(NamedTuple):
    """How far the clustering is."""

    alive: Int64s  # the bags that are in no cluster yet, ascending
    members: Int64s  # the bags of one cluster after the other, k each
    numbers: Int64s


@kernel
def gather(block, state, budget):
    """Make at most `budget` clusters: each takes the first bag left, then the nearest ones."""
    common, numbers = new_common(block), state.numbers
    bounds = np.empty(len(state.alive), np.int64)
    while numbers[ALIVE] >= block.k and budget > 0:
        budget -= 1
        start = numbers[MEMBERS]
        take(state, np.int64(0))
        for size in range(1, block.k):
            members = state.members[start : numbers[MEMBERS]]
            touched = set_common(block, members, np.int64(-1), common)
            place = find_nearest(block, state, np.int64(size), common, bounds)
            clear_common(common, touched)
            take(state, place)


@step
def take(state, place):
    """Move a bag from those that are left to the cluster that is being made."""
    state.members[state.numbers[MEMBERS]] = state.alive[place]
    state.numbers[MEMBERS] += 1
    state.numbers[ALIVE] -= 1
    for i in range(place, state.numbers[ALIVE]):
        state.alive[i] = state.alive[i + 1]


@step
def find_nearest(block, state, size, common, bounds):
    """The place in `alive` of the bag whose joining loses least; of equals the first.

    What is lost is all of the bag but what it shares, and what the `size` others no longer keep.
    Bags for which even the bound is too little are never compared exactly."""
    set_reach(block.tree, common)
    chosen = np.int64(0)
    for place in range(state.numbers[ALIVE]):
        row = state.alive[place]
        alone = block.whole * block.sizes[row]
        bounds[place] = alone - (size + 1) * bound_of(block, row, common)
        if bounds[place] < bounds[chosen]:
            chosen = place
    best = loss_of(block, state.alive[chosen], size, common)
    for place in range(state.numbers[ALIVE]):
        if bounds[place] < best or (bounds[place] == best and place < chosen):
            found = loss_of(block, state.alive[place], size, common)
            if found < best or (found == best and place < chosen):
                best, chosen = found, np.int64(place)
    return chosen


@step
def loss_of(block, row, size, common):
    """What is lost if a bag joins, up to what does not depend on the bag."""
    return block.whole * block.sizes[row] - (size + 1) * shared_with(block, row, common)


@kernel
def find_cluster(block, members, bounds, row):
    """The cluster in which one more bag loses least; of equals the first."""
    common = new_common(block)
    chosen, best = np.int64(-1), np.int64(0)
    for cluster in range(len(bounds) - 1):
        held = members[bounds[cluster] : bounds[cluster + 1]]
        touched = set_common(block, held, np.int64(-1), common)
        kept = (len(held) + 1) * shared_with(block, row, common)
        kept -= len(held) * value_of(block.tree, common, touched)
        clear_common(common, touched)
        if chosen < 0 or kept > best:
            chosen, best = np.int64(cluster), kept
    return chosen
