"""Kernels of hitting sets: which items to suppress so that every mole loses one, at low cost."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Flags, Floats, Int32s, Int64s
from setveil.kernels.jit import kernel, step

RATIO, NUMBER, CHEAPEST = 0, 1, 2  # scores: moles per unit of loss, moles, least loss


class IndexedMoles(NamedTuple):
    """The items of each mole, and the moles of each item."""

    indptr: Int64s  # mole i holds items[indptr[i]:indptr[i + 1]]
    items: Int32s
    starts: Int64s  # item e is in the moles holders[starts[e]:starts[e + 1]]
    holders: Int32s
    losses: Floats  # of each item, above 0


class CoverScratch(NamedTuple):
    """Room to search for a cheaper cover."""

    counts: Int64s  # of each item; 0 between uses
    moles: Int32s  # those that are not yet covered
    chosen: Int32s  # the items of the cover


@kernel
def eliminate(moles: IndexedMoles, score: int) -> Int32s:
    """Items in the order of suppression: always the one of greatest score, until no mole is left.

    Ties go to the item of least loss, then to the first."""
    counts = np.empty(len(moles.starts) - 1, np.int64)
    for item in range(len(counts)):
        counts[item] = moles.starts[item + 1] - moles.starts[item]
    is_hit = np.zeros(len(moles.indptr) - 1, np.bool_)
    order, used = np.empty(len(counts), np.int32), 0
    left = len(is_hit)
    while left > 0:
        item = best_item(counts, moles.losses, score)
        order[used] = item
        used += 1
        for at in range(moles.starts[item], moles.starts[item + 1]):
            mole = moles.holders[at]
            if not is_hit[mole]:
                is_hit[mole] = True
                left -= 1
                for place in range(moles.indptr[mole], moles.indptr[mole + 1]):
                    counts[moles.items[place]] -= 1
    return order[:used].copy()


@step
def best_item(counts, losses, score):
    best, greatest = -1, 0.0
    for item in range(len(counts)):
        if counts[item] > 0:
            value = 1.0 / losses[item]
            if score == RATIO:
                value = counts[item] / losses[item]
            elif score == NUMBER:
                value = float(counts[item])
            if best < 0 or value > greatest or (value == greatest and losses[item] < losses[best]):
                best, greatest = item, value
    return best


@kernel
def restore(moles: IndexedMoles, suppressed: Flags, order: Int64s) -> Flags:
    """Restore items in this order, each if every mole that holds it has lost another item."""
    suppressed = suppressed.copy()
    restore_some(moles, suppressed, count_hits(moles, suppressed), order)
    return suppressed


@kernel
def improve(moles: IndexedMoles, suppressed: Flags, order: Int64s, rounds: int) -> Flags:
    """Restore items, then exchange suppressed items for others that cost less in sum."""
    suppressed, hits = suppressed.copy(), count_hits(moles, suppressed)
    restore_some(moles, suppressed, hits, order)
    scratch = CoverScratch(
        np.zeros(len(suppressed), np.int64),
        np.empty(len(hits), np.int32),
        np.empty(len(suppressed), np.int32),
    )
    for _ in range(rounds):
        changed = False
        for item in order:
            if suppressed[item]:
                used = cheaper_cover(moles, hits, item, scratch)
                if used > 0:
                    change(moles, suppressed, hits, item, False)
                    for at in range(used):
                        change(moles, suppressed, hits, scratch.chosen[at], True)
                    restore_some(moles, suppressed, hits, order)
                    changed = True
        if not changed:
            break
    return suppressed


@step
def count_hits(moles, suppressed):
    """How many items each mole has lost."""
    hits = np.zeros(len(moles.indptr) - 1, dtype=np.int32)
    for mole in range(len(hits)):
        for at in range(moles.indptr[mole], moles.indptr[mole + 1]):
            hits[mole] += suppressed[moles.items[at]]
    return hits


@step
def restore_some(moles, suppressed, hits, order):
    for item in order:
        if suppressed[item]:
            needed = False
            for at in range(moles.starts[item], moles.starts[item + 1]):
                if hits[moles.holders[at]] < 2:
                    needed = True
                    break
            if not needed:
                change(moles, suppressed, hits, item, False)


@step
def change(moles, suppressed, hits, item, gone):
    """Suppress an item, or restore it."""
    suppressed[item] = gone
    for at in range(moles.starts[item], moles.starts[item + 1]):
        hits[moles.holders[at]] += 1 if gone else -1


@step
def cheaper_cover(moles, hits, item, scratch):
    """Cheaper items that hit all moles which only `item` hits: how many; 0 if none were found."""
    left = 0
    for at in range(moles.starts[item], moles.starts[item + 1]):
        if hits[moles.holders[at]] == 1:
            scratch.moles[left] = moles.holders[at]
            left += 1
    used, cost = 0, 0.0
    while left > 0:
        best = most_useful(moles, item, scratch.moles[:left], scratch.counts)
        cost += moles.losses[best] if best >= 0 else np.inf
        if cost >= moles.losses[item]:
            return 0
        scratch.chosen[used] = best
        used += 1
        kept = 0
        for at in range(left):
            if not holds(moles, scratch.moles[at], best):
                scratch.moles[kept] = scratch.moles[at]
                kept += 1
        left = kept
    return used


@step
def most_useful(moles, item, open_moles, counts):
    """The other item that is in most of these moles per unit of loss; -1 if there is none."""
    for mole in open_moles:
        for place in range(moles.indptr[mole], moles.indptr[mole + 1]):
            counts[moles.items[place]] += 1
    best, greatest = -1, 0.0
    for mole in open_moles:
        for place in range(moles.indptr[mole], moles.indptr[mole + 1]):
            other = moles.items[place]
            if other != item and counts[other] > 0:
                value = counts[other] / moles.losses[other]
                if value > greatest or (value == greatest and other < best):
                    best, greatest = other, value
            counts[other] = 0
    return best


@step
def holds(moles, mole, item):
    for place in range(moles.indptr[mole], moles.indptr[mole + 1]):
        if moles.items[place] == item:
            return True
    return False
