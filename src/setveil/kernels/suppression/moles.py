"""Kernels of minimal moles: public itemsets size by size, over vertical bitmaps.

Public items are ranked by rising support. Every itemset is met under its first, least frequent
item, and all bitmaps are over the records that hold that item: short if there are many of them.
Itemsets of a level that share all items but the last are joined in pairs; a candidate stays if all
its subsets are in the level, found by hashing.

An itemset that is in exactly the records of one of its subsets is left out: what contains it is a
mole exactly if it is one without the superfluous item, and so is never minimal."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s, Words
from setveil.kernels.jit import kernel, step
from setveil.kernels.steps import count_joint, grown, popcount
from setveil.kernels.suppression.cohorts import (
    SplitRecords,
    close_cohort,
    count_privates,
    new_scratch,
    open_cohort,
)

SUPPORT, PRIVATE, COUNT = -3, -2, -1
"""The columns of a mole after its items; the private item is -1 if too few records hold it."""

_SEED = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


class Level(NamedTuple):
    """The itemsets of one size that may be extended, in lexicographic order: rows of ranks."""

    itemsets: Int32s
    supports: Int64s
    firsts: Int64s  # those that begin with rank r are rows firsts[r] to firsts[r + 1] - 1
    table: Int64s  # open addressing: rows by the hash of their items, -1 if free


class Limits(NamedTuple):
    """When an itemset is a mole, and whether the others may be extended further."""

    k: int
    part: int  # a private item may be in part / whole of the records
    whole: int
    last: bool


class Found(NamedTuple):
    """Moles, with the columns above; other itemsets and their support; and how many of each."""

    moles: Int32s
    others: Int32s
    mole_count: np.int64
    other_count: np.int64


class Family(NamedTuple):
    """The itemsets of a level that share all items but the last."""

    start: np.int64  # its rows of the level are start to end - 1
    end: np.int64
    members: Words  # [row, word]: the records that hold each
    counts: Int32s  # [row, i]: in how many of these the private item active[i] is
    active: Int32s  # the private items that may matter


class Candidate(NamedTuple):
    """Room for one candidate: two itemsets of a family joined."""

    path: Int32s  # its items
    joint: Words  # the records that hold it
    subsets: Int64s  # the rows of its subsets without one of the shared items
    codes: Words  # the hashes of the shared items without each of them
    nearer: Words  # the same with the last item of the left itemset


@step
def most_allowed(support, limits):
    """In how many of `support` records a private item may be. Both factors are below 2^31."""
    return np.int64(support) * limits.part // limits.whole


@kernel
def worst_privates(records: SplitRecords, limits: Limits) -> tuple[Int32s, Int32s]:
    """For each rank the most frequent private item with it, and how often; -1 if no breach."""
    size = len(records.starts) - 1
    worst, counts = np.full(size, -1, dtype=np.int32), np.zeros(size, dtype=np.int32)
    scratch = new_scratch(records)
    for rank in range(size):
        holders = records.holders[records.starts[rank] : records.starts[rank + 1]]
        if len(holders) < limits.k:
            continue
        most = most_allowed(np.int64(len(holders)), limits)
        met = count_privates(records, holders, scratch)
        for private in met:
            if scratch.private_counts[private] > most:
                most = np.int64(scratch.private_counts[private])
                worst[rank], counts[rank] = private, scratch.private_counts[private]
        scratch.private_counts[met] = 0
    return worst, counts


@kernel
def extend_items(
    records: SplitRecords, supports: Int64s, limits: Limits, first: int, stop: int
) -> tuple[Int32s, Int32s]:
    """The minimal moles of two items that begin with ranks `first` to `stop - 1`; other pairs."""
    found = new_found(np.int64(2))
    least, scratch = most_allowed(np.int64(limits.k), limits), new_scratch(records)
    path = np.empty(2, dtype=np.int32)
    for rank in range(first, stop):
        cohort = open_cohort(records, rank, limits.k, least, scratch)
        for other in cohort.ranks:
            if other <= rank:
                continue
            support = np.int64(cohort.counts[other])
            private, count = np.int64(-1), np.int64(0)
            if support >= limits.k:
                most = most_allowed(support, limits)
                mine = cohort.bits[cohort.slot[other]]
                for place in range(len(cohort.privates)):
                    if cohort.private_counts[place] > most:
                        joint = count_joint(mine, cohort.private_bits[place])
                        if joint > most:
                            most = joint
                            private, count = np.int64(cohort.privates[place]), joint
            path[0], path[1] = rank, other
            if support < limits.k or private >= 0:
                found = add_mole(found, path, support, private, count)
            elif not limits.last and support < supports[rank] and support < supports[other]:
                found = add_other(found, path, support)
        close_cohort(cohort, scratch)
    return found.moles[: found.mole_count].copy(), found.others[: found.other_count].copy()


@kernel
def extend_level(
    records: SplitRecords, level: Level, limits: Limits, first: int, stop: int
) -> tuple[Int32s, Int32s]:
    """The same for one more item than the itemsets of the level have."""
    size = level.itemsets.shape[1]
    found = new_found(np.int64(size + 1))
    least, scratch = most_allowed(np.int64(limits.k), limits), new_scratch(records)
    path, subsets = np.empty(size + 1, dtype=np.int32), np.empty(size, dtype=np.int64)
    codes, nearer = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.uint64)
    for rank in range(first, stop):
        low, high = level.firsts[rank], level.firsts[rank + 1]
        if high - low < 2:
            continue
        cohort = open_cohort(records, rank, limits.k, least, scratch)
        rows, words, privates = len(cohort.bits), cohort.bits.shape[1], len(cohort.privates)
        members, active = np.empty((rows, words), np.uint64), np.empty(privates, np.int32)
        counts = np.empty((rows, privates), np.int32)
        candidate = Candidate(path, np.empty(words, np.uint64), subsets, codes, nearer)
        masks = np.empty((size - 1, words), dtype=np.uint64)  # of the first items of the family
        masks[0] = ~np.uint64(0)
        start, before = low, np.int64(-1)
        while start < high:
            end = start + 1
            while end < high and same_prefix(level.itemsets, start, end) == size - 1:
                end += 1
            if end - start > 1:
                # masks[d] has the records with the first d + 1 items. Families come in order, so
                # those of the items that this one shares with the last one still hold.
                shared = np.int64(1) if before < 0 else same_prefix(level.itemsets, before, start)
                for depth in range(max(shared, 1), size - 1):
                    slot = cohort.slot[level.itemsets[start, depth]]
                    for word in range(words):
                        masks[depth, word] = masks[depth - 1, word] & cohort.bits[slot, word]
                before = start
                family = Family(start, end, members, counts, active)
                family = open_family(cohort, level, masks[size - 2], least, family)
                found = join_family(cohort, level, limits, family, candidate, found)
            start = end
        close_cohort(cohort, scratch)
    return found.moles[: found.mole_count].copy(), found.others[: found.other_count].copy()


@step
def new_found(size):
    moles, others = np.empty((64, size + 3), np.int32), np.empty((64, size + 1), np.int32)
    return Found(moles, others, np.int64(0), np.int64(0))


@step
def add_mole(found, path, support, private, count):
    number = found.mole_count
    moles = grown(found.moles, number)
    for at in range(len(path)):
        moles[number, at] = path[at]
    moles[number, SUPPORT], moles[number, PRIVATE], moles[number, COUNT] = support, private, count
    return Found(moles, found.others, number + 1, found.other_count)


@step
def add_other(found, path, support):
    number = found.other_count
    others = grown(found.others, number)
    for at in range(len(path)):
        others[number, at] = path[at]
    others[number, len(path)] = support
    return Found(found.moles, others, found.mole_count, number + 1)


@step
def same_prefix(itemsets, left, right):
    """How many items two rows share before they differ, without the last item."""
    at = np.int64(0)
    while at < itemsets.shape[1] - 1 and itemsets[left, at] == itemsets[right, at]:
        at += 1
    return at


@step
def open_family(cohort, level, mask, least, family):
    """Fill in a family whose first items are in the records of the mask."""
    alive = 0
    for place in range(len(cohort.privates)):
        if count_joint(mask, cohort.private_bits[place]) > least:
            family.active[alive] = place
            alive += 1
    last = level.itemsets.shape[1] - 1
    for row in range(family.end - family.start):
        mine = cohort.bits[cohort.slot[level.itemsets[family.start + row, last]]]
        member = family.members[row]
        for word in range(len(mask)):
            member[word] = mask[word] & mine[word]
        for at in range(alive):
            private_bits = cohort.private_bits[family.active[at]]
            family.counts[row, at] = count_joint(member, private_bits)
    return Family(family.start, family.end, family.members, family.counts, family.active[:alive])


@step
def join_family(cohort, level, limits, family, candidate, found):
    """Join the itemsets of a family in pairs, and add those that are moles or may be extended."""
    size, start = level.itemsets.shape[1], family.start
    path, joint, k = candidate.path, candidate.joint, limits.k
    for at in range(size - 1):
        path[at] = level.itemsets[start, at]
    hash_prefix(path[: size - 1], candidate.codes)
    for left in range(family.end - start - 1):
        path[size - 1] = level.itemsets[start + left, size - 1]
        for without in range(size - 1):
            candidate.nearer[without] = mix(candidate.codes[without], path[size - 1])
        for right in range(left + 1, family.end - start):
            path[size] = level.itemsets[start + right, size - 1]
            if not all_subsets(level, candidate):
                continue
            support = np.int64(0)
            for word in range(len(joint)):
                joint[word] = family.members[left, word] & family.members[right, word]
                support += popcount(joint[word])
            if support == 0:
                continue
            private, count = np.int64(-1), np.int64(0)
            if support >= k:
                most = most_allowed(support, limits)
                private, count = worst_private(cohort, family, joint, left, right, most)
            if support < k or private >= 0:
                found = add_mole(found, path, support, private, count)
            elif not limits.last and support < least_support(level, candidate, start, left, right):
                found = add_other(found, path, support)
    return found


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
def mix(code, item):
    code = (code ^ np.uint64(item + 1)) * _MIX
    return code ^ (code >> _SHIFT)


@kernel
def hash_level(itemsets: Int32s, places: int) -> Int64s:
    """The rows by the hash of their items; `places` is a power of two, above twice their number."""
    table, mask = np.full(places, -1, np.int64), np.uint64(places - 1)
    for row in range(len(itemsets)):
        code = _SEED
        for at in range(itemsets.shape[1]):
            code = mix(code, itemsets[row, at])
        place = np.int64(code & mask)
        while table[place] >= 0:
            place = (place + 1) & np.int64(mask)
        table[place] = row
    return table


@step
def all_subsets(level, candidate):
    """Whether a candidate without any of its shared items is in the level; notes the rows."""
    path = candidate.path
    for without in range(len(path) - 2):
        code = mix(candidate.nearer[without], path[len(path) - 1])
        row = find_row(level, code, path, without)
        if row < 0:
            return False
        candidate.subsets[without] = row
    return True


@step
def find_row(level, code, path, without):
    """The row of an itemset, which is a path without one of its places; -1 if there is none."""
    itemsets, table = level.itemsets, level.table
    mask, size = np.int64(len(table) - 1), itemsets.shape[1]
    place = np.int64(code & np.uint64(mask))
    while table[place] >= 0:
        row, at = table[place], size - 1  # the last items differ most
        while at >= 0 and itemsets[row, at] == path[at + 1 if at >= without else at]:
            at -= 1
        if at < 0:
            return row
        place = (place + 1) & mask
    return np.int64(-1)


@step
def worst_private(cohort, family, joint, left, right, most):
    """The most frequent private item in the joint records, and how often; -1 if not above most."""
    private, count = np.int64(-1), np.int64(0)
    for at in range(len(family.active)):
        if family.counts[left, at] > most and family.counts[right, at] > most:
            here = count_joint(joint, cohort.private_bits[family.active[at]])
            if here > most:
                most = here
                private, count = np.int64(cohort.privates[family.active[at]]), here
    return private, count


@step
def least_support(level, candidate, start, left, right):
    """The least support of all subsets of a candidate that lack one item."""
    least = min(level.supports[start + left], level.supports[start + right])
    for without in range(level.itemsets.shape[1] - 1):
        least = min(least, level.supports[candidate.subsets[without]])
    return least
