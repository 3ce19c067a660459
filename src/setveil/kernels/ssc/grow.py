"""Kernels of SSC as in the paper: clusters of bags around centres. [Liu2010b] section IV-A"""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.ssc.centre import (
    begin_centre,
    bound_of,
    clear_board,
    join,
    match_row,
    new_board,
    set_board,
)
from setveil.kernels.ssc.profiles import ALIVE, MEMBERS, take

FAR = np.int64(1) << np.int64(60)


class State(NamedTuple):
    """How far the clustering is."""

    alive: Int64s  # the bags that are in no cluster yet, ascending
    members: Int64s  # the bags of one cluster after the other, k each
    numbers: Int64s
    far: Int64s  # the distance of each bag to its nearest centre, as long as it is alive


@kernel
def build_clusters(space, state, budget):
    """Make at most `budget` clusters of k."""
    board, rule, numbers = new_board(space), space.rule, state.numbers
    bounds = np.empty(len(state.alive), np.int64)
    while numbers[ALIVE] >= rule.k and budget > 0:
        budget -= 1
        seed = np.int64(0)
        if rule.farthest == 1:
            for place in range(1, numbers[ALIVE]):  # of equals the first
                if state.far[state.alive[place]] > state.far[state.alive[seed]]:
                    seed = np.int64(place)
        take(state, seed)
        centre = begin_centre(space, state.members[numbers[MEMBERS] - 1])
        for _ in range(1, rule.k):
            take(state, find_nearest(space, state, centre, board, bounds))
            centre = join(space, centre, state.members[numbers[MEMBERS] - 1], board)
        if rule.farthest == 1:
            approach(space, centre, state.alive[: numbers[ALIVE]], state.far, board)


@kernel
def distances_to(space, members, rows):
    """The distance of some bags to the centre of others, which join in the given order."""
    board, far = new_board(space), np.full(len(space.bags.sizes), FAR)
    centre = begin_centre(space, members[0])
    for i in range(1, len(members)):
        centre = join(space, centre, members[i], board)
    approach(space, centre, rows, far, board)
    return far[rows]


@step
def approach(space, centre, rows, far, board):
    """Lower the distance of each bag to its nearest centre, if this one is nearer.

    A bag gains at most what `bound_of` says, so it is matched only if that could bring it nearer;
    and matching ends as soon as it is sure that it does not."""
    offers = set_board(space.rule, centre, board)
    nil = space.rule.omega * centre.terms.shape[1] * centre.times.sum()
    for row in rows:
        unmatched = space.rule.omega * space.bags.sizes[row] + nil
        if unmatched - bound_of(space.bags, row, board) < far[row]:
            gain = match_row(space, row, centre, board, offers, unmatched - far[row]).gain
            if gain >= 0:
                far[row] = min(far[row], unmatched - gain)
    clear_board(board, offers)


@step
def find_nearest(space, state, centre, board, bounds):
    """The place in `alive` of the bag nearest to a centre; of equals the first.

    Bags for which even `bound_of` gains too little are never matched."""
    omega, sizes = space.rule.omega, space.bags.sizes
    offers = set_board(space.rule, centre, board)
    left, chosen = state.numbers[ALIVE], np.int64(0)
    for place in range(left):
        row = state.alive[place]
        bounds[place] = omega * sizes[row] - bound_of(space.bags, row, board)
        if bounds[place] < bounds[chosen]:
            chosen = np.int64(place)
    first, row = chosen, state.alive[chosen]
    best = omega * sizes[row] - match_row(space, row, centre, board, offers, np.int64(0)).gain
    for place in range(left):
        is_hopeful = bounds[place] < best or (bounds[place] == best and place < chosen)
        if place != first and is_hopeful:
            row = state.alive[place]
            alone = omega * sizes[row]
            gain = match_row(space, row, centre, board, offers, alone - best).gain
            found = alone - gain
            if gain >= 0 and (found < best or (found == best and place < chosen)):
                best, chosen = found, np.int64(place)
    clear_board(board, offers)
    return chosen
