"""Steps of REFINE at one joint cluster: which of its open terms to share, and the chunks they make.

A run is one term among the open occurrences: where it begins, and where the next term does."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Flags, Int64s
from setveil.kernels.disassociation.chunks import Room, Terms, assign_chunks, make_room
from setveil.kernels.disassociation.given import Plan, Rule
from setveil.kernels.disassociation.lists import Span, copy_occurrence
from setveil.kernels.jit import step
from setveil.kernels.steps import sort_slice

START, STOP = 0, 1  # the columns of `Scratch.runs`
NODES, CHUNKS = 0, 1  # the slots of `Joining.made`


class Scratch(NamedTuple):
    """Arrays that are reused from joint cluster to joint cluster."""

    runs: Int64s  # [run, (START, STOP)]
    keys: Int64s  # the runs to put together, most frequent first
    terms: Terms  # the same for `assign_chunks`
    local: Int64s  # the number of each place among the records of the runs, -1 between uses
    stamp: Int64s  # the last joint cluster that counted each cluster
    room: Room


class Joining(NamedTuple):
    """The clusters, and what joining them has made so far."""

    rule: Rule
    plan: Plan
    sizes: Int64s  # the records of each cluster
    cluster: Int64s  # the cluster of each place
    parent: Int64s  # the joint cluster of each node, or -1
    chunk_node: Int64s  # the joint cluster of each shared chunk
    shared: Int64s  # the shared chunk of each occurrence, or -1
    made: Int64s  # how many NODES and shared CHUNKS there are
    in_chunk: Flags  # for each term, whether it is in a chunk, or need not be
    scratch: Scratch


@step
def make_scratch(lists, places, clusters, m):
    """Scratch for what is open in clusters of `places` records."""
    terms, longest, open_at = np.int64(0), np.int64(0), np.zeros(places, np.int64)
    for at in range(len(lists.term)):
        terms = max(terms, np.int64(lists.term[at]) + 1)
        open_at[lists.place[at]] += 1
        longest = max(longest, open_at[lists.place[at]])
    occurrences, records = np.int64(len(lists.term)), np.int64(min(places, len(lists.term)))
    return Scratch(
        np.empty((terms + 1, 2), np.int64),
        np.empty(terms + 1, np.int64),
        Terms(
            np.empty(terms + 2, np.int64),
            np.empty(occurrences + 1, np.int64),
            np.empty(terms + 1, np.int64),
        ),
        np.full(places, -1, np.int64),
        np.full(clusters, -1, np.int64),
        make_room(records, occurrences, terms, min(m, longest)),
    )


@step
def find_runs(term, span, k, runs):
    """Find the terms that are open k times or more; returns how many."""
    found, at = np.int64(0), span.start
    while at < span.end:
        following = at + 1
        while following < span.end and term[following] == term[at]:
            following += 1
        if following - at >= k:
            runs[found, START], runs[found, STOP] = at, following
            found += 1
        at = following
    return found


@step
def keep_fresh(lists, span, runs, found):
    """Keep the terms that are in no chunk of the node; returns how many."""
    kept, at = np.int64(0), span.chunked_start
    for j in range(found):
        term = lists.term[runs[j, START]]
        while at < span.chunked_end and lists.chunked[at] >> 1 < term:
            at += 1
        if at >= span.chunked_end or lists.chunked[at] >> 1 != term:
            runs[kept, START], runs[kept, STOP] = runs[j, START], runs[j, STOP]
            kept += 1
    return kept


@step
def keep_likely(lists, found, records, joining):
    """Keep the terms that the joint cluster makes likely enough, or that are in no chunk yet.

    A term chunk says that some record of its cluster has the term. So a record of the clusters that
    list it has it with a chance of `listed / holders`, and one of the joint cluster with `support /
    records`."""
    runs, in_chunk, kept = joining.scratch.runs, joining.in_chunk, np.int64(0)
    for j in range(found):
        listed, holders, before = np.int64(0), np.int64(0), np.int64(-1)
        for at in range(runs[j, START], runs[j, STOP]):
            owner = joining.cluster[lists.place[at]]
            if owner != before:
                before = owner
                listed += 1
                holders += joining.sizes[owner]
        term, support = lists.term[runs[j, START]], runs[j, STOP] - runs[j, START]
        if not in_chunk[term] or support * holders >= joining.plan.weight * listed * records:
            in_chunk[term] = True
            runs[kept, START], runs[kept, STOP] = runs[j, START], runs[j, STOP]
            kept += 1
    return kept


@step
def gains(lists, found, records, mark, joining):
    """Equation 1: whether the joint cluster makes the terms as likely as its clusters do."""
    runs, stamp = joining.scratch.runs, joining.scratch.stamp
    supports, listed, holders = np.int64(0), np.int64(0), np.int64(0)
    for j in range(found):
        supports += runs[j, STOP] - runs[j, START]
        before = np.int64(-1)
        for at in range(runs[j, START], runs[j, STOP]):
            owner = joining.cluster[lists.place[at]]
            if owner != before:
                before = owner
                listed += 1
                if stamp[owner] != mark:
                    stamp[owner] = mark
                    holders += joining.sizes[owner]
    return supports * holders >= listed * records


@step
def share(lists, span, found, joining):
    """Make the shared chunks of a new joint cluster over the terms in the runs; returns its span.

    A term that is in a chunk of the node gets a chunk of its own; all others are put together into
    k^m-anonymous chunks, the most frequent first."""
    shared, made, scratch = joining.shared, joining.made, joining.scratch
    runs, keys = scratch.runs, scratch.keys
    base, fresh, chunked_at = np.int64(len(keys)), np.int64(0), span.chunked_start
    for j in range(found):
        term = lists.term[runs[j, START]]
        while chunked_at < span.chunked_end and lists.chunked[chunked_at] >> 1 < term:
            chunked_at += 1
        if chunked_at < span.chunked_end and lists.chunked[chunked_at] >> 1 == term:
            for at in range(runs[j, START], runs[j, STOP]):
                shared[lists.occurrence[at]] = made[CHUNKS]
            joining.chunk_node[made[CHUNKS]] = made[NODES]
            made[CHUNKS] += 1
        else:
            support = runs[j, STOP] - runs[j, START]
            keys[fresh] = (span.end - span.start - support) * base + j
            fresh += 1
    sort_slice(keys, np.int64(0), fresh)
    records = lay_out(lists, fresh, scratch)
    chunks = assign_chunks(scratch.terms, fresh, records, joining.rule, scratch.room)
    for j in range(fresh):
        run = keys[j] % base
        for at in range(runs[run, START], runs[run, STOP]):
            shared[lists.occurrence[at]] = made[CHUNKS] + scratch.terms.number[j]
            scratch.local[lists.place[at]] = -1
    for j in range(chunks):
        joining.chunk_node[made[CHUNKS] + j] = made[NODES]
    made[CHUNKS] += chunks
    return close_runs(lists, span, runs, found)


@step
def lay_out(lists, found, scratch):
    """Lay out the terms for `assign_chunks`; returns how many records they are in."""
    runs, keys, local = scratch.runs, scratch.keys, scratch.local
    begin, positions, _ = scratch.terms
    records, end = np.int64(0), np.int64(0)
    for j in range(found):
        run = keys[j] % len(keys)
        begin[j] = end
        for at in range(runs[run, START], runs[run, STOP]):
            place = lists.place[at]
            if local[place] < 0:
                local[place] = records
                records += 1
            positions[end] = local[place]
            end += 1
    begin[found] = end
    return records


@step
def close_runs(lists, span, runs, found):
    """Move the terms of the runs from the open occurrences to the chunked terms; the new span."""
    chunked, at, fresh = lists.chunked, span.chunked_start, np.int64(0)
    for j in range(found):
        term = lists.term[runs[j, START]]
        while at < span.chunked_end and chunked[at] >> 1 < term:
            at += 1
        if at >= span.chunked_end or chunked[at] >> 1 != term:
            chunked[span.chunked_end + fresh] = 2 * term
            fresh += 1
    sort_slice(chunked, span.chunked_start, span.chunked_end + fresh)
    fill, at, j = span.start, span.start, np.int64(0)
    while at < span.end:
        if j < found and at == runs[j, START]:
            at = runs[j, STOP]
            j += 1
        else:
            copy_occurrence(lists, at, lists, fill)
            fill += 1
            at += 1
    return Span(span.start, fill, span.chunked_start, span.chunked_end + fresh)
