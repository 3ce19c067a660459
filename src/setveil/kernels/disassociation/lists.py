"""REFINE over lists: for each node, what is open (may be shared), and the terms of its chunks."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import kernel, patient, step
from setveil.kernels.steps import first_at_least, sort_slice


class Lists(NamedTuple):
    """For each node (one cluster or several): its open occurrences by term, and its chunked terms.

    A chunked term is in a chunk of the node, or a cluster of the node must keep it in its term
    chunk. It is written as twice its number, plus 1 if it must be kept."""

    ptr: Int64s  # the open occurrences of node i are ptr[i] to ptr[i + 1] - 1
    term: Int32s
    place: Int32s  # the record of each occurrence
    occurrence: Int32s  # its place in the items of the block
    chunked_ptr: Int64s
    chunked: Int32s  # ascending in each node


class Span(NamedTuple):
    """Where the lists of one node begin and end."""

    start: int
    end: int
    chunked_start: int
    chunked_end: int


@step
def empty_lists(lists, nodes, k):
    """Room for the next lists, of up to `nodes` nodes, and the span before the first."""
    out = Lists(
        np.zeros(nodes + 1, np.int64),
        np.empty(len(lists.term), np.int32),
        np.empty(len(lists.term), np.int32),
        np.empty(len(lists.term), np.int32),
        np.zeros(nodes + 1, np.int64),
        np.empty(len(lists.chunked) + len(lists.term) // k + 1, np.int32),
    )
    zero = np.int64(0)
    return out, Span(zero, zero, zero, zero)


@step
def cut_lists(lists, nodes, last):
    """Only the part of some lists that is filled, up to the last span."""
    return Lists(
        lists.ptr[: nodes + 1].copy(),
        lists.term[: last.end].copy(),
        lists.place[: last.end].copy(),
        lists.occurrence[: last.end].copy(),
        lists.chunked_ptr[: nodes + 1].copy(),
        lists.chunked[: last.chunked_end].copy(),
    )


@step
def take_lists(lists, order):
    """The lists of the nodes in another order."""
    out, span = empty_lists(lists, len(order), np.int64(1))
    for i in range(len(order)):
        span = copy_list(lists, order[i], out, span)
        out.ptr[i + 1], out.chunked_ptr[i + 1] = span.end, span.chunked_end
    return cut_lists(out, len(order), span)


@step
def copy_occurrence(lists, at, out, to):
    out.term[to], out.place[to] = lists.term[at], lists.place[at]
    out.occurrence[to] = lists.occurrence[at]


@step
def copy_list(lists, node, out, before):
    """Copy the lists of one node after the span before; returns its span."""
    end, chunked_end = before.end, before.chunked_end
    for at in range(lists.ptr[node], lists.ptr[node + 1]):
        copy_occurrence(lists, at, out, end)
        end += 1
    for at in range(lists.chunked_ptr[node], lists.chunked_ptr[node + 1]):
        out.chunked[chunked_end] = lists.chunked[at]
        chunked_end += 1
    return Span(before.end, end, before.chunked_end, chunked_end)


@step
def merge_lists(lists, left, right, out, before):
    """Merge the lists of two nodes after the span before; returns the span of both together.

    A term that one of them must keep is no longer open in the other."""
    chunked_end = merge_chunked(lists, left, right, out.chunked, before.chunked_end)
    ptr, term, chunked = lists.ptr, lists.term, out.chunked
    i, j, end, kept = ptr[left], ptr[right], before.end, before.chunked_end
    while i < ptr[left + 1] or j < ptr[right + 1]:
        if j >= ptr[right + 1] or (i < ptr[left + 1] and term[i] <= term[j]):
            at = i
            i += 1
        else:
            at = j
            j += 1
        while kept < chunked_end and chunked[kept] >> 1 < term[at]:
            kept += 1
        if kept >= chunked_end or chunked[kept] >> 1 != term[at] or chunked[kept] & 1 == 0:
            copy_occurrence(lists, at, out, end)
            end += 1
    return Span(before.end, end, before.chunked_end, chunked_end)


@step
def merge_chunked(lists, left, right, out, end):
    """Write the union of the chunked terms of two nodes; returns its end."""
    ptr, chunked = lists.chunked_ptr, lists.chunked
    i, j = ptr[left], ptr[right]
    while i < ptr[left + 1] or j < ptr[right + 1]:
        if j >= ptr[right + 1] or (i < ptr[left + 1] and chunked[i] >> 1 < chunked[j] >> 1):
            out[end] = chunked[i]
            i += 1
        else:
            out[end] = chunked[j]
            if i < ptr[left + 1] and chunked[i] >> 1 == chunked[j] >> 1:
                out[end] = max(chunked[i], chunked[j])
                i += 1
            j += 1
        end += 1
    return end


@step
def has_enough(lists, left, right, k):
    """Whether some term is open k times in two nodes together.

    Merging as in `merge_lists` without writing: it rules out most pairs. A step that both share
    would cost a quarter of REFINE."""
    ptr, term = lists.ptr, lists.term
    i, j, begin = ptr[left], ptr[right], ptr[left] + ptr[right]
    last = np.int64(-1)
    while i < ptr[left + 1] or j < ptr[right + 1]:
        if j >= ptr[right + 1] or (i < ptr[left + 1] and term[i] <= term[j]):
            at = i
            i += 1
        else:
            at = j
            j += 1
        if term[at] != last:  # i + j counts what was merged, so i + j - begin is the current run
            last, begin = np.int64(term[at]), i + j - 1
        if i + j - begin >= k:
            return True
    return False


@step
def mark_chunked(lists, in_chunk):
    """Mark the terms that are in a chunk; that a cluster must keep a term does not count."""
    for at in range(len(lists.chunked)):
        if lists.chunked[at] & 1 == 0 and lists.chunked[at] >> 1 < len(in_chunk):
            in_chunk[lists.chunked[at] >> 1] = True


@step
def only_lost(lists, nodes, in_chunk):
    """The lists of the terms that are in no chunk."""
    out, span = empty_lists(lists, nodes, np.int64(1))
    end, chunked_end = span.end, span.chunked_end
    for node in range(nodes):
        for at in range(lists.ptr[node], lists.ptr[node + 1]):
            if not in_chunk[lists.term[at]]:
                copy_occurrence(lists, at, out, end)
                end += 1
        for at in range(lists.chunked_ptr[node], lists.chunked_ptr[node + 1]):
            code = lists.chunked[at]
            if code & 1 == 1 and code >> 1 < len(in_chunk) and not in_chunk[code >> 1]:
                out.chunked[chunked_end] = code
                chunked_end += 1
        out.ptr[node + 1], out.chunked_ptr[node + 1] = end, chunked_end
    return cut_lists(out, nodes, Span(np.int64(0), end, np.int64(0), chunked_end))


@patient
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
        sort_slice(lists.chunked, chunked_start, chunked_end)
        sort_slice(keys, np.int64(0), found)
        for i in range(found):
            term, record = keys[i] // size, start + keys[i] % size
            lists.term[end], lists.place[end] = term, record
            place = first_at_least(items, indptr[record], indptr[record + 1], term_at[term])
            lists.occurrence[end] = place
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
    sort_slice(order, np.int64(0), np.int64(width))
    for i in range(width):
        order[i] %= width
        rank[order[i]] = i
    return order, rank
