"""What kernels share: bisection, sorting, arrays that grow, and bitmaps of 64-bit words."""

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import kernel, step

_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)
_ONE, _TWO, _FOUR = np.uint64(1), np.uint64(2), np.uint64(4)
SHORT = 24  # values that are sorted by insertion
_TOP, _LAST = np.uint64(56), np.uint64(63)


@step
def roomier(values, size):
    """The array, or a copy with room for twice `size` values if it is shorter than `size`."""
    if size <= len(values):
        return values
    more = np.zeros(2 * size, dtype=values.dtype)
    for at in range(len(values)):
        more[at] = values[at]
    return more


@step
def grown(rows, used):
    """The rows, or a larger copy if all of them are used."""
    if used < len(rows):
        return rows
    larger = np.empty((2 * len(rows) + 64, rows.shape[1]), dtype=rows.dtype)
    for row in range(len(rows)):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@step
def first_at_least(values, low, high, target):
    """Where in `values[low:high]`, which ascend, the first is that is not below the target."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low


@step
def find(values, low, high, target):
    """Where in `values[low:high]`, which ascend, the target is; -1 if it is missing."""
    at = first_at_least(values, low, high, target)
    return at if at < high and values[at] == target else np.int64(-1)


@step
def sort_slice(values, start, stop):
    """Sort `values[start:stop]` in place; Numba's own sort takes many times as long to compile.

    Quicksort puts values into parts that are in order, and insertion sorts each part."""
    if stop - start > SHORT:
        sort_parts(values, start, stop)
    sort_by_insertion(values, start, stop)


@step
def sort_by_insertion(values, start, stop):
    """Sort a slice of a few values, or of many that are nearly in order."""
    for at in range(start + 1, stop):
        value, place = values[at], at
        while place > start and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@step
def sort_parts(values, start, stop):
    """Quicksort, until no part has more than `SHORT` values.

    The larger half waits, so that the number of halves that wait is at most the logarithm."""
    waiting, top = np.empty((64, 2), np.int64), np.int64(1)
    waiting[0, 0], waiting[0, 1] = start, stop
    while top > 0:
        top -= 1
        low, high = waiting[top, 0], waiting[top, 1]
        while high - low > SHORT:
            one, other, pivot = values[low], values[high - 1], values[(low + high) >> 1]
            pivot = max(min(one, other), min(max(one, other), pivot))  # the middle one of the three
            i, j = low, high - 1
            while i <= j:
                while values[i] < pivot:
                    i += 1
                while values[j] > pivot:
                    j -= 1
                if i <= j:
                    values[i], values[j] = values[j], values[i]
                    i += 1
                    j -= 1
            if j + 1 - low < high - i:
                waiting[top, 0], waiting[top, 1], high = i, high, j + 1
            else:
                waiting[top, 0], waiting[top, 1], low = low, j + 1, i
            top += 1


@step
def sort_words(ptr, values, rows, start, stop, short_first):
    """Sort a slice of the numbers of lists as words, equal ones as they are; see `is_before`.

    Merge sort; two runs that are in order already are left alone."""
    width, spare = np.int64(1), np.empty(stop - start, np.int64)
    while width < stop - start:
        for low in range(start, stop - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, stop)
            if not is_before(ptr, values, rows[middle], rows[middle - 1], short_first):
                continue
            left, right = low, middle
            for at in range(high - low):
                if right >= high or (
                    left < middle
                    and not is_before(ptr, values, rows[right], rows[left], short_first)
                ):
                    spare[at] = rows[left]
                    left += 1
                else:
                    spare[at] = rows[right]
                    right += 1
            for at in range(low, high):
                rows[at] = spare[at - low]
        width *= 2


@step
def is_before(ptr, values, one, other, short_first):
    """Whether a list comes before another as a word; one that the other begins with comes first,
    or, if not `short_first`, last."""
    i, j = ptr[one], ptr[other]
    while i < ptr[one + 1] and j < ptr[other + 1]:
        if values[i] != values[j]:
            return values[i] < values[j]
        i += 1
        j += 1
    one_ends, other_ends = i >= ptr[one + 1], j >= ptr[other + 1]
    return one_ends < other_ends if not short_first else other_ends < one_ends


@kernel
def fill_holders(indptr: Int64s, items: Int32s, starts: Int64s, holders: Int32s | Int64s) -> None:
    """Write the rows that hold each item, one item after the other, each from its start on."""
    fill = starts.copy()
    for row in range(len(indptr) - 1):
        for at in range(indptr[row], indptr[row + 1]):
            holders[fill[items[at]]] = row
            fill[items[at]] += 1


@step
def bit_of(row):
    """The bit of a row within its word, which is word `row >> 6`."""
    return _ONE << (np.uint64(row) & _LAST)


@step
def popcount(word):
    """The number of bits that are set."""
    word = word - ((word >> _ONE) & _ODD)
    word = (word & _PAIRS) + ((word >> _TWO) & _PAIRS)
    word = (word + (word >> _FOUR)) & _NIBBLES
    return np.int64((word * _BYTES) >> _TOP)


@step
def count_joint(left, right):
    """How many bits two bitmaps have in common."""
    total = np.int64(0)
    for at in range(len(left)):
        total += popcount(left[at] & right[at])
    return total
