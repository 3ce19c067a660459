"""Kernels that judge: what the chunks of clusters lead one to expect of pairs and triples."""

from functools import partial
from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Floats, Int32s, Int64s
from setveil.kernels.disassociation.given import Given
from setveil.kernels.jit import kernel, patient, step
from setveil.kernels.steps import find, roomier

FAR = 4
"""From this many pairs of an item for each other item of a record, the latter are looked up."""
NOWHERE, OWN = -1, -2
"""In place of a shared chunk: a cluster has the item from none, or does not need one."""


class Shown(NamedTuple):
    """What a release shows of the records of its clusters."""

    number: Int32s  # the chunk of each occurrence, or -1
    listed: Floats  # in how many records of each cluster an item of its term chunk is expected
    given: Given


class Supports(NamedTuple):
    """Supports of pairs and triples: what is expected, and what chunks show for certain."""

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
def expect_supports(block, shown, pairs, table, triples):
    """The expected supports of pairs and triples in the records of clusters.

    What is inside a chunk is exact. Else, if a and b of s records of a cluster have two items, a b
    / s are expected to have both, and so on. An item of a term chunk is in as many records as
    `listed` says, and one that is shared in as many as it is `given`. The pairs of each item are
    ascending; `table` has the number of each pair, or is empty if that would take too much memory.
    """
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
        np.zeros(many, np.float64),
        np.zeros(more, np.float64),
        np.zeros(many, np.int64),
        np.zeros(more, np.int64),
    )
    for cluster in range(len(block.bounds) - 1):
        start, stop = block.bounds[cluster], block.bounds[cluster + 1]
        distinct = count_cluster(block, shown.number, cluster, (pairs, table, triples), room)
        for i in range(distinct):
            item = room.touched[i]
            is_listed = room.chunk[item] < 0
            room.here[item] = shown.listed[cluster] if is_listed else room.held[item]
        distinct = note_given(shown.given, cluster, distinct, room)
        add_expected(distinct, stop - start, pairs, triples, room, found)
        clear(distinct, pairs, triples, room)
    return found


@step
def note_given(given, cluster, distinct, room):
    """Note what shared chunks give to a cluster, also of items that it does not really have."""
    for at in range(given.ptr[cluster], given.ptr[cluster + 1]):
        item = given.items[at]
        room.chunk[item], room.here[item] = given.chunks[at], given.masses[at]
        if room.held[item] == 0:
            room.touched[distinct], room.held[item] = item, 1
            distinct += 1
    return distinct


@step
def count_cluster(block, number, cluster, wanted, room):
    """Count the items of a cluster, and the pairs and triples of its records that are inside a
    chunk; returns how many items it has."""
    pairs, table, triples = wanted
    distinct, far = np.int64(0), 1 if len(table) else FAR
    for record in range(block.bounds[cluster], block.bounds[cluster + 1]):
        begin, end = block.indptr[record], block.indptr[record + 1]
        for at in range(begin, end):
            item = block.items[at]
            room.last[item], room.chunk[item] = record, number[at]
            if room.held[item] == 0:
                room.touched[distinct] = item
                distinct += 1
            room.held[item] += 1
        for at in range(begin, end):
            first, stop = pairs.first[block.items[at]], pairs.first[block.items[at] + 1]
            if number[at] < 0:
                continue
            if stop - first > far * (end - at):
                for other in range(at + 1, end):
                    if number[other] == number[at]:
                        if len(table):
                            i = np.int64(table[block.items[at], block.items[other]])
                        else:
                            i = find(pairs.second, first, stop, block.items[other])
                        if i >= 0:
                            room.pairs[i] += 1
                            if triples.first[i + 1] > triples.first[i]:
                                count_thirds(i, record, number[at], triples, room)
                continue
            for i in range(first, stop):
                other = pairs.second[i]
                if room.last[other] == record and room.chunk[other] == number[at]:
                    room.pairs[i] += 1
                    if triples.first[i + 1] > triples.first[i]:
                        count_thirds(i, record, number[at], triples, room)
    return distinct


@step
def count_thirds(pair, record, number, triples, room):
    """Count the triples of a record inside a chunk that are listed under one of its pairs."""
    for t in range(triples.first[pair], triples.first[pair + 1]):
        third = triples.third[t]
        if room.last[third] == record and room.chunk[third] == number:
            room.triples[t] += 1


