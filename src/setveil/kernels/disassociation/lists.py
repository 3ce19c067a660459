"""Steps of REFINE over what is open: the occurrences that term chunks may share, node by node,
and the terms that chunks tell of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.jit import step

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Lists(NamedTuple):
    """For each node, a cluster or what was joined: its open occurrences by term, and the terms
    that its chunks tell of, ascending."""

    ptr: Int64s  # the occurrences of node i are ptr[i] to ptr[i + 1] - 1
    term: Int32s
    place: Int32s  # the record of each occurrence
    occurrence: Int32s  # where it stands in the data
    told_ptr: Int64s
    told: Int32s  # each as twice its number, plus one where the node must keep it


@step
def empty_lists(lists, nodes, k):
    """Room for the lists of the next level."""
    ptr, told_ptr = np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1, np.int64)
    told = np.empty(len(lists.told) + len(lists.term) // k + 1, np.int32)
    out = Lists(
        ptr,
        np.empty_like(lists.term),
        np.empty_like(lists.place),
        np.empty_like(lists.occurrence),
        told_ptr,
        told,
    )
    return out, np.int64(0), np.int64(0)


@step
def cut_lists(lists, nodes, end, told_end):
    """Only what is filled of some lists."""
    return Lists(
        lists.ptr[: nodes + 1].copy(),
        lists.term[:end].copy(),
        lists.place[:end].copy(),
        lists.occurrence[:end].copy(),
        lists.told_ptr[: nodes + 1].copy(),
        lists.told[:told_end].copy(),
    )


@step
def take_lists(lists, order):
    """The lists of the nodes in another order."""
    out, end, told_end = empty_lists(lists, len(order), np.int64(1))
    for i in range(len(order)):
        end, told_end = copy_list(lists, order[i], out, end, told_end)
        out.ptr[i + 1], out.told_ptr[i + 1] = end, told_end
    return cut_lists(out, len(order), end, told_end)


@step
def copy_list(lists, node, out, end, told_end):
    """Write what is open and told in one node as it is; returns the ends."""
    for at in range(lists.ptr[node], lists.ptr[node + 1]):
        out.term[end], out.place[end], out.occurrence[end] = (
            lists.term[at],
            lists.place[at],
            lists.occurrence[at],
        )
        end += 1
    for at in range(lists.told_ptr[node], lists.told_ptr[node + 1]):
        out.told[told_end] = lists.told[at]
        told_end += 1
    return end, told_end


@step
def merge_told(ptr, told, left, right, out, end):
    """Write the union of two ascending lists of terms that are told of; returns its end."""
    i, j = ptr[left], ptr[right]
    while i < ptr[left + 1] or j < ptr[right + 1]:
        if j >= ptr[right + 1] or (i < ptr[left + 1] and told[i] >> 1 < told[j] >> 1):
            out[end] = told[i]
            i += 1
        else:
            out[end] = told[j]
            if i < ptr[left + 1] and told[i] >> 1 == told[j] >> 1:
                out[end] = max(told[i], told[j])
                i += 1
            j += 1
        end += 1
    return end


@step
def merge_open(lists, left, right, out, end, told_at, told_end):
    """Write what is open in both, by term, but for terms that a cluster must keep; returns the end.

    `out` holds the terms that are told of from `told_at` to `told_end`.
    """
    ptr, term, told = lists.ptr, lists.term, out.told
    i, j = ptr[left], ptr[right]
    while i < ptr[left + 1] or j < ptr[right + 1]:
        if j >= ptr[right + 1] or (i < ptr[left + 1] and term[i] <= term[j]):
            at = i
            i += 1
        else:
            at = j
            j += 1
        while told_at < told_end and told[told_at] >> 1 < term[at]:
            told_at += 1
        if told_at >= told_end or told[told_at] >> 1 != term[at] or told[told_at] & 1 == 0:
            out.term[end], out.place[end], out.occurrence[end] = (
                term[at],
                lists.place[at],
                lists.occurrence[at],
            )
            end += 1
    return end


@step
def has_enough(ptr, term, left, right, k):
    """Whether some term is open k times in two nodes together, merged as in `merge_open`; a step
    for that costs a quarter of REFINE."""
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
def mark_told(lists, in_chunk):
    """Mark the terms that stand in a chunk; one that a cluster must keep does not for that."""
    for at in range(len(lists.told)):
        if lists.told[at] & 1 == 0 and lists.told[at] >> 1 < len(in_chunk):
            in_chunk[lists.told[at] >> 1] = True


@step
def only_lost(lists, nodes, in_chunk):
    """What is open of the terms that stand in no chunk, and which of them a cluster must keep."""
    out, end, told_end = empty_lists(lists, nodes, np.int64(1))
    for node in range(nodes):
        for at in range(lists.ptr[node], lists.ptr[node + 1]):
            if not in_chunk[lists.term[at]]:
                out.term[end], out.place[end], out.occurrence[end] = (
                    lists.term[at],
                    lists.place[at],
                    lists.occurrence[at],
                )
                end += 1
        for at in range(lists.told_ptr[node], lists.told_ptr[node + 1]):
            if (
                lists.told[at] & 1 == 1
                and lists.told[at] >> 1 < len(in_chunk)
                and not in_chunk[lists.told[at] >> 1]
            ):
                out.told[told_end] = lists.told[at]
                told_end += 1
        out.ptr[node + 1], out.told_ptr[node + 1] = end, told_end
    return cut_lists(out, nodes, end, told_end)


@step
def sort_lists(ptr, values):
    """The numbers of lists of ascending values, sorted as words; equal ones by number."""
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
    """Whether a list stands before another; an empty one comes last."""
    i, j = ptr[one], ptr[other]
    while i < ptr[one + 1] and j < ptr[other + 1]:
        if values[i] != values[j]:
            return values[i] < values[j]
        i += 1
        j += 1
    return i < ptr[one + 1] and j >= ptr[other + 1]
