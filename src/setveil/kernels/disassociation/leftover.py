"""Kernel of REFINE: list what the term chunks of clusters may share."""

from __future__ import annotations

import numpy as np

from setveil.kernels.disassociation.lists import Lists
from setveil.kernels.jit import kernel, step


@kernel
def list_open(indptr, items, width, bounds, first, last, chunk, is_short, never, k):
    """List what the clusters `first` to `last - 1` may share, and what their chunks tell of
    already.

    A cluster whose record chunks are too short for Lemma 2 must keep a term: its rarest one, unless
    it holds one that cannot be shared anyhow. Terms are numbered anew by how many clusters may
    share them, most first, of equals in their own order.

    Returns:
        The lists of the clusters; records and where occurrences stand are counted from the first
        record.
    """
    begin = indptr[bounds[first]]
    sums, clusters = indptr[bounds[last]] - begin, last - first
    free, kept = find_free(indptr, items, width, bounds, first, last, chunk, is_short, never, k)
    term_at, rank = rank_terms(indptr, items, width, bounds, first, last, chunk, free, kept)
    ptr, told_ptr = np.zeros(clusters + 1, np.int64), np.zeros(clusters + 1, np.int64)
    term, place, occurrence = (
        np.empty(sums, np.int32),
        np.empty(sums, np.int32),
        np.empty(sums, np.int32),
    )
    told, stamp, keys = (
        np.empty(sums, np.int32),
        np.full(width, -1, np.int64),
        np.empty(sums, np.int64),
    )
    end, told_end = np.int64(0), np.int64(0)
    for cluster in range(first, last):
        start, size, must = (
            bounds[cluster],
            bounds[cluster + 1] - bounds[cluster],
            kept[cluster - first],
        )
        found, told_start = np.int64(0), told_end
        for i in range(start, start + size):
            for at in range(indptr[i], indptr[i + 1]):
                if chunk[at] < 0 and items[at] != must:
                    if free[items[at]]:
                        keys[found] = rank[items[at]] * size + (i - start)
                        found += 1
                elif stamp[items[at]] != cluster:
                    stamp[items[at]] = cluster
                    told[told_end] = 2 * rank[items[at]] + (items[at] == must)
                    told_end += 1
        told[told_start:told_end].sort()
        keys[:found].sort()
        for i in range(found):
            number, record = keys[i] // size, start + keys[i] % size
            term[end], place[end] = number, record - bounds[first]
            occurrence[end] = find_occurrence(indptr, items, record, term_at[number]) - begin
            end += 1
        ptr[cluster - first + 1], told_ptr[cluster - first + 1] = end, told_end
    return Lists(
        ptr,
        term[:end].copy(),
        place[:end].copy(),
        occurrence[:end].copy(),
        told_ptr,
        told[:told_end].copy(),
    )


@step
def find_free(indptr, items, width, bounds, first, last, chunk, is_short, never, k):
    """Which terms may be shared, and the term that each cluster must keep in its term chunk, -1
    for none."""
    total, kept = np.zeros(width, np.int64), np.full(last - first, -1, np.int64)
    for at in range(indptr[bounds[first]], indptr[bounds[last]]):
        if chunk[at] < 0:
            total[items[at]] += 1
    for cluster in range(first, last):
        if is_short[cluster]:
            kept[cluster - first] = find_kept(
                indptr, items, bounds[cluster], bounds[cluster + 1], chunk, total, never, k
            )
    free = np.empty(width, np.bool_)
    for term in range(width):
        free[term] = total[term] >= k and not never[term]
    return free, kept


@step
def rank_terms(indptr, items, width, bounds, first, last, chunk, free, kept):
    """The terms by how many clusters may share them, most first, and the place of each."""
    held, stamp = np.zeros(width, np.int64), np.full(width, -1, np.int64)
    for cluster in range(first, last):
        for at in range(indptr[bounds[cluster]], indptr[bounds[cluster + 1]]):
            term = items[at]
            if (
                chunk[at] < 0
                and free[term]
                and term != kept[cluster - first]
                and stamp[term] != cluster
            ):
                stamp[term] = cluster
                held[term] += 1
    order, rank = np.empty(width, np.int64), np.empty(width, np.int64)
    for term in range(width):
        order[term] = (last - first - held[term]) * width + term
    order.sort()
    for i in range(width):
        order[i] %= width
        rank[order[i]] = i
    return order, rank


@step
def find_kept(indptr, items, start, stop, chunk, total, never, k):
    """The term that a cluster must keep in its term chunk: its rarest; -1 when one of them
    cannot leave anyhow."""
    kept = np.int64(-1)
    for i in range(start, stop):
        for at in range(indptr[i], indptr[i + 1]):
            if chunk[at] < 0:
                term = np.int64(items[at])
                if total[term] < k or never[term]:
                    return np.int64(-1)
                if (
                    kept < 0
                    or total[term] < total[kept]
                    or (total[term] == total[kept] and term < kept)
                ):
                    kept = term
    return kept


@step
def find_occurrence(indptr, items, record, term):
    """Where a term stands in a record."""
    low, high = indptr[record], indptr[record + 1]
    while low < high:
        middle = (low + high) >> 1
        if items[middle] < term:
            low = middle + 1
        else:
            high = middle
    return low
