"""VERPART of large clusters: chunks that keep the most of what occurs together.

A chunk is a set of terms without conflict. Terms are put, the most frequent first, where they gain
most. Then each term moves to where it gains more, also if terms that conflict with it must leave
for it, as long as all of them together gain; so the total grows with every move, and it ends."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Floats, Int64s
from setveil.kernels.disassociation.chunks import (
    count_terms,
    give_up_last,
    list_frequent,
    make_scratch,
)
from setveil.kernels.disassociation.given import Chunks
from setveil.kernels.disassociation.graph import Graph, Rows, lay_rows, make_graph
from setveil.kernels.jit import kernel, step

ROUNDS = 2  # how often all terms may move; few do later
TRIES = 2  # how many chunks are tried for a term, if larger itemsets or long subrecords may bar it
SLOTS = 1 << 16  # pairs that are counted at once to find rare triples
LEAST = 1e-6  # what a move must gain
STAMP, FOUND = 0, 1  # the slots of `Search.state`


class Search(NamedTuple):
    """The chunks so far, and room to work in."""

    graph: Graph
    rows: Rows
    begin: Int64s  # the records of each term
    positions: Int64s
    chunk: Int64s  # of each term, or -1
    own: Floats  # what each term gains in its chunk
    state: Int64s  # the last STAMP, and how many chunks were FOUND
    seen: Int64s  # the last stamp that met each chunk
    score: Floats  # what the current term would gain in each chunk it met
    clash: Floats  # what the terms of each chunk that conflict with it gain there
    clashes: Int64s  # how many these are
    met: Int64s  # the chunks it met
    foe: Int64s  # the last stamp at which each term was in conflict with the current one
    keys: Int64s  # pairs that were counted, by slot
    times: Int64s
    stamps: Int64s  # the stamp of each slot


@kernel
def split_together(block, rule):
    """The chunks of all clusters of a block, as `split_vertically` gives them."""
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
        number = scratch.terms.number
        rows = lay_rows(scratch.terms, frequent, stop - start)
        search = make_search(scratch.terms, frequent, rows, rule)
        gather(search, rule)
        found = number_chunks(search.chunk, number)
        needed = stop - start + rule.k * (min(rule.m, found) - 1)
        chunks.is_short[cluster] = found == 0 or count_pieces(rows, number, found) < needed
        if chunks.is_short[cluster] and frequent == distinct and frequent > 0:
            found = give_up_last(number, frequent, found)
        chunks.counts[cluster] = found
        for at in range(block.indptr[start], block.indptr[stop]):
            place = scratch.place[block.items[at]]
            chunks.chunk[at] = number[place] if place >= 0 else -1
        for i in range(distinct):
            scratch.counts[scratch.touched[i]] = 0
            scratch.place[scratch.touched[i]] = -1
    return chunks


@step
def make_search(terms, count, rows, rule):
    slots = SLOTS if rule.m > 2 else 1
    return Search(
        make_graph(terms, count, rows, rule.k),
        rows,
        terms.begin,
        terms.positions,
        np.full(count, -1, np.int64),
        np.zeros(count, np.float64),
        np.zeros(2, np.int64),
        np.full(count + 1, -1, np.int64),
        np.zeros(count + 1, np.float64),
        np.zeros(count + 1, np.float64),
        np.zeros(count + 1, np.int64),
        np.empty(count + 1, np.int64),
        np.full(count + 1, -1, np.int64),
        np.empty(slots, np.int64),
        np.empty(slots, np.int64),
        np.full(slots, -1, np.int64),
    )


@step
def gather(search, rule):
    """Put every term into a chunk, then move terms until no move gains or the rounds are over."""
    for term in range(len(search.chunk)):
        place_best(search, term, np.int64(-1), rule)
    for _ in range(ROUNDS):
        moved = False
        for term in range(len(search.chunk)):
            moved |= move(search, np.int64(term), rule)
        if not moved:
            break


@step
def meet_chunks(search, term):
    """Score the chunks that have terms which occur with this one; returns how many."""
    graph, chunk, seen, state = search.graph, search.chunk, search.seen, search.state
    state[STAMP] += 1
    found = np.int64(0)
    for at in range(graph.ptr[term], graph.ptr[term + 1]):
        other = graph.other[at]
        number = chunk[other]
        if number < 0:
            continue
        if seen[number] != state[STAMP]:
            seen[number] = state[STAMP]
            search.score[number], search.clash[number], search.clashes[number] = 0.0, 0.0, 0
            search.met[found] = number
            found += 1
        if graph.gain[at] < 0:
            search.clash[number] += search.own[other]
            search.clashes[number] += 1
            search.foe[other] = state[STAMP]
        else:
            search.score[number] += graph.gain[at]
    return found


@step
def place_best(search, term, barred, rule):
    """Put a term where it gains most without conflict; else where it occurs with nothing."""
    found, best = meet_chunks(search, term), np.int64(-1)
    for _ in range(TRIES):
        best = np.int64(-1)
        for i in range(found):
            number = search.met[i]
            free = number != barred and search.clashes[number] == 0
            if free and (best < 0 or search.score[number] > search.score[best]):
                best = number
        if best < 0 or fits(search, term, best, rule):
            break
        search.clashes[best], best = 1, np.int64(-1)
    if best < 0:
        best = np.int64(0)
        while best < search.state[FOUND] and (
            best == barred or search.seen[best] == search.state[STAMP]
        ):
            best += 1
        search.state[FOUND] = max(search.state[FOUND], best + 1)
    enter(search, term, best)


@step
def enter(search, term, number):
    """Put a term into a chunk, and note what it and the others gain by that."""
    graph, total = search.graph, 0.0
    search.chunk[term] = number
    for at in range(graph.ptr[term], graph.ptr[term + 1]):
        if search.chunk[graph.other[at]] == number and graph.gain[at] > 0:
            search.own[graph.other[at]] += graph.gain[at]
            total += graph.gain[at]
    search.own[term] = total


@step
def leave(search, term):
    graph, number = search.graph, search.chunk[term]
    for at in range(graph.ptr[term], graph.ptr[term + 1]):
        if search.chunk[graph.other[at]] == number and graph.gain[at] > 0:
            search.own[graph.other[at]] -= graph.gain[at]
    search.chunk[term], search.own[term] = -1, 0.0


@step
def move(search, term, rule):
    """Move a term to the chunk where that gains most, if any; what conflicts with it must leave."""
    graph, chunk, current = search.graph, search.chunk, search.chunk[term]
    found = meet_chunks(search, term)
    best = np.int64(-1)
    for _ in range(TRIES):
        best, most = np.int64(-1), search.own[term] + LEAST
        for i in range(found):
            number = search.met[i]
            if number != current and search.score[number] - search.clash[number] > most:
                best, most = number, search.score[number] - search.clash[number]
        if best < 0 or fits(search, term, best, rule):
            break
        search.score[best], best = 0.0, np.int64(-1)
    if best < 0:
        return False
    leave(search, term)
    for at in range(graph.ptr[term], graph.ptr[term + 1]):
        if graph.gain[at] < 0 and chunk[graph.other[at]] == best:
            leave(search, np.int64(graph.other[at]))
    enter(search, term, best)
    for at in range(graph.ptr[term], graph.ptr[term + 1]):
        if graph.gain[at] < 0 and chunk[graph.other[at]] < 0:
            place_best(search, np.int64(graph.other[at]), best, rule)
    return True


@step
def fits(search, term, number, rule):
    """Whether a chunk can take a term, as far as pairs do not show.

    Subrecords must not get too long. If m is 3, every triple of the term and two of the chunk must
    occur k times or never. Terms that must leave for it do not count."""
    ptr, terms = search.rows.ptr, search.rows.terms
    if rule.m < 3 and rule.longest == 0:
        return True
    now, rare, used = search.state[STAMP], np.int64(0), np.int64(0)
    mark = now * (len(search.chunk) + 1) + number
    for at in range(search.begin[term], search.begin[term + 1]):
        record, length = search.positions[at], np.int64(1)
        for i in range(ptr[record], ptr[record + 1]):
            if search.chunk[terms[i]] != number or search.foe[terms[i]] == now:
                continue
            length += 1
            if rule.longest > 0 and length > rule.longest:
                return False
            for j in range(i + 1, ptr[record + 1] if rule.m > 2 else i + 1):
                if search.chunk[terms[j]] != number or search.foe[terms[j]] == now:
                    continue
                slot = find_slot(search, terms[i] * len(search.chunk) + terms[j], mark)
                if search.times[slot] == 0:
                    used += 1
                    rare += 1
                search.times[slot] += 1
                if search.times[slot] == rule.k:
                    rare -= 1
                if 2 * used > len(search.keys):
                    return False
    return rare == 0


@step
def find_slot(search, key, mark):
    """The slot of a pair in the table of counts; one that was not used since `mark` is empty."""
    slot = (key * 0x9E3779B1) % len(search.keys)
    while search.stamps[slot] == mark and search.keys[slot] != key:
        slot = slot + 1 if slot + 1 < len(search.keys) else 0
    if search.stamps[slot] != mark:
        search.stamps[slot], search.keys[slot], search.times[slot] = mark, key, 0
    return slot


@step
def number_chunks(chunk, number):
    """Number the chunks by their most frequent term; returns how many are not empty."""
    names, found = np.full(len(chunk) + 1, -1, np.int64), np.int64(0)
    for term in range(len(chunk)):
        if names[chunk[term]] < 0:
            names[chunk[term]] = found
            found += 1
        number[term] = names[chunk[term]]
    return found


@step
def count_pieces(rows, number, found):
    """The non-empty subrecords of all chunks together."""
    last, total = np.full(found + 1, -1, np.int64), np.int64(0)
    for record in range(len(rows.ptr) - 1):
        for at in range(rows.ptr[record], rows.ptr[record + 1]):
            if last[number[rows.terms[at]]] != record:
                last[number[rows.terms[at]]] = record
                total += 1
    return total
