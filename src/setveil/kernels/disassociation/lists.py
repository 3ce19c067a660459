"""Steps of REFINE over lists: for each node, what is open, and which terms are in its chunks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.jit import step

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


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
    """Room for the next lists of up to so many nodes, and the span before the first."""
    out = Lists(
        np.zeros(nodes + 1, np.int64),
        np.empty_like(lists.term),
        np.empty_like(lists.place),
        np.empty_like(lists.occurrence),
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
        if term[at] != last:
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


@step
def sort_lists(ptr, values):
    """The numbers of ascending lists, sorted as words; equal ones by number (merge sort)."""
    count = len(ptr) - 1
    sequence, spare = np.arange(count), np.empty(count, np.int64)
    width = 1
    while width < count:
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            left, right = low, middle
            if middle < high and not is_before(ptr, values, sequence[middle], sequence[middle - 1]):
                spare[low:high] = sequence[low:high]
                continue
            for at in range(low, high):
                if right >= high or (
                    left < middle and not is_before(ptr, values, sequence[right], sequence[left])
                ):
                    spare[at] = sequence[left]
                    left += 1
                else:
                    spare[at] = sequence[right]
                    right += 1
        sequence, spare = spare, sequence
        width *= 2
    return sequence


@step
def is_before(ptr, values, one, other):
    """Whether a list comes before another; an empty one comes last."""
    i, j = ptr[one], ptr[other]
    while i < ptr[one + 1] and j < ptr[other + 1]:
        if values[i] != values[j]:
            return values[i] < values[j]
        i += 1
        j += 1
    return i < ptr[one + 1] and j >= ptr[other + 1]
