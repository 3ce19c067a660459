"""Steps that VERPART and REFINE share: put terms, one after the other, into chunks that stay
k^m-anonymous."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.jit import step

Int64s = npt.NDArray[np.int64]


class Room(NamedTuple):
    """Scratch of `assign_chunks`: the assigned terms of each record as linked lists, counts, and
    stacks for larger itemsets."""

    head: Int64s  # the first entry of each record, -1 for none
    link: Int64s  # the next entry
    owner: Int64s  # the term of each entry
    together: Int64s  # how often each term stands beside the one that is looked at; 0 between uses
    seen: Int64s  # the terms that do
    clash: Int64s  # the last term that each chunk could not take for a pair
    stacked: Int64s  # the records of the itemsets that are looked at, one after the other
    levels: Int64s  # [(begin, end of the records, last term, unused) of each itemset], flat


@step
def make_room(longest, most, width, m):
    """Scratch for up to `longest` records that hold `most` occurrences of `width` terms."""
    head = np.full(longest + 1, -1, np.int64)
    link = np.empty(most + 1, np.int64)
    owner = np.empty(most + 1, np.int64)
    together = np.zeros(width + 1, np.int64)
    seen = np.empty(width + 1, np.int64)
    clash = np.full(width + 1, -1, np.int64)
    stacked = np.empty((m + 1) * (longest + 1), np.int64)
    levels = np.empty((m + 2) * 4, np.int64)
    return Room(head, link, owner, together, seen, clash, stacked, levels)


@step
def assign_chunks(begin, positions, terms, size, k, m, number, room):
    """Put each term, in the given order, into the first chunk that stays k^m-anonymous with it;
    returns the number of chunks.

    Term i stands at `positions[begin[i]:begin[i + 1]]`, k or more of 0 to `size - 1`. This is what
    filling one chunk after the other gives."""
    head, link, owner, together, seen, clash = (
        room.head,
        room.link,
        room.owner,
        room.together,
        room.seen,
        room.clash,
    )
    for i in range(size):
        head[i] = -1
    for i in range(terms + 1):
        clash[i] = -1
    found, entries = np.int64(0), np.int64(0)
    for term in range(terms):
        met = np.int64(0)
        for at in range(begin[term], begin[term + 1]):
            entry = head[positions[at]]
            while entry >= 0:
                other = owner[entry]
                if together[other] == 0:
                    seen[met] = other
                    met += 1
                together[other] += 1
                entry = link[entry]
        for i in range(met):
            if together[seen[i]] < k:
                clash[number[seen[i]]] = term
            together[seen[i]] = 0
        chosen = np.int64(0)
        while chosen < found:
            if (m > 1 and clash[chosen] == term) or (
                m > 2 and not keeps_larger(begin, positions, term, k, m, number, chosen, room)
            ):
                chosen += 1
            else:
                break
        number[term] = chosen
        found = max(found, chosen + 1)
        for at in range(begin[term], begin[term + 1]):
            owner[entries], link[entries] = term, head[positions[at]]
            head[positions[at]] = entries
            entries += 1
    return found


@step
def keeps_larger(begin, positions, term, k, m, number, chosen, room):
    """Whether all itemsets of 3 to m terms with `term` in a chunk occur in k records or in none;
    pairs are known to."""
    head, link, owner, stacked, levels = room.head, room.link, room.owner, room.stacked, room.levels
    base = np.int64(0)
    for at in range(begin[term], begin[term + 1]):
        stacked[at - begin[term]] = positions[at]
    levels[0], levels[1], levels[2] = 0, begin[term + 1] - begin[term], -1
    depth = np.int64(0)
    while depth >= 0:
        low, high, last = levels[4 * depth], levels[4 * depth + 1], levels[4 * depth + 2]
        following = next_term(stacked, low, high, last, head, link, owner, number, chosen)
        if following < 0:
            depth -= 1
            continue
        levels[4 * depth + 2] = following
        base = high
        for i in range(low, high):
            if holds(head, link, owner, stacked[i], following):
                stacked[base] = stacked[i]
                base += 1
        if base - high < k:
            return False
        if depth + 2 < m:
            depth += 1
            levels[4 * depth], levels[4 * depth + 1], levels[4 * depth + 2] = high, base, following
    return True


@step
def next_term(stacked, low, high, last, head, link, owner, number, chosen):
    """The least term after `last` of the chunk that stands in one of the stacked records, or -1."""
    least = np.int64(-1)
    for i in range(low, high):
        entry = head[stacked[i]]
        while entry >= 0:
            other = owner[entry]
            if other > last and number[other] == chosen and (least < 0 or other < least):
                least = other
            entry = link[entry]
    return least


@step
def holds(head, link, owner, record, term):
    entry = head[record]
    while entry >= 0:
        if owner[entry] == term:
            return True
        entry = link[entry]
    return False
