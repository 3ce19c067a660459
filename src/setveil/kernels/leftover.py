"""Kernel of REFINE: list what the term chunks of clusters may share."""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel, step


@kernel
def list_open(indptr, items, width, bounds, first, last, chunk, is_short, never, k):
    """List what the clusters `first` to `last - 1` may share, and what their chunks tell of already.

    A cluster whose record chunks are too short for Lemma 2 must keep a term: its rarest one, unless it holds one that cannot be shared
    anyhow.

    Returns:
        `(ptr, term, place, occurrence, told_ptr, told)`: for each cluster its open occurrences by term, and the terms that are told of,
        each as twice its number, plus one where the cluster must keep it.
    """
    total, sums = np.zeros(width, np.int64), np.int64(0)
    for i in range(bounds[first], bounds[last]):
        for at in range(indptr[i], indptr[i + 1]):
            sums += 1
            if chunk[at] < 0:
                total[items[at]] += 1
    ptr, told_ptr = np.zeros(last - first + 1, np.int64), np.zeros(last - first + 1, np.int64)
    term, place, occurrence = np.empty(sums, np.int32), np.empty(sums, np.int64), np.empty(sums, np.int64)
    told, stamp = np.empty(sums, np.int32), np.full(width, -1, np.int64)
    end, told_end = np.int64(0), np.int64(0)
    keys = np.empty(sums, np.int64)
    for cluster in range(first, last):
        start, stop = bounds[cluster], bounds[cluster + 1]
        kept = find_kept(indptr, items, start, stop, chunk, total, never, k) if is_short[cluster] else np.int64(-1)
        found = np.int64(0)
        told_start = told_end
        for i in range(start, stop):
            for at in range(indptr[i], indptr[i + 1]):
                if chunk[at] < 0 and items[at] != kept:
                    if total[items[at]] >= k and not never[items[at]]:
                        keys[found] = np.int64(items[at]) * (stop - start) + (i - start)
                        found += 1
                elif stamp[items[at]] != cluster:
                    stamp[items[at]] = cluster
                    told[told_end] = 2 * items[at] + (items[at] == kept)
                    told_end += 1
        told[told_start:told_end].sort()
        keys[:found].sort()
        for i in range(found):
            term[end], place[end] = keys[i] // (stop - start), start + keys[i] % (stop - start)
            occurrence[end] = find_occurrence(indptr, items, place[end], term[end])
            end += 1
        ptr[cluster - first + 1], told_ptr[cluster - first + 1] = end, told_end
    return ptr, term[:end].copy(), place[:end].copy(), occurrence[:end].copy(), told_ptr, told[:told_end].copy()


@step
def find_kept(indptr, items, start, stop, chunk, total, never, k):
    """The term that a cluster must keep in its term chunk: its rarest; -1 when one of them cannot leave anyhow."""
    kept = np.int64(-1)
    for i in range(start, stop):
        for at in range(indptr[i], indptr[i + 1]):
            if chunk[at] < 0:
                term = np.int64(items[at])
                if total[term] < k or never[term]:
                    return np.int64(-1)
                if kept < 0 or total[term] < total[kept] or (total[term] == total[kept] and term < kept):
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
