"""Kernels of SSC: one cluster of bags after the other, around centres. [Liu2010b] section IV-A"""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.ssc.centre import (
    Centre,
    begin_centre,
    bound_of,
    clear_board,
    join,
    match_row,
    new_board,
    set_board,
)
from setveil.kernels.steps import roomier

FAR = np.int64(1) << np.int64(60)
ALIVE, CLUSTERS, MEMBERS = 0, 1, 2  # slots of `State.numbers`
POSTINGS, CENTRES = 0, 1  # slots of `Store.used`


class State(NamedTuple):
    """How far the clustering is."""

    alive: Int64s  # the bags that are in no cluster yet, ascending
    upper: Int64s  # an upper bound on the distance of each bag to its nearest centre
    seen: Int64s  # how many centres that bound takes into account
    members: Int64s  # the bags of one cluster after the other, k each
    target: Int64s  # the cluster that each of the fewer than k bags left at the end joins
    numbers: Int64s


class Store(NamedTuple):
    """All centres so far; and postings: for each term the centres that take it, newest first."""

    cluster: Int64s  # of each centre; -1 if a newer centre replaced it
    size: Int64s
    nil: Int64s  # the cost of leaving all its slots unmatched
    slots: Int64s  # the slots of centre c are slots[c] to slots[c + 1] - 1
    times: Int64s
    starts: Int64s
    items: Int32s
    sums: Int32s
    head: Int64s  # the first posting of each term
    following: Int64s  # the next posting of the same term
    centre: Int64s
    gain: Int64s
    room: Int64s
    used: Int64s


@kernel
def build_clusters(space, state, store, budget):
    """Make at most `budget` clusters of k; returns the store, which may have grown.

    If fewer than k bags are left, each joins the cluster of the nearest centre."""
    board, rule, numbers = new_board(space), space.rule, state.numbers
    bounds = np.empty(len(state.alive), np.int64)
    while numbers[ALIVE] >= rule.k and budget > 0:
        budget -= 1
        seed = np.int64(0)
        if rule.farthest == 1 and numbers[CLUSTERS] > 0:
            seed = find_farthest(space, state, store, board)
        centre = begin_centre(space, take(state, seed))
        for _ in range(1, rule.k):
            place = find_nearest(space, state, centre, board, bounds)
            centre = join(space, centre, take(state, place), board)
        numbers[CLUSTERS] += 1
        store = keep_centre(rule, store, centre, numbers[CLUSTERS] - 1, board)
    if numbers[ALIVE] < rule.k:
        store = place_rest(space, state, store, board)
    return store


@step
def place_rest(space, state, store, board):
    """Let each bag that is left join the nearest centre, which then changes."""
    for i in range(state.numbers[ALIVE]):
        row = state.alive[i]
        state.upper[row], state.seen[row] = FAR, 0
        chosen = refine(space, state, store, row, board)
        cluster = store.cluster[chosen]
        state.target[i] = cluster
        centre = join(space, centre_of(store, chosen), row, board)
        store.cluster[chosen] = -1
        store = keep_centre(space.rule, store, centre, cluster, board)
    return store


@step
def take(state, place):
    """Move a bag from those that are left to the cluster that is being made."""
    row = state.alive[place]
    state.members[state.numbers[MEMBERS]] = row
    state.numbers[MEMBERS] += 1
    state.numbers[ALIVE] -= 1
    for i in range(place, state.numbers[ALIVE]):
        state.alive[i] = state.alive[i + 1]
    return row


@step
def find_nearest(space, state, centre, board, bounds):
    """The place in `alive` of the bag nearest to a centre; of equals the first.

    A bag gains at most what it would if each of its terms had its best slot for itself. Bags for
    which even that is too little are never matched."""
    omega, sizes = space.rule.omega, space.bags.sizes
    offers = set_board(space.rule, centre, board)
    left, chosen = state.numbers[ALIVE], np.int64(0)
    for place in range(left):
        row = state.alive[place]
        bounds[place] = omega * sizes[row] - bound_of(space.bags, row, board)
        if bounds[place] < bounds[chosen]:
            chosen = place
    first, row = chosen, state.alive[chosen]
    gain = match_row(space, row, centre, board, offers, np.int64(0)).gain
    best = omega * sizes[row] - gain
    waiting = np.flatnonzero(bounds[:left] <= best)
    waiting = waiting[np.argsort(bounds[waiting])]
    for place in waiting:
        if bounds[place] > best:
            break
        if place == first or (bounds[place] == best and place > chosen):
            continue
        row = state.alive[place]
        need = omega * sizes[row] - best
        gain = match_row(space, row, centre, board, offers, need).gain
        found = omega * sizes[row] - gain
        if gain >= 0 and (found < best or (found == best and place < chosen)):
            best, chosen = found, place
    clear_board(board, offers)
    return chosen


