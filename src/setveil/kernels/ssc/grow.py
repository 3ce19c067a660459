"""Kernels of SSC: clusters of vocabularies, one after the other, each around a centre. [Liu2010b] section IV-A"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import roomier
from setveil.kernels.jit import kernel, step
from setveil.kernels.ssc.centre import (
    Centre,
    Int32s,
    Int64s,
    begin_centre,
    bound_of,
    clear_board,
    join,
    match_row,
    new_board,
    nil_cost,
    set_board,
)

FAR = np.int64(1) << np.int64(60)
ALIVE, CLUSTERS, MEMBERS = 0, 1, 2
"""Places in `State.numbers`."""


class State(NamedTuple):
    """How far the clustering is."""

    alive: Int64s
    """The vocabularies that are in no cluster yet, ascending."""
    upper: Int64s
    """A number that the distance of each to its nearest centre does not exceed."""
    seen: Int64s
    """How many centres that number has taken into account."""
    members: Int64s
    """Those of one cluster after the other, k each."""
    numbers: Int64s


class Store(NamedTuple):
    """All centres so far; `head` and `following` list, for each term, the centres that take it, the newest first."""

    cluster: Int64s
    size: Int64s
    nil: Int64s
    slots: Int64s
    times: Int64s
    starts: Int64s
    items: Int32s
    sums: Int32s
    peaks: Int32s
    peak: Int32s
    head: Int64s
    following: Int64s
    centre: Int64s
    gain: Int64s
    room: Int64s
    used: Int64s
    """How many postings there are, and how many centres."""


@kernel
def build_clusters(rows, near, rule, state, store, target, budget):
    """Make clusters of k while there are k vocabularies left, at most `budget` of them; returns the store, which may have grown.

    When fewer than k are left, each joins a cluster, which `target` tells.
    """
    board = new_board(len(near.indptr) - 1)
    bounds = np.empty(len(state.alive), np.int64)
    numbers = state.numbers
    while numbers[ALIVE] >= rule.k and budget > 0:
        budget -= 1
        seed = np.int64(0)
        if rule.farthest == 1 and numbers[CLUSTERS] > 0:
            seed = find_farthest(rows, rule, state, store, board)
        chosen = take(state, seed)
        centre = begin_centre(rows, near, chosen)
        for size in range(1, rule.k):
            place = find_nearest(rows, rule, state, centre, size, board, bounds)
            chosen = take(state, place)
            centre = join(rows, near, rule, centre, size, chosen, board)
        numbers[CLUSTERS] += 1
        store = keep_centre(store, centre, numbers[CLUSTERS] - 1, rule.k, rule, board)
    if numbers[ALIVE] < rule.k:
        store = place_rest(rows, near, rule, state, store, target, board)
    return store


@step
def place_rest(rows, near, rule, state, store, target, board):
    """Let each vocabulary that is left join the nearest centre, which then changes."""
    for i in range(state.numbers[ALIVE]):
        row = state.alive[i]
        state.upper[row], state.seen[row] = FAR, 0
        chosen = refine(rows, rule, state, store, row, board)
        cluster, size = store.cluster[chosen], store.size[chosen]
        target[i] = cluster
        centre = join(rows, near, rule, centre_of(store, chosen), size, row, board)
        store.cluster[chosen] = -1
        store = keep_centre(store, centre, cluster, size + 1, rule, board)
    return store


@step
def take(state, place):
    """Move a vocabulary out of those that are left, into the cluster that is being made."""
    row = state.alive[place]
    state.members[state.numbers[MEMBERS]] = row
    state.numbers[MEMBERS] += 1
    state.numbers[ALIVE] -= 1
    for i in range(place, state.numbers[ALIVE]):
        state.alive[i] = state.alive[i + 1]
    return row


@step
def find_nearest(rows, rule, state, centre, size, board, bounds):
    """The place in `alive` of the vocabulary nearest to a centre, of equals the first.

    No vocabulary gains more than if each of its terms had its best slot for itself; those for which even that is not enough are never
    matched.
    """
    count, slots, gains = set_board(centre, size, rule, board)
    left, chosen = state.numbers[ALIVE], np.int64(0)
    for place in range(left):
        row = state.alive[place]
        bounds[place] = rule.omega * rows.sizes[row] - bound_of(rows, row, board)
        if bounds[place] < bounds[chosen]:
            chosen = place
    first, row = chosen, state.alive[chosen]
    best = (
        rule.omega * rows.sizes[row]
        - match_row(rows, row, centre.times, board, slots, gains, size, rule, np.int64(0))[0]
    )
    waiting = np.flatnonzero(bounds[:left] <= best)
    waiting = waiting[np.argsort(bounds[waiting])]
    for place in waiting:
        if bounds[place] > best:
            break
        if place == first or (bounds[place] == best and place > chosen):
            continue
        row = state.alive[place]
        need = rule.omega * rows.sizes[row] - best
        gain = match_row(rows, row, centre.times, board, slots, gains, size, rule, need)[0]
        found = rule.omega * rows.sizes[row] - gain
        if gain >= 0 and (found < best or (found == best and place < chosen)):
            best, chosen = found, place
    clear_board(board, count)
    return chosen


@step
def find_farthest(rows, rule, state, store, board):
    """The place in `alive` of the vocabulary whose nearest centre is farthest, of equals the first.

    New centres can only come nearer, so an old distance bounds the new one from above: the vocabulary of the greatest bound is looked
    at again until it is one whose bound is up to date.
    """
    while True:
        chosen = np.int64(0)
        for place in range(1, state.numbers[ALIVE]):
            if state.upper[state.alive[place]] > state.upper[state.alive[chosen]]:
                chosen = place
        row = state.alive[chosen]
        if state.seen[row] == store.used[1]:
            return chosen
        refine(rows, rule, state, store, row, board)


@step
def refine(rows, rule, state, store, row, board):
    """Bring the distance of a vocabulary to its nearest centre up to date; returns that centre, -1 when it is one of the old ones."""
    seen, centres = state.seen[row], store.used[1]
    gains = np.zeros(centres - seen, np.int64)
    start, stop = rows.indptr[row], rows.indptr[row + 1]
    for i in range(start, stop):
        posting = store.head[rows.items[i]]
        while posting >= 0 and store.centre[posting] >= seen:
            gains[store.centre[posting] - seen] += store.gain[posting] * min(
                rows.counts[i], store.room[posting]
            )
            posting = store.following[posting]
    alone = rule.omega * rows.sizes[row]
    best, chosen = state.upper[row], np.int64(-1)
    for number in range(seen, centres):
        if store.cluster[number] >= 0:
            best, chosen = nearer(store, alone + store.nil[number], number, best, chosen)
    near_ones = np.flatnonzero(gains)
    bounds = alone + store.nil[seen:centres][near_ones] - gains[near_ones]
    for i in np.argsort(bounds):
        number = seen + near_ones[i]
        if bounds[i] > best:
            break
        if store.cluster[number] >= 0 and (bounds[i] < best or chosen >= 0):
            gain = match_centre(
                rows, rule, store, number, row, alone + store.nil[number] - best, board
            )
            if gain >= 0:
                best, chosen = nearer(store, alone + store.nil[number] - gain, number, best, chosen)
    state.upper[row], state.seen[row] = best, centres
    return chosen


@step
def nearer(store, distance, number, best, chosen):
    """The nearer of two centres, of equals that of the older cluster."""
    if distance < best or (
        distance == best and chosen >= 0 and store.cluster[number] < store.cluster[chosen]
    ):
        return distance, np.int64(number)
    return best, chosen


@step
def match_centre(rows, rule, store, number, row, need, board):
    """What the best matching of a vocabulary with a centre of the store gains; -1 if surely less than `need`."""
    centre, size = centre_of(store, number), store.size[number]
    count, slots, gains = set_board(centre, size, rule, board)
    gain = match_row(rows, row, centre.times, board, slots, gains, size, rule, need)[0]
    clear_board(board, count)
    return gain


@step
def centre_of(store, number):
    """A centre out of the store, without its terms."""
    first, last = store.slots[number], store.slots[number + 1]
    low, high = store.starts[first], store.starts[last]
    starts = store.starts[first : last + 1] - low
    terms = np.zeros((last - first, store.size[number]), np.int32)
    entries = (store.items[low:high], store.sums[low:high], store.peaks[low:high])
    return Centre(
        store.times[first:last],
        starts,
        entries[0],
        entries[1],
        entries[2],
        store.peak[first:last],
        terms,
    )


@step
def keep_centre(store, centre, cluster, size, rule, board):
    """Add a centre to the store, with a posting for each term that it takes."""
    count, _, _ = set_board(centre, size, rule, board)
    number, postings = store.used[1], store.used[0]
    first, length = store.slots[number], len(centre.times)
    at = store.starts[first]
    store = grown(store, first + length, at + len(centre.items), postings + count)
    store.cluster[number], store.slots[number + 1] = cluster, first + length
    store.size[number] = size
    store.nil[number] = nil_cost(rule, size) * centre.times.sum()
    for slot in range(length):
        store.times[first + slot], store.peak[first + slot] = centre.times[slot], centre.peak[slot]
        store.starts[first + slot + 1] = at + centre.starts[slot + 1]
    store.items[at : at + len(centre.items)] = centre.items
    store.sums[at : at + len(centre.items)] = centre.sums
    store.peaks[at : at + len(centre.items)] = centre.peaks
    for i in range(count):
        item = board.touched[i]
        store.centre[postings], store.gain[postings], store.room[postings] = (
            number,
            board.gain[item],
            board.room[item],
        )
        store.following[postings] = store.head[item]
        store.head[item] = postings
        postings += 1
    store.used[0], store.used[1] = postings, number + 1
    clear_board(board, count)
    return store


@step
def grown(store, slots, entries, postings):
    """The store with room for so many slots, relevant terms and postings."""
    return Store(
        store.cluster,
        store.size,
        store.nil,
        store.slots,
        roomier(store.times, slots),
        roomier(store.starts, slots + 1),
        roomier(store.items, entries),
        roomier(store.sums, entries),
        roomier(store.peaks, entries),
        roomier(store.peak, slots),
        store.head,
        roomier(store.following, postings),
        roomier(store.centre, postings),
        roomier(store.gain, postings),
        roomier(store.room, postings),
        store.used,
    )
