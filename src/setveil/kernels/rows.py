"""Kernels for the text of tables with one row per record and item."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.words import (
    WRONG,
    Known,
    find_word,
    look_up,
    make_known,
    read_key,
)

NEWLINE, COMMA, ZERO, NINE = 10, 44, 48, 57
MOST_DIGITS = 18


class Cells(NamedTuple):
    """What is written for each item: `text[ptr[i]:ptr[i + 1]]`."""

    ptr: Int64s
    text: np.ndarray


@kernel
def write_rows(before, ptr, items, cells):
    """The lines `number,cell` of records, of which record i has the number `before + 1 + i` and the
    items `items[ptr[i] - ptr[0]:ptr[i + 1] - ptr[0]]`."""
    size, first = np.int64(0), ptr[0]
    letters, cell_ptr = cells.text, cells.ptr
    digits, most = np.int64(1), np.int64(10)
    for record in range(len(ptr) - 1):
        while before + 1 + record >= most:
            digits += 1
            most *= 10
        size += (digits + 2) * (ptr[record + 1] - ptr[record])
    for at in range(len(items)):
        size += cell_ptr[items[at] + 1] - cell_ptr[items[at]]
    text, at = np.empty(size, np.uint8), np.int64(0)
    number = np.empty(MOST_DIGITS + 1, np.uint8)
    for record in range(len(ptr) - 1):
        rest, used = before + 1 + record, np.int64(0)
        while rest > 0:
            number[used] = ZERO + rest % 10
            rest //= 10
            used += 1
        for i in range(ptr[record] - first, ptr[record + 1] - first):
            for place in range(used - 1, -1, -1):
                text[at] = number[place]
                at += 1
            text[at] = COMMA
            at += 1
            for place in range(cell_ptr[items[i]], cell_ptr[items[i] + 1]):
                text[at] = letters[place]
                at += 1
            text[at] = NEWLINE
            at += 1
    return text


class Rows(NamedTuple):
    """The rows of a table by record; of no use if `state` is not 0."""

    state: int  # WRONG, FULL or 0
    numbers: Int64s  # of each record that has rows, as written
    lengths: Int64s
    items: Int32s  # the numbers of the words
    words: Known


@kernel
def read_rows(text, room):
    """The rows of a text with lines `number,cell`, the numbers ascending; WRONG if it has anything
    else: another number, a quote, an empty cell, no line end."""
    lines = np.int64(1)  # the last one may lack its end, which is noticed only after its number
    for at in range(len(text)):
        lines += text[at] == NEWLINE
    numbers, lengths = np.empty(lines, np.int64), np.zeros(lines, np.int64)
    items, words = np.empty(lines, np.int32), make_known(room)
    records, used, at, size = np.int64(-1), np.int64(0), np.int64(0), len(text)
    table, keys = words.table, words.keys
    state = np.int64(0)
    while at < size:
        at, record = read_number(text, at)
        if record < 1 or (records >= 0 and record < numbers[records]):
            state = np.int64(WRONG)
            break
        if records < 0 or record > numbers[records]:
            records += 1
            numbers[records] = record
        start, number = at, np.int64(-1)
        at, key = read_key(text, start, np.uint8(NEWLINE))
        if at < size and text[at] == NEWLINE:
            number = look_up(table, keys, key)
        if number < 0:
            at, number = find_word(text, start, at, key, np.uint8(NEWLINE), words)
        if number < 0:
            state = number
            break
        items[used] = number
        used += 1
        lengths[records] += 1
        at += 1
    return Rows(state, numbers[: records + 1], lengths[: records + 1], items[:used], words)


@step
def read_number(text, at):
    """A whole number of 1 or more and the comma after it: where they end, and the number; or
    WRONG."""
    number, start = np.int64(0), at
    if text[at] == ZERO:
        return at, np.int64(WRONG)
    while at < len(text) and ZERO <= text[at] <= NINE and at - start < MOST_DIGITS:
        number = number * 10 + (np.int64(text[at]) - ZERO)
        at += 1
    if at == start or at >= len(text) or text[at] != COMMA:
        return at, np.int64(WRONG)
    return at + 1, number
