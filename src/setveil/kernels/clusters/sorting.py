"""Kernels and steps that put sets of words, and texts, in order."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.steps import sort_slice


class Sets(NamedTuple):
    """Sets of words; set i is `words[ptr[i]:ptr[i + 1]]`, ascending."""

    ptr: Int64s
    words: np.ndarray


@kernel
def rank_sets(ptr, items, rank):
    """The sets with the rank of each item instead of the item, ascending in each set."""
    ranks = np.empty(len(items), np.int32)
    for row in range(len(ptr) - 1):
        for at in range(ptr[row], ptr[row + 1]):
            ranks[at] = rank[items[at]]
        sort_slice(ranks, ptr[row], ptr[row + 1])
    return ranks


@kernel
def group(owners, count, backwards):
    """Where the members of each owner begin, and the members: ascending, or backwards."""
    ptr = np.zeros(count + 1, np.int64)
    for member in range(len(owners)):
        ptr[owners[member] + 1] += 1
    for owner in range(count):
        ptr[owner + 1] += ptr[owner]
    fill, members = ptr[:-1].copy(), np.empty(len(owners), np.int64)
    for at in range(len(owners)):
        member = len(owners) - 1 - at if backwards else at
        members[fill[owners[member]]] = member
        fill[owners[member]] += 1
    return ptr, members


@kernel
def sort_rows(ptr, rows, sets):
    """The rows of each chunk in the order of their words, the shorter of two like ones first."""
    found, spare = rows.copy(), np.empty(len(rows), np.int64)
    for chunk in range(len(ptr) - 1):
        low, high = ptr[chunk], ptr[chunk + 1]
        width = np.int64(1)
        while width < high - low:
            for start in range(low, high, 2 * width):
                merge_rows(found, spare, start, width, high, sets)
            for at in range(low, high):
                found[at] = spare[at]
            width *= 2
    return found


@step
def merge_rows(found, spare, start, width, high, sets):
    """Merge two runs that are in order."""
    middle, stop = min(start + width, high), min(start + 2 * width, high)
    left, right = start, middle
    for at in range(start, stop):
        if right >= stop or (left < middle and not is_lower(sets, found[right], found[left])):
            spare[at] = found[left]
            left += 1
        else:
            spare[at] = found[right]
            right += 1


@step
def is_lower(sets, one, other):
    """Whether a set comes before another one."""
    i, j = sets.ptr[one], sets.ptr[other]
    while i < sets.ptr[one + 1] and j < sets.ptr[other + 1]:
        if sets.words[i] != sets.words[j]:
            return sets.words[i] < sets.words[j]
        i += 1
        j += 1
    return i >= sets.ptr[one + 1] and j < sets.ptr[other + 1]


class Texts(NamedTuple):
    """Pieces of a text: piece i begins at `starts[i]` and has `lengths[i]` bytes."""

    text: np.ndarray
    starts: Int64s
    lengths: Int64s


@step
def change_places(texts, numbers, between):
    """Put texts that follow one another, with a byte between each two, in order; and their
    numbers."""
    if is_sorted(texts, numbers):
        return
    count = len(numbers)
    start, stop = texts.starts[0], texts.starts[count - 1] + texts.lengths[count - 1]
    sort_texts(texts, numbers)
    spare, at = np.empty(stop - start, np.uint8), np.int64(0)
    for i in range(count):
        first = texts.starts[numbers[i]]
        for place in range(first, first + texts.lengths[numbers[i]]):
            spare[at] = texts.text[place]
            at += 1
        if i + 1 < count:
            spare[at] = between
            at += 1
    for at in range(stop - start):
        texts.text[start + at] = spare[at]


@step
def is_sorted(texts, numbers):
    at = 1
    while at < len(numbers) and not comes_before(texts, numbers[at], numbers[at - 1]):
        at += 1
    return at >= len(numbers)


@step
def sort_texts(texts, numbers):
    """Merge sort; equal texts keep their order."""
    count = len(numbers)
    spare, width = np.empty(count, np.int64), np.int64(1)
    while width < count:
        for start in range(0, count, 2 * width):
            middle, stop = min(start + width, count), min(start + 2 * width, count)
            left, right = start, middle
            for at in range(start, stop):
                if right >= stop or (
                    left < middle and not comes_before(texts, numbers[right], numbers[left])
                ):
                    spare[at] = numbers[left]
                    left += 1
                else:
                    spare[at] = numbers[right]
                    right += 1
        for at in range(count):
            numbers[at] = spare[at]
        width *= 2


@step
def comes_before(texts, one, other):
    """Whether a text comes before another one, byte by byte; UTF-8 keeps the order of
    characters."""
    i, j = texts.starts[one], texts.starts[other]
    for at in range(min(texts.lengths[one], texts.lengths[other])):
        if texts.text[i + at] != texts.text[j + at]:
            return texts.text[i + at] < texts.text[j + at]
    return texts.lengths[one] < texts.lengths[other]
