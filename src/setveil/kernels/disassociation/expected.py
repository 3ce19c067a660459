"""What a release is expected to say about frequent pairs and triples, computed from its chunks."""

from functools import partial
from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Floats, Int64s
from setveil.kernels.disassociation.frequent import FAR, find_pair
from setveil.kernels.jit import kernel, patient, step

SPREAD = 0.3
"""How evenly a joint cluster is taken to spread an item over its clusters. Measured."""


class Triples(NamedTuple):
    """Triples of items, listed under the pair of the first two; see `frequent.Pairs`."""

    first: Int64s
    third: Int64s
    outer: Int64s  # the pair of the first and the third item
    inner: Int64s  # the pair of the second and the third item


class Supports(NamedTuple):
    """Supports of items, pairs and triples: what is expected, and what chunks show for certain."""

    items: Int64s
    pairs: Floats
    triples: Floats
    sure_pairs: Int64s
    sure_triples: Int64s


class Room(NamedTuple):
    """What is known of the items of one cluster."""

    held: Int64s  # how many of its records have each item; 0 for all items between clusters
    chunk: Int64s  # of each item, or -1
    here: Floats  # how many records are expected to have it
    last: Int64s  # the last record that had it
    touched: Int64s  # the items of the cluster
    pairs: Int64s  # how many records have each pair inside a chunk
    triples: Int64s


@partial(patient, elements=50_000)  # it is called several times
@kernel
def expect_supports(block, number, mass, pairs, triples):
    """The expected supports of items, pairs and triples in the records of clusters.

    `number` is the chunk of each occurrence, or -1. What is inside a chunk is exact. Else, if a and
    b of s records of a cluster have two items, a b / s are expected to have both, and so on. An
    item of a term chunk counts once; one that is shared has its `mass` there, what its joint
    cluster gives to a cluster of this size (for all others that is 0), mixed with what it really
    has: clusters that share an item are alike. The pairs of each item are ascending."""
    width, many, more = len(pairs.first) - 1, len(pairs.second), len(triples.third)
    room = Room(
        np.zeros(width, np.int64),
        np.empty(width, np.int64),
        np.zeros(width, np.float64),
        np.full(width, -1, np.int64),
        np.empty(width, np.int64),
        np.zeros(many, np.int64),
        np.zeros(more, np.int64),
    )
    found = Supports(
        np.zeros(width, np.int64),
        np.zeros(many, np.float64),
        np.zeros(more, np.float64),
        np.zeros(many, np.int64),
        np.zeros(more, np.int64),
    )
    for cluster in range(len(block.bounds) - 1):
        start, stop = block.bounds[cluster], block.bounds[cluster + 1]
        distinct = np.int64(0)
        for record in range(start, stop):
            distinct = note_items(block, number, mass, record, distinct, room)
            count_inside(block, number, record, pairs, triples, room)
        for i in range(distinct):
            item = room.touched[i]
            if room.chunk[item] < 0:
                room.held[item] = 1
            found.items[item] += room.held[item]
            given = room.here[item]
            mixed = SPREAD * given + (1 - SPREAD) * room.held[item]
            room.here[item] = mixed if given > 0 else room.held[item]
        for i in range(distinct):
            add_expected(room.touched[i], stop - start, pairs, triples, room, found)
        for i in range(distinct):
            clear(room.touched[i], pairs, triples, room)
    return found


@step
def note_items(block, number, mass, record, distinct, room):
    """Count the items of a record; returns how many the cluster has so far."""
    for at in range(block.indptr[record], block.indptr[record + 1]):
        item = block.items[at]
        room.last[item] = record
        room.chunk[item], room.here[item] = number[at], mass[at]
        if room.held[item] == 0:
            room.touched[distinct] = item
            distinct += 1
        room.held[item] += 1
    return distinct


@step
def count_inside(block, number, record, pairs, triples, room):
    """Count the pairs and triples of a record that are inside a chunk."""
    for at in range(block.indptr[record], block.indptr[record + 1]):
        if number[at] < 0:
            continue
        start, stop = pairs.first[block.items[at]], pairs.first[block.items[at] + 1]
        if stop - start > FAR * (block.indptr[record + 1] - at):
            for other in range(at + 1, block.indptr[record + 1]):
                if number[other] == number[at]:
                    i = find_pair(pairs.second, start, stop, block.items[other])
                    if i >= 0:
                        count_pair(i, record, number[at], triples, room)
            continue
        for i in range(start, stop):
            other = pairs.second[i]
            if room.last[other] == record and room.chunk[other] == number[at]:
                count_pair(i, record, number[at], triples, room)


@step
def count_pair(pair, record, number, triples, room):
    """Count a pair of a record inside a chunk, and the triples under it."""
    room.pairs[pair] += 1
    for t in range(triples.first[pair], triples.first[pair + 1]):
        third = triples.third[t]
        if room.last[third] == record and room.chunk[third] == number:
            room.triples[t] += 1


@step
def add_expected(item, size, pairs, triples, room, found):
    """Add what a cluster is expected to have of the pairs and triples that begin with an item."""
    here, chunk = room.here, room.chunk
    for i in range(pairs.first[item], pairs.first[item + 1]):
        other = pairs.second[i]
        if room.held[other] == 0:
            continue
        joined = chunk[item] >= 0 and chunk[item] == chunk[other]
        found.pairs[i] += room.pairs[i] if joined else here[item] * here[other] / size
        found.sure_pairs[i] += room.pairs[i]
        for t in range(triples.first[i], triples.first[i + 1]):
            third = triples.third[t]
            if room.held[third] == 0:
                continue
            if joined and chunk[third] == chunk[item]:
                found.triples[t] += room.triples[t]
                found.sure_triples[t] += room.triples[t]
            elif joined:
                found.triples[t] += room.pairs[i] * here[third] / size
            elif chunk[item] >= 0 and chunk[item] == chunk[third]:
                found.triples[t] += room.pairs[triples.outer[t]] * here[other] / size
            elif chunk[other] >= 0 and chunk[other] == chunk[third]:
                found.triples[t] += room.pairs[triples.inner[t]] * here[item] / size
            else:
                found.triples[t] += here[item] * here[other] / size * here[third] / size


@step
def clear(item, pairs, triples, room):
    """Forget the counts of a cluster."""
    room.held[item] = 0
    for i in range(pairs.first[item], pairs.first[item + 1]):
        if room.pairs[i] > 0:
            room.pairs[i] = 0
            for t in range(triples.first[i], triples.first[i + 1]):
                room.triples[t] = 0
