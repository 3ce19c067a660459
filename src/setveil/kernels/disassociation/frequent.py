"""Kernels that judge: frequent pairs and triples of items, and what chunks say of them."""

from functools import partial
from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Floats, Int64s
from setveil.kernels.jit import kernel, patient, step
from setveil.kernels.steps import find, roomier

FAR = 4
"""From this many pairs of an item for each other item of a record, the latter are looked up."""


class Pairs(NamedTuple):
    """Pairs of items, listed under the first of them: first[i] to first[i + 1] - 1 for item i."""

    first: Int64s
    second: Int64s
    supports: Int64s


@patient
@kernel
def frequent_pairs(indptr, items, holders, wanted, top):
    """The `wanted` most frequent pairs, those that tie with the last of them, and all pairs of two
    `top` items; and the support of the last.

    `holders` are the records of each item: where they begin, and their numbers. Pairs are counted
    item by item, over the records of the item. A pair below the `bar`, the support of the last of
    the most frequent ones so far, is not listed."""
    starts, rows = holders
    width = len(starts) - 1
    counts, touched = np.zeros(width, np.int64), np.empty(width, np.int64)
    first, many = np.zeros(width + 1, np.int64), np.zeros(len(indptr) + 1, np.int64)
    second, supports = np.empty(1024, np.int64), np.empty(1024, np.int64)
    end, bar, above = np.int64(0), np.int64(1), np.int64(0)
    for item in range(width):
        met = np.int64(0)
        for at in range(starts[item], starts[item + 1]):
            for i in range(indptr[rows[at] + 1] - 1, indptr[rows[at]] - 1, -1):
                if items[i] <= item:
                    break
                if counts[items[i]] == 0:
                    touched[met] = items[i]
                    met += 1
                counts[items[i]] += 1
        if top[item]:
            met = add_absent(item, top, counts, touched, met)
        for i in range(met):
            count = counts[touched[i]]
            counts[touched[i]] = 0
            many[count] += 1
            above += count > bar
            if count >= bar or (top[item] and top[touched[i]]):
                second, supports = roomier(second, end + 1), roomier(supports, end + 1)
                second[end], supports[end] = touched[i], count
                end += 1
        first[item + 1] = end
        # `above` counts the pairs so far that are above the bar. While enough are, it can rise: it
        # never passes the support of the last wanted pair, so nothing that is needed was dropped.
        while above >= wanted:
            bar += 1
            above -= many[bar]
    return drop_rare(Pairs(first, second, supports), bar, top), bar


@step
def add_absent(item, top, counts, touched, met):
    """List the top items that never occur with this one too."""
    for other in range(item + 1, len(top)):
        if top[other] and counts[other] == 0:
            touched[met] = other
            met += 1
    return met


@step
def drop_rare(pairs, bar, top):
    """Without what was listed before the bar was as high as it is now."""
    end, start = np.int64(0), np.int64(0)
    for item in range(len(pairs.first) - 1):
        stop = pairs.first[item + 1]
        for i in range(start, stop):
            if pairs.supports[i] >= bar or (top[item] and top[pairs.second[i]]):
                pairs.second[end], pairs.supports[end] = pairs.second[i], pairs.supports[i]
                end += 1
        pairs.first[item + 1], start = end, stop
    return Pairs(pairs.first, pairs.second[:end].copy(), pairs.supports[:end].copy())


@patient
@kernel
def list_triples(pairs, bar, most):
    """All triples of which every pair has at least the support `bar`, at most `most`: under which
    pair, the third items, and their pairs with the first and the second."""
    width = len(pairs.first) - 1
    first, place = np.zeros(len(pairs.second) + 1, np.int64), np.full(width, -1, np.int64)
    third, outer = np.empty(1024, np.int64), np.empty(1024, np.int64)
    inner, end = np.empty(1024, np.int64), np.int64(0)
    for item in range(width):
        for i in range(pairs.first[item], pairs.first[item + 1]):
            if pairs.supports[i] >= bar:
                place[pairs.second[i]] = i
        for i in range(pairs.first[item], pairs.first[item + 1]):
            other = pairs.second[i]
            for j in range(pairs.first[other], pairs.first[other + 1]):
                both = pairs.supports[i] >= bar and pairs.supports[j] >= bar
                if both and place[pairs.second[j]] >= 0 and end < most:
                    third, outer = roomier(third, end + 1), roomier(outer, end + 1)
                    inner = roomier(inner, end + 1)
                    third[end], outer[end], inner[end] = pairs.second[j], place[pairs.second[j]], j
                    end += 1
            first[i + 1] = end
        for i in range(pairs.first[item], pairs.first[item + 1]):
            place[pairs.second[i]] = -1
    return first, third[:end].copy(), outer[:end].copy(), inner[:end].copy()


@kernel
def count_triples(indptr, items, pairs, triples):
    """How many records have each triple; the pairs of each item are ascending."""
    last, counts = np.full(len(pairs.first), -1, np.int64), np.zeros(len(triples.third), np.int64)
    for record in range(len(indptr) - 1):
        for at in range(indptr[record], indptr[record + 1]):
            last[items[at]] = record
        for at in range(indptr[record], indptr[record + 1]):
            start, stop = pairs.first[items[at]], pairs.first[items[at] + 1]
            if stop - start > FAR * (indptr[record + 1] - at):
                for other in range(at + 1, indptr[record + 1]):
                    i = find(pairs.second, start, stop, items[other])
                    if i >= 0:
                        count_thirds(counts, triples, i, last, record)
                continue
            for i in range(start, stop):
                if last[pairs.second[i]] == record:
                    count_thirds(counts, triples, i, last, record)
    return counts


@step
def count_thirds(counts, triples, pair, last, record):
    """Count the triples of a record that are listed under one of its pairs."""
    for t in range(triples.first[pair], triples.first[pair + 1]):
        counts[t] += last[triples.third[t]] == record


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
                    i = find(pairs.second, start, stop, block.items[other])
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
