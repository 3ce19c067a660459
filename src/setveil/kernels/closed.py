"""Kernel of closed itemsets (no larger itemset is in the same records), by falling support.

A closed itemset has one parent, from which it is reached by adding one item (its core) and then all
items that occur in every remaining row. None of these may come before the core, or the same set is
reached elsewhere (prefix-preserving closure extension, LCM). A set has fewer rows than its parent.
So a heap of candidates gives the closed itemsets by falling support, and stops at the last rank."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.itemsets import RankedRows
from setveil.kernels.jit import kernel, step
from setveil.kernels.steps import roomier, sort_slice
from setveil.kernels.top import Found, Wanted, Weighted, ranked_rows, support_of_rank

EMITTED, FULL = 0, 1
"""Slots of the state: how many closed itemsets of enough items were found; 1 if there are more."""


class Candidates(NamedTuple):
    """A heap of what may come next: the greatest support first, of equals the one found first."""

    supports: Int64s
    numbers: Int64s  # the order in which they were found
    parents: Int64s  # the closed itemset it was reached from
    cores: Int64s  # the item that it adds


class ClosedSets(NamedTuple):
    """The closed itemsets in the order in which they were found."""

    items: Int32s
    starts: Int64s
    supports: Int64s


class Extension(NamedTuple):
    """The rows of one candidate: how often each item occurs in them, by weight."""

    wanted: Int32s  # the items of the candidate, ascending
    counts: Int64s  # of every item; 0 between uses
    touched: Int32s  # the items that occur


def find_closed(data: Weighted, wanted: Wanted) -> Found:
    """The wanted closed itemsets of greatest support.

    Begins with the items that are at least as frequent as the item of rank `wanted.itemsets`; if
    these do not suffice, with those that are half as frequent, and so on."""
    limit = support_of_rank(data, wanted.itemsets)
    while True:
        limit = max(limit, 1)
        rows, order = ranked_rows(data, limit)
        sets, state = mine_closed(rows, wanted, limit)
        if state[EMITTED] >= wanted.itemsets or limit == 1:
            sizes = np.diff(sets.starts)
            keep = sizes >= wanted.least_size
            items = order[sets.items[np.repeat(keep, sizes)]]
            return Found(sizes[keep], sets.supports[keep], items, bool(state[FULL] == 0))
        limit //= 2


@kernel
def mine_closed(rows: RankedRows, wanted: Wanted, limit: int) -> tuple[ClosedSets, Int64s]:
    """The closed itemsets by falling support, down to the last wanted rank or to `limit`."""
    width = len(rows.supports)
    state, last = np.zeros(2, dtype=np.int64), np.int64(limit)
    counts, touched = np.zeros(width, dtype=np.int64), np.empty(width, dtype=np.int32)
    items, path = np.empty(1024, dtype=np.int32), np.empty(width + 1, dtype=np.int32)
    sets = ClosedSets(items, np.zeros(1024, np.int64), np.zeros(1024, np.int64))
    number, waiting, pushed = np.int64(0), np.int64(0), np.int64(0)
    none = np.empty(0, dtype=np.int64)
    heap = Candidates(none, none, none, none)
    parent, core, support = np.int64(-1), np.int64(-1), rows.weights.sum()
    while width > 0:
        size = gather(sets, parent, core, path)
        found = count_items(rows, path[:size], counts, touched)
        extension = Extension(path[:size], counts, touched[:found])
        closed = count_closed(extension, support, core)
        if closed >= 0:
            sets = add_set(sets, number, extension, closed, support)
            heap = roomier_heap(heap, waiting + found)
            for item in extension.touched:
                if item > core and last <= counts[item] < support:
                    sift_up(heap, waiting, counts[item], pushed, number, np.int64(item))
                    waiting += 1
                    pushed += 1
            number += 1
            if closed >= wanted.least_size:
                state[EMITTED] += 1
                if state[EMITTED] == wanted.itemsets:
                    last = support
        for item in extension.touched:
            counts[item] = 0
        if waiting == 0 or heap.supports[0] < last:
            break
        if state[EMITTED] >= wanted.itemsets + wanted.most_ties:
            state[FULL] = 1
            break
        support, parent, core = heap.supports[0], heap.parents[0], heap.cores[0]
        waiting -= 1
        sift_down(heap, waiting)
    used = sets.starts[number]
    return ClosedSets(sets.items[:used], sets.starts[: number + 1], sets.supports[:number]), state


@step
def gather(sets, parent, core, path):
    """Write the items of the parent and the core, ascending, to the path; returns their number."""
    size = np.int64(0)
    if parent >= 0:
        start, stop = sets.starts[parent], sets.starts[parent + 1]
        for at in range(start, stop):
            item = sets.items[at]
            if size == at - start and item > core:
                path[size] = core
                size += 1
            path[size] = item
            size += 1
        if size == stop - start:
            path[size] = core
            size += 1
    return size


@step
def count_items(rows, wanted, counts, touched):
    """Count each item in the rows that hold all wanted ones, by weight; how many items occur."""
    found, size = np.int64(0), len(wanted)
    start, stop = np.int64(0), len(rows.weights)
    if size:
        rarest = wanted[size - 1]
        start, stop = rows.starts[rarest], rows.starts[rarest + 1]
    for at in range(start, stop):
        row = rows.holders[at] if size else np.int64(at)
        weight, met = rows.weights[row], np.int64(0)
        for place in range(rows.indptr[row], rows.indptr[row + 1]):
            if met == size:
                break
            if rows.items[place] == wanted[met]:
                met += 1
            elif rows.items[place] > wanted[met]:
                break
        if met < size or weight == 0:  # a count of 0 marks an item as new
            continue
        for place in range(rows.indptr[row], rows.indptr[row + 1]):
            item = rows.items[place]
            if counts[item] == 0:
                touched[found] = item
                found += 1
            counts[item] += weight
    return found


@step
def count_closed(extension, support, core):
    """How many items are in all rows of the candidate; -1 if a new one comes before the core."""
    # What is before the core must be in the candidate already, or the same closed set is reached
    # from a parent with a smaller core. All of the candidate is closed, so numbers suffice.
    closed, before, held = np.int64(0), np.int64(0), np.int64(0)
    for item in extension.touched:
        if extension.counts[item] == support:
            closed += 1
            if item < core:
                before += 1
    for item in extension.wanted:
        if item < core:
            held += 1
    return closed if before == held else np.int64(-1)


@step
def add_set(sets, number, extension, size, support):
    """The sets with one more: the items that are in all rows of the candidate."""
    top = sets.starts[number]
    sets = ClosedSets(
        roomier(sets.items, top + size),
        roomier(sets.starts, number + 2),
        roomier(sets.supports, number + 1),
    )
    for item in extension.touched:
        if extension.counts[item] == support:
            sets.items[top] = item
            top += 1
    sort_slice(sets.items, sets.starts[number], top)
    sets.starts[number + 1], sets.supports[number] = top, support
    return sets


@step
def roomier_heap(heap, size):
    return Candidates(
        roomier(heap.supports, size),
        roomier(heap.numbers, size),
        roomier(heap.parents, size),
        roomier(heap.cores, size),
    )


@step
def is_above(heap, place, support, number):
    return support > heap.supports[place] or (
        support == heap.supports[place] and number < heap.numbers[place]
    )


@step
def sift_up(heap, place, support, number, parent, core):
    """Put a new candidate at the end, and move it up to its place."""
    while place > 0 and is_above(heap, (place - 1) // 2, support, number):
        copy(heap, place, (place - 1) // 2)
        place = (place - 1) // 2
    heap.supports[place], heap.numbers[place] = support, number
    heap.parents[place], heap.cores[place] = parent, core


@step
def sift_down(heap, size):
    """Remove the first: the last of `size + 1` takes its place and moves down."""
    support, number, parent = heap.supports[size], heap.numbers[size], heap.parents[size]
    core, place = heap.cores[size], np.int64(0)
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and is_above(
            heap, child, heap.supports[child + 1], heap.numbers[child + 1]
        ):
            child += 1
        if is_above(heap, child, support, number):
            break
        copy(heap, place, child)
        place = child
    heap.supports[place], heap.numbers[place] = support, number
    heap.parents[place], heap.cores[place] = parent, core


@step
def copy(heap, place, other):
    heap.supports[place], heap.numbers[place] = heap.supports[other], heap.numbers[other]
    heap.parents[place], heap.cores[place] = heap.parents[other], heap.cores[other]