@step
def find_farthest(space, state, store, board):
    """The place in `alive` of the bag whose nearest centre is farthest; of equals the first.

    New centres can only be nearer, so an old distance bounds the new one from above: the bag of the
    greatest bound is updated until its bound is up to date."""
    while True:
        chosen = np.int64(0)
        for place in range(1, state.numbers[ALIVE]):
            if state.upper[state.alive[place]] > state.upper[state.alive[chosen]]:
                chosen = place
        row = state.alive[chosen]
        if state.seen[row] == store.used[CENTRES]:
            return chosen
        refine(space, state, store, row, board)


@step
def refine(space, state, store, row, board):
    """Update the distance of a bag to its nearest centre; returns that centre, -1 if it is old.

    The postings of the bag's terms bound its gain with every new centre. Centres are matched in the
    order of these bounds, until no better one can follow."""
    bags, seen, centres = space.bags, state.seen[row], store.used[CENTRES]
    gains = np.zeros(centres - seen, np.int64)
    for i in range(bags.indptr[row], bags.indptr[row + 1]):
        posting = store.head[bags.items[i]]
        while posting >= 0 and store.centre[posting] >= seen:
            times = min(bags.counts[i], store.room[posting])
            gains[store.centre[posting] - seen] += store.gain[posting] * times
            posting = store.following[posting]
    alone = space.rule.omega * bags.sizes[row]
    best, chosen = state.upper[row], np.int64(-1)
    for number in range(seen, centres):
        if store.cluster[number] >= 0:
            best, chosen = nearer(store, alone + store.nil[number], number, best, chosen)
    hopeful = np.flatnonzero(gains)
    bounds = alone + store.nil[seen:centres][hopeful] - gains[hopeful]
    for i in np.argsort(bounds):
        number = seen + hopeful[i]
        if bounds[i] > best:
            break
        if store.cluster[number] >= 0 and (bounds[i] < best or chosen >= 0):
            unmatched = alone + store.nil[number]
            gain = match_centre(space, store, number, row, unmatched - best, board)
            if gain >= 0:
                best, chosen = nearer(store, unmatched - gain, number, best, chosen)
    state.upper[row], state.seen[row] = best, centres
    return chosen


@step
def nearer(store, distance, number, best, chosen):
    """The nearer of two centres; of equals the one of the older cluster."""
    if distance < best or (
        distance == best and chosen >= 0 and store.cluster[number] < store.cluster[chosen]
    ):
        return distance, np.int64(number)
    return best, chosen


@step
def match_centre(space, store, number, row, need, board):
    """The best gain of matching a bag with a stored centre; -1 if surely less than `need`."""
    centre = centre_of(store, number)
    offers = set_board(space.rule, centre, board)
    gain = match_row(space, row, centre, board, offers, need).gain
    clear_board(board, offers)
    return gain


@step
def centre_of(store, number):
    """A centre from the store; its terms are not kept there and are all 0."""
    first, last = store.slots[number], store.slots[number + 1]
    low, high = store.starts[first], store.starts[last]
    return Centre(
        store.times[first:last],
        store.starts[first : last + 1] - low,
        store.items[low:high],
        store.sums[low:high],
        np.zeros((last - first, store.size[number]), np.int32),
    )


@step
def keep_centre(rule, store, centre, cluster, board):
    """Add a centre to the store, with a posting for each term that it takes."""
    offers = set_board(rule, centre, board)
    number, posting = store.used[CENTRES], store.used[POSTINGS]
    first, length, size = store.slots[number], len(centre.times), centre.terms.shape[1]
    at, stop = store.starts[first], store.starts[first] + len(centre.items)
    store = roomier_store(store, first + length, stop, posting + offers.terms)
    store.cluster[number], store.size[number] = cluster, size
    store.slots[number + 1] = first + length
    store.nil[number] = rule.omega * size * centre.times.sum()
    for slot in range(length):
        store.times[first + slot] = centre.times[slot]
        store.starts[first + slot + 1] = at + centre.starts[slot + 1]
    for i in range(len(centre.items)):
        store.items[at + i], store.sums[at + i] = centre.items[i], centre.sums[i]
    for i in range(offers.terms):
        item = board.touched[i]
        store.centre[posting], store.gain[posting] = number, board.gain[item]
        store.room[posting], store.following[posting] = board.room[item], store.head[item]
        store.head[item] = posting
        posting += 1
    store.used[POSTINGS], store.used[CENTRES] = posting, number + 1
    clear_board(board, offers)
    return store


@step
def roomier_store(store, slots, entries, postings):
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
        store.head,
        roomier(store.following, postings),
        roomier(store.centre, postings),
        roomier(store.gain, postings),
        roomier(store.room, postings),
        store.used,
    )
