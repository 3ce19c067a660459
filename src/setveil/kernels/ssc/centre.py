"""Kernels of the centre of a cluster, and of matching a bag with it. [Liu2010b] section IV-B

A centre (the paper's hyper vocabulary) is a row of slots; a slot holds one term of each member.
Equal slots are merged and counted. Each slot comes with all terms that are relevant to each of its
terms, ascending, with the sums of their distances: only these can still be matched with it. All
costs are whole numbers, so that no rounding decides which bag is nearest."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.assignment import Pairs, assign
from setveil.kernels.jit import kernel, step
from setveil.kernels.steps import find, roomier


class CountedBags(NamedTuple):
    """Bags in canonical order: their terms, how often each occurs, and all occurrences of a bag."""

    indptr: Int64s
    items: Int32s
    counts: Int64s
    sizes: Int64s


class NearTerms(NamedTuple):
    """The relevant terms of each term, ascending."""

    indptr: Int64s
    items: Int32s
    distances: Int32s


class Rule(NamedTuple):
    """What decides which bag is nearest."""

    k: np.int64
    omega: np.int64
    unit: np.int64  # the cost of a distance of 1
    maximum: np.int64  # 1 for model 1 (maximum matching first), 0 for model 2 (nil terms)
    farthest: np.int64
    """1 if the bag farthest from all centres begins a cluster, 0 if the first one does."""


class Space(NamedTuple):
    """The bags of a block, and what decides which of them are near each other."""

    bags: CountedBags
    near: NearTerms
    rule: Rule


class Centre(NamedTuple):
    """Slots, and the terms that are relevant to all terms of each."""

    times: Int64s  # how many equal slots each is
    starts: Int64s
    items: Int32s
    sums: Int32s
    terms: Int32s
    """The terms of each slot, in the order in which the members joined: one column per member."""


class Board(NamedTuple):
    """A centre seen from its terms: the best gain of each, how many slots take it, and which."""

    gain: Int64s
    room: Int64s
    start: Int64s
    stop: Int64s
    touched: Int64s


class Offers(NamedTuple):
    """The slots of the centre on the board; those of term t are `start[t]` to `stop[t] - 1`."""

    terms: np.int64  # how many terms are on the board
    slots: Int64s
    gains: Int64s


class Matched(NamedTuple):
    """A bag matched with a centre: pairs of a term and a slot, and how often each is matched."""

    gain: np.int64  # -1 if it is surely less than what was needed
    items: Int32s
    starts: Int64s
    slots: Int64s
    flow: Int64s


@kernel
def match_members(space, members, bounds):
    """The centre of each cluster, whose members join in the given order.

    Returns: How many slots each cluster has; how often each slot occurs, one cluster after the
        other; and the terms of the slots, one per member."""
    board = new_board(space)
    made, slot, at = np.zeros(len(bounds) - 1, np.int64), np.int64(0), np.int64(0)
    times, terms = np.empty(len(members), np.int64), np.empty(len(space.bags.items), np.int32)
    for cluster in range(len(bounds) - 1):
        centre = begin_centre(space, members[bounds[cluster]])
        for i in range(bounds[cluster] + 1, bounds[cluster + 1]):
            centre = join(space, centre, members[i], board)
        made[cluster] = len(centre.times)
        times = roomier(times, slot + len(centre.times))
        terms = roomier(terms, at + centre.terms.size)
        for i in range(len(centre.times)):
            times[slot] = centre.times[i]
            slot += 1
            for term in centre.terms[i]:
                terms[at] = term
                at += 1
    return made, times[:slot], terms[:at]


@kernel
def choose_terms(near, frequency, sizes, terms):
    """The term of each slot with the least sum of distances to all its terms.

    Ties go to the term that is most frequent in the slot, then in the data, then to the first."""
    chosen, start = np.empty(len(sizes), np.int32), np.int64(0)
    for slot in range(len(sizes)):
        held = terms[start : start + sizes[slot]]
        start += sizes[slot]
        best, least, most = np.int32(-1), np.int64(0), np.int64(0)
        for item in held:
            total, times = np.int64(0), np.int64(0)
            low, high = near.indptr[item], near.indptr[item + 1]
            for other in held:
                total += near.distances[find(near.items, low, high, other)]
                times += other == item
            better = total < least or (total == least and times > most)
            if total == least and times == most and best >= 0:
                better = frequency[item] > frequency[best] or (
                    frequency[item] == frequency[best] and item < best
                )
            if best < 0 or better:
                best, least, most = item, total, times
        chosen[slot] = best
    return chosen


@step
def begin_centre(space, row):
    """The centre of one bag: each term is a slot."""
    bags, near = space.bags, space.near
    start, stop = bags.indptr[row], bags.indptr[row + 1]
    starts = np.zeros(stop - start + 1, np.int64)
    for i in range(start, stop):
        item = bags.items[i]
        starts[i - start + 1] = starts[i - start] + near.indptr[item + 1] - near.indptr[item]
    items, sums = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
    terms = np.empty((stop - start, 1), np.int32)
    for i in range(start, stop):
        item, to = bags.items[i], starts[i - start]
        terms[i - start, 0] = item
        for j in range(near.indptr[item], near.indptr[item + 1]):
            items[to], sums[to] = near.items[j], near.distances[j]
            to += 1
    return Centre(bags.counts[start:stop].copy(), starts, items, sums, terms)


@step
def join(space, centre, row, board):
    """The centre with one more member; what is not matched is dropped."""
    offers = set_board(space.rule, centre, board)
    matched = match_row(space, row, centre, board, offers, np.int64(0))
    clear_board(board, offers)
    return joined(space.near, centre, matched)


@step
def joined(near, centre, matched):
    """The slots that matched pairs make, by slot, then by term."""
    made, most, size = np.int64(0), np.int64(0), centre.terms.shape[1]
    first = np.zeros(len(centre.times) + 1, np.int64)
    for edge in range(len(matched.slots)):
        if matched.flow[edge] > 0:
            slot = matched.slots[edge]
            made += 1
            first[slot + 1] += 1
            most += centre.starts[slot + 1] - centre.starts[slot]
    for slot in range(len(centre.times)):
        first[slot + 1] += first[slot]
    origin, times = np.empty(made, np.int64), np.empty(made, np.int64)
    terms = np.empty((made, size + 1), np.int32)
    for at in range(len(matched.items)):
        for edge in range(matched.starts[at], matched.starts[at + 1]):
            if matched.flow[edge] > 0:
                slot = matched.slots[edge]
                to = first[slot]
                origin[to], times[to] = slot, matched.flow[edge]
                for i in range(size):
                    terms[to, i] = centre.terms[slot, i]
                terms[to, size] = matched.items[at]
                first[slot] = to + 1
    starts = np.zeros(made + 1, np.int64)
    items, sums = np.empty(most, np.int32), np.empty(most, np.int32)
    common = Centre(times, starts, items, sums, terms)
    for slot in range(made):
        starts[slot + 1] = merge_terms(near, centre, origin[slot], common, slot)
    to = starts[made]
    return Centre(times, starts, items[:to].copy(), sums[:to].copy(), terms)


@step
def merge_terms(near, centre, origin, common, slot):
    """Write the terms that are relevant to an old slot and to its new term; where they end."""
    term, to = common.terms[slot, -1], common.starts[slot]
    i, stop = centre.starts[origin], centre.starts[origin + 1]
    j, end = near.indptr[term], near.indptr[term + 1]
    while i < stop and j < end:
        if centre.items[i] == near.items[j]:
            common.items[to], common.sums[to] = near.items[j], centre.sums[i] + near.distances[j]
            to += 1
            i += 1
            j += 1
        elif centre.items[i] < near.items[j]:
            i += 1
        else:
            j += 1
    return to


@step
def new_board(space):
    zeros = np.zeros((5, len(space.near.indptr) - 1), np.int64)
    return Board(zeros[0], zeros[1], zeros[2], zeros[3], zeros[4])


@step
def set_board(rule, centre, board):
    """Put a centre on the board: list, for each term, the slots in which it gains something."""
    count, total = np.int64(0), np.int64(0)
    for slot in range(len(centre.times)):
        for i in range(centre.starts[slot], centre.starts[slot + 1]):
            item, gain = centre.items[i], gain_of(rule, centre, i)
            if gain <= 0:
                continue
            if board.room[item] == 0:
                board.touched[count] = item
                count += 1
            board.room[item] += centre.times[slot]
            board.gain[item] = max(board.gain[item], gain)
            board.stop[item] += 1
    for i in range(count):  # from how many slots each term has to where they are listed
        item = board.touched[i]
        board.start[item] = total
        total += board.stop[item]
        board.stop[item] = board.start[item]
    offers = Offers(count, np.empty(total, np.int64), np.empty(total, np.int64))
    for slot in range(len(centre.times)):
        for i in range(centre.starts[slot], centre.starts[slot + 1]):
            gain = gain_of(rule, centre, i)
            if gain > 0:
                to = board.stop[centre.items[i]]
                offers.slots[to], offers.gains[to] = slot, gain
                board.stop[centre.items[i]] = to + 1
    return offers


@step
def clear_board(board, offers):
    for i in range(offers.terms):
        item = board.touched[i]
        board.gain[item], board.room[item], board.start[item], board.stop[item] = 0, 0, 0, 0


@step
def gain_of(rule, centre, i):
    """The gain of matching a term with a slot, over leaving both unmatched."""
    return (centre.terms.shape[1] + 1) * rule.omega - centre.sums[i] * rule.unit


@step
def bound_of(bags, row, board):
    """A bound on the gain of a bag: as if each of its terms had its best slot for itself."""
    gain = np.int64(0)
    for i in range(bags.indptr[row], bags.indptr[row + 1]):
        item = bags.items[i]
        if board.room[item] > 0:
            gain += board.gain[item] * min(bags.counts[i], board.room[item])
    return gain


@step
def match_row(space, row, centre, board, offers, need):
    """The best matching of a bag with the centre on the board."""
    bags, rule = space.bags, space.rule
    start, stop = bags.indptr[row], bags.indptr[row + 1]
    edges, filled = np.int64(0), np.int64(0)
    for i in range(start, stop):
        item = bags.items[i]
        edges += board.stop[item] - board.start[item]
        filled += board.room[item] > 0
    starts, ends = np.zeros(filled + 1, np.int64), np.empty(edges, np.int64)
    gains, supply = np.empty(edges, np.int64), np.empty(filled, np.int64)
    items, more = np.empty(filled, np.int32), np.int64(0)
    if rule.maximum == 1:
        # One more pair outweighs what the others can lose by it: at most one pair per term.
        need, more = np.int64(0), (centre.terms.shape[1] + 1) * rule.omega * (filled + 1)
    to, at = np.int64(0), np.int64(0)
    for i in range(start, stop):
        item = bags.items[i]
        if board.room[item] > 0:
            supply[at], items[at] = bags.counts[i], item
            for j in range(board.start[item], board.stop[item]):
                ends[to], gains[to] = offers.slots[j], offers.gains[j] + more
                to += 1
            at += 1
            starts[at] = to
    flow, total = assign(Pairs(starts, ends, gains, supply, centre.times), need)
    if total > 0:
        total -= more * flow.sum()
    return Matched(total, items, starts, ends, flow)
