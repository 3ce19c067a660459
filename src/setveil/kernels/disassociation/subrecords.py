"""Kernel of the disassociated form: the distinct subrecords of every chunk."""

import numpy as np

from setveil.kernels.jit import kernel, patient, step
from setveil.kernels.steps import is_before, sort_slice, sort_words


@patient
@kernel
def collect_subrecords(indptr, items, chunk, low, high):
    """Cut every record into its subrecords in the chunks `low` to `high - 1`, and merge equal ones.

    `chunk` is the chunk of each occurrence, or -1. For each distinct subrecord, chunk by chunk and
    sorted as words: where its terms begin (and the end), its chunk, and how often it occurs; and
    the terms."""
    starts, owner, terms = cut_records(indptr, items, chunk, low, high)
    rows = sort_rows(starts, owner, terms, high - low)
    count = len(rows)
    new_starts, new_owner = np.zeros(count + 1, np.int64), np.empty(count, np.int64)
    times, new_terms = np.zeros(count, np.int64), np.empty(len(terms), np.int32)
    made, end = np.int64(0), np.int64(0)
    for i in range(count):
        row = rows[i]
        is_same = i > 0 and owner[row] == owner[rows[i - 1]]
        if is_same and not is_before(starts, terms, rows[i - 1], row, True):  # as they are sorted
            times[made - 1] += 1
            continue
        for at in range(starts[row], starts[row + 1]):
            new_terms[end] = terms[at]
            end += 1
        new_owner[made], times[made] = low + owner[row], 1
        made += 1
        new_starts[made] = end
    return (
        new_starts[: made + 1].copy(),
        new_owner[:made].copy(),
        times[:made].copy(),
        new_terms[:end].copy(),
    )


@step
def cut_records(indptr, items, chunk, low, high):
    """Every non-empty subrecord of every record: where it begins, its chunk, counted from `low`,
    and the terms.

    The occurrences of a record are sorted by chunk and then by place."""
    inside, longest = np.int64(0), np.int64(0)
    for record in range(len(indptr) - 1):
        longest = max(longest, indptr[record + 1] - indptr[record])
    for at in range(len(items)):
        if low <= chunk[at] < high:
            inside += 1
    starts, owner = np.zeros(inside + 1, np.int64), np.empty(inside, np.int64)
    terms, keys = np.empty(inside, np.int32), np.empty(longest + 1, np.int64)
    made, end = np.int64(0), np.int64(0)
    for record in range(len(indptr) - 1):
        base, found = indptr[record], np.int64(0)
        for at in range(base, indptr[record + 1]):
            if low <= chunk[at] < high:
                keys[found] = (chunk[at] - low) * (longest + 1) + (at - base)
                found += 1
        sort_slice(keys, np.int64(0), found)
        for i in range(found):
            number = keys[i] // (longest + 1)
            if i == 0 or number != keys[i - 1] // (longest + 1):
                starts[made], owner[made] = end, number
                made += 1
            terms[end] = items[base + keys[i] % (longest + 1)]
            end += 1
    starts[made] = end
    return starts[: made + 1].copy(), owner[:made].copy(), terms


@step
def sort_rows(starts, owner, terms, chunks):
    """The numbers of the rows by chunk, and within each chunk as words."""
    count = len(owner)
    begin = np.zeros(chunks + 1, np.int64)
    for row in range(count):
        begin[owner[row] + 1] += 1
    for number in range(chunks):
        begin[number + 1] += begin[number]
    rows, fill = np.empty(count, np.int64), begin.copy()
    for row in range(count):
        rows[fill[owner[row]]] = row
        fill[owner[row]] += 1
    for number in range(chunks):
        sort_words(starts, terms, rows, begin[number], begin[number + 1], True)
    return rows
