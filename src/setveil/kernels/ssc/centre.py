"""Kernels of the centre of a cluster: a hyper vocabulary, and how one more vocabulary is matched with it. [Liu2010b] section IV-B

A centre is a row of slots that hold one term of each member. Equal slots are one with a number of `times`. Beside each slot stand all
terms that are relevant to every term of it, ascending, with the sums of their distances: what can still be matched with it. All costs are
whole numbers, so that no rounding decides who is nearest. `grow.py` and `exchange.py` compile these steps into their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.arrays import roomier
from setveil.kernels.assignment import assign
from setveil.kernels.jit import kernel, step

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Rows(NamedTuple):
    """TypicalBags in canonical order: terms, how often each stands, and how many occurrences that makes."""

    indptr: Int64s
    items: Int32s
    counts: Int64s
    sizes: Int64s


class Near(NamedTuple):
    """The relevant terms of each term."""

    indptr: Int64s
    items: Int32s
    distances: Int32s
    losses: Int32s
    """What it loses to publish both as what is over both; all 0 when only distances count."""


class Rule(NamedTuple):
    """What decides who is near."""

    k: np.int64
    omega: np.int64
    unit: np.int64
    """What a distance of 1 costs."""
    maximum: np.int64
    """1 for model 1 (maximum matching first), 0 for model 2 (nil terms)."""
    farthest: np.int64
    """1 when the vocabulary farthest from all centres begins a cluster, 0 when the first one does."""


class Centre(NamedTuple):
    """Slots, with the terms that are relevant to all of each."""

    times: Int64s
    starts: Int64s
    items: Int32s
    sums: Int32s
    peaks: Int32s
    """The greatest loss of any two terms, if the term were in the slot: what is over all terms is over two of them."""
    peak: Int32s
    """The same of the slot as it is."""
    terms: npt.NDArray[np.int32]
    """The terms of each slot, in the order in which the members joined."""


class Board(NamedTuple):
    """A centre from the side of the terms: what each gains at most, how many slots would take it, and where these are listed."""

    gain: Int64s
    room: Int64s
    start: Int64s
    stop: Int64s
    touched: Int64s


@kernel
def match_members(rows, near, rule, members, bounds):
    """The centre of each cluster, whose members join in the order given.

    Returns:
        How many slots each cluster has; how often each slot stands, one cluster after the other; and what they hold, a term of each member.
    """
    board = new_board(len(near.indptr) - 1)
    made, times, terms = (
        np.zeros(len(bounds) - 1, np.int64),
        np.empty(len(members), np.int64),
        np.empty(len(rows.items), np.int32),
    )
    slot, at = np.int64(0), np.int64(0)
    for cluster in range(len(bounds) - 1):
        centre = begin_centre(rows, near, members[bounds[cluster]])
        for i in range(bounds[cluster] + 1, bounds[cluster + 1]):
            centre = join(rows, near, rule, centre, i - bounds[cluster], members[i], board)
        made[cluster] = len(centre.times)
        times, terms = (
            roomier(times, slot + len(centre.times)),
            roomier(terms, at + centre.terms.size),
        )
        for i in range(len(centre.times)):
            times[slot] = centre.times[i]
            slot += 1
            for term in centre.terms[i]:
                terms[at] = term
                at += 1
    return made, times[:slot], terms[:at]


@kernel
def choose_terms(near, frequency, sizes, terms):
    """Of each slot, given by its number of terms, the term with the least sum of distances to all of them.

    Of equals the one that stands most often in the slot, then most often in the data, then the first.
    """
    chosen, start = np.empty(len(sizes), np.int32), np.int64(0)
    for slot in range(len(sizes)):
        held = terms[start : start + sizes[slot]]
        start += sizes[slot]
        best, least, most = np.int32(-1), np.int64(0), np.int64(0)
        for item in held:
            total, times = np.int64(0), np.int64(0)
            low, high = near.indptr[item], near.indptr[item + 1]
            for other in held:
                total += near.distances[low + np.searchsorted(near.items[low:high], other)]
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
def begin_centre(rows, near, row):
    """The centre of one vocabulary: each term is a slot."""
    start, stop = rows.indptr[row], rows.indptr[row + 1]
    starts = np.zeros(stop - start + 1, np.int64)
    for i in range(start, stop):
        item = rows.items[i]
        starts[i - start + 1] = starts[i - start] + near.indptr[item + 1] - near.indptr[item]
    items, sums, peaks = (
        np.empty(starts[-1], np.int32),
        np.empty(starts[-1], np.int32),
        np.empty(starts[-1], np.int32),
    )
    terms = np.empty((stop - start, 1), np.int32)
    for i in range(start, stop):
        item, to = rows.items[i], starts[i - start]
        terms[i - start, 0] = item
        for j in range(near.indptr[item], near.indptr[item + 1]):
            items[to], sums[to], peaks[to] = near.items[j], near.distances[j], near.losses[j]
            to += 1
    return Centre(
        rows.counts[start:stop].copy(),
        starts,
        items,
        sums,
        peaks,
        np.zeros(stop - start, np.int32),
        terms,
    )


@step
def join(rows, near, rule, centre, size, row, board):
    """The centre with one member more: of what is matched; the rest is gone."""
    count, slots, gains = set_board(centre, size, rule, board)
    _, starts, ends, flow, items = match_row(
        rows, row, centre.times, board, slots, gains, size, rule, np.int64(0)
    )
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
    origin, term, times = (
        np.empty(made, np.int64),
        np.empty(made, np.int32),
        np.empty(made, np.int64),
    )
    for at in range(len(items)):
        for edge in range(starts[at], starts[at + 1]):
            if flow[edge] > 0:
                to = first[ends[edge]]
                origin[to], term[to], times[to] = ends[edge], items[at], flow[edge]
                first[ends[edge]] = to + 1
    begins, common, total = (
        np.zeros(made + 1, np.int64),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
    )
    peaks, peak = np.empty(most, np.int32), np.zeros(made, np.int32)
    terms, to = np.empty((made, size + 1), np.int32), np.int64(0)
    for slot in range(made):
        terms[slot, :size] = centre.terms[origin[slot]]
        terms[slot, size] = term[slot]
        i, stop = centre.starts[origin[slot]], centre.starts[origin[slot] + 1]
        j, end = near.indptr[term[slot]], near.indptr[term[slot] + 1]
        while i < stop and j < end:
            if centre.items[i] == near.items[j]:
                common[to], total[to] = near.items[j], centre.sums[i] + near.distances[j]
                peaks[to] = max(centre.peaks[i], near.losses[j])
                if common[to] == term[slot]:
                    peak[slot] = centre.peaks[i]
                to += 1
                i += 1
                j += 1
            elif centre.items[i] < near.items[j]:
                i += 1
            else:
                j += 1
        begins[slot + 1] = to
    for slot in range(made):  # what is over the whole slot is over any other term in it
        for i in range(begins[slot], begins[slot + 1]):
            peaks[i] = max(peaks[i], peak[slot])
    return Centre(
        times, begins, common[:to].copy(), total[:to].copy(), peaks[:to].copy(), peak, terms
    )


@step
def new_board(width):
    zeros = np.zeros((5, width), np.int64)
    return Board(zeros[0], zeros[1], zeros[2], zeros[3], zeros[4])


@step
def set_board(centre, size, rule, board):
    """Turn a centre round: for each term the slots in which it gains. Returns the number of terms and the lists of slots and gains."""
    count, total = np.int64(0), np.int64(0)
    for slot in range(len(centre.times)):
        for i in range(centre.starts[slot], centre.starts[slot + 1]):
            item, gain = centre.items[i], gain_of(centre, slot, i, size, rule)
            if gain <= 0:
                continue
            if board.room[item] == 0:
                board.touched[count] = item
                count += 1
            board.room[item] += centre.times[slot]
            board.gain[item] = max(board.gain[item], gain)
            board.stop[item] += 1
    for i in range(count):
        item = board.touched[i]
        board.start[item] = total
        total += board.stop[item]
        board.stop[item] = board.start[item]
    slots, gains = np.empty(total, np.int64), np.empty(total, np.int64)
    for slot in range(len(centre.times)):
        for i in range(centre.starts[slot], centre.starts[slot + 1]):
            gain = gain_of(centre, slot, i, size, rule)
            if gain > 0:
                to = board.stop[centre.items[i]]
                slots[to], gains[to] = slot, gain
                board.stop[centre.items[i]] = to + 1
    return count, slots, gains


@step
def clear_board(board, count):
    for i in range(count):
        item = board.touched[i]
        board.gain[item], board.room[item], board.start[item], board.stop[item] = 0, 0, 0, 0


@step
def gain_of(centre, slot, i, size, rule):
    """What it gains to match a term with a slot, over leaving both unmatched."""
    lost = (size + 1) * centre.peaks[i] - size * centre.peak[slot]
    return (size + 1) * rule.omega - centre.sums[i] * rule.unit - lost


@step
def nil_cost(rule, size):
    """What it costs to leave a slot of so many terms unmatched."""
    return rule.omega * size


@step
def bound_of(rows, row, board):
    """What a vocabulary gains at most with the centre on the board: as if each of its terms had its best slot for itself."""
    gain = np.int64(0)
    for i in range(rows.indptr[row], rows.indptr[row + 1]):
        item = rows.items[i]
        if board.room[item] > 0:
            gain += board.gain[item] * min(rows.counts[i], board.room[item])
    return gain


@step
def match_row(rows, row, times, board, slots, worth, size, rule, need):
    """The best matching of a vocabulary with the slots on the board: what it gains (-1 if surely less than `need`), and its pairs."""
    start, stop = rows.indptr[row], rows.indptr[row + 1]
    edges, filled = np.int64(0), np.int64(0)
    for i in range(start, stop):
        item = rows.items[i]
        edges += board.stop[item] - board.start[item]
        filled += board.room[item] > 0
    starts, ends, gains = (
        np.zeros(filled + 1, np.int64),
        np.empty(edges, np.int64),
        np.empty(edges, np.int64),
    )
    supply, items = np.empty(filled, np.int64), np.empty(filled, np.int32)
    more = np.int64(0)
    if (
        rule.maximum == 1
    ):  # a further pair then outweighs what the others can lose for it: at most one pair of each term has to go
        need, more = np.int64(0), (size + 1) * rule.omega * (filled + 1)
    to, at = np.int64(0), np.int64(0)
    for i in range(start, stop):
        item = rows.items[i]
        if board.room[item] > 0:
            supply[at], items[at] = rows.counts[i], item
            for j in range(board.start[item], board.stop[item]):
                ends[to], gains[to] = slots[j], worth[j] + more
                to += 1
            at += 1
            starts[at] = to
    flow, total = assign(starts, ends, gains, supply, times, need)
    if total > 0:
        total -= more * flow.sum()
    return total, starts, ends, flow, items