@step
def add_expected(distinct, size, pairs, triples, room, found):
    """Add what a cluster is expected to have of the pairs and triples of its items."""
    here, chunk = room.here, room.chunk
    for at in range(distinct):
        item = room.touched[at]
        for i in range(pairs.first[item], pairs.first[item + 1]):
            other = pairs.second[i]
            if room.held[other] == 0:
                continue
            joined = chunk[item] >= 0 and chunk[item] == chunk[other]
            found.pairs[i] += room.pairs[i] if joined else here[item] * here[other] / size
            found.sure_pairs[i] += room.pairs[i]
            if triples.first[i + 1] > triples.first[i]:
                add_triples(item, i, size, (pairs, triples), room, found)


@step
def add_triples(item, pair, size, wanted, room, found):
    """The same of the triples under one pair."""
    (pairs, triples), here, chunk = wanted, room.here, room.chunk
    other = pairs.second[pair]
    joined = chunk[item] >= 0 and chunk[item] == chunk[other]
    for t in range(triples.first[pair], triples.first[pair + 1]):
        third = triples.third[t]
        if room.held[third] == 0:
            continue
        if joined and chunk[third] == chunk[item]:
            found.triples[t] += room.triples[t]
            found.sure_triples[t] += room.triples[t]
        elif joined:
            found.triples[t] += room.pairs[pair] * here[third] / size
        elif chunk[item] >= 0 and chunk[item] == chunk[third]:
            found.triples[t] += room.pairs[triples.outer[t]] * here[other] / size
        elif chunk[other] >= 0 and chunk[other] == chunk[third]:
            found.triples[t] += room.pairs[triples.inner[t]] * here[item] / size
        else:
            found.triples[t] += here[item] * here[other] / size * here[third] / size


@step
def clear(distinct, pairs, triples, room):
    """Forget the counts of a cluster."""
    for at in range(distinct):
        item = room.touched[at]
        room.held[item] = 0
        for i in range(pairs.first[item], pairs.first[item + 1]):
            if room.pairs[i] > 0:
                room.pairs[i] = 0
                for t in range(triples.first[i], triples.first[i + 1]):
                    room.triples[t] = 0


@partial(patient, elements=50_000)
@kernel
def count_terms(block, number, kept, width):
    """For each cluster, how many items it shows in record chunks, which have numbers below `kept`,
    and how many it lists (number -1)."""
    clusters, last = len(block.bounds) - 1, np.full(width, -1, np.int64)
    counts = np.zeros((2, clusters), np.int64)
    for cluster in range(clusters):
        start, stop = block.indptr[block.bounds[cluster]], block.indptr[block.bounds[cluster + 1]]
        for at in range(start, stop):
            if number[at] < kept and last[block.items[at]] < cluster:
                last[block.items[at]] = cluster
                counts[1 if number[at] < 0 else 0, cluster] += 1
    return counts


class Entries(NamedTuple):
    """The items of each cluster, item by item: those of item i are `ptr[i]` to `ptr[i + 1] - 1`."""

    ptr: Int64s
    cluster: Int64s
    chunk: Int64s  # or -1
    held: Int64s  # how many records of the cluster have it


class Forest(NamedTuple):
    """Clusters, and the joint clusters above them.

    Below node v are the clusters `order[begin[v]]` to `order[stop[v] - 1]`, and the shared chunk
    `first + h` is that of the node `chunk_node[h]`."""

    order: Int64s
    begin: Int64s
    stop: Int64s
    chunk_node: Int64s
    first: int


@partial(patient, elements=50_000)
@kernel
def spread_shared(block, number, parent, chunk_node, first, width):
    """What shared chunks give to each cluster: a subrecord is in any record of the joint cluster
    alike, but for clusters that have the item in a chunk or list of their own, or from a joint
    cluster further down. Shared chunks have numbers from `first` on."""
    sizes, forest = (
        block.bounds[1:] - block.bounds[:-1],
        grow(parent, len(block.bounds) - 1, chunk_node, first),
    )
    entries = list_entries(block, number, width)
    source = np.full(len(sizes), NOWHERE, np.int64)
    total, size = np.zeros(len(chunk_node), np.int64), np.zeros(len(chunk_node), np.int64)
    listed, end = np.empty(len(chunk_node), np.int64), np.int64(0)
    clusters, items = np.empty(1024, np.int64), np.empty(1024, np.int64)
    chunks, masses = np.empty(1024, np.int64), np.empty(1024, np.float64)
    for item in range(width):
        count = find_sources(entries, item, forest, source, total, listed)
        for i in range(count):
            h = listed[i]
            node = chunk_node[h]
            for at in range(forest.begin[node], forest.stop[node]):
                if source[forest.order[at]] == h:
                    size[h] += sizes[forest.order[at]]
        for i in range(count):
            h = listed[i]
            node = chunk_node[h]
            for at in range(forest.begin[node], forest.stop[node]):
                cluster = forest.order[at]
                if source[cluster] == h:
                    clusters, items = roomier(clusters, end + 1), roomier(items, end + 1)
                    chunks, masses = roomier(chunks, end + 1), roomier(masses, end + 1)
                    clusters[end], items[end], chunks[end] = cluster, item, first + h
                    masses[end] = total[h] * sizes[cluster] / size[h]
                    end += 1
        for i in range(count):
            h = listed[i]
            total[h] = size[h] = 0
            for at in range(forest.begin[chunk_node[h]], forest.stop[chunk_node[h]]):
                source[forest.order[at]] = NOWHERE
    return by_cluster(clusters[:end], Given(sizes, items, chunks, masses))


