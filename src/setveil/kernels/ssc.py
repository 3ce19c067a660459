"""Kernels of SSC: clusters of vocabularies around centres, each found by matching occurrences. [Liu2010b] section IV

A centre is a hyper vocabulary: slots that hold one term of each member. Equal slots are one with a number of `times`. Beside each slot
stand all terms that are relevant to every term of it, ascending, with the sums of their distances: what can still be matched with it.
All costs are whole numbers, in `unit`s of a distance of 1, so that no rounding decides who is nearest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.assignment import assign
from setveil.kernels.jit import kernel, step

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

FAR = np.int64(1) << np.int64(60)
ALIVE, CLUSTERS, MEMBERS, MATCHED, BOUNDED = 0, 1, 2, 3, 4
"""Places in `State.numbers`."""


class Rows(NamedTuple):
    """Vocabularies in canonical order: terms, how often each stands, and how many occurrences that makes."""

    indptr: Int64s
    items: Int32s
    counts: Int64s
    sizes: Int64s


class Near(NamedTuple):
    """The relevant terms of each term."""

    indptr: Int64s
    items: Int32s
    distances: Int32s


class Rule(NamedTuple):
    """What decides who is near: all costs in `unit`s."""

    k: int
    omega: int
    unit: int
    epsilon: int
    maximum: int
    """1 for model 1 (maximum matching first), 0 for model 2 (nil terms)."""
    farthest: int
    """1 when the vocabulary farthest from all centres begins a cluster, 0 when the first one does."""
    single: int


class Centre(NamedTuple):
    """Slots, with the terms that are relevant to all of each."""

    times: Int64s
    starts: Int64s
    items: Int32s
    sums: Int32s
    terms: npt.NDArray[np.int32]
    """The terms of each slot, in the order in which the members joined."""


class Board(NamedTuple):
    """A centre from the side of the terms: what each gains at most, how many slots would take it, and where these are listed."""

    gain: Int64s
    room: Int64s
    start: Int64s
    stop: Int64s
    touched: Int64s


class State(NamedTuple):
    """How far the clustering is."""

    alive: Int64s
    """The vocabularies that are in no cluster yet, ascending."""
    upper: Int64s
    """A number that the distance of each to its nearest centre does not exceed."""
    seen: Int64s
    """How many centres that number has taken into account."""
    members: Int64s
    bounds: Int64s
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
    head: Int64s
    following: Int64s
    centre: Int64s
    gain: Int64s
    room: Int64s
    used: Int64s
    """How many postings there are, and how many centres."""


@kernel
def build_clusters(rows, near, rule, state, store, budget):
    """Make clusters of k while there are k vocabularies left, at most `budget` of them; returns the store, which may have grown."""
    width = len(near.indptr) - 1
    board = new_board(width)
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
        close_cluster(state)
        store = keep_centre(store, centre, numbers[CLUSTERS] - 1, rule.k, rule, board)
    return store


@kernel
def place_rest(rows, near, rule, state, store, target):
    """Let each vocabulary that is left join the nearest centre, which then changes; `target` tells the cluster of each."""
    width = len(near.indptr) - 1
    board = new_board(width)
    sizes = np.full(state.numbers[CLUSTERS], rule.k, np.int64)
    for i in range(state.numbers[ALIVE]):
        row = state.alive[i]
        state.upper[row], state.seen[row] = FAR, 0
        chosen = refine(rows, rule, state, store, row, board)
        cluster = store.cluster[chosen]
        target[i] = cluster
        centre = join(rows, near, rule, centre_of(store, chosen), sizes[cluster], row, board)
        sizes[cluster] += 1
        store.cluster[chosen] = -1
        store = keep_centre(store, centre, cluster, sizes[cluster], rule, board)
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
def close_cluster(state):
    state.numbers[CLUSTERS] += 1
    state.bounds[state.numbers[CLUSTERS]] = state.numbers[MEMBERS]


@step
def nil_cost(rule, size):
    """What it costs to leave a slot of so many terms unmatched."""
    if rule.single == 1:
        return rule.omega
    return rule.omega * size


@step
def begin_centre(rows, near, row):
    """The centre of one vocabulary: each term is a slot."""
    start, stop = rows.indptr[row], rows.indptr[row + 1]
    starts = np.zeros(stop - start + 1, np.int64)
    for i in range(start, stop):
        item = rows.items[i]
        starts[i - start + 1] = starts[i - start] + near.indptr[item + 1] - near.indptr[item]
    items, sums = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
    terms = np.empty((stop - start, 1), np.int32)
    for i in range(start, stop):
        item, to = rows.items[i], starts[i - start]
        terms[i - start, 0] = item
        for j in range(near.indptr[item], near.indptr[item + 1]):
            items[to], sums[to] = near.items[j], near.distances[j]
            to += 1
    return Centre(rows.counts[start:stop].copy(), starts, items, sums, terms)


@step
def new_board(width):
    zeros = np.zeros((5, width), np.int64)
    return Board(zeros[0], zeros[1], zeros[2], zeros[3], zeros[4])


@step
def set_board(centre, size, rule, board):
    """Turn a centre round: for each term the slots that take it. Returns the number of terms and the lists of slots and distances."""
    base = nil_cost(rule, size) + rule.omega
    count, total = np.int64(0), np.int64(0)
    for slot in range(len(centre.times)):
        for i in range(centre.starts[slot], centre.starts[slot + 1]):
            item = centre.items[i]
            if board.room[item] == 0:
                board.touched[count] = item
                count += 1
            board.room[item] += centre.times[slot]
            board.gain[item] = max(board.gain[item], base - centre.sums[i] * rule.unit)
            board.stop[item] += 1
    for i in range(count):
        item = board.touched[i]
        board.start[item] = total
        total += board.stop[item]
        board.stop[item] = board.start[item]
    slots, sums = np.empty(total, np.int64), np.empty(total, np.int64)
    for slot in range(len(centre.times)):
        for i in range(centre.starts[slot], centre.starts[slot + 1]):
            to = board.stop[centre.items[i]]
            slots[to], sums[to] = slot, centre.sums[i]
            board.stop[centre.items[i]] = to + 1
    return count, slots, sums


@step
def clear_board(board, count):
    for i in range(count):
        item = board.touched[i]
        board.gain[item], board.room[item], board.start[item], board.stop[item] = 0, 0, 0, 0


@step
def match_row(rows, row, times, board, slots, sums, size, rule, need):
    """The best matching of a vocabulary with the slots on the board: what it gains (-1 if surely less than `need`), and its pairs."""
    start, stop = rows.indptr[row], rows.indptr[row + 1]
    edges, filled = np.int64(0), np.int64(0)
    for i in range(start, stop):
        item = rows.items[i]
        edges += board.stop[item] - board.start[item]
        filled += board.room[item] > 0
    starts, ends, gains = np.zeros(filled + 1, np.int64), np.empty(edges, np.int64), np.empty(edges, np.int64)
    supply, items = np.empty(filled, np.int64), np.empty(filled, np.int32)
    base, unit = nil_cost(rule, size) + rule.omega, rule.unit
    most = 1 + size * rule.epsilon * (rows.sizes[row] + 1)
    if rule.maximum == 1:
        need = np.int64(0)
    to, at = np.int64(0), np.int64(0)
    for i in range(start, stop):
        item = rows.items[i]
        if board.room[item] > 0:
            supply[at], items[at] = rows.counts[i], item
            for j in range(board.start[item], board.stop[item]):
                ends[to] = slots[j]
                gains[to] = most - sums[j] if rule.maximum == 1 else base - sums[j] * unit
                to += 1
            at += 1
            starts[at] = to
    flow, total = assign(starts, ends, gains, supply, times, need)
    if rule.maximum == 1:
        total = np.int64(0)
        for i in range(edges):
            total += flow[i] * (base - (most - gains[i]) * unit)
    return total, starts, ends, flow, items


@step
def find_nearest(rows, rule, state, centre, size, board, bounds):
    """The place in `alive` of the vocabulary nearest to a centre, of equals the first.

    No vocabulary gains more than if each of its terms had its best slot for itself; those for which even that is not enough are never
    matched.
    """
    count, slots, sums = set_board(centre, size, rule, board)
    left, best, chosen = state.numbers[ALIVE], FAR, np.int64(0)
    for place in range(left):
        row = state.alive[place]
        gain = np.int64(0)
        for i in range(rows.indptr[row], rows.indptr[row + 1]):
            item = rows.items[i]
            if board.room[item] > 0:
                gain += board.gain[item] * min(rows.counts[i], board.room[item])
        bounds[place] = rule.omega * rows.sizes[row] - gain
        if bounds[place] < bounds[chosen]:
            chosen = place
    first = chosen
    best = rule.omega * rows.sizes[state.alive[first]] - match_row(rows, state.alive[first], centre.times, board, slots, sums, size, rule, np.int64(0))[0]
    waiting = np.flatnonzero(bounds[:left] <= best)
    waiting = waiting[np.argsort(bounds[waiting])]
    for place in waiting:
        if bounds[place] > best:
            break
        if place == first or (bounds[place] == best and place > chosen):
            continue
        row = state.alive[place]
        need = rule.omega * rows.sizes[row] - best
        gain = match_row(rows, row, centre.times, board, slots, sums, size, rule, need)[0]
        state.numbers[MATCHED] += 1
        found = rule.omega * rows.sizes[row] - gain
        if gain >= 0 and (found < best or (found == best and place < chosen)):
            best, chosen = found, place
    clear_board(board, count)
    return chosen


@step
def join(rows, near, rule, centre, size, row, board):
    """The centre with one member more: of what is matched; the rest is gone."""
    count, slots, sums = set_board(centre, size, rule, board)
    _, starts, ends, flow, items = match_row(rows, row, centre.times, board, slots, sums, size, rule, np.int64(0))
    clear_board(board, count)
    return joined(near, centre, size, starts, ends, flow, items)


@step
def joined(near, centre, size, starts, ends, flow, items):
    """The slots that matched pairs make, by slot, then by term."""
    made, most = np.int64(0), np.int64(0)
    first = np.zeros(len(centre.times) + 1, np.int64)
    for edge in range(len(ends)):
        if flow[edge] > 0:
            made += 1
            first[ends[edge] + 1] += 1
            most += centre.starts[ends[edge] + 1] - centre.starts[ends[edge]]
    for slot in range(len(centre.times)):
        first[slot + 1] += first[slot]
    origin, term, times = np.empty(made, np.int64), np.empty(made, np.int32), np.empty(made, np.int64)
    for at in range(len(items)):
        for edge in range(starts[at], starts[at + 1]):
            if flow[edge] > 0:
                to = first[ends[edge]]
                origin[to], term[to], times[to] = ends[edge], items[at], flow[edge]
                first[ends[edge]] = to + 1
    begins, common, total = np.zeros(made + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.int32)
    terms, to = np.empty((made, size + 1), np.int32), np.int64(0)
    for slot in range(made):
        terms[slot, :size] = centre.terms[origin[slot]]
        terms[slot, size] = term[slot]
        i, stop = centre.starts[origin[slot]], centre.starts[origin[slot] + 1]
        j, end = near.indptr[term[slot]], near.indptr[term[slot] + 1]
        while i < stop and j < end:
            if centre.items[i] == near.items[j]:
                common[to], total[to] = near.items[j], centre.sums[i] + near.distances[j]
                to += 1
                i += 1
                j += 1
            elif centre.items[i] < near.items[j]:
                i += 1
            else:
                j += 1
        begins[slot + 1] = to
    return Centre(times, begins, common[:to].copy(), total[:to].copy(), terms)


@step
def keep_centre(store, centre, cluster, size, rule, board):
    """Add a centre to the store, with a posting for each term that it takes."""
    count, slots, sums = set_board(centre, size, rule, board)
    number, postings = store.used[1], store.used[0]
    first, length = store.slots[number], len(centre.times)
    at = store.starts[first]
    store = with_room(store, at + len(centre.items), postings + count)
    store.cluster[number], store.slots[number + 1] = cluster, first + length
    store.size[number] = size
    store.nil[number] = nil_cost(rule, size) * centre.times.sum()
    for slot in range(length):
        store.times[first + slot] = centre.times[slot]
        store.starts[first + slot + 1] = at + centre.starts[slot + 1]
    store.items[at : at + len(centre.items)] = centre.items
    store.sums[at : at + len(centre.items)] = centre.sums
    for i in range(count):
        item = board.touched[i]
        store.centre[postings], store.gain[postings], store.room[postings] = number, board.gain[item], board.room[item]
        store.following[postings] = store.head[item]
        store.head[item] = postings
        postings += 1
    store.used[0], store.used[1] = postings, number + 1
    clear_board(board, count)
    return store


@step
def with_room(store, entries, postings):
    """The store with room for so many relevant terms and postings."""
    items, sums = store.items, store.sums
    following, centre, gain, room = store.following, store.centre, store.gain, store.room
    if entries > len(items):
        items, sums = np.empty(2 * entries, np.int32), np.empty(2 * entries, np.int32)
        items[: len(store.items)] = store.items
        sums[: len(store.sums)] = store.sums
    if postings > len(following):
        following, centre = np.empty(2 * postings, np.int64), np.empty(2 * postings, np.int64)
        gain, room = np.empty(2 * postings, np.int64), np.empty(2 * postings, np.int64)
        old = len(store.following)
        following[:old], centre[:old], gain[:old], room[:old] = store.following, store.centre, store.gain, store.room
    return Store(
        store.cluster, store.size, store.nil, store.slots, store.times, store.starts, items, sums,
        store.head, following, centre, gain, room, store.used,
    )


@step
def centre_of(store, number):
    """A centre out of the store, without its terms."""
    first, last = store.slots[number], store.slots[number + 1]
    low, high = store.starts[first], store.starts[last]
    starts = store.starts[first : last + 1] - low
    terms = np.zeros((last - first, store.size[number]), np.int32)
    return Centre(store.times[first:last], starts, store.items[low:high], store.sums[low:high], terms)


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
            gains[store.centre[posting] - seen] += store.gain[posting] * min(rows.counts[i], store.room[posting])
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
            gain = match_centre(rows, rule, store, number, row, alone + store.nil[number] - best, board)
            state.numbers[BOUNDED] += 1
            if gain >= 0:
                best, chosen = nearer(store, alone + store.nil[number] - gain, number, best, chosen)
    state.upper[row], state.seen[row] = best, centres
    return chosen


@step
def nearer(store, distance, number, best, chosen):
    """The nearer of two centres, of equals that of the older cluster."""
    if distance < best or (distance == best and chosen >= 0 and store.cluster[number] < store.cluster[chosen]):
        return distance, np.int64(number)
    return best, chosen


@step
def match_centre(rows, rule, store, number, row, need, board):
    """What the best matching of a vocabulary with a centre of the store gains; -1 if surely less than `need`."""
    centre, size = centre_of(store, number), store.size[number]
    count, slots, sums = set_board(centre, size, rule, board)
    gain = match_row(rows, row, centre.times, board, slots, sums, size, rule, need)[0]
    clear_board(board, count)
    return gain
