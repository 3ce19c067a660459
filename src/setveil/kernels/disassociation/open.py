"""Kernel of REFINE: list which occurrences in term chunks are open, that is, may be shared."""

from __future__ import annotations

import numpy as np

from setveil.kernels.disassociation.lists import Lists
from setveil.kernels.jit import kernel, step


@kernel
def list_open(block, chunks, rule):
    """The lists of a block of clusters: what each may share, and which terms are in its chunks.

    A cluster whose record chunks are too short for Lemma 2 must keep a term: its rarest one, unless
    it has one that cannot be shared in any case. Terms are numbered anew by how many clusters may
    share them, most first, and if equal in their own order."""
    indptr, items, bounds, chunk = block.indptr, block.items, block.bounds, chunks.chunk
    clusters = len(bounds) - 1
    free, kept = find_free(block, chunks, rule)
    term_at, rank = rank_terms(block, chunk, free, kept)
    lists = Lists(
        np.zeros(clusters + 1, np.int64),
        np.empty(len(items), np.int32),
        np.empty(len(items), np.int32),
        np.empty(len(items), np.int32),
        np.zeros(clusters + 1, np.int64),
        np.empty(len(items), np.int32),
    )
    stamp, keys = np.full(len(free), -1, np.int64), np.empty(len(items), np.int64)
    end, chunked_end = np.int64(0), np.int64(0)
    for cluster in range(clusters):
        start, size = bounds[cluster], bounds[cluster + 1] - bounds[cluster]
        found, chunked_start = np.int64(0), chunked_end
        for i in range(start, start + size):
            for at in range(indptr[i], indptr[i + 1]):
                if chunk[at] < 0 and items[at] != kept[cluster]:
                    if free[items[at]]:
                        keys[found] = rank[items[at]] * size + (i - start)
                        found += 1
                elif stamp[items[at]] != cluster:
                    stamp[items[at]] = cluster
                    code = 2 * rank[items[at]] + (items[at] == kept[cluster])
                    lists.chunked[chunked_end] = code
                    chunked_end += 1
        lists.chunked[chunked_start:chunked_end].sort()
        keys[:found].sort()
        for i in range(found):
            term, record = keys[i] // size, start + keys[i] % size
            lists.term[end], lists.place[end] = term, record
            lists.occurrence[end] = find_occurrence(indptr, items, record, term_at[term])
            end += 1
        lists.ptr[cluster + 1], lists.chunked_ptr[cluster + 1] = end, chunked_end
    return Lists(
        lists.ptr,
        lists.term[:end].copy(),
        lists.place[:end].copy(),
        lists.occurrence[:end].copy(),
        lists.chunked_ptr,
        lists.chunked[:chunked_end].copy(),
    )


@step
def find_free(block, chunks, rule):
    """Which terms may be shared, and the one that each cluster must keep in a term chunk, or -1."""
    total = np.zeros(len(rule.sensitive), np.int64)
    for at in range(len(block.items)):
        if chunks.chunk[at] < 0:
            total[block.items[at]] += 1
    kept = np.full(len(chunks.is_short), -1, np.int64)
    for cluster in range(len(kept)):
        if chunks.is_short[cluster]:
            kept[cluster] = find_kept(block, cluster, chunks.chunk, total, rule)
    free = np.empty(len(total), np.bool_)
    for term in range(len(total)):
        free[term] = total[term] >= rule.k and not rule.sensitive[term]
    return free, kept


@step
def find_kept(block, cluster, chunk, total, rule):
    """The rarest term in the term chunk of a cluster; -1 if one there cannot leave in any case."""
    kept = np.int64(-1)
    start, stop = block.bounds[cluster], block.bounds[cluster + 1]
    for at in range(block.indptr[start], block.indptr[stop]):
        if chunk[at] < 0:
            term = np.int64(block.items[at])
            if total[term] < rule.k or rule.sensitive[term]:
                return np.int64(-1)
            if (
                kept < 0
                or total[term] < total[kept]
                or (total[term] == total[kept] and term < kept)
            ):
                kept = term
    return kept


@step
def rank_terms(block, chunk, free, kept):
    """The terms by how many clusters may share them, most first, and the place of each."""
    width, clusters = len(free), len(kept)
    sharers, stamp = np.zeros(width, np.int64), np.full(width, -1, np.int64)
    for cluster in range(clusters):
        start, stop = block.bounds[cluster], block.bounds[cluster + 1]
        for at in range(block.indptr[start], block.indptr[stop]):
            term = block.items[at]
            if chunk[at] < 0 and free[term] and term != kept[cluster] and stamp[term] != cluster:
                stamp[term] = cluster
                sharers[term] += 1
    order, rank = np.empty(width, np.int64), np.empty(width, np.int64)
    for term in range(width):
        order[term] = (clusters - sharers[term]) * width + term
    order.sort()
    for i in range(width):
        order[i] %= width
        rank[order[i]] = i
    return order, rank


@step
def find_occurrence(indptr, items, record, term):
    """Where a term is in a record."""
    low, high = indptr[record], indptr[record + 1]
    while low < high:
        middle = (low + high) >> 1
        if items[middle] < term:
            low = middle + 1
        else:
            high = middle
    return low
