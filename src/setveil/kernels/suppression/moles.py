"""Kernels of minimal moles: one level of public itemsets after the other, over vertical bitmaps.

Public items are ranked by rising support. Every itemset is met under its first, least frequent item, and all bitmaps are over the
records that hold that item alone: short where there are many of them. Itemsets of a level that share all items but the last are joined
two by two; a candidate lives when all of its subsets are in the level, found by hashing.

An itemset that stands in exactly the records of one of its subsets is left out: whatever holds it is a mole exactly when it is one
without the superfluous item, and so never a minimal one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.arrays import grown
from setveil.kernels.bitmaps import count_joint, popcount
from setveil.kernels.jit import kernel, step
from setveil.kernels.suppression.cohorts import close_cohort, count_beside, new_desk, open_cohort

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

_SEED = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


class Rows(NamedTuple):
    """Records as ranks of public items, ascending in each, and numbers of private items."""

    indptr: Int64s
    ranks: Int32s
    private_indptr: Int64s
    privates: Int32s
    starts: (
        Int64s  # the records that hold rank r are holders[starts[r]] to holders[starts[r + 1] - 1]
    )
    holders: Int32s
    private_count: int


class Level(NamedTuple):
    """The itemsets of one size that may be extended, in lexicographic order, one row of ranks for each."""

    itemsets: Int32s
    supports: Int64s
    firsts: Int64s  # those that begin with rank r are rows firsts[r] to firsts[r + 1] - 1
    table: Int64s  # open addressing: rows by the hash of their items, -1 where free


@step
def most_allowed(support, h):
    """The greatest count whose share of `support` is not above h, by the very division that the promise speaks of."""
    most = np.int64(h * support)
    while most / support > h:
        most -= 1
    while (most + 1) / support <= h:
        most += 1
    return most


@step
def mix(code, item):
    code = (code ^ np.uint64(item + 1)) * _MIX
    return code ^ (code >> _SHIFT)


@kernel
def hash_level(itemsets: Int32s, table: Int64s) -> None:
    """Enter every row into the table, which must be all -1 and twice as long as there are rows, a power of two."""
    mask = np.uint64(len(table) - 1)
    for row in range(len(itemsets)):
        code = _SEED
        for at in range(itemsets.shape[1]):
            code = mix(code, itemsets[row, at])
        place = np.int64(code & mask)
        while table[place] >= 0:
            place = (place + 1) & np.int64(mask)
        table[place] = row


@step
def find_row(level, code, prefix, without, left, right):
    """The row of an itemset: a prefix without one of its places, then two items; -1 when there is none."""
    itemsets, table = level.itemsets, level.table
    mask = np.int64(len(table) - 1)
    place = np.int64(code & np.uint64(mask))
    size = itemsets.shape[1]
    while table[place] >= 0:
        row = table[place]
        equal = itemsets[row, size - 1] == right and itemsets[row, size - 2] == left
        at = 0
        while equal and at < size - 2:
            equal = itemsets[row, at] == prefix[at + (1 if at >= without else 0)]
            at += 1
        if equal:
            return row
        place = (place + 1) & mask
    return np.int64(-1)


@kernel
def worst_beside_items(rows: Rows, k: int, h: float) -> tuple[Int32s, Int32s]:
    """For each rank the private item that stands most often beside it, and how often, where that is a breach; else -1."""
    size = len(rows.starts) - 1
    worst, counts = np.full(size, -1, dtype=np.int32), np.zeros(size, dtype=np.int32)
    desk = new_desk(rows)
    for rank in range(size):
        holders = rows.holders[rows.starts[rank] : rows.starts[rank + 1]]
        if len(holders) < k:
            continue
        most = most_allowed(np.int64(len(holders)), h)
        met = count_beside(
            rows.private_indptr, rows.privates, holders, desk.private_counts, desk.private_touched
        )
        for private in met:
            if desk.private_counts[private] > most:
                most = np.int64(desk.private_counts[private])
                worst[rank], counts[rank] = private, desk.private_counts[private]
        desk.private_counts[met] = 0
    return worst, counts


@kernel
def extend_items(
    rows: Rows, supports: Int64s, k: int, h: float, first: int, stop: int, last: bool
) -> tuple[Int32s, Int32s]:
    """The minimal moles of two items that begin with ranks `first` to `stop - 1`, and the other pairs that may be extended.

    A mole is a row of its items, support, private item (-1 when it is rare) and the count of that; another one its items and support.
    """
    moles, found = np.empty((64, 5), dtype=np.int32), 0
    others, kept = np.empty((64, 3), dtype=np.int32), 0
    least, desk = most_allowed(np.int64(k), h), new_desk(rows)
    for rank in range(first, stop):
        cohort = open_cohort(rows, rank, k, least, desk)
        for other in cohort.ranks:
            if other <= rank:
                continue
            support = np.int64(cohort.counts[other])
            private, count = np.int64(-1), np.int64(0)
            if support >= k:
                most = most_allowed(support, h)
                mine = cohort.bits[cohort.slot[other]]
                for place in range(len(cohort.privates)):
                    if cohort.private_counts[place] > most:
                        joint = count_joint(mine, cohort.private_bits[place])
                        if joint > most:
                            most = joint
                            private, count = np.int64(cohort.privates[place]), joint
            if support < k or private >= 0:
                moles = grown(moles, found)
                moles[found, 0], moles[found, 1], moles[found, 2] = rank, other, support
                moles[found, 3], moles[found, 4] = private, count
                found += 1
            elif not last and support < supports[rank] and support < supports[other]:
                others = grown(others, kept)
                others[kept, 0], others[kept, 1], others[kept, 2] = rank, other, support
                kept += 1
        close_cohort(cohort, desk)
    return moles[:found].copy(), others[:kept].copy()


@kernel
def extend_level(
    rows: Rows, level: Level, k: int, h: float, first: int, stop: int, last: bool
) -> tuple[Int32s, Int32s]:
    """The minimal moles of one item more than the level that begin with ranks `first` to `stop - 1`, and what may be extended.

    Rows as in `extend_items`.
    """
    size = level.itemsets.shape[1]
    moles, found = np.empty((64, size + 4), dtype=np.int32), 0
    others, kept = np.empty((64, size + 2), dtype=np.int32), 0
    least, desk = most_allowed(np.int64(k), h), new_desk(rows)
    codes, nearer = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.uint64)
    subsets = np.empty(size, dtype=np.int64)
    for rank in range(first, stop):
        low, high = level.firsts[rank], level.firsts[rank + 1]
        if high - low < 2:
            continue
        cohort = open_cohort(rows, rank, k, least, desk)
        words = cohort.bits.shape[1]
        masks = np.empty((size - 1, words), dtype=np.uint64)
        masks[0] = ~np.uint64(0)
        members = np.empty((len(cohort.bits), words), dtype=np.uint64)
        member_counts = np.empty((len(cohort.bits), len(cohort.privates)), dtype=np.int32)
        joint, active = (
            np.empty(words, dtype=np.uint64),
            np.empty(len(cohort.privates), dtype=np.int32),
        )
        start, before = low, np.int64(-1)
        while start < high:
            prefix = level.itemsets[start, : size - 1]
            end = start + 1
            while end < high and same_prefix(level.itemsets, start, end) == size - 1:
                end += 1
            if end - start > 1:
                shared = np.int64(1) if before < 0 else same_prefix(level.itemsets, before, start)
                for depth in range(max(shared, 1), size - 1):
                    masks[depth] = masks[depth - 1] & cohort.bits[cohort.slot[prefix[depth]]]
                before = start
                alive = open_group(
                    cohort,
                    level,
                    masks[size - 2],
                    start,
                    end,
                    least,
                    members,
                    member_counts,
                    active,
                )
                hash_prefix(prefix, codes)
                for left in range(end - start - 1):
                    mine = level.itemsets[start + left, size - 1]
                    for without in range(size - 1):
                        nearer[without] = mix(codes[without], mine)
                    for right in range(left + 1, end - start):
                        theirs = level.itemsets[start + right, size - 1]
                        if not all_subsets(level, nearer, prefix, mine, theirs, subsets):
                            continue
                        support = np.int64(0)
                        for word in range(words):
                            joint[word] = members[left, word] & members[right, word]
                            support += popcount(joint[word])
                        if support == 0:
                            continue
                        private, count = np.int64(-1), np.int64(0)
                        if support >= k:
                            private, count = worst_private(
                                cohort, joint, support, h, member_counts, left, right, active, alive
                            )
                        if support < k or private >= 0:
                            moles = grown(moles, found)
                            moles[found, : size - 1] = prefix
                            moles[found, size - 1], moles[found, size], moles[found, size + 1] = (
                                mine,
                                theirs,
                                support,
                            )
                            moles[found, size + 2], moles[found, size + 3] = private, count
                            found += 1
                        elif not last and is_smaller(
                            level, support, start + left, start + right, subsets
                        ):
                            others = grown(others, kept)
                            others[kept, : size - 1] = prefix
                            others[kept, size - 1], others[kept, size], others[kept, size + 1] = (
                                mine,
                                theirs,
                                support,
                            )
                            kept += 1
            start = end
        close_cohort(cohort, desk)
    return moles[:found].copy(), others[:kept].copy()


@step
def same_prefix(itemsets, left, right):
    """How many items two rows share before they differ, the last item aside."""
    at = np.int64(0)
    while at < itemsets.shape[1] - 1 and itemsets[left, at] == itemsets[right, at]:
        at += 1
    return at


@step
def open_group(cohort, level, mask, start, end, least, members, member_counts, active):
    """The bitmaps of the rows of a group, and how often the private items that may matter stand in each; how many those are."""
    alive = 0
    for place in range(len(cohort.privates)):
        if count_joint(mask, cohort.private_bits[place]) > least:
            active[alive] = place
            alive += 1
    last = level.itemsets.shape[1] - 1
    for member in range(end - start):
        mine = cohort.bits[cohort.slot[level.itemsets[start + member, last]]]
        for word in range(len(mask)):
            members[member, word] = mask[word] & mine[word]
        for at in range(alive):
            member_counts[member, at] = count_joint(
                members[member], cohort.private_bits[active[at]]
            )
    return alive


@step
def hash_prefix(prefix, codes):
    """The hash of a prefix without each of its places."""
    for without in range(len(prefix)):
        code = _SEED
        for at in range(len(prefix)):
            if at != without:
                code = mix(code, prefix[at])
        codes[without] = code


@step
def all_subsets(level, nearer, prefix, mine, theirs, subsets):
    """Whether a candidate without any item of its prefix is in the level; the rows go to `subsets`."""
    for without in range(len(prefix)):
        row = find_row(level, mix(nearer[without], theirs), prefix, without, mine, theirs)
        if row < 0:
            return False
        subsets[without] = row
    return True


@step
def worst_private(cohort, joint, support, h, member_counts, left, right, active, alive):
    """The private item that stands most often beside an itemset, and how often, where that is a breach; -1 where none is."""
    most = most_allowed(support, h)
    private, count = np.int64(-1), np.int64(0)
    for at in range(alive):
        if member_counts[left, at] > most and member_counts[right, at] > most:
            here = count_joint(joint, cohort.private_bits[active[at]])
            if here > most:
                most = here
                private, count = np.int64(cohort.privates[active[at]]), here
    return private, count


@step
def is_smaller(level, support, left, right, subsets):
    """Whether fewer records hold an itemset than any of its subsets."""
    least = min(level.supports[left], level.supports[right])
    for without in range(level.itemsets.shape[1] - 1):
        least = min(least, level.supports[subsets[without]])
    return support < least
