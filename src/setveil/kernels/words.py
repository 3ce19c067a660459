"""Steps that number the words of a text in the order in which they are met."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import step

WRONG, FULL = -1, -2
"""What a step returns instead of a number: if the text is another than setveil writes, or if there
are more words than there is room for."""
BACKSLASH = 92
SHORT_WORD = 7
"""A key has every byte of a word of at most so many bytes, and their number in its top byte."""
NO_KEY = np.uint64(0xFFFFFFFFFFFFFFFF)
MIXING = np.uint64(11400714819323198485)


class Known(NamedTuple):
    """The distinct words: word i is `text[starts[i]:starts[i] + lengths[i]]`."""

    used: Int64s  # how many there are, in an array of one
    starts: Int64s
    lengths: Int64s
    table: Int32s  # by hash: the number of a word, or -1
    keys: np.ndarray  # the key of that word, if it is short


@step
def make_known(room):
    """No words, and room for so many."""
    size = np.int64(1024)
    while size < 4 * room:
        size *= 2
    return Known(
        np.zeros(1, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.full(size, -1, np.int32),
        np.empty(size, np.uint64),
    )


@step
def read_key(text, start, mark):
    """The key of a word up to its end, which is before the next `mark`, or as far as keys go; and
    where that is."""
    at, key = start, np.uint64(0)
    while at < len(text) and at - start < SHORT_WORD and text[at] != mark and text[at] != BACKSLASH:
        key = (key << np.uint64(8)) | np.uint64(text[at])
        at += 1
    return at, key | (np.uint64(at - start) << np.uint64(56))


@step
def look_up(table, keys, key):
    """The number of a short word that was met before; -1 if `find_word` must look for it."""
    slot = np.int64((key * MIXING) >> np.uint64(32)) & np.int64(len(table) - 1)
    return np.int64(table[slot]) if table[slot] >= 0 and keys[slot] == key else np.int64(-1)


@step
def find_word(text, start, at, key, mark, known):
    """Where a word ends, which is before the next `mark`, and its number, a new one if it was not
    met before; or WRONG or FULL. `read_key` gave the key and the place."""
    while at < len(text) and text[at] != mark:
        if text[at] == BACKSLASH:
            return at, np.int64(WRONG)
        key = (key ^ np.uint64(text[at])) * np.uint64(1099511628211)
        at += 1
    if at >= len(text):
        return at, np.int64(WRONG)
    mask, length = len(known.table) - 1, at - start
    slot = np.int64((key * MIXING) >> np.uint64(32)) & mask
    while known.table[slot] >= 0:
        number = np.int64(known.table[slot])
        if is_same(text, known.starts[number], known.lengths[number], start, length):
            return at, number
        slot = (slot + 1) & mask
    number = known.used[0]
    if number >= len(known.starts):
        return at, np.int64(FULL)
    known.table[slot], known.keys[slot] = number, key if length <= SHORT_WORD else NO_KEY
    known.starts[number], known.lengths[number] = start, length
    known.used[0] += 1
    return at, number


@step
def is_same(values, one, length, other, other_length):
    """Whether `length` values from `one` on are `other_length` values from `other` on."""
    same = length == other_length
    at = 0
    while same and at < length:
        same = values[one + at] == values[other + at]
        at += 1
    return same
