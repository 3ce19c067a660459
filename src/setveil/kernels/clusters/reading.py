"""Kernel that reads clusters from JSON lines as setveil writes them: no blanks, no escapes."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.clusters.writing import (
    CHUNKS,
    CLOSE,
    COMMA,
    END,
    LINE,
    OPEN,
    PARTS,
    SHARED,
    SIZE,
    TERMS,
)
from setveil.kernels.jit import kernel, step
from setveil.kernels.steps import sort_slice
from setveil.kernels.words import WRONG, Known, find_word, look_up, make_known, read_key

QUOTE, ZERO, NINE = 34, 48, 57
MOST_DIGITS = 12
NODES, CHUNK, ROW, ITEM, TERM, WORD = 0, 1, 2, 3, 4, 5
"""The slots of `room` and, but for the last, of `used`."""


class Found(NamedTuple):
    """The clusters that were read, and the distinct words in the order in which they were met."""

    used: Int64s  # how much of each array; `words` has its own
    parent: Int64s
    sizes: Int64s  # 0 for joint clusters
    term_ptr: Int64s
    terms: Int32s
    chunk_node: Int64s
    row_chunk: Int64s
    row_ptr: Int64s
    items: Int32s
    counts: Int64s
    words: Known


@kernel
def read_clusters(text, room):
    """The clusters of a text; they are of no use if the place that is returned is WRONG or FULL.

    The text is wrong, too, if lines, parts of a cluster or chunks are not in the order of their
    texts. `room` is how many nodes, chunks, rows, items, terms and words there may be; only that of
    the words is checked."""
    found = make_found(room)
    stack, depth, at = np.empty(room[NODES] + 1, np.int64), np.int64(0), np.int64(0)
    starts = np.empty(room[NODES] + 1, np.int64)  # of the open node at each depth
    before = np.full((room[NODES] + 1, 2), -1, np.int64)  # the last whole one there, and its end
    begins = True  # whether a cluster begins here; if not, one has ended
    while at >= 0 and (at < len(text) or depth > 0 or not begins):
        if begins:
            above = stack[depth - 1] if depth > 0 else np.int64(-1)
            starts[depth] = at
            at, is_joint = read_node(text, at, above, found)
            if at >= 0 and is_joint:
                stack[depth] = found.used[NODES] - 1
                depth += 1
                before[depth, 0] = -1
            elif at >= 0:
                at = follow(text, starts[depth], at, before, depth)
            begins = is_joint
        elif depth == 0:
            at = expect_byte(text, at, LINE)
            begins = True
        elif at < len(text) and text[at] == COMMA:
            at, begins = at + 1, True
        else:
            at = expect(text, at, END)
            depth -= 1
            if at >= 0:
                at = follow(text, starts[depth], at, before, depth)
    return at, found


@step
def follow(text, start, stop, before, depth):
    """Note a text that ends here as the last one of its depth; WRONG if it comes before the one
    that was."""
    low, high = before[depth, 0], before[depth, 1]
    before[depth, 0], before[depth, 1] = start, stop
    if low >= 0 and is_below(text, start, stop, low, high):
        return np.int64(WRONG)
    return stop


@step
def is_below(text, start, stop, low, high):
    """Whether `text[start:stop]` comes before `text[low:high]`, byte by byte."""
    for i in range(min(stop - start, high - low)):
        if text[start + i] != text[low + i]:
            return text[start + i] < text[low + i]
    return stop - start < high - low


@step
def make_found(room):
    return Found(
        np.zeros(5, np.int64),
        np.empty(room[NODES], np.int64),
        np.empty(room[NODES], np.int64),
        np.zeros(room[NODES] + 1, np.int64),
        np.empty(room[TERM], np.int32),
        np.empty(room[CHUNK], np.int64),
        np.empty(room[ROW], np.int64),
        np.zeros(room[ROW] + 1, np.int64),
        np.empty(room[ITEM], np.int32),
        np.empty(room[ROW], np.int64),
        make_known(room[WORD]),
    )


@step
def expect(text, at, given):
    """The end of some bytes that must be here."""
    if at < 0:
        return at
    if at + len(given) > len(text):
        return np.int64(WRONG)
    for i in range(len(given)):
        if text[at + i] != given[i]:
            return np.int64(WRONG)
    return at + len(given)


@step
def expect_byte(text, at, byte):
    if at < 0:
        return at
    return at + 1 if at < len(text) and text[at] == byte else np.int64(WRONG)


@step
def is_next(text, at, byte):
    return 0 <= at < len(text) and text[at] == byte


@step
def read_node(text, at, above, found):
    """Read a simple cluster, or the beginning of a joint one up to its first part."""
    node = found.used[NODES]
    found.parent[node], found.sizes[node] = above, 0
    found.used[NODES] += 1
    start = expect(text, at, SHARED)
    is_joint = start >= 0
    if not is_joint:
        start, found.sizes[node] = read_number(text, expect(text, at, SIZE))
        start = expect(text, start, CHUNKS)
    at = read_chunks(text, start, node, found)
    if is_joint:
        at = expect(text, at, PARTS)
    else:
        at = expect(text, at, TERMS)
        at, found.used[TERM] = read_words(text, at, found.terms, found.used[TERM], found)
        at = expect(text, at, END)
    found.term_ptr[node + 1] = found.used[TERM]
    return at, is_joint


@step
def read_number(text, at):
    """A whole number of 1 or more: where it ends, and what it is."""
    number, start = np.int64(0), at
    if at < 0:
        return at, number
    if at >= len(text) or text[at] == ZERO:
        return np.int64(WRONG), number
    while at < len(text) and ZERO <= text[at] <= NINE and at - start < MOST_DIGITS:
        number = number * 10 + (np.int64(text[at]) - ZERO)
        at += 1
    return (at if at > start else np.int64(WRONG)), number


@step
def read_chunks(text, at, node, found):
    """Read chunks up to the bracket after the last one, which is not read."""
    if at < 0 or is_next(text, at, CLOSE):
        return at
    low, high = np.int64(-1), np.int64(-1)
    while True:
        start, at = at, expect_byte(text, at, OPEN)
        if at < 0:
            return at
        chunk = found.used[CHUNK]
        found.chunk_node[chunk] = node
        found.used[CHUNK] += 1
        at = expect_byte(text, read_rows(text, at, chunk, found), CLOSE)
        if at >= 0 and low >= 0 and is_below(text, start, at, low, high):
            return np.int64(WRONG)
        if not is_next(text, at, COMMA):
            return at
        low, high = start, at
        at += 1


@step
def read_rows(text, at, chunk, found):
    """Read subrecords, one at least, up to the bracket after the last one."""
    while True:
        at = expect_byte(text, expect_byte(text, at, OPEN), OPEN)
        if at < 0:
            return at
        row, start = found.used[ROW], found.used[ITEM]
        at, end = read_words(text, at, found.items, start, found)
        if at < 0 or end == start:
            return min(at, np.int64(WRONG))
        at = expect_byte(text, expect_byte(text, at, CLOSE), COMMA)
        at, found.counts[row] = read_number(text, at)
        at = expect_byte(text, at, CLOSE)
        found.row_chunk[row], found.row_ptr[row + 1] = chunk, end
        found.used[ROW], found.used[ITEM] = row + 1, end
        if not is_next(text, at, COMMA):
            return at
        at += 1


@step
def read_words(text, at, numbers, end, found):
    """Read words up to the bracket after the last one; where it is, and the end of `numbers`.

    Most words are short and were met before, so these are found right here: taking an array out of
    `found` costs as much as reading a word."""
    if at < 0 or is_next(text, at, CLOSE):
        return at, end
    table, keys, size = found.words.table, found.words.keys, len(text)
    while True:
        if at >= size or text[at] != QUOTE:
            return np.int64(WRONG), end
        start, number = at + 1, np.int64(-1)
        at, key = read_key(text, start, np.uint8(QUOTE))
        if at < size and text[at] == QUOTE:
            number = look_up(table, keys, key)
        if number < 0:
            at, number = find_word(text, start, at, key, np.uint8(QUOTE), found.words)
        if number < 0:
            return number, end
        numbers[end] = number
        end += 1
        at += 1
        if at >= size or text[at] != COMMA:
            return at, end
        at += 1


@kernel
def renumber_sets(ptr, words, number):
    """The sets with the number of each word instead of the word, ascending."""
    items = np.empty(len(words), np.int32)
    for row in range(len(ptr) - 1):
        for at in range(ptr[row], ptr[row + 1]):
            items[at] = number[words[at]]
        sort_slice(items, ptr[row], ptr[row + 1])
    return items


@kernel
def are_ascending(owner, ptr, words, rank):
    """Whether the words of each set ascend, and the sets of each owner: by the ranks of the words,
    the shorter of two like ones first, and no two are equal."""
    for row in range(len(ptr) - 1):
        for at in range(ptr[row] + 1, ptr[row + 1]):
            if rank[words[at]] <= rank[words[at - 1]]:
                return False
        if row > 0 and owner[row] == owner[row - 1]:
            i, j = ptr[row - 1], ptr[row]
            while i < ptr[row] and j < ptr[row + 1] and words[i] == words[j]:
                i += 1
                j += 1
            if j == ptr[row + 1] or (i < ptr[row] and rank[words[i]] > rank[words[j]]):
                return False
    return True


@kernel
def sum_sizes(parent, sizes):
    """The sizes; of joint clusters the sum of their parts, which come after them."""
    totals = sizes.copy()
    for node in range(len(parent) - 1, -1, -1):
        if parent[node] >= 0:
            totals[parent[node]] += totals[node]
    return totals
