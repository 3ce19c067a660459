"""Kernels for the head of the data: count its pairs, and make sure that its chunks are safe."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.jit import kernel, patient, step


class Settling(NamedTuple):
    """Records over few items, the items that have a chunk so far, and scratch."""

    ptr: Int64s
    items: Int64s  # ascending in each record
    chunk: Int64s  # of each item, or -1
    holders: Int64s  # the records of each item, one item after the other
    together: Int64s  # how many records have each item and the current one; 0 between uses
    clash: Int64s  # the last item that each chunk could not take because of a pair
    pairs: Int64s  # [item, item] how many records have both and the current one; 0 between uses


@kernel
def count_together(ptr, items, count):
    """[item, item] how many records have both; how many have an item on the diagonal."""
    together = np.zeros((count, count), np.int64)
    for record in range(len(ptr) - 1):
        for i in range(ptr[record], ptr[record + 1]):
            for j in range(ptr[record], i + 1):
                together[items[i], items[j]] += 1
    for item in range(count):
        for other in range(item):
            both = together[item, other] + together[other, item]
            together[item, other] = together[other, item] = both
    return together


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
