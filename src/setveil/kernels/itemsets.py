"""Kernels of frequent itemsets, depth first over vertical bitmaps.

Items are numbered by falling support. Every itemset is met once, under its least frequent item: the
rows that hold this item show how often each more frequent item occurs with it, and those that occur
often enough get a bitmap over just these rows. So a bitmap is long only if there are few of them:
all bitmaps of one item together have no more bits than the data has occurrences. Rows may have
weights; these are cut into bit planes, and a support is a sum of popcounts.

If a table has the supports of all pairs, it shows which items those are. It is filled row by row,
so that memory is read in order; counted item by item, most of the time goes into fetching rows."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.steps import bit_of, popcount, roomier, sort_by_insertion

LIMIT, COUNT, USED, FULL = 0, 1, 2, 3
"""Slots of `Sink.state`: supports must be above the limit; itemsets and items stored; 1 if full."""


class RankedRows(NamedTuple):
    """Records over items that are numbered by falling support; ascending within a row."""

    indptr: Int64s
    items: Int32s
    weights: Int64s  # of each row
    supports: Int64s  # of each item
    starts: Int64s  # the rows that hold item i are holders[starts[i]] to holders[starts[i + 1] - 1]
    holders: Int32s


class Sink(NamedTuple):
    """Where itemsets go: the supports into a heap of the greatest or, without a heap, a store."""

    state: Int64s
    heap: Int64s  # the least first
    items: Int32s  # the stored itemsets in order
    sizes: Int64s
    supports: Int64s


class ItemScratch(NamedTuple):
    """Room to work on one item at a time."""

    counts: Int64s  # how often each more frequent item occurs with it; 0 between uses
    touched: Int32s
    slot: Int32s  # the bitmap of each item; -1 between uses
    path: Int32s  # the current itemset


class Sizes(NamedTuple):
    """How many items the itemsets have."""

    least: int
    most: int


class Partners(NamedTuple):
    """The items that occur often enough with an item, ascending, and how often."""

    items: Int32s
    supports: Int64s


@kernel
def rank_rows(indptr: Int64s, items: Int32s, rank: Int32s) -> tuple[Int64s, Int32s]:
    """Every row with the ranks of its items, ascending, without those of rank -1."""
    kept_indptr, kept = np.zeros(len(indptr), np.int64), np.empty(len(items), np.int32)
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
    return kept_indptr, kept[:top].copy()


@kernel
def mine(rows: RankedRows, sink: Sink, scratch: ItemScratch, sizes: Sizes) -> None:
    """Meet all itemsets of the sizes asked for with a support above the limit.

    A heap raises the limit; a store that is full ends the search."""
    least_size, most_size = sizes
    width = len(rows.supports)
    best = rows.supports
    if len(sink.heap):
        best = np.zeros(width, dtype=np.int64)
        count_short(rows, sink, scratch, sizes, best)
        least_size = max(least_size, 3)
    for item in range(width):
        if rows.supports[item] <= sink.state[LIMIT] or sink.state[FULL] > 0:
            break
        if least_size <= 1:
            scratch.path[0] = item
            meet(sink, scratch.path, np.int64(1), rows.supports[item])
        if best[item] > sink.state[LIMIT] and most_size >= max(least_size, 2):
            grow(rows, sink, scratch, np.int64(item), Sizes(least_size, most_size))


@step
def count_short(rows, sink, scratch, sizes, best):
    """Meet all items and pairs first, which raises the limit; note the best pair of each item."""
    for item in range(len(best)):
        if sizes.least <= 1:
            meet(sink, scratch.path, np.int64(1), rows.supports[item])
    for item in range(len(best)):
        if rows.supports[item] <= sink.state[LIMIT]:
            break
        found = count_partners(rows, scratch, np.int64(item))
        for at in range(found):
            other = scratch.touched[at]
            best[item] = max(best[item], scratch.counts[other])
            if sizes.least <= 2 <= sizes.most:
                meet(sink, scratch.path, np.int64(2), scratch.counts[other])
            scratch.counts[other] = 0


@step
def grow(rows, sink, scratch, item, sizes):
    """Meet every itemset of two or more items in which `item` is the least frequent."""
    found = count_partners(rows, scratch, item)
    chosen, width = np.empty(found, dtype=np.int32), np.int64(0)
    for at in range(found):
        other = scratch.touched[at]
        if scratch.counts[other] > sink.state[LIMIT]:
            chosen[width] = other
            width += 1
    sort_by_insertion(chosen, np.int64(0), width)  # few, and nearly in order
    partners = Partners(chosen[:width], np.empty(width, dtype=np.int64))
    for at in range(width):
        partners.supports[at] = scratch.counts[chosen[at]]
    for at in range(found):
        scratch.counts[scratch.touched[at]] = 0
    meet_all(rows, sink, scratch, item, partners, sizes)


@step
def meet_all(rows, sink, scratch, item, partners, sizes):
    """Meet every itemset of `item` and one or more partners."""
    scratch.path[0] = item
    if sizes.least <= 2:
        for at in range(len(partners.items)):
            scratch.path[1] = partners.items[at]
            meet(sink, scratch.path, np.int64(2), partners.supports[at])
    if len(partners.items) > 1 and sizes.most > 2:
        descend(rows, sink, scratch, item, partners, sizes)


@step
def count_partners(rows, scratch, item):
    """Count how often each more frequent item occurs with `item`; the number of those that do."""
    found = np.int64(0)
    for at in range(rows.starts[item], rows.starts[item + 1]):
        row = rows.holders[at]
        weight = rows.weights[row]
        if weight == 0:  # a count of 0 marks an item as new
            continue
        place = rows.indptr[row]
        other = rows.items[place]
        while other < item:
            if scratch.counts[other] == 0:
                scratch.touched[found] = other
                found += 1
            scratch.counts[other] += weight
            place += 1
            other = rows.items[place]
    return found


@step
def descend(rows, sink, scratch, item, partners, sizes):
    """Meet every itemset of `item` and two or more partners.

    A stack of candidate lists: those of one depth are `slots[cursor[depth]:stops[depth]]`, and
    `sums` are their supports with the itemset above, whose rows are the bitmap `prefixes[depth]`.
    """
    width, words = len(partners.items), (rows.starts[item + 1] - rows.starts[item] + 63) // 64
    bitmaps = vertical(rows, scratch, item, partners.items, words)
    planes = weight_planes(rows, item, words)
    prefixes = np.empty(8 * words, dtype=np.uint64)
    slots, sums = np.empty(4 * width, dtype=np.int64), np.empty(4 * width, dtype=np.int64)
    for at in range(width):
        slots[at], sums[at] = at, partners.supports[at]
    stops, cursor = np.empty(width + 2, dtype=np.int64), np.empty(width + 2, dtype=np.int64)
    depth = np.int64(0)
    stops[0], cursor[0] = width, 0
    while depth >= 0 and sink.state[FULL] == 0:
        # A candidate is joined only with those behind it in its list: so each itemset is met once.
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
        scratch.path[depth + 1] = partners.items[slots[first]]
        top = stop
        for at in range(first + 1, stop):
            if sums[at] > sink.state[LIMIT]:
                support = overlap(prefixes, prefix, bitmaps, slots[at] * words, planes, words)
                if support > sink.state[LIMIT]:
                    scratch.path[depth + 2] = partners.items[slots[at]]
                    if depth + 3 >= sizes.least:
                        meet(sink, scratch.path, depth + 3, support)
                    slots[top], sums[top] = slots[at], support
                    top += 1
        if top > stop + 1 and depth + 3 < sizes.most:
            depth += 1
            cursor[depth], stops[depth] = stop, top


@step
def vertical(rows, scratch, item, chosen, words):
    """A bitmap for each chosen item in turn: one bit per row that holds `item`."""
    start, stop = rows.starts[item], rows.starts[item + 1]
    bitmaps = np.zeros(len(chosen) * words, dtype=np.uint64)
    for at in range(len(chosen)):
        scratch.slot[chosen[at]] = at
    for at in range(stop - start):
        place = rows.indptr[rows.holders[start + at]]
        bit = bit_of(at)
        other = rows.items[place]
        while other < item:
            if scratch.slot[other] >= 0:
                bitmaps[scratch.slot[other] * words + (at >> 6)] |= bit
            place += 1
            other = rows.items[place]
    for at in range(len(chosen)):
        scratch.slot[chosen[at]] = -1
    return bitmaps


@step
def weight_planes(rows, item, words):
    """The weights of the rows that hold `item`, one bitmap per binary digit; none if all are 1."""
    start, stop = rows.starts[item], rows.starts[item + 1]
    together, ones = np.int64(1), np.int64(0)
    for at in range(start, stop):
        together |= rows.weights[rows.holders[at]]
        ones += rows.weights[rows.holders[at]] == 1
    if ones == stop - start:
        return np.zeros(0, dtype=np.uint64)
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
    """The rows of the itemset above that also hold one more item; depth 0 has none above."""
    for word in range(words):
        above = bitmaps[bitmap + word] if depth == 0 else prefixes[prefix - words + word]
        prefixes[prefix + word] = above & bitmaps[bitmap + word]


@step
def overlap(prefixes, prefix, bitmaps, bitmap, planes, words):
    """The summed weight of the rows in both bitmaps."""
    total, height = np.int64(0), len(planes) // words
    if height == 0:
        for word in range(words):
            total += popcount(prefixes[prefix + word] & bitmaps[bitmap + word])
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
    """Record an itemset: the first `size` items of the path."""
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
    """Replace the least support in the heap, which is the limit."""
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
    sink.state[LIMIT] = max(sink.state[LIMIT], heap[0])


@kernel
def count_pairs(indptr: Int64s, items: Int32s, weights: Int64s, supports: Int64s) -> None:
    """Add the weight of each row to all its pairs, the items of which ascend within a row.

    The support of {j, i} with j < i is at i (i - 1) / 2 + j."""
    for row in range(len(indptr) - 1):
        start, weight = indptr[row], weights[row]
        for at in range(start + 1, indptr[row + 1]):
            item = np.int64(items[at])
            first = item * (item - 1) // 2
            for before in range(start, at):
                supports[first + items[before]] += weight


@kernel
def count_chosen(indptr: Int64s, items: Int32s, weights: Int64s, place: Int64s) -> Int64s:
    """The supports of all pairs of a few items as a square table, with those of the items on its
    diagonal: `place` is the row of each item, -1 for the others, and last the number of rows."""
    size = place[-1]
    table, held = np.zeros((size, size), dtype=np.int64), np.empty(size, dtype=np.int64)
    for row in range(len(indptr) - 1):
        count = 0
        weight = weights[row] if len(weights) else np.int64(1)
        for at in range(indptr[row], indptr[row + 1]):
            one = place[items[at]]
            if one >= 0:
                held[count] = one
                count += 1
                for other in range(count):
                    table[one, held[other]] += weight
    for one in range(size):
        for other in range(one):
            both = table[one, other] + table[other, one]
            table[one, other], table[other, one] = both, both
    return table


@kernel
def mine_pairs(
    rows: RankedRows, pairs: Int64s, sink: Sink, scratch: ItemScratch, sizes: Sizes
) -> None:
    """Meet all itemsets of the sizes asked for with a support above the limit, as `mine` does and
    in the same order; `pairs` are the supports of all pairs, as `count_pairs` writes them."""
    for item in range(len(rows.supports)):
        if rows.supports[item] <= sink.state[LIMIT] or sink.state[FULL] > 0:
            break
        if sizes.least <= 1:
            scratch.path[0] = item
            meet(sink, scratch.path, np.int64(1), rows.supports[item])
        if sizes.most >= 2:
            grow_pairs(rows, pairs, sink, scratch, np.int64(item), sizes)


@step
def grow_pairs(rows, supports, sink, scratch, item, sizes):
    """Meet every itemset of two or more items in which `item` is the least frequent."""
    first, width = item * (item - 1) // 2, 0
    for other in range(item):
        if supports[first + other] > sink.state[LIMIT]:
            width += 1
    partners = Partners(np.empty(width, dtype=np.int32), np.empty(width, dtype=np.int64))
    width = 0
    for other in range(item):
        if supports[first + other] > sink.state[LIMIT]:
            partners.items[width] = other
            partners.supports[width] = supports[first + other]
            width += 1
    meet_all(rows, sink, scratch, item, partners, sizes)
