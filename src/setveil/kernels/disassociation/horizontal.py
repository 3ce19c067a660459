"""Kernel of HORPART: cut the records into clusters of similar ones."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Flags, Int32s, Int64s
from setveil.kernels.jit import kernel, patient, step

START, STOP, ABOVE, TERM = 0, 1, 2, 3  # the columns of `Work.groups`


class Sizes(NamedTuple):
    """How large clusters are."""

    least: int  # smaller parts are put together with their neighbours
    limit: int  # a group of this size is cut
    later: int  # a group below the first ones that has fewer records than this is cut later


class Groups(NamedTuple):
    """Groups of records: group i begins at `bounds[i]`."""

    bounds: Int64s
    is_open: Flags  # whether it may be cut
    used_ptr: Int64s
    used: Int64s  # the terms that it was cut by before: used_ptr[i] to used_ptr[i + 1] - 1


class Work(NamedTuple):
    """Everything that cutting reads and writes."""

    indptr: Int64s
    items: Int32s
    sensitive: Flags
    order: Int64s  # record numbers, group by group
    spare: Int64s  # scratch, parallel to `order`
    part: Int64s  # the part of each record in `order`
    groups: Int64s  # [group, (START, STOP of order, group ABOVE, TERM that it was cut by or -1)]
    bounds: Int64s  # where each cluster begins
    used: Int64s  # the last group that may not be cut by each term
    counts: Int64s  # the records of each term that are left in the group; 0 between groups
    touched: Int64s  # the terms of the group
    heap: Int64s  # these terms, most frequent first, as count * terms + (terms - 1 - term)
    begin: Int64s  # where each term begins in `lists`
    lists: Int32s  # the places in `order` of the records of each term
    starts: Int64s  # the size of each part, then where it begins
    terms: Int64s  # the term that each part was cut off by


@patient
@kernel
def split_horizontally(rows, sensitive, order, given, sizes):
    """The records of `order` cluster by cluster, where each cluster begins (and the end), the group
    of each that is to be cut later (else -1), and all groups.

    A group is cut by its most frequent term that no group above was cut by, its rest by the most
    frequent term of the rest, and so on. What is cut off is subtracted from the counts, so each
    record is read once per level. Neighbouring parts below `sizes.least` records are put together.
    """
    work = make_work(rows, sensitive, order, given)
    groups, opened = work.groups, np.full(len(work.bounds), -1, np.int64)
    stack, made, clusters = np.empty(len(order) + 1, np.int64), np.int64(0), np.int64(0)
    for root in range(len(given.is_open)):
        if given.bounds[root] == given.bounds[root + 1]:
            continue
        if not given.is_open[root]:
            work.bounds[clusters] = given.bounds[root]
            clusters += 1
            continue
        made = add_root(work, given, root, made)
        stack[0], top, first_group = made - 1, np.int64(1), made - 1
        while top > 0:
            top -= 1
            group = stack[top]
            start, stop = groups[group, START], groups[group, STOP]
            is_later = group != first_group and stop - start < sizes.later
            if stop - start < sizes.limit or is_later:
                work.bounds[clusters] = start
                opened[clusters] = group if stop - start >= sizes.limit else -1
                clusters += 1
                continue
            mark_used(work, group)
            distinct = count_terms(work, group)
            list_records(work, group, distinct)
            parts = cut_off(work, group, distinct)
            for i in range(distinct):
                work.counts[work.touched[i]] = 0
            sort_by_part(work, start, stop, parts)
            first = made
            made = put_together(work, group, parts, made, sizes)
            if made - first == 1 and groups[first, TERM] < 0:
                # The parts are one group again: no term can cut it.
                made = first
                clusters = cut_evenly(work.bounds, clusters, start, stop, sizes)
                continue
            for i in range(made - 1, first - 1, -1):
                stack[top] = i
                top += 1
    work.bounds[clusters] = len(order)
    bounds, opened = work.bounds[: clusters + 1].copy(), opened[:clusters].copy()
    return work.order, bounds, opened, groups[:made].copy()


@step
def make_work(rows, sensitive, order, given):
    indptr, items = rows
    size, width, occurrences = len(order), len(sensitive), np.int64(0)
    for record in order:
        occurrences += indptr[record + 1] - indptr[record]
    return Work(
        indptr,
        items,
        sensitive,
        order.copy(),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty((2 * size + 4 * len(given.is_open) + len(given.used) + 2, 4), np.int64),
        np.empty(size + len(given.is_open) + 1, np.int64),
        np.full(width, -1, np.int64),
        np.zeros(width, np.int64),
        np.empty(width, np.int64),
        np.empty(width, np.int64),
        np.zeros(width, np.int64),
        np.empty(occurrences, np.int32),
        np.empty(size + 2, np.int64),
        np.empty(size + 2, np.int64),
    )


@step
def add_root(work, given, root, made):
    """Add a group that was given, below one for each term that it was cut by; returns the end."""
    above = np.int64(-1)
    for at in range(given.used_ptr[root], given.used_ptr[root + 1]):
        work.groups[made, START], work.groups[made, STOP] = 0, 0
        work.groups[made, ABOVE], work.groups[made, TERM] = above, given.used[at]
        above = made
        made += 1
    work.groups[made, START], work.groups[made, STOP] = given.bounds[root], given.bounds[root + 1]
    work.groups[made, ABOVE], work.groups[made, TERM] = above, -1
    return made + 1


@step
def mark_used(work, group):
    """Mark the terms that this group or one above it was cut by."""
    above = group
    while above >= 0:
        if work.groups[above, TERM] >= 0:
            work.used[work.groups[above, TERM]] = group
        above = work.groups[above, ABOVE]


@step
def count_terms(work, group):
    """Count the terms of a group that may cut it; returns how many there are."""
    indptr, items, order, counts = work.indptr, work.items, work.order, work.counts
    sensitive, used, distinct = work.sensitive, work.used, np.int64(0)
    for i in range(work.groups[group, START], work.groups[group, STOP]):
        record = order[i]
        for at in range(indptr[record], indptr[record + 1]):
            term = items[at]
            if used[term] != group and not sensitive[term]:
                if counts[term] == 0:
                    work.touched[distinct] = term
                    distinct += 1
                counts[term] += 1
    return distinct


@step
def list_records(work, group, distinct):
    """List the places of each term, and make a heap of the terms by count; ties by number."""
    indptr, items, order, counts = work.indptr, work.items, work.order, work.counts
    sensitive, used, begin, lists = work.sensitive, work.used, work.begin, work.lists
    width, end = len(sensitive), np.int64(0)
    for i in range(distinct):
        term = work.touched[i]
        begin[term] = end
        end += counts[term]
        work.heap[i] = counts[term] * width + (width - 1 - term)
        counts[term] = 0
    for i in range(work.groups[group, START], work.groups[group, STOP]):
        record = order[i]
        for at in range(indptr[record], indptr[record + 1]):
            term = items[at]
            if used[term] != group and not sensitive[term]:
                lists[begin[term] + counts[term]] = i
                counts[term] += 1
    for i in range(distinct // 2 - 1, -1, -1):
        sift_down(work.heap, distinct, np.int64(i))


@step
def sift_down(heap, size, at):
    key = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= key:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = key


@step
def cut_off(work, group, distinct):
    """Give each record of a group its part, the most frequent term first; returns their number.

    The sizes of the parts are in `starts`. A count in the heap may be too high, as records were cut
    off since; such a term goes back into the heap with its new count."""
    heap, counts, width = work.heap, work.counts, len(work.sensitive)
    start, stop = work.groups[group, START], work.groups[group, STOP]
    for i in range(start, stop):
        work.part[i] = -1
    left, parts = stop - start, np.int64(0)
    while distinct > 0:
        term = width - 1 - heap[0] % width
        count = heap[0] // width
        if counts[term] == count:
            cut_one(work, group, work.begin[term], count, parts)
            work.starts[parts], work.terms[parts] = count, term
            parts += 1
            left -= count
        if counts[term] > 0:
            heap[0] = counts[term] * width + (width - 1 - term)
        else:
            distinct -= 1
            heap[0] = heap[distinct]
        sift_down(heap, distinct, np.int64(0))
    if left > 0:
        work.starts[parts], work.terms[parts] = left, -1
        parts += 1
    return parts


@step
def cut_one(work, group, place, count, number):
    """Put the `count` records left of one term into part `number`, and subtract their terms."""
    indptr, items, order, counts = work.indptr, work.items, work.order, work.counts
    sensitive, used, part = work.sensitive, work.used, work.part
    while count > 0:
        i = work.lists[place]
        place += 1
        if part[i] < 0:
            part[i] = number
            count -= 1
            record = order[i]
            for at in range(indptr[record], indptr[record + 1]):
                if used[items[at]] != group and not sensitive[items[at]]:
                    counts[items[at]] -= 1


@step
def sort_by_part(work, start, stop, parts):
    """Order a slice by part; `starts` becomes where each part begins."""
    order, spare, part, starts = work.order, work.spare, work.part, work.starts
    at = start
    for i in range(parts):
        at, starts[i] = at + starts[i], at
    starts[parts] = at
    for i in range(start, stop):
        number = part[i] if part[i] >= 0 else parts - 1
        spare[starts[number]] = order[i]
        starts[number] += 1
    for i in range(parts, 0, -1):  # each start has moved to where the next part begins
        starts[i] = starts[i - 1]
    starts[0] = start
    for i in range(start, stop):
        order[i] = spare[i]


@step
def put_together(work, group, parts, made, sizes):
    """Make groups of the parts; returns the end of the groups.

    Parts below `least` are put together with those that follow until there are enough records; what
    is too small in the end joins the group before it, or at the front the one after it."""
    groups, starts, terms, least, limit = (
        work.groups,
        work.starts,
        work.terms,
        sizes.least,
        sizes.limit,
    )
    first, i = made, np.int64(0)
    while i < parts:
        after = i + 1
        if starts[after] - starts[i] < limit:
            while (
                after < parts
                and starts[after] - starts[i] < least
                and starts[after + 1] - starts[after] < limit
            ):
                after += 1
        if starts[after] - starts[i] < least and made > first:
            groups[made - 1, STOP] = starts[after]
        else:
            groups[made, START], groups[made, STOP] = starts[i], starts[after]
            groups[made, ABOVE], groups[made, TERM] = group, terms[i] if after == i + 1 else -1
            made += 1
        i = after
    if made - first > 1 and groups[first, STOP] - groups[first, START] < least:
        groups[first + 1, START] = groups[first, START]
        for i in range(first, made - 1):
            for column in range(4):
                groups[i, column] = groups[i + 1, column]
        made -= 1
    return made


@step
def cut_evenly(bounds, clusters, start, stop, sizes):
    """Cut a group that no term can cut into clusters of equal size, none too small."""
    least, limit = sizes.least, sizes.limit
    pieces = max(min((stop - start + limit - 2) // (limit - 1), (stop - start) // least), 1)
    for i in range(pieces):
        bounds[clusters] = start + (stop - start) * i // pieces
        clusters += 1
    return clusters
