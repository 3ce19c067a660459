"""The kernel that reads lines of numbers."""

import numpy as np

from setveil.kernels.jit import kernel, step

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
