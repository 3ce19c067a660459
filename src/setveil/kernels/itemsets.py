"""Kernels of frequent itemsets: the greatest supports, and the itemsets that reach them, depth first over vertical bitmaps.

Items are numbered by falling support, so that the items before an item are the more frequent ones. Every itemset is met once, under
its least frequent item: the rows that hold that item tell at once how often each item before it stands beside it, and only for those
that stand often enough a bitmap over these very rows is made. So a bitmap is long only where there are few of them; all bitmaps of one
item together have no more bits than the data has occurrences. Rows may have weights: these are cut into bit planes, and a support is a
sum of popcounts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.arrays import roomier
from setveil.kernels.bitmaps import bit_of, popcount
from setveil.kernels.jit import kernel, step

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

LIMIT, COUNT, USED, FULL = 0, 1, 2, 3
"""Places in `Sink.state`: supports up to the limit are of no interest; itemsets and items stored; whether no more fit."""


class Rows(NamedTuple):
    """Records over items that are numbered by falling support; ascending within a row."""

    indptr: Int64s
    items: Int32s
    weights: Int64s  # of each row
    supports: Int64s  # of each item
    starts: Int64s  # the rows that hold item i are holders[starts[i]] to holders[starts[i + 1] - 1]
    holders: Int64s


class Sink(NamedTuple):
    """Where found itemsets go: their supports into a heap of the greatest, or, where there is no heap, they themselves into a store."""

    state: Int64s
    heap: Int64s  # the least at 0
    items: Int32s  # the stored itemsets one after the other
    sizes: Int64s
    supports: Int64s


class Desk(NamedTuple):
    """Scratch for one item at a time."""

    counts: Int64s  # beside the item, of each more frequent one; 0 between uses
    touched: Int32s
    slot: Int32s  # the bitmap of an item; -1 between uses
    path: Int32s  # the itemset that is being looked at


@kernel
def rank_rows(
    indptr: Int64s, items: Int32s, rank: Int32s, kept_indptr: Int64s, kept: Int32s
) -> None:
    """Write every row with the rank of its items, ascending, without those of rank -1."""
    top = np.int64(0)
    for row in range(len(indptr) - 1):
        start = top
        for at in range(indptr[row], indptr[row + 1]):
            new = rank[items[at]]
            if new >= 0:
                place = top
                while place > start and kept[place - 1] > new:
                    kept[place] = kept[place - 1]
                    place -= 1
                kept[place] = new
                top += 1
        kept_indptr[row + 1] = top


@kernel
def list_holders(indptr: Int64s, items: Int32s, starts: Int64s, holders: Int64s) -> None:
    """Write the rows that hold each item; `starts` must hold the first place of each, and holds it again afterwards."""
    for row in range(len(indptr) - 1):
        for at in range(indptr[row], indptr[row + 1]):
            item = items[at]
            holders[starts[item]] = row
            starts[item] += 1
    for item in range(len(starts) - 1, 0, -1):
        starts[item] = starts[item - 1]
    starts[0] = 0


@kernel
def mine(rows: Rows, sink: Sink, desk: Desk, least_size: int) -> None:
    """Meet all itemsets of `least_size` items or more whose support is above the limit, until the sink is full; a heap raises the limit."""
    width = len(rows.supports)
    best = rows.supports
    if len(sink.heap):
        best = np.zeros(width, dtype=np.int64)
        count_short(rows, sink, desk, least_size, best)
        least_size = max(least_size, 3)
    for item in range(width):
        if rows.supports[item] <= sink.state[LIMIT] or sink.state[FULL] > 0:
            break
        if least_size <= 1:
            desk.path[0] = item
            meet(sink, desk.path, np.int64(1), rows.supports[item])
        if best[item] > sink.state[LIMIT]:
            grow(rows, sink, desk, np.int64(item), least_size)


@step
def count_short(rows, sink, desk, least_size, best):
    """Meet all items and pairs ahead of anything larger, so that the limit is high by then; note the best pair of each item."""
    for item in range(len(best)):
        if least_size <= 1:
            meet(sink, desk.path, np.int64(1), rows.supports[item])
    for item in range(len(best)):
        if rows.supports[item] <= sink.state[LIMIT]:
            break
        found = deliver(rows, desk, np.int64(item))
        for at in range(found):
            other = desk.touched[at]
            best[item] = max(best[item], desk.counts[other])
            if least_size <= 2:
                meet(sink, desk.path, np.int64(2), desk.counts[other])
            desk.counts[other] = 0


@step
def grow(rows, sink, desk, item, least_size):
    """Meet every itemset in which `item` is the least frequent, of two items or more and at least `least_size`."""
    found = deliver(rows, desk, item)
    chosen = np.empty(found, dtype=np.int32)
    width = 0
    for at in range(found):
        other = desk.touched[at]
        if desk.counts[other] > sink.state[LIMIT]:
            chosen[width] = other
            width += 1
    chosen = chosen[:width]
    sort(chosen)
    supports = np.empty(width, dtype=np.int64)
    desk.path[0] = item
    for at in range(width):
        supports[at] = desk.counts[chosen[at]]
        if least_size <= 2:
            desk.path[1] = chosen[at]
            meet(sink, desk.path, np.int64(2), supports[at])
    for at in range(found):
        desk.counts[desk.touched[at]] = 0
    if width > 1:
        descend(rows, sink, desk, item, chosen, supports, least_size)


@step
def sort(values):
    """By insertion; they are few, and nearly in order."""
    for stop in range(1, len(values)):
        value, place = values[stop], stop
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@step
def deliver(rows, desk, item):
    """Count how often each more frequent item stands beside `item`; gives the number of those that do."""
    found = np.int64(0)
    for at in range(rows.starts[item], rows.starts[item + 1]):
        row = rows.holders[at]
        weight = rows.weights[row]
        place = rows.indptr[row]
        other = rows.items[place]
        while other < item:
            if desk.counts[other] == 0:
                desk.touched[found] = other
                found += 1
            desk.counts[other] += weight
            place += 1
            other = rows.items[place]
    return found


@step
def descend(rows, sink, desk, item, chosen, supports, least_size):
    """Meet every itemset of `item` and two or more of the chosen ones, whose supports beside the item are given."""
    width, words = len(chosen), (rows.starts[item + 1] - rows.starts[item] + 63) // 64
    bitmaps, planes = vertical(rows, desk, item, chosen, words), weight_planes(rows, item, words)
    prefixes = np.empty(8 * words, dtype=np.uint64)
    slots, sums = np.empty(4 * width, dtype=np.int64), np.empty(4 * width, dtype=np.int64)
    for at in range(width):
        slots[at], sums[at] = at, supports[at]
    stops, cursor = np.empty(width + 2, dtype=np.int64), np.empty(width + 2, dtype=np.int64)
    depth = np.int64(0)
    stops[0], cursor[0] = width, 0
    while depth >= 0 and sink.state[FULL] == 0:
        first, stop = cursor[depth], stops[depth]
        cursor[depth] += 1
        if first >= stop - 1:
            depth -= 1
            continue
        if sums[first] <= sink.state[LIMIT]:
            continue
        prefixes = roomier(prefixes, (depth + 2) * words)
        slots, sums = roomier(slots, stop + width), roomier(sums, stop + width)
        prefix = (depth + 1) * words
        narrow(prefixes, prefix, bitmaps, slots[first] * words, words, depth)
        desk.path[depth + 1] = chosen[slots[first]]
        top = stop
        for at in range(first + 1, stop):
            if sums[at] > sink.state[LIMIT]:
                support = overlap(prefixes, prefix, bitmaps, slots[at] * words, planes, words)
                if support > sink.state[LIMIT]:
                    desk.path[depth + 2] = chosen[slots[at]]
                    if depth + 3 >= least_size:
                        meet(sink, desk.path, depth + 3, support)
                    slots[top], sums[top] = slots[at], support
                    top += 1
        if top > stop + 1:
            depth += 1
            cursor[depth], stops[depth] = stop, top


@step
def vertical(rows, desk, item, chosen, words):
    """One bitmap for each chosen item, one after the other: a bit for each row that holds `item`."""
    start, stop = rows.starts[item], rows.starts[item + 1]
    bitmaps = np.zeros(len(chosen) * words, dtype=np.uint64)
    for at in range(len(chosen)):
        desk.slot[chosen[at]] = at
    for at in range(stop - start):
        place = rows.indptr[rows.holders[start + at]]
        bit = bit_of(at)
        other = rows.items[place]
        while other < item:
            if desk.slot[other] >= 0:
                bitmaps[desk.slot[other] * words + (at >> 6)] |= bit
            place += 1
            other = rows.items[place]
    for at in range(len(chosen)):
        desk.slot[chosen[at]] = -1
    return bitmaps


@step
def weight_planes(rows, item, words):
    """The weights of the rows that hold `item`: a bitmap for each binary digit, one after the other."""
    start, stop = rows.starts[item], rows.starts[item + 1]
    together = np.int64(1)
    for at in range(start, stop):
        together |= rows.weights[rows.holders[at]]
    height = np.int64(0)
    while together >> height:
        height += 1
    planes = np.zeros(height * words, dtype=np.uint64)
    for at in range(stop - start):
        weight = rows.weights[rows.holders[start + at]]
        for plane in range(height):
            if (weight >> plane) & 1:
                planes[plane * words + (at >> 6)] |= bit_of(at)
    return planes


@step
def narrow(prefixes, prefix, bitmaps, bitmap, words, depth):
    """The rows of the itemset above that also hold one item more; above the first level are all."""
    for word in range(words):
        above = bitmaps[bitmap + word] if depth == 0 else prefixes[prefix - words + word]
        prefixes[prefix + word] = above & bitmaps[bitmap + word]


@step
def overlap(prefixes, prefix, bitmaps, bitmap, planes, words):
    """The summed weight of the rows in both bitmaps."""
    total, height = np.int64(0), len(planes) // words
    for plane in range(height):
        part = np.int64(0)
        for word in range(words):
            part += popcount(
                prefixes[prefix + word] & bitmaps[bitmap + word] & planes[plane * words + word]
            )
        total += part << plane
    return total


@step
def meet(sink, path, size, support):
    """Take note of an itemset, the first `size` items of the path."""
    if len(sink.heap):
        push(sink, support)
        return
    count, used = sink.state[COUNT], sink.state[USED]
    if count >= len(sink.sizes) or used + size > len(sink.items):
        sink.state[FULL] = 1
        return
    for at in range(size):
        sink.items[used + at] = path[at]
    sink.sizes[count] = size
    sink.supports[count] = support
    sink.state[COUNT] = count + 1
    sink.state[USED] = used + size


@step
def push(sink, support):
    """Replace the least of the greatest supports; it is the limit."""
    heap = sink.heap
    if support <= heap[0]:
        return
    place = np.int64(0)
    while 2 * place + 1 < len(heap):
        child = 2 * place + 1
        if child + 1 < len(heap) and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= support:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = support
    sink.state[LIMIT] = heap[0]
