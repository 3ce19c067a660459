"""Kernel of exchanges: two bags change places if both clusters together lose less."""

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


class Groups(NamedTuple):
    """Clusters, and what each of them is worth."""

    members: Int64s  # the bags of each cluster, in the order in which they join
    bounds: Int64s
    owner: Int64s  # the cluster of each bag
    worth: Int64s
    """What a cluster keeps: omega for each published occurrence, minus what its slot loses."""
    rest: Int64s
    """For each bag what the others of its cluster would keep with a bag that fits perfectly."""


class Effort(NamedTuple):
    """How hard to search."""

    looks: int  # how many bags, the most promising ones, are matched with the rest of a cluster
    tries: int  # with how many of these, the most promising ones, the exchange is tried


@kernel
def exchange(space, groups, first, last, effort):
    """Offer a member of each of the clusters `first` to `last - 1` in exchange for any other bag.

    The member is the one without which most would be left. If the cluster keeps more when this
    member joins last, it moves to the end. With 0 looks, what the clusters are worth is filled in
    instead; do this first."""
    board = new_board(space)
    hopes, found = np.empty(len(groups.owner), np.int64), np.empty(len(groups.owner), np.int64)
    for cluster in range(first, last):
        if effort.looks == 0:
            value_cluster(space, groups, cluster, board)
            continue
        row = groups.members[groups.bounds[cluster]]
        for i in range(groups.bounds[cluster] + 1, groups.bounds[cluster + 1]):
            if groups.rest[groups.members[i]] > groups.rest[row]:
                row = groups.members[i]
        centre = centre_without(space, groups, row, board)
        offers = set_board(space.rule, centre, board)
        kept = keep(space, row, centre, board, offers)
        if kept > groups.worth[cluster]:
            move_last(groups, row)
            groups.worth[cluster] = kept
        look_for(space, groups, row, board, hopes, found)
        promising = np.flatnonzero(found >= 0)
        if len(promising) > effort.looks:
            order = np.argsort(-(hopes[promising] + found[promising]))
            promising = promising[order][: effort.looks]
        for other in promising:
            found[other] = keep(space, other, centre, board, offers)
            hopes[other] += found[other]
        clear_board(board, offers)
        for other in promising[np.argsort(-hopes[promising])][: effort.tries]:
            if hopes[other] <= 0 or try_exchange(space, groups, row, other, found[other], board):
                break


@step
def value_cluster(space, groups, cluster, board):
    """Fill in what a cluster is worth, and what is left of it without each of its members."""
    start, stop = groups.bounds[cluster], groups.bounds[cluster + 1]
    for i in range(start, stop):
        row, left = groups.members[i], np.int64(0)
        centre = centre_without(space, groups, row, board)
        for slot in range(len(centre.times)):
            left += centre.times[slot] * (stop - start) * (space.rule.omega - centre.peak[slot])
        groups.rest[row] = left
        if i == stop - 1:
            offers = set_board(space.rule, centre, board)
            groups.worth[cluster] = keep(space, row, centre, board, offers)
            clear_board(board, offers)


@step
def centre_without(space, groups, row, board):
    """The centre of a cluster without one of its members."""
    cluster = groups.owner[row]
    start, stop = groups.bounds[cluster], groups.bounds[cluster + 1]
    first = start + (groups.members[start] == row)
    centre = begin_centre(space, groups.members[first])
    for i in range(first + 1, stop):
        if groups.members[i] != row:
            centre = join(space, centre, groups.members[i], board)
    return centre


@step
def keep(space, row, centre, board, offers):
    """What a cluster keeps if a bag joins the centre on the board as its last member."""
    matched = match_row(space, row, centre, board, offers, np.int64(0))
    kept, at, size = np.int64(0), np.int64(0), centre.terms.shape[1]
    for item in matched.items:
        for j in range(board.start[item], board.stop[item]):
            kept += matched.flow[at] * (offers.gains[j] - size * centre.peak[matched.slots[at]])
            at += 1
    return kept


@step
def look_for(space, groups, row, board, hopes, found):
    """Rate all bags of other clusters for an exchange with `row`.

    `found` is a bound on what the cluster of `row` then keeps, -1 if there is no hope; `hopes`
    bounds the gain besides that."""
    here, omega = groups.owner[row], space.rule.omega
    size = groups.bounds[here + 1] - groups.bounds[here]
    for other in range(len(hopes)):
        there = groups.owner[other]
        found[other] = -1
        if there == here:
            continue
        kept = min(groups.rest[other], size * omega * space.bags.sizes[row])
        hopes[other] = kept - groups.worth[there] - groups.worth[here]
        if hopes[other] + size * omega * space.bags.sizes[other] > 0:
            bound = bound_of(space.bags, other, board)
            if hopes[other] + bound > 0:
                found[other] = bound


@step
def move_last(groups, row):
    """Let a member be the last to join."""
    cluster = groups.owner[row]
    start, stop = groups.bounds[cluster], groups.bounds[cluster + 1]
    to = start
    for i in range(start, stop):
        if groups.members[i] != row:
            groups.members[to] = groups.members[i]
            to += 1
    groups.members[stop - 1] = row


@step
def try_exchange(space, groups, row, other, kept, board):
    """Exchange two bags if both clusters are then worth more; that of `row` then keeps `kept`."""
    here, there = groups.owner[row], groups.owner[other]
    centre = centre_without(space, groups, other, board)
    offers = set_board(space.rule, centre, board)
    kept += keep(space, row, centre, board, offers)
    clear_board(board, offers)
    if kept <= groups.worth[here] + groups.worth[there]:
        return False
    move_last(groups, row)
    move_last(groups, other)
    groups.members[groups.bounds[here + 1] - 1] = other
    groups.members[groups.bounds[there + 1] - 1] = row
    groups.owner[row], groups.owner[other] = there, here
    value_cluster(space, groups, here, board)
    value_cluster(space, groups, there, board)
    return True