@step
def grow(parent, clusters, chunk_node, first):
    """The forest of some nodes, of which the parts come before their joint clusters."""
    nodes, top = len(parent), np.int64(0)
    leaves, begin = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    leaves[:clusters] = 1
    for node in range(nodes):
        if parent[node] >= 0:
            leaves[parent[node]] += leaves[node]
    filled, order = np.zeros(nodes, np.int64), np.empty(clusters, np.int64)
    for node in range(nodes - 1, -1, -1):
        if parent[node] < 0:
            begin[node] = top
            top += leaves[node]
        else:
            begin[node] = begin[parent[node]] + filled[parent[node]]
            filled[parent[node]] += leaves[node]
        if node < clusters:
            order[begin[node]] = node
    return Forest(order, begin, begin + leaves, chunk_node, first)


@step
def list_entries(block, number, width):
    """The items of each cluster, item by item."""
    last, ptr = np.full(width, -1, np.int64), np.zeros(width + 1, np.int64)
    for cluster in range(len(block.bounds) - 1):
        start, stop = block.indptr[block.bounds[cluster]], block.indptr[block.bounds[cluster + 1]]
        for at in range(start, stop):
            if last[block.items[at]] < cluster:
                last[block.items[at]] = cluster
                ptr[block.items[at] + 1] += 1
    for item in range(width):
        ptr[item + 1] += ptr[item]
    fill = ptr[:-1].copy()
    entries = Entries(
        ptr,
        np.full(ptr[width], -1, np.int64),
        np.empty(ptr[width], np.int64),
        np.zeros(ptr[width], np.int64),
    )
    for cluster in range(len(block.bounds) - 1):
        start, stop = block.indptr[block.bounds[cluster]], block.indptr[block.bounds[cluster + 1]]
        for at in range(start, stop):
            item = block.items[at]
            place = fill[item] - 1
            if place < ptr[item] or entries.cluster[place] < cluster:
                place = fill[item]
                fill[item] += 1
                entries.cluster[place], entries.chunk[place] = cluster, number[at]
            entries.held[place] += 1
    return entries


@step
def find_sources(entries, item, forest, source, total, listed):
    """The shared chunks of an item, how many subrecords of each have it, and from which of them a
    cluster has it: of two above a cluster, from the nearer, whose node is smaller."""
    count = np.int64(0)
    for at in range(entries.ptr[item], entries.ptr[item + 1]):
        h = entries.chunk[at] - forest.first
        if h >= 0:
            if total[h] == 0:
                listed[count] = h
                count += 1
            total[h] += entries.held[at]
    for i in range(count):
        node = forest.chunk_node[listed[i]]
        for at in range(forest.begin[node], forest.stop[node]):
            cluster = forest.order[at]
            if source[cluster] == NOWHERE or node < forest.chunk_node[source[cluster]]:
                source[cluster] = listed[i]
    if count > 0:
        for at in range(entries.ptr[item], entries.ptr[item + 1]):
            # Elsewhere it is not looked at; where it is, it is forgotten with the joint cluster.
            if entries.chunk[at] < forest.first and source[entries.cluster[at]] != NOWHERE:
                source[entries.cluster[at]] = OWN
    return count


@step
def by_cluster(clusters, given):
    """What is given, cluster by cluster; `given.ptr` is as long as there are clusters."""
    ptr, end = np.zeros(len(given.ptr) + 1, np.int64), len(clusters)
    for cluster in clusters:
        ptr[cluster + 1] += 1
    for cluster in range(len(given.ptr)):
        ptr[cluster + 1] += ptr[cluster]
    fill, order = ptr[:-1].copy(), np.empty(end, np.int64)
    for at in range(end):
        order[fill[clusters[at]]] = at
        fill[clusters[at]] += 1
    return Given(ptr, given.items[order], given.chunks[order], given.masses[order])
