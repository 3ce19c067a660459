"""Kernel of VERPART: put the terms of each cluster into chunks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.disassociation.chunks import Room, Terms, assign_chunks, make_room
from setveil.kernels.disassociation.given import Chunks
from setveil.kernels.jit import kernel, step

Int64s = npt.NDArray[np.int64]


class Scratch(NamedTuple):
    """Arrays that are reused from cluster to cluster."""

    counts: Int64s  # how many records of the cluster have each term; 0 between uses
    place: Int64s  # the place of each frequent term in `terms`, -1 elsewhere
    touched: Int64s  # the terms of the cluster
    keys: Int64s  # its frequent terms, to be sorted
    terms: Terms
    room: Room


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
    keys[:frequent].sort()
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
