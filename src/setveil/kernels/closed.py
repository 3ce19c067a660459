"""Kernel of closed itemsets: those that no item can be added to without a record being lost, by falling support.

A closed itemset has one parent, from which it is reached by one item (its core) and by adding all items that stand in every row that is
left; what is added must not come before the core, or the same set is reached elsewhere (prefix-preserving closure extension, LCM). A
set has fewer rows than its parent, so that a heap of what may come next gives the closed itemsets by falling support, and nothing below
the last rank is ever looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import roomier
from setveil.kernels.itemsets import Int32s, Int64s, Rows
from setveil.kernels.jit import kernel, step
from setveil.kernels.top import Found, ranked_rows

EMITTED, FULL = 0, 1


class Heap(NamedTuple):
    """What may come next, the greatest support at place 0; of equal supports that which was found first."""

    supports: Int64s
    numbers: Int64s  # the order in which they were found
    parents: Int64s  # the closed itemset it was reached from
    cores: Int64s  # the item that it adds


class Sets(NamedTuple):
    """The closed itemsets that were found, one after the other."""

    items: Int32s
    starts: Int64s
    supports: Int64s


def find_closed(
    indptr: Int64s,
    items: Int32s,
    width: int,
    weights: Int64s,
    count: int,
    least_size: int,
    most_ties: int,
) -> Found:
    """The `count` closed itemsets of greatest support and of at least `least_size` items, and up to `most_ties` that tie with the last.

    It begins with the items that stand as often as that of rank `count`; when these do not suffice, with those that stand half as often.
    """
    supports = np.bincount(
        items, weights=np.repeat(weights, np.diff(indptr)), minlength=width
    ).astype(np.int64)
    limit = int(np.sort(supports)[::-1][count - 1]) if count <= width else 1
    while True:
        limit = max(limit, 1)
        rows, order = ranked_rows(indptr, items, width, weights, limit)
        sets, state = mine_closed(rows, count, least_size, count + most_ties, limit)
        if state[EMITTED] >= count or limit == 1:
            return _found(sets, order, least_size, bool(state[FULL] == 0))
        limit //= 2


def _found(sets: Sets, order: Int64s, least_size: int, complete: bool) -> Found:
    sizes = np.diff(sets.starts)
    keep = sizes >= least_size
    return Found(
        sizes[keep], sets.supports[keep], order[sets.items[np.repeat(keep, sizes)]], complete
    )


@kernel
def mine_closed(
    rows: Rows, count: int, least_size: int, most: int, limit: int
) -> tuple[Sets, Int64s]:
    """The closed itemsets by falling support, down to that of rank `count` or to `limit`; `most` of them at most."""
    width = len(rows.supports)
    state = np.zeros(2, dtype=np.int64)
    counts, touched = np.zeros(width, dtype=np.int64), np.empty(width, dtype=np.int32)
    set_items, set_starts, set_supports = (
        np.empty(1024, dtype=np.int32),
        np.zeros(1024, dtype=np.int64),
        np.zeros(1024, dtype=np.int64),
    )
    heap = Heap(
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
    )
    wanted = np.empty(width + 1, dtype=np.int32)
    total = rows.weights.sum()
    sets, waiting, pushed, last = np.int64(0), np.int64(0), np.int64(0), np.int64(limit)
    parent, core, support = np.int64(-1), np.int64(-1), total
    while width > 0:
        size = gather(set_items, set_starts, parent, core, wanted)
        found = count_beside(rows, wanted, size, counts, touched)
        closed = closure(counts, touched, found, support, core, wanted, size)
        if closed >= 0:
            set_items = roomier(set_items, set_starts[sets] + closed)
            set_starts, set_supports = (
                roomier(set_starts, sets + 2),
                roomier(set_supports, sets + 1),
            )
            top = set_starts[sets]
            for at in range(found):
                item = touched[at]
                if counts[item] == support:
                    set_items[top] = item
                    top += 1
                elif item > core and counts[item] >= last:
                    if waiting == len(heap.supports):
                        heap = Heap(
                            roomier(heap.supports, waiting + 1),
                            roomier(heap.numbers, waiting + 1),
                            roomier(heap.parents, waiting + 1),
                            roomier(heap.cores, waiting + 1),
                        )
                    sift_up(heap, waiting, counts[item], pushed, sets, np.int64(item))
                    waiting += 1
                    pushed += 1
            set_items[set_starts[sets] : top].sort()
            set_starts[sets + 1], set_supports[sets] = top, support
            sets += 1
            if closed >= least_size:
                state[EMITTED] += 1
                if state[EMITTED] == count:
                    last = support
        for at in range(found):
            counts[touched[at]] = 0
        if waiting == 0 or heap.supports[0] < last:
            break
        if state[EMITTED] >= most:
            state[FULL] = 1
            break
        support, parent, core = heap.supports[0], heap.parents[0], heap.cores[0]
        waiting -= 1
        sift_down(heap, waiting)
    return Sets(set_items[: set_starts[sets]], set_starts[: sets + 1], set_supports[:sets]), state


@step
def gather(set_items, set_starts, parent, core, wanted):
    """Write the items of the parent and the one that is added, ascending; gives their number."""
    size = np.int64(0)
    if parent >= 0:
        for at in range(set_starts[parent], set_starts[parent + 1]):
            item = set_items[at]
            if size == at - set_starts[parent] and item > core:
                wanted[size] = core
                size += 1
            wanted[size] = item
            size += 1
        if size == set_starts[parent + 1] - set_starts[parent]:
            wanted[size] = core
            size += 1
    return size


@step
def count_beside(rows, wanted, size, counts, touched):
    """Count, by weight, how often each item stands in the rows that hold all of the wanted ones; gives the number of those that do."""
    found = np.int64(0)
    stop = len(rows.weights)
    start = np.int64(0)
    if size:
        rarest = wanted[size - 1]
        start, stop = rows.starts[rarest], rows.starts[rarest + 1]
    for at in range(start, stop):
        row = rows.holders[at] if size else np.int64(at)
        met = np.int64(0)
        for place in range(rows.indptr[row], rows.indptr[row + 1]):
            if met == size:
                break
            if rows.items[place] == wanted[met]:
                met += 1
            elif rows.items[place] > wanted[met]:
                break
        if met < size:
            continue
        weight = rows.weights[row]
        for place in range(rows.indptr[row], rows.indptr[row + 1]):
            item = rows.items[place]
            if counts[item] == 0:
                touched[found] = item
                found += 1
            counts[item] += weight
    return found


@step
def closure(counts, touched, found, support, core, wanted, size):
    """How many items stand in all of these rows; -1 when one of them before the core is not wanted, so that the set is met elsewhere."""
    closed, before = np.int64(0), np.int64(0)
    for at in range(found):
        if counts[touched[at]] == support:
            closed += 1
            if touched[at] < core:
                before += 1
    held = np.int64(0)
    for at in range(size):
        if wanted[at] < core:
            held += 1
    return closed if before == held else np.int64(-1)


@step
def is_above(heap, place, support, number):
    return support > heap.supports[place] or (
        support == heap.supports[place] and number < heap.numbers[place]
    )


@step
def sift_up(heap, place, support, number, parent, core):
    """Put in a new entry, at the end and up to its place."""
    while place > 0 and is_above(heap, (place - 1) // 2, support, number):
        copy(heap, place, (place - 1) // 2)
        place = (place - 1) // 2
    heap.supports[place], heap.numbers[place], heap.parents[place], heap.cores[place] = (
        support,
        number,
        parent,
        core,
    )


@step
def sift_down(heap, size):
    """Take out the first: the last of `size + 1` takes its place and goes down."""
    support, number, parent, core = (
        heap.supports[size],
        heap.numbers[size],
        heap.parents[size],
        heap.cores[size],
    )
    place = np.int64(0)
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
    heap.supports[place], heap.numbers[place], heap.parents[place], heap.cores[place] = (
        support,
        number,
        parent,
        core,
    )


@step
def copy(heap, place, other):
    heap.supports[place], heap.numbers[place] = heap.supports[other], heap.numbers[other]
    heap.parents[place], heap.cores[place] = heap.parents[other], heap.cores[other]
