"""Steps of minimal moles: the records that hold one public item, and bitmaps over them of what stands beside it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.bitmaps import bit_of
from setveil.kernels.jit import step

Int32s = npt.NDArray[np.int32]


class Desk(NamedTuple):
    """Scratch for one cohort at a time."""

    counts: Int32s  # of each rank; 0 between uses
    slot: Int32s  # the bitmap of each rank; -1 between uses
    private_counts: Int32s
    private_slot: Int32s
    touched: Int32s
    private_touched: Int32s


class Cohort(NamedTuple):
    """The records that hold one rank, as bitmaps of the items that stand in enough of them."""

    ranks: Int32s  # all that stand in them, ascending
    counts: Int32s  # of every rank
    slot: Int32s  # the bitmap of a rank; -1 without one
    bits: npt.NDArray[np.uint64]
    privates: Int32s  # the private items that have bitmaps
    private_counts: Int32s
    private_bits: npt.NDArray[np.uint64]
    met: Int32s  # all private items that stand in them


@step
def new_desk(rows):
    """Scratch for the cohorts of a kernel, one after the other."""
    ranks, privates = len(rows.starts) - 1, rows.private_count
    return Desk(
        np.zeros(ranks, dtype=np.int32),
        np.full(ranks, -1, dtype=np.int32),
        np.zeros(privates, dtype=np.int32),
        np.full(privates, -1, dtype=np.int32),
        np.empty(ranks, dtype=np.int32),
        np.empty(privates, dtype=np.int32),
    )


@step
def open_cohort(rows, first, k, least, desk):
    """Count what stands beside one rank; bitmaps of later ranks in k records or more and of private items in more than `least`."""
    holders = rows.holders[rows.starts[first] : rows.starts[first + 1]]
    ranks = count_beside(rows.indptr, rows.ranks, holders, desk.counts, desk.touched)
    privates = count_beside(
        rows.private_indptr, rows.privates, holders, desk.private_counts, desk.private_touched
    )
    used = 0
    for rank in ranks:
        if rank > first and desk.counts[rank] >= k:
            desk.slot[rank] = used
            used += 1
    kept = privates[desk.private_counts[privates] > least]
    for place in range(len(kept)):
        desk.private_slot[kept[place]] = place
    words = (len(holders) + 63) // 64
    bits = np.zeros((used, words), dtype=np.uint64)
    private_bits = np.zeros((len(kept), words), dtype=np.uint64)
    fill_bits(rows.indptr, rows.ranks, holders, desk.slot, bits)
    fill_bits(rows.private_indptr, rows.privates, holders, desk.private_slot, private_bits)
    return Cohort(
        ranks, desk.counts, desk.slot, bits, kept, desk.private_counts[kept], private_bits, privates
    )


@step
def close_cohort(cohort, desk):
    """Leave the desk as it was."""
    desk.counts[cohort.ranks] = 0
    desk.slot[cohort.ranks] = -1
    desk.private_counts[cohort.met] = 0
    desk.private_slot[cohort.met] = -1


@step
def count_beside(indptr, items, holders, counts, touched):
    """Count the items of some rows; those that are met, ascending."""
    used = 0
    for row in holders:
        for at in range(indptr[row], indptr[row + 1]):
            if counts[items[at]] == 0:
                touched[used] = items[at]
                used += 1
            counts[items[at]] += 1
    return np.sort(touched[:used])


@step
def fill_bits(indptr, items, holders, slot, bits):
    """Set the bit of each row in the bitmaps of its items."""
    for number in range(len(holders)):
        row, word, bit = holders[number], number >> 6, bit_of(number)
        for at in range(indptr[row], indptr[row + 1]):
            place = slot[items[at]]
            if place >= 0:
                bits[place, word] |= bit
