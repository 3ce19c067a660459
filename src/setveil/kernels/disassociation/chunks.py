"""Kernel of VERPART, and steps it shares with REFINE: put terms into k^m-anonymous chunks."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.disassociation.given import Chunks
from setveil.kernels.jit import kernel, patient, step
from setveil.kernels.steps import sort_slice

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
    stacked: Int64s  # the records of each itemset that is being checked
    levels: Int64s  # [itemset, (BEGIN, END, LAST)]


@step
def make_room(records, occurrences, terms, longest):
    """Scratch for these numbers of each, and itemsets of up to `longest` terms."""
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

    Each term is in k or more of the records 0 to `records - 1`. A pair of terms that occurs, but in
    fewer than k records, is found by counting how often the term occurs with each assigned one;
    larger itemsets are checked one by one."""
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
        # What a chunk has does not depend on later terms, so trying the chunks in order for each
        # term is the same as filling one chunk after the other.
        chosen = np.int64(0)
        while chosen < found and (
            (rule.m > 1 and clash[chosen] == term)
            or (rule.longest > 0 and not keeps_short(terms, term, chosen, rule, room))
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
def keeps_short(terms, term, chosen, rule, room):
    """Whether no subrecord of a chunk gets too long with a term."""
    for at in range(terms.begin[term], terms.begin[term + 1]):
        entry, length = room.head[terms.positions[at]], np.int64(1)
        while entry >= 0:
            length += terms.number[room.owner[entry]] == chosen
            entry = room.link[entry]
        if length > rule.longest:
            return False
    return True


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


class Scratch(NamedTuple):
    """Arrays that are reused from cluster to cluster."""

    counts: Int64s  # how many records of the cluster have each term; 0 between uses
    place: Int64s  # the place of each frequent term in `terms`, -1 elsewhere
    touched: Int64s  # the terms of the cluster
    keys: Int64s  # its frequent terms, to be sorted
    terms: Terms
    room: Room


@patient
@kernel
def split_vertically(block, rule):
    """The chunks of all clusters of a block.

    A cluster without a term chunk whose record chunks have too few subrecords for Lemma 2 gives up
    its least frequent term."""
    clusters = len(block.bounds) - 1
    chunks = Chunks(
        np.empty(len(block.items), np.int32),
        np.zeros(clusters, np.int64),
        np.zeros(clusters, np.bool_),
    )
    scratch = make_scratch(block, rule)
    for cluster in range(clusters):
        start, stop = block.bounds[cluster], block.bounds[cluster + 1]
        distinct = count_terms(block, start, stop, scratch)
        frequent = list_frequent(block, rule, start, stop, distinct, scratch)
        found = assign_chunks(scratch.terms, frequent, stop - start, rule, scratch.room)
        subrecords = count_subrecords(scratch.terms, frequent, found, stop - start, scratch.room)
        needed = stop - start + rule.k * (min(rule.m, found) - 1)
        chunks.is_short[cluster] = found == 0 or subrecords < needed
        if chunks.is_short[cluster] and frequent == distinct and frequent > 0:
            found = give_up_last(scratch.terms.number, frequent, found)
        chunks.counts[cluster] = found
        for at in range(block.indptr[start], block.indptr[stop]):
            place = scratch.place[block.items[at]]
            chunks.chunk[at] = scratch.terms.number[place] if place >= 0 else -1
        for i in range(distinct):
            scratch.counts[scratch.touched[i]] = 0
            scratch.place[scratch.touched[i]] = -1
    return chunks


@step
def make_scratch(block, rule):
    width, bounds, indptr = len(rule.sensitive), block.bounds, block.indptr
    occurrences, records, longest = np.int64(0), np.int64(1), np.int64(0)
    for cluster in range(len(bounds) - 1):
        occurrences = max(occurrences, indptr[bounds[cluster + 1]] - indptr[bounds[cluster]])
        records = max(records, bounds[cluster + 1] - bounds[cluster])
    for record in range(len(indptr) - 1):
        longest = max(longest, indptr[record + 1] - indptr[record])
    return Scratch(
        np.zeros(width, np.int64),
        np.full(width, -1, np.int64),
        np.empty(width, np.int64),
        np.empty(width, np.int64),
        Terms(
            np.empty(width + 1, np.int64),
            np.empty(occurrences + 1, np.int64),
            np.empty(width, np.int64),
        ),
        make_room(records, occurrences, width, min(rule.m, longest)),
    )


@step
def count_terms(block, start, stop, scratch):
    """Count the records of each term of a cluster; returns how many terms there are."""
    distinct = np.int64(0)
    for at in range(block.indptr[start], block.indptr[stop]):
        term = block.items[at]
        if scratch.counts[term] == 0:
            scratch.touched[distinct] = term
            distinct += 1
        scratch.counts[term] += 1
    return distinct


@step
def list_frequent(block, rule, start, stop, distinct, scratch):
    """List the records of terms for record chunks, most frequent first; returns how many."""
    width, counts, keys = len(rule.sensitive), scratch.counts, scratch.keys
    begin, positions, _ = scratch.terms
    frequent, end = np.int64(0), np.int64(0)
    for i in range(distinct):
        term = scratch.touched[i]
        if counts[term] >= rule.k and not rule.sensitive[term]:
            keys[frequent] = (stop - start - counts[term]) * width + term
            frequent += 1
    sort_slice(keys, np.int64(0), frequent)
    for i in range(frequent):
        term = keys[i] % width
        scratch.place[term] = i
        begin[i] = end
        end += counts[term]
    begin[frequent] = end
    for i in range(start, stop):
        for at in range(block.indptr[i], block.indptr[i + 1]):
            place = scratch.place[block.items[at]]
            if place >= 0:
                positions[begin[place + 1] - counts[block.items[at]]] = i - start
                counts[block.items[at]] -= 1
    return frequent


@step
def count_subrecords(terms, count, found, records, room):
    """The non-empty subrecords of all chunks together."""
    total, head = np.int64(0), room.head
    for chunk in range(found):
        for i in range(records):
            head[i] = -1
        for term in range(count):
            if terms.number[term] == chunk:
                for at in range(terms.begin[term], terms.begin[term + 1]):
                    if head[terms.positions[at]] < 0:
                        head[terms.positions[at]] = 1
                        total += 1
    return total


@step
def give_up_last(number, terms, found):
    """Move the least frequent term to the term chunk; returns how many chunks are left."""
    lost = number[terms - 1]
    number[terms - 1] = -1
    for term in range(terms - 1):
        if number[term] == lost:
            return found
    for term in range(terms - 1):
        if number[term] > lost:
            number[term] -= 1
    return found - 1
