"""Kernels of hitting sets: which items to give up so that every mole loses one, as cheaply as can be found.

Moles are rows of items, `items[indptr[i]:indptr[i + 1]]`; `holders[starts[e]:starts[e + 1]]` are the moles that hold item e.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.jit import kernel, step

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

RATIO, NUMBER, CHEAPEST = 0, 1, 2
"""Scores: moles for each unit of loss, moles, least loss."""


class Moles(NamedTuple):
    """Moles by item and items by mole."""

    indptr: Int64s
    items: Int32s
    starts: Int64s
    holders: Int32s
    losses: npt.NDArray[np.float64]  # of each item, above 0


@kernel
def index_moles(indptr: Int64s, items: Int32s, starts: Int64s, holders: Int32s) -> None:
    """Write the moles of each item; `starts` must hold the first place of each, and holds it again afterwards."""
    for mole in range(len(indptr) - 1):
        for at in range(indptr[mole], indptr[mole + 1]):
            holders[starts[items[at]]] = mole
            starts[items[at]] += 1
    for item in range(len(starts) - 1, 0, -1):
        starts[item] = starts[item - 1]
    starts[0] = 0


@kernel
def eliminate(moles: Moles, score: int) -> Int32s:
    """Items in the order in which they are given up: always the one of the greatest score, until no mole is left.

    Of equal scores the item of least loss goes, and of these the first.
    """
    counts = np.diff(moles.starts)
    alive = np.ones(len(moles.indptr) - 1, dtype=np.bool_)
    order, used = np.empty(len(counts), dtype=np.int32), 0
    left = len(alive)
    while left > 0:
        item = best_item(counts, moles.losses, score)
        order[used] = item
        used += 1
        for at in range(moles.starts[item], moles.starts[item + 1]):
            mole = moles.holders[at]
            if alive[mole]:
                alive[mole] = False
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
def restore(moles: Moles, given_up: npt.NDArray[np.bool_], order: Int64s) -> None:
    """Take items back in this order, each where every mole that holds it has lost another item."""
    hits = count_hits(moles, given_up)
    take_back(moles, given_up, hits, order)


@step
def count_hits(moles, given_up):
    """How many items each mole has lost."""
    hits = np.zeros(len(moles.indptr) - 1, dtype=np.int32)
    for mole in range(len(hits)):
        for at in range(moles.indptr[mole], moles.indptr[mole + 1]):
            hits[mole] += given_up[moles.items[at]]
    return hits


@step
def change(moles, given_up, hits, item, gone):
    """Give an item up, or take it back."""
    given_up[item] = gone
    for at in range(moles.starts[item], moles.starts[item + 1]):
        hits[moles.holders[at]] += 1 if gone else -1


@step
def take_back(moles, given_up, hits, order):
    for item in order:
        if given_up[item]:
            needed = False
            for at in range(moles.starts[item], moles.starts[item + 1]):
                if hits[moles.holders[at]] < 2:
                    needed = True
                    break
            if not needed:
                change(moles, given_up, hits, item, False)


@kernel
def improve(moles: Moles, given_up: npt.NDArray[np.bool_], order: Int64s, rounds: int) -> None:
    """Exchange an item that is given up for others that cost less together, as long as there are any, in at most so many rounds."""
    hits = count_hits(moles, given_up)
    take_back(moles, given_up, hits, order)
    counts = np.zeros(len(given_up), dtype=np.int64)
    open_moles, chosen = (
        np.empty(len(hits), dtype=np.int32),
        np.empty(len(given_up), dtype=np.int32),
    )
    for _ in range(rounds):
        changed = False
        for item in order:
            if given_up[item]:
                used = cheaper_cover(moles, hits, item, counts, open_moles, chosen)
                if used > 0:
                    change(moles, given_up, hits, item, False)
                    for at in range(used):
                        change(moles, given_up, hits, chosen[at], True)
                    take_back(moles, given_up, hits, order)
                    changed = True
        if not changed:
            break


@step
def cheaper_cover(moles, hits, item, counts, open_moles, chosen):
    """Items that hit all moles which only `item` hits, and cost less together: how many, in `chosen`; 0 when none were found."""
    left = 0
    for at in range(moles.starts[item], moles.starts[item + 1]):
        if hits[moles.holders[at]] == 1:
            open_moles[left] = moles.holders[at]
            left += 1
    used, cost = 0, 0.0
    while left > 0:
        best = most_useful(moles, item, counts, open_moles, left)
        cost += moles.losses[best] if best >= 0 else np.inf
        if cost >= moles.losses[item]:
            return 0
        chosen[used] = best
        used += 1
        kept = 0
        for at in range(left):
            if not holds(moles, open_moles[at], best):
                open_moles[kept] = open_moles[at]
                kept += 1
        left = kept
    return used


@step
def most_useful(moles, item, counts, open_moles, left):
    """The item, but this one, that stands in most of some moles for its loss; -1 when there is none."""
    for at in range(left):
        for place in range(moles.indptr[open_moles[at]], moles.indptr[open_moles[at] + 1]):
            counts[moles.items[place]] += 1
    best, greatest = -1, 0.0
    for at in range(left):
        for place in range(moles.indptr[open_moles[at]], moles.indptr[open_moles[at] + 1]):
            other = moles.items[place]
            if other != item and counts[other] > 0:
                value = counts[other] / moles.losses[other]
                if value > greatest or (value == greatest and other < best):
                    best, greatest = other, value
            counts[other] = 0
    return best


@step
def holds(moles, mole, item):
    found = False
    for place in range(moles.indptr[mole], moles.indptr[mole + 1]):
        found = found or moles.items[place] == item
    return found
