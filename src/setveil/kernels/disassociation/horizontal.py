"""Kernel of HORPART: cut the records into clusters of similar ones."""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel, step


@kernel
def split_horizontally(indptr, items, width, order, sensitive, least, limit):
    """Reorder `order` into clusters of fewer than `limit` records and return where each begins (and
    the end).

    A group is cut into parts by its most frequent term that no group above was cut by, then by the
    most frequent of the rest, and so on; the counts of what is cut off are subtracted, so each
    record is touched once for each level. Neighbouring parts below `least` are put together."""
    size = len(order)
    spare, part = np.empty(size, np.int64), np.empty(size, np.int64)
    counts, begin = np.zeros(width, np.int64), np.zeros(width, np.int64)
    used = np.full(width, -1, np.int64)
    touched, heap = np.empty(width, np.int64), np.empty(width, np.int64)
    lists = np.empty(len(items), np.int64)
    groups = np.empty((2 * size + 2, 4), np.int64)  # start, stop, group above, term it was cut by
    starts, terms = np.empty(size + 2, np.int64), np.empty(size + 2, np.int64)
    bounds, clusters = np.empty(size + 1, np.int64), np.int64(0)
    stack, top, made = np.empty(size + 1, np.int64), np.int64(1), np.int64(1)
    groups[0, 0], groups[0, 1], groups[0, 2], groups[0, 3] = 0, size, -1, -1
    stack[0] = 0
    while top > 0:
        top -= 1
        group = stack[top]
        start, stop = groups[group, 0], groups[group, 1]
        if stop - start < limit:
            bounds[clusters] = start
            clusters += 1
            continue
        above = group
        while above >= 0:
            if groups[above, 3] >= 0:
                used[groups[above, 3]] = group
            above = groups[above, 2]
        distinct = count_terms(
            indptr, items, order, sensitive, used, group, start, stop, counts, touched
        )
        list_records(
            indptr,
            items,
            order,
            sensitive,
            used,
            group,
            start,
            stop,
            counts,
            touched,
            distinct,
            begin,
            lists,
            heap,
            width,
        )
        parts = cut_off(
            indptr,
            items,
            order,
            sensitive,
            used,
            group,
            start,
            stop,
            counts,
            distinct,
            begin,
            lists,
            heap,
            width,
            part,
            starts,
            terms,
        )
        for i in range(distinct):
            counts[touched[i]] = 0
        sort_by_part(order, spare, part, start, stop, starts, parts)
        first = made
        made = put_together(starts, terms, parts, groups, made, group, least, limit)
        if (
            made - first == 1
            and groups[first, 1] - groups[first, 0] == stop - start
            and groups[first, 3] < 0
        ):
            made = first
            clusters = cut_evenly(bounds, clusters, start, stop, least, limit)
            continue
        for i in range(made - 1, first - 1, -1):
            stack[top] = i
            top += 1
    bounds[clusters] = size
    return bounds[: clusters + 1].copy()


@step
def count_terms(indptr, items, order, sensitive, used, group, start, stop, counts, touched):
    """Count the terms of a group that may cut it; returns how many there are."""
    distinct = np.int64(0)
    for i in range(start, stop):
        record = order[i]
        for at in range(indptr[record], indptr[record + 1]):
            term = items[at]
            if used[term] != group and not sensitive[term]:
                if counts[term] == 0:
                    touched[distinct] = term
                    distinct += 1
                counts[term] += 1
    return distinct


@step
def list_records(
    indptr,
    items,
    order,
    sensitive,
    used,
    group,
    start,
    stop,
    counts,
    touched,
    distinct,
    begin,
    lists,
    heap,
    width,
):
    """List the positions of each term, and heap the terms by count (of equals the first term)."""
    at = np.int64(0)
    for i in range(distinct):
        term = touched[i]
        begin[term] = at
        at += counts[term]
        heap[i] = counts[term] * width + (width - 1 - term)
        counts[term] = 0
    for i in range(start, stop):
        record = order[i]
        for at in range(indptr[record], indptr[record + 1]):
            term = items[at]
            if used[term] != group and not sensitive[term]:
                lists[begin[term] + counts[term]] = i
                counts[term] += 1
    for i in range(distinct // 2 - 1, -1, -1):
        sift_down(heap, distinct, np.int64(i))


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
def cut_off(
    indptr,
    items,
    order,
    sensitive,
    used,
    group,
    start,
    stop,
    counts,
    distinct,
    begin,
    lists,
    heap,
    width,
    part,
    starts,
    terms,
):
    """Give each record of a group its part, most frequent term first; returns the number of
    parts, whose sizes are in `starts`."""
    for i in range(start, stop):
        part[i] = -1
    left, parts = stop - start, np.int64(0)
    while distinct > 0:
        term = width - 1 - heap[0] % width
        count = heap[0] // width
        if counts[term] == count:
            cut_one(
                indptr,
                items,
                order,
                sensitive,
                used,
                group,
                counts,
                begin[term],
                count,
                lists,
                part,
                parts,
            )
            starts[parts], terms[parts] = count, term
            parts += 1
            left -= count
        if counts[term] > 0:
            heap[0] = counts[term] * width + (width - 1 - term)
        else:
            distinct -= 1
            heap[0] = heap[distinct]
        sift_down(heap, distinct, np.int64(0))
    if left > 0:
        starts[parts], terms[parts] = left, -1
        parts += 1
    return parts


@step
def cut_one(
    indptr, items, order, sensitive, used, group, counts, place, count, lists, part, number
):
    """Take the records of one term that are still there into part `number`, and subtract what
    they hold."""
    while count > 0:
        i = lists[place]
        place += 1
        if part[i] < 0:
            part[i] = number
            count -= 1
            record = order[i]
            for at in range(indptr[record], indptr[record + 1]):
                if used[items[at]] != group and not sensitive[items[at]]:
                    counts[items[at]] -= 1


@step
def sort_by_part(order, spare, part, start, stop, starts, parts):
    """Order a slice by part; `starts` becomes where each part begins."""
    at = start
    for i in range(parts):
        at, starts[i] = at + starts[i], at
    starts[parts] = at
    for i in range(start, stop):
        number = part[i] if part[i] >= 0 else parts - 1
        spare[starts[number]] = order[i]
        starts[number] += 1
    for i in range(parts, 0, -1):
        starts[i] = starts[i - 1]
    starts[0] = start
    for i in range(start, stop):
        order[i] = spare[i]


@step
def put_together(starts, terms, parts, groups, made, group, least, limit):
    """Make groups of the parts: those below `least` together with their neighbours; returns the
    end of the groups."""
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
            groups[made - 1, 1] = starts[after]
        else:
            groups[made, 0], groups[made, 1], groups[made, 2] = starts[i], starts[after], group
            groups[made, 3] = terms[i] if after == i + 1 else -1
            made += 1
        i = after
    if made - first > 1 and groups[first, 1] - groups[first, 0] < least:
        groups[first + 1, 0] = groups[first, 0]
        for i in range(first, made - 1):
            for field in range(4):
                groups[i, field] = groups[i + 1, field]
        made -= 1
    return made


@step
def cut_evenly(bounds, clusters, start, stop, least, limit):
    """Cut a group that no term can cut into clusters of equal size, none below `least`."""
    pieces = max(min((stop - start + limit - 2) // (limit - 1), (stop - start) // least), 1)
    for i in range(pieces):
        bounds[clusters] = start + (stop - start) * i // pieces
        clusters += 1
    return clusters
