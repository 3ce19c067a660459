"""Kernel of VERPART: put the terms of each cluster into chunks.

The records of a cluster stand together; a record's number is its place. `chunk` holds, for each
occurrence, the number of its record chunk within its cluster, or -1 where it stands in the term
chunk."""

from __future__ import annotations

import numpy as np

from setveil.kernels.disassociation.chunks import assign_chunks, make_room
from setveil.kernels.jit import kernel, step


@kernel
def split_vertically(
    indptr, items, width, bounds, first, last, k, m, sensitive, chunk, chunks, is_short
):
    """Give the occurrences of the clusters `first` to `last - 1` their chunks; `chunks` gets the
    number of chunks of each cluster.

    `is_short` tells which clusters have too few subrecords for Lemma 2 but a term chunk that is not
    empty.

    A cluster whose record chunks hold too few subrecords for Lemma 2 and that has no term chunk
    gives up its least frequent term."""
    counts, place = np.zeros(width, np.int64), np.full(width, -1, np.int64)
    touched, keys = np.empty(width, np.int64), np.empty(width, np.int64)
    most, longest = np.int64(0), np.int64(1)
    for cluster in range(first, last):
        most = max(most, indptr[bounds[cluster + 1]] - indptr[bounds[cluster]])
        longest = max(longest, bounds[cluster + 1] - bounds[cluster])
    begin, positions = np.empty(width + 1, np.int64), np.empty(most + 1, np.int64)
    number = np.empty(width, np.int64)
    room = make_room(longest, most, width, m)
    for cluster in range(first, last):
        start, stop = bounds[cluster], bounds[cluster + 1]
        distinct, frequent = np.int64(0), np.int64(0)
        for i in range(start, stop):
            for at in range(indptr[i], indptr[i + 1]):
                if counts[items[at]] == 0:
                    touched[distinct] = items[at]
                    distinct += 1
                counts[items[at]] += 1
        for i in range(distinct):
            term = touched[i]
            if counts[term] >= k and not sensitive[term]:
                keys[frequent] = (stop - start - counts[term]) * width + term
                frequent += 1
        keys[:frequent].sort()
        end = np.int64(0)
        for i in range(frequent):
            term = keys[i] % width
            place[term] = i
            begin[i] = end
            end += counts[term]
        begin[frequent] = end
        for i in range(start, stop):
            for at in range(indptr[i], indptr[i + 1]):
                i_term = place[items[at]]
                if i_term >= 0:
                    positions[begin[i_term + 1] - counts[items[at]]] = i - start
                    counts[items[at]] -= 1
        found = assign_chunks(begin, positions, frequent, stop - start, k, m, number, room)
        subrecords = count_subrecords(begin, positions, frequent, number, found, stop - start, room)
        is_short[cluster] = found == 0 or subrecords < stop - start + k * (min(m, found) - 1)
        if is_short[cluster] and frequent == distinct and frequent > 0:
            found = give_up_last(number, frequent, found)
        chunks[cluster] = found
        for i in range(start, stop):
            for at in range(indptr[i], indptr[i + 1]):
                i_term = place[items[at]]
                chunk[at] = number[i_term] if i_term >= 0 else -1
        for i in range(distinct):
            counts[touched[i]] = 0
            place[touched[i]] = -1


@step
def count_subrecords(begin, positions, terms, number, found, size, room):
    """The non-empty subrecords of all chunks together."""
    total = np.int64(0)
    for chunk in range(found):
        for i in range(size):
            room.head[i] = -1
        for term in range(terms):
            if number[term] == chunk:
                for at in range(begin[term], begin[term + 1]):
                    if room.head[positions[at]] < 0:
                        room.head[positions[at]] = 1
                        total += 1
    return total


@step
def give_up_last(number, terms, found):
    """Move the least frequent term to the term chunk; returns the number of chunks that are
    left."""
    lost = number[terms - 1]
    number[terms - 1] = -1
    for term in range(terms - 1):
        if number[term] == lost:
            return found
    for term in range(terms - 1):
        if number[term] > lost:
            number[term] -= 1
    return found - 1
