"""Kernels for the head of the data: which records leave, and chunks that are safe."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import kernel, patient, step

SQUARE = 32
"""Rows and columns of a matrix that are folded together, so that they fit into fast memory."""


class Settling(NamedTuple):
    """Records over few items, the items that have a chunk so far, and scratch."""

    ptr: Int64s
    items: Int64s  # ascending in each record
    chunk: Int64s  # of each item, or -1
    holders: Int64s  # the records of each item, one item after the other
    together: Int64s  # how many records have each item and the current one; 0 between uses
    clash: Int64s  # the last item that each chunk could not take because of a pair
    pairs: Int64s  # [item, item] how many records have both and the current one; 0 between uses


@step
def fold(matrix):
    """Add each of two cells across the diagonal to the other."""
    width = len(matrix)
    for top in range(0, width, SQUARE):
        for left in range(0, top + 1, SQUARE):
            for row in range(top, min(top + SQUARE, width)):
                for column in range(left, min(left + SQUARE, row)):
                    both = matrix[row, column] + matrix[column, row]
                    matrix[row, column] = matrix[column, row] = both


@patient
@kernel
def settle(ptr, items, wanted, rule):
    """The chunk of each item: the wanted one if it stays k^m-anonymous with it, for m up to 3, and
    its subrecords short enough; else the first other one that does. -1 for items of fewer than k
    records. Wanted chunks have numbers up to that of the items.

    Everything is counted again here, so that no promise depends on how chunks were chosen."""
    count = len(wanted)
    begin = np.zeros(count + 1, np.int64)
    for at in range(len(items)):
        begin[items[at] + 1] += 1
    for item in range(count):
        begin[item + 1] += begin[item]
    settling = Settling(
        ptr,
        items,
        np.full(count, -1, np.int64),
        list_holders(ptr, items, begin),
        np.zeros(count, np.int64),
        np.full(count + 1, -1, np.int64),
        np.zeros((count, count) if rule.m > 2 else (0, 0), np.int64),
    )
    taken = np.zeros(count + 1, np.bool_)
    for item in range(count):
        if begin[item + 1] - begin[item] < rule.k:
            continue
        mark_clashes(settling, item, begin, rule)
        number = wanted[item]
        if not fits(settling, item, number, begin, rule):
            number = np.int64(0)
            while taken[number] and not fits(settling, item, number, begin, rule):
                number += 1
        settling.chunk[item], taken[number] = number, True
    return number_chunks(settling.chunk)


@step
def list_holders(ptr, items, begin):
    fill, holders = begin[:-1].copy(), np.empty(len(items), np.int64)
    for record in range(len(ptr) - 1):
        for at in range(ptr[record], ptr[record + 1]):
            holders[fill[items[at]]] = record
            fill[items[at]] += 1
    return holders


@step
def mark_clashes(settling, item, begin, rule):
    """Mark the chunks with an item that occurs with this one, but in fewer than k records."""
    ptr, items, together, chunk = settling.ptr, settling.items, settling.together, settling.chunk
    for at in range(begin[item], begin[item + 1]):
        place = ptr[settling.holders[at]]
        while items[place] < item:
            together[items[place]] += 1
            place += 1
    for other in range(item):
        if chunk[other] >= 0 and 0 < together[other] < rule.k and rule.m > 1:
            settling.clash[chunk[other]] = item
        together[other] = 0


@step
def fits(settling, item, number, begin, rule):
    """Whether a chunk can take an item."""
    if settling.clash[number] == item:
        return False
    if rule.m > 2 and has_rare_triple(settling, item, number, begin, rule.k):
        return False
    if rule.longest == 0:
        return True
    for at in range(begin[item], begin[item + 1]):
        place, length = settling.ptr[settling.holders[at]], np.int64(1)
        while settling.items[place] < item:
            length += settling.chunk[settling.items[place]] == number
            place += 1
        if length > rule.longest:
            return False
    return True


@step
def has_rare_triple(settling, item, number, begin, k):
    """Whether a pair of a chunk is in 1 to k - 1 of the records that have an item."""
    ptr, items, chunk, pairs = settling.ptr, settling.items, settling.chunk, settling.pairs
    found = False
    for turn in range(2):  # count, then compare and clear
        for at in range(begin[item], begin[item + 1]):
            start = ptr[settling.holders[at]]
            i = start
            while items[i] < item:
                if chunk[items[i]] == number:
                    for j in range(start, i):
                        if chunk[items[j]] == number:
                            if turn == 0:
                                pairs[items[i], items[j]] += 1
                            else:
                                found = found or 0 < pairs[items[i], items[j]] < k
                                pairs[items[i], items[j]] = 0
                i += 1
    return found


@step
def number_chunks(chunk):
    """Number the chunks by their first item."""
    names, found = np.full(len(chunk) + 1, -1, np.int64), np.int64(0)
    for item in range(len(chunk)):
        if chunk[item] >= 0:
            if names[chunk[item]] < 0:
                names[chunk[item]] = found
                found += 1
            chunk[item] = names[chunk[item]]
    return chunk


MOST_PASSES = 100  # over the records, to find those that stay; about ten are usual
MOST_INSIDE = 20_000_000  # triples of items in one chunk, which are counted one by one
LONGEST = 40  # items of a record whose triples are counted; a longer one has rare ones
_FREE = -1
_SPREAD = np.int64(-7046029254386353131)  # the golden ratio, as a whole number of 64 bits


class Inside(NamedTuple):
    """How often the triples of each chunk occur in the records that stay."""

    rank: Int64s  # of each item among those of its chunk
    begin: Int64s  # where the triples of each chunk begin
    counts: Int32s


class Table(NamedTuple):
    """Triples by a code, at the first free place after a scattered one, with their counts."""

    codes: Int64s
    counts: Int32s


@kernel
def charge(ptr, items, together, cost, rule):
    """[item, item] what it costs if the records that have both leave, for pairs of fewer than k
    records; `cost` is what one record less costs in each pair.

    With m = 3 records also leave because of a rare triple without a rare pair. A third of what that
    costs is charged to each of its pairs."""
    charges = np.zeros(cost.shape, np.float64)
    table = count_triples(ptr, items, together, rule)
    for record in range(len(ptr) - 1):
        loss = 0.0
        for i in range(ptr[record], ptr[record + 1]):
            for j in range(ptr[record], i):
                loss += cost[items[i], items[j]]
        if loss > 0:
            for i in range(ptr[record], ptr[record + 1]):
                for j in range(ptr[record], i):
                    if together[items[i], items[j]] < rule.k:
                        charges[items[i], items[j]] += loss
            if rule.m > 2 and ptr[record + 1] - ptr[record] <= LONGEST:
                charge_triples(charges, table, items[ptr[record] : ptr[record + 1]], loss, rule.k)
    fold(charges)
    return charges


@step
def count_triples(ptr, items, together, rule):
    """The triples of all records without a pair of fewer than k records; none with m = 2."""
    most = np.int64(0)
    if rule.m > 2:
        for record in range(len(ptr) - 1):
            length = ptr[record + 1] - ptr[record]
            if length <= LONGEST:
                most += length * (length - 1) * (length - 2) // 6
    size = np.int64(2)
    while size < most + most // 2:
        size *= 2
    table = Table(np.full(size, _FREE, np.int64), np.zeros(size, np.int32))
    if most == 0:
        return table
    width = np.int64(len(together))
    for record in range(len(ptr) - 1):
        start, stop = ptr[record], ptr[record + 1]
        if stop - start > LONGEST:
            continue
        for i in range(start, stop):
            for j in range(start, i):
                if together[items[i], items[j]] < rule.k:
                    continue
                for h in range(start, j):
                    if together[items[i], items[h]] < rule.k:
                        continue
                    if together[items[j], items[h]] >= rule.k:
                        code = (items[i] * width + items[j]) * width + items[h]
                        place = find_place(table, code)
                        table.codes[place] = code
                        table.counts[place] += 1
    return table


@step
def find_place(table, code):
    """Where a triple is, or could be."""
    last = len(table.codes) - 1
    scattered = code * _SPREAD
    place = (scattered ^ (scattered >> 29)) & last
    while table.codes[place] != _FREE and table.codes[place] != code:
        place = (place + 1) & last
    return place


@step
def charge_triples(charges, table, row, loss, k):
    """Charge the rare triples of a record."""
    width = np.int64(len(charges))
    for i in range(len(row)):
        for j in range(i):
            for h in range(j):
                place = find_place(table, (row[i] * width + row[j]) * width + row[h])
                if 0 < table.counts[place] < k:
                    charges[row[i], row[j]] += loss / 3
                    charges[row[i], row[h]] += loss / 3
                    charges[row[j], row[h]] += loss / 3


@kernel
def find_stayers(ptr, items, chunk, together, rule):
    """Which records stay, so that no pair of items of one chunk is in 1 to k - 1 of them, and with
    m = 3 no triple: as many as possible, but none whose triples are too many to count.

    A record with a rarer pair cannot stay with all others, so not with fewer either. When all such
    records have left, the others are the largest set that can stay, whatever the order was. Only
    records with an item of a pair that was not rare before can have become such, or, with m = 3, of
    a record that has left. If that takes too long, none stays."""
    counts, stays = together.copy(), np.ones(len(ptr) - 1, np.bool_)
    now, later = np.ones(len(chunk), np.bool_), np.zeros(len(chunk), np.bool_)
    inside = count_inside(ptr, items, chunk, rule)
    left, passes = True, 0
    while left:
        left, passes = False, passes + 1
        if passes > MOST_PASSES or len(inside.counts) > MOST_INSIDE:
            stays[:] = False
            return stays
        for record in range(len(stays)):
            row = items[ptr[record] : ptr[record + 1]]
            if not stays[record] or not has_any(row, now):
                continue
            if has_rare(row, chunk, counts, inside, rule):
                stays[record], left = False, True
                for i in range(len(row)):
                    for j in range(len(row)):
                        counts[row[i], row[j]] -= 1
                        if counts[row[i], row[j]] == rule.k - 1 or rule.m > 2:
                            now[row[i]] = later[row[i]] = True
                if rule.m > 2 and len(row) <= LONGEST:
                    add_inside(inside, row, chunk, -1)
        for item in range(len(chunk)):
            now[item], later[item] = later[item], False
    return stays


@step
def has_any(row, wanted):
    """Whether a record has one of the items."""
    found = False
    for i in range(len(row)):
        found |= wanted[row[i]]
    return found


@step
def count_inside(ptr, items, chunk, rule):
    """The triples of each chunk; none with m = 2, and no counts if they are too many."""
    sizes, rank = np.zeros(len(chunk) + 1, np.int64), np.zeros(len(chunk), np.int64)
    begin = np.zeros(len(chunk) + 2, np.int64)
    if rule.m < 3:
        return Inside(rank, begin, np.zeros(0, np.int32))
    for item in range(len(chunk)):
        if chunk[item] >= 0:
            rank[item] = sizes[chunk[item]]
            sizes[chunk[item]] += 1
    for number in range(len(sizes)):
        size = sizes[number]
        begin[number + 1] = begin[number] + size * (size - 1) * (size - 2) // 6
    inside = Inside(rank, begin, np.zeros(min(begin[-1], MOST_INSIDE + 1), np.int32))
    if begin[-1] <= MOST_INSIDE:
        for record in range(len(ptr) - 1):
            if ptr[record + 1] - ptr[record] <= LONGEST:
                add_inside(inside, items[ptr[record] : ptr[record + 1]], chunk, 1)
    return inside


@step
def add_inside(inside, row, chunk, sign):
    """Count the triples of a record, or no longer count them."""
    for i in range(len(row)):
        for j in range(i):
            if chunk[row[i]] >= 0 and chunk[row[j]] == chunk[row[i]]:
                for h in range(j):
                    if chunk[row[h]] == chunk[row[i]]:
                        place = place_of(inside, chunk[row[i]], row[i], row[j], row[h])
                        inside.counts[place] += sign


@step
def place_of(inside, number, high, middle, low):
    """The place of a triple of a chunk, by descending ranks."""
    a, b, c = inside.rank[high], inside.rank[middle], inside.rank[low]
    return inside.begin[number] + a * (a - 1) * (a - 2) // 6 + b * (b - 1) // 2 + c


@step
def has_rare(row, chunk, counts, inside, rule):
    """Whether a record has a pair of fewer than k records in a chunk, or such a triple."""
    if rule.m > 2 and len(row) > LONGEST:
        return True
    for i in range(len(row)):
        for j in range(i):
            if chunk[row[i]] >= 0 and chunk[row[j]] == chunk[row[i]]:
                if counts[row[i], row[j]] < rule.k:
                    return True
                if rule.m > 2:
                    for h in range(j):
                        if chunk[row[h]] == chunk[row[i]]:
                            place = place_of(inside, chunk[row[i]], row[i], row[j], row[h])
                            if inside.counts[place] < rule.k:
                                return True
    return False
