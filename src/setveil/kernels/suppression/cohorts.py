"""Steps of minimal moles: the records that hold one public item, as bitmaps of their items."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s, Words
from setveil.kernels.jit import step
from setveil.kernels.steps import bit_of, sort_slice


class SplitRecords(NamedTuple):
    """Records as ranks of public items, ascending, and numbers of private items."""

    indptr: Int64s
    ranks: Int32s
    private_indptr: Int64s
    privates: Int32s
    starts: Int64s  # rank r is in the records holders[starts[r]] to holders[starts[r + 1] - 1]
    holders: Int32s
    private_count: int


class CohortScratch(NamedTuple):
    """Room to work on one cohort at a time."""

    counts: Int32s  # of each rank; 0 between uses
    slot: Int32s  # the bitmap of each rank; -1 between uses
    private_counts: Int32s
    private_slot: Int32s
    touched: Int32s
    private_touched: Int32s


class Cohort(NamedTuple):
    """The records that hold one rank, as bitmaps of the items that are in enough of them."""

    ranks: Int32s  # all that occur, ascending
    counts: Int32s  # of every rank
    slot: Int32s  # the bitmap of a rank; -1 without one
    bits: Words
    privates: Int32s  # the private items that have bitmaps
    private_counts: Int32s
    private_bits: Words
    met: Int32s  # all private items that occur


@step
def new_scratch(records):
    ranks, privates = len(records.starts) - 1, records.private_count
    return CohortScratch(
        np.zeros(ranks, dtype=np.int32),
        np.full(ranks, -1, dtype=np.int32),
        np.zeros(privates, dtype=np.int32),
        np.full(privates, -1, dtype=np.int32),
        np.empty(ranks, dtype=np.int32),
        np.empty(privates, dtype=np.int32),
    )


@step
def open_cohort(records, first, k, least, scratch):
    """Count what occurs with one rank.

    Later ranks in at least k records and private items in more than `least` get a bitmap."""
    holders = records.holders[records.starts[first] : records.starts[first + 1]]
    counts, slot = scratch.counts, scratch.slot
    ranks = count_items(records.indptr, records.ranks, holders, counts, scratch.touched)
    met = count_privates(records, holders, scratch)
    used = 0
    for rank in ranks:
        if rank > first and counts[rank] >= k:
            slot[rank] = used
            used += 1
    kept = met[scratch.private_counts[met] > least]
    for place in range(len(kept)):
        scratch.private_slot[kept[place]] = place
    words = (len(holders) + 63) // 64
    bits = np.zeros((used, words), dtype=np.uint64)
    private_bits = np.zeros((len(kept), words), dtype=np.uint64)
    fill_bits(records.indptr, records.ranks, holders, slot, bits)
    private_slot = scratch.private_slot
    fill_bits(records.private_indptr, records.privates, holders, private_slot, private_bits)
    private_counts = scratch.private_counts[kept]
    return Cohort(ranks, counts, slot, bits, kept, private_counts, private_bits, met)


@step
def close_cohort(cohort, scratch):
    """Leave the scratch as it was."""
    scratch.counts[cohort.ranks] = 0
    scratch.slot[cohort.ranks] = -1
    scratch.private_counts[cohort.met] = 0
    scratch.private_slot[cohort.met] = -1


@step
def count_privates(records, holders, scratch):
    """Count the private items of some records; those that occur, ascending."""
    counts, touched = scratch.private_counts, scratch.private_touched
    return count_items(records.private_indptr, records.privates, holders, counts, touched)


@step
def count_items(indptr, items, holders, counts, touched):
    """Count the items of some records; those that occur, ascending."""
    used = np.int64(0)
    for row in holders:
        for at in range(indptr[row], indptr[row + 1]):
            if counts[items[at]] == 0:
                touched[used] = items[at]
                used += 1
            counts[items[at]] += 1
    sort_slice(touched, np.int64(0), used)
    return touched[:used].copy()


@step
def fill_bits(indptr, items, holders, slot, bits):
    """Set the bit of each record in the bitmaps of its items."""
    for number in range(len(holders)):
        row, word, bit = holders[number], number >> 6, bit_of(number)
        for at in range(indptr[row], indptr[row + 1]):
            place = slot[items[at]]
            if place >= 0:
                bits[place, word] |= bit
