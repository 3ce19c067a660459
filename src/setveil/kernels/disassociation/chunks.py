"""Steps that VERPART and REFINE share: put terms into chunks that stay k^m-anonymous."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.jit import step

Int64s = npt.NDArray[np.int64]

BEGIN, END, LAST = 0, 1, 2
"""The columns of `Room.levels`: a slice of `stacked`, and the last term of the itemset."""


class Terms(NamedTuple):
    """Terms to assign, the first first; the records of i are `positions[begin[i]:begin[i + 1]]`."""

    begin: Int64s
    positions: Int64s
    number: Int64s  # gets the chunk of each term


class Room(NamedTuple):
    """Scratch of `assign_chunks`: the assigned terms of each record as linked lists, and stacks."""

    head: Int64s  # the first entry of each record, or -1
    link: Int64s  # the next entry
    owner: Int64s  # the term of each entry
    together: Int64s  # in how many records each term occurs with the current one; 0 between uses
    seen: Int64s  # the terms that do
    clash: Int64s  # the last term that each chunk could not take because of a pair
    stacked: Int64s  # the records of the itemsets being checked, one after the other
    levels: Int64s  # [itemset, (BEGIN, END, LAST)]


@step
def make_room(records, occurrences, terms, longest):
    """Scratch for so many records, occurrences and terms, and itemsets of up to `longest` terms."""
    return Room(
        np.full(records + 1, -1, np.int64),
        np.empty(occurrences + 1, np.int64),
        np.empty(occurrences + 1, np.int64),
        np.zeros(terms + 1, np.int64),
        np.empty(terms + 1, np.int64),
        np.full(terms + 1, -1, np.int64),
        np.empty((longest + 1) * (records + 1), np.int64),
        np.empty((longest + 2, 3), np.int64),
    )


@step
def assign_chunks(terms, count, records, rule, room):
    """Put each term into the first chunk that stays k^m-anonymous with it; returns their number.

    Each term is in k or more of the records 0 to `records - 1`. The result is the same as filling
    one chunk after the other. A pair of terms that occurs, but in fewer than k records, is found by
    counting how often the term occurs with each assigned one; larger itemsets are checked one by
    one."""
    begin, positions, number = terms
    head, link, owner, together = room.head, room.link, room.owner, room.together
    seen, clash = room.seen, room.clash
    for i in range(records):
        head[i] = -1
    for i in range(count + 1):
        clash[i] = -1
    found, entries = np.int64(0), np.int64(0)
    for term in range(count):
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
            if together[seen[i]] < rule.k:
                clash[number[seen[i]]] = term
            together[seen[i]] = 0
        chosen = np.int64(0)
        while chosen < found and (
            (rule.m > 1 and clash[chosen] == term)
            or (rule.m > 2 and not keeps_larger(terms, term, chosen, rule, room))
        ):
            chosen += 1
        number[term] = chosen
        found = max(found, chosen + 1)
        for at in range(begin[term], begin[term + 1]):
            owner[entries], link[entries] = term, head[positions[at]]
            head[positions[at]] = entries
            entries += 1
    return found


@step
def keeps_larger(terms, term, chosen, rule, room):
    """Whether itemsets of 3 to m terms, `term` and others of a chunk, are in k records or in none.

    Depth first: each level adds the next term that occurs in a record of the itemset so far. Pairs
    were checked before."""
    stacked, levels = room.stacked, room.levels
    begin, end = terms.begin[term], terms.begin[term + 1]
    for at in range(begin, end):
        stacked[at - begin] = terms.positions[at]
    levels[0, BEGIN], levels[0, END], levels[0, LAST] = 0, end - begin, -1
    depth = np.int64(0)
    while depth >= 0:
        low, high = levels[depth, BEGIN], levels[depth, END]
        following = next_term(terms.number, chosen, room, low, high, levels[depth, LAST])
        if following < 0:
            depth -= 1
            continue
        levels[depth, LAST] = following
        top = high
        for i in range(low, high):
            if contains(room, stacked[i], following):
                stacked[top] = stacked[i]
                top += 1
        if top - high < rule.k:
            return False
        if depth + 2 < rule.m:
            depth += 1
            levels[depth, BEGIN], levels[depth, END], levels[depth, LAST] = high, top, following
    return True


@step
def next_term(number, chosen, room, low, high, last):
    """The first term of a chunk after `last` that occurs in one of the stacked records, or -1."""
    head, link, owner, stacked = room.head, room.link, room.owner, room.stacked
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
def contains(room, record, term):
    entry = room.head[record]
    while entry >= 0:
        if room.owner[entry] == term:
            return True
        entry = room.link[entry]
    return False
