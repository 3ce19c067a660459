"""Kernels that read lines of numbers, and make sorted records of items in any order."""

import numpy as np

from setveil.kernels.jit import kernel, step
from setveil.kernels.steps import sort_slice

NEWLINE, ZERO, NINE = 10, 48, 57
MOST_DIGITS = 18
"""Any number of so many digits fits into 64 bits."""


@kernel
def parse_numbers(text):
    """The numbers of a text with blanks between them: whether it has nothing else, how many are on
    each line, their values, and the last line that is not wholly empty (-1 if there is none).

    If a token is not a plain number (a sign, a leading zero, too many digits), the rest of the
    answer is of no use."""
    lines = np.int64(1)
    for at in range(len(text)):
        lines += text[at] == NEWLINE
    per_line, values = np.zeros(lines, np.int64), np.empty((len(text) + 1) // 2, np.int64)
    line, last, used, at = np.int64(0), np.int64(-1), np.int64(0), np.int64(0)
    while at < len(text):
        if ZERO <= text[at] <= NINE:
            start, value = at, np.int64(0)
            while at < len(text) and ZERO <= text[at] <= NINE and at - start <= MOST_DIGITS:
                value = value * 10 + (np.int64(text[at]) - ZERO)
                at += 1
            if at - start > MOST_DIGITS or (at - start > 1 and text[start] == ZERO):
                return False, per_line, values[:used], last
            values[used], last = value, line
            used += 1
            per_line[line] += 1
        elif text[at] == NEWLINE:
            line += 1
            at += 1
        elif is_blank(text[at]):
            last = line
            at += 1
        else:
            return False, per_line, values[:used], last
    return True, per_line, values[:used], last


@step
def is_blank(byte):
    return byte == 32 or 9 <= byte <= 13


@kernel
def merge_records(lengths, items, numbers, counted):
    """Records of the items `numbers[i]`, ascending and distinct, and if `counted` how often each
    occurs; items of the records are given one after the other, in any order."""
    kept, found = np.empty(len(lengths), np.int64), np.empty(len(items), np.int32)
    counts = np.zeros(len(items) if counted else 0, np.int64)
    start, used = np.int64(0), np.int64(0)
    for record in range(len(lengths)):
        first, stop = used, used + lengths[record]
        for i in range(lengths[record]):
            found[first + i] = numbers[items[start + i]]
        sort_slice(found, first, stop)
        for at in range(first, stop):  # `used` is never ahead of what is read
            if at == first or found[at] != found[used - 1]:
                found[used] = found[at]
                used += 1
            if counted:
                counts[used - 1] += 1
        kept[record] = used - first
        start += lengths[record]
    return kept, found[:used], counts[: used if counted else 0]
