"""Kernel of exchanges: two vocabularies change places when both clusters together lose less."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.kernels.jit import kernel, step
from setveil.kernels.ssc.centre import (
    Int64s,
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

    members: Int64s
    """The vocabularies of each cluster in the order in which they join."""
    bounds: Int64s
    owner: Int64s
    """The cluster of each vocabulary."""
    worth: Int64s
    """What a cluster keeps: for each occurrence that is published omega, less what its slot loses."""
    rest: Int64s
    """For each vocabulary what the others of its cluster would keep with one that fits them entirely."""


@kernel
def exchange(rows, near, rule, groups, first, last, looks, tries):
    """Offer a member of each of the clusters `first` to `last - 1` to all others in exchange for one of theirs.

    The member is the one without whom most would be left. When the cluster keeps more with it as the last to join, it becomes that.
    Without any looks, what the clusters are worth is filled in, which must be done first.

    Args:
        rows: The vocabularies.
        near: The relevant terms of each term.
        rule: What things cost.
        groups: The clusters; they change.
        first: The first cluster.
        last: The one after the last cluster.
        looks: How many vocabularies are matched with what is left of the cluster, those that promise most.
        tries: With how many of them the exchange is tried, those that still promise most.
    """
    board = new_board(len(near.indptr) - 1)
    hopes, found = np.empty(len(groups.owner), np.int64), np.empty(len(groups.owner), np.int64)
    for cluster in range(first, last):
        if looks == 0:
            value_cluster(rows, near, rule, groups, cluster, board)
            continue
        start, stop = groups.bounds[cluster], groups.bounds[cluster + 1]
        row, size = groups.members[start], stop - start - 1
        for i in range(start + 1, stop):
            if groups.rest[groups.members[i]] > groups.rest[row]:
                row = groups.members[i]
        centre = centre_without(rows, near, rule, groups, row, board)
        count, slots, gains = set_board(centre, size, rule, board)
        kept = keep(rows, row, centre, board, slots, gains, size, rule)
        if kept > groups.worth[cluster]:
            move_last(groups, row)
            groups.worth[cluster] = kept
        promising = look_for(rows, rule, groups, row, board, hopes, found, looks)
        for other in promising:
            found[other] = keep(rows, other, centre, board, slots, gains, size, rule)
            hopes[other] += found[other]
        clear_board(board, count)
        for other in promising[np.argsort(-hopes[promising])][:tries]:
            if hopes[other] <= 0:
                break
            if try_exchange(rows, near, rule, groups, row, other, found[other], board):
                break


@step
def value_cluster(rows, near, rule, groups, cluster, board):
    """Fill in what a cluster is worth, and what is left of it without each of its members."""
    start, stop = groups.bounds[cluster], groups.bounds[cluster + 1]
    for i in range(start, stop):
        row, size = groups.members[i], stop - start - 1
        centre = centre_without(rows, near, rule, groups, row, board)
        left = np.int64(0)
        for slot in range(len(centre.times)):
            left += centre.times[slot] * (size + 1) * (rule.omega - centre.peak[slot])
        groups.rest[row] = left
        if i == stop - 1:
            count, slots, gains = set_board(centre, size, rule, board)
            groups.worth[cluster] = keep(rows, row, centre, board, slots, gains, size, rule)
            clear_board(board, count)


@step
def centre_without(rows, near, rule, groups, row, board):
    """The centre of a cluster without one of its members."""
    cluster = groups.owner[row]
    start, stop = groups.bounds[cluster], groups.bounds[cluster + 1]
    first = start + (groups.members[start] == row)
    centre, size = begin_centre(rows, near, groups.members[first]), np.int64(1)
    for i in range(first + 1, stop):
        if groups.members[i] != row:
            centre = join(rows, near, rule, centre, size, groups.members[i], board)
            size += 1
    return centre


@step
def keep(rows, row, centre, board, slots, gains, size, rule):
    """What a cluster keeps when a vocabulary comes to the centre on the board as the last one."""
    _, _, ends, flow, items = match_row(
        rows, row, centre.times, board, slots, gains, size, rule, np.int64(0)
    )
    kept, at = np.int64(0), np.int64(0)
    for i in range(len(items)):
        for j in range(board.start[items[i]], board.stop[items[i]]):
            kept += flow[at] * (gains[j] - size * centre.peak[ends[at]])
            at += 1
    return kept


@step
def look_for(rows, rule, groups, row, board, hopes, found, looks):
    """The vocabularies of other clusters that promise most in exchange for `row`.

    `hopes` gets what can be gained at most besides what the cluster of `row` then keeps, and `found` a bound on that.
    """
    here = groups.owner[row]
    size = groups.bounds[here + 1] - groups.bounds[here]
    promising = np.zeros(len(hopes), np.bool_)
    for other in range(len(hopes)):
        there = groups.owner[other]
        if there == here:
            continue
        hopes[other] = (
            min(groups.rest[other], size * rule.omega * rows.sizes[row])
            - groups.worth[there]
            - groups.worth[here]
        )
        if hopes[other] + size * rule.omega * rows.sizes[other] > 0:
            found[other] = bound_of(rows, other, board)
            promising[other] = hopes[other] + found[other] > 0
    places = np.flatnonzero(promising)
    if len(places) > looks:
        places = places[np.argsort(-(hopes[places] + found[places]))][:looks]
    return places


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
def try_exchange(rows, near, rule, groups, row, other, kept, board):
    """Exchange two vocabularies if both clusters together are then worth more; that of `row` then keeps `kept`."""
    here, there = groups.owner[row], groups.owner[other]
    size = groups.bounds[there + 1] - groups.bounds[there] - 1
    centre = centre_without(rows, near, rule, groups, other, board)
    count, slots, gains = set_board(centre, size, rule, board)
    kept += keep(rows, row, centre, board, slots, gains, size, rule)
    clear_board(board, count)
    if kept <= groups.worth[here] + groups.worth[there]:
        return False
    move_last(groups, row)
    move_last(groups, other)
    groups.members[groups.bounds[here + 1] - 1] = other
    groups.members[groups.bounds[there + 1] - 1] = row
    groups.owner[row], groups.owner[other] = there, here
    value_cluster(rows, near, rule, groups, here, board)
    value_cluster(rows, near, rule, groups, there, board)
    return True
