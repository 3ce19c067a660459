"""Clusters that lose least: bags are compared by their profiles over the hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int32s, Int64s, find, ranges, sums
from setveil.data.transactions import Bags
from setveil.engines.base import Engine, Progress
from setveil.hierarchy.neighbours import common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.ssc import profiles
from setveil.kernels.ssc.profiles import ALIVE, Block, Nodes
from setveil.kernels.ssc.slots import fill_slots
from setveil.methods.ssc.clusters import Clusters, Growing, finished

EXACT = 1
"""How many occurrences more a common term counts if it is published as itself: as much as to be
published at all. 0 loses least, but then terms that occur together are replaced by others of
similar meaning, and frequent itemsets are not found."""
CROWDS = 2
"""A term is common if it could be published as itself by CROWDS clusters: CROWDS * k bags have it.
Rarer terms seldom find k bags at all, and only keep their cluster from better company."""
BUDGET = 200  # how many clusters a task works on before progress is reported


class Exchanging(NamedTuple):
    """The exchanges between the clusters of a block, and how far they are."""

    block: Block
    groups: profiles.Groups
    done: int  # how many clusters were visited in all rounds; round 0 finds out what they are worth
    total: int


def cluster(
    blocks: Sequence[Block], rounds: int, engine: Engine, progress: Progress | None = None
) -> list[Clusters]:
    """The clusters of each block; their terms are nodes of the block."""
    gathering = [begin_gathering(block) for block in blocks]
    gathering = finished(gather_some, gathering, "clustering", engine, progress)
    placed = engine.map(place_rest, gathering)
    exchanging = [begin_exchanging(*made, rounds) for made in placed]
    exchanging = finished(exchange_some, exchanging, "exchanging", engine, progress)
    made = [(block.block, block.groups.members, block.groups.bounds) for block in exchanging]
    return list(engine.map(with_slots, made))


def block_of(data: Bags, hierarchy: Hierarchy, k: int) -> tuple[Block, Int32s]:
    """Bags as the kernels take them, and the item that each of its nodes is; -1 if it is a group.

    Of equal losses the first bag is taken, so bags should come in a canonical order."""
    leaves = hierarchy.leaf_numbers(data.vocabulary)
    holders = np.bincount(data.items, minlength=len(data.vocabulary))
    common = leaves[holders >= CROWDS * k]
    tree, number = _nodes(hierarchy, leaves[holders > 0], common)
    paths = number[hierarchy.ancestors[leaves]]
    indptr, nodes, counts = _profiles(data, paths, len(tree.parent))
    order = np.lexsort((leaves[data.items], data.rows))
    items = np.full(len(tree.parent), -1, dtype=np.int32)
    known = number[leaves] >= 0
    items[number[leaves[known]]] = np.flatnonzero(known)
    sums = np.concatenate(([0], np.cumsum(tree.weight[nodes] * counts)))
    block = Block(
        starts=data.indptr,
        leaves=number[leaves[data.items[order]]],
        times=data.counts[order],
        indptr=indptr,
        nodes=nodes,
        counts=counts,
        sizes=data.totals,
        values=np.diff(sums[indptr]),
        tree=tree,
        whole=np.int64(whole_of(hierarchy)),
        k=np.int64(k),
    )
    return block, items


def whole_of(hierarchy: Hierarchy) -> int:
    """What is lost by an occurrence that is not published, in leaves."""
    return max(hierarchy.leaf_count - 1, 1)


def _nodes(hierarchy: Hierarchy, leaves: Int32s, common: Int32s) -> tuple[Nodes, Int32s]:
    """The nodes over some leaves without the root, by depth; and the number of each node, -1 if it
    is not among them. The last number is that of no node. Leaves that are common count more."""
    used = np.unique(hierarchy.ancestors[leaves])
    used = used[(used >= 0) & ((used != hierarchy.root) | (hierarchy.leaf_count == 1))]
    used = used[np.argsort(hierarchy.depth[used], kind="stable")]
    number = np.full(len(hierarchy) + 1, -1, dtype=np.int32)
    number[used] = np.arange(len(used))
    parent, widths = hierarchy.parent[used], hierarchy.widths
    above = np.where(parent >= 0, widths[parent], 2)  # the only item of all is kept or lost
    weight = above - widths[used]
    weight[number[common]] += EXACT * whole_of(hierarchy)
    return Nodes(number[parent], weight, hierarchy.first[used], hierarchy.stop[used]), number


def _profiles(data: Bags, paths: Int32s, width: int) -> tuple[Int64s, Int32s, Int64s]:
    """How often each bag has something below each node: starts, nodes and counts."""
    nodes = paths[data.items]
    held = nodes >= 0
    codes = (data.rows[:, None] * width + nodes)[held]
    counts = np.repeat(data.counts, held.sum(axis=1))
    order = np.argsort(codes, kind="stable")
    codes, counts = codes[order], counts[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    sums = np.add.reduceat(counts, starts) if len(starts) else counts
    rows, found = np.divmod(codes[starts], max(width, 1))
    return np.searchsorted(rows, np.arange(len(data) + 1)), found.astype(np.int32), sums


def begin_gathering(block: Block) -> Growing:
    """The clustering of a block before its first step."""
    count = len(block.sizes)
    numbers = np.array([count, 0], dtype=np.int64)
    members = np.empty(count // int(block.k) * int(block.k), dtype=np.int64)
    return Growing(block, profiles.Gathered(np.arange(count), members, numbers))


def gather_some(part: Growing) -> Growing:
    """The block with some more clusters; what was given stays as it is."""
    state = profiles.Gathered._make(array.copy() for array in part.state)
    profiles.gather(part.block, state, np.int64(BUDGET))
    return part._replace(state=state)


def place_rest(part: Growing) -> tuple[Block, Int64s, Int64s]:
    """The members of all clusters, with the fewer than k bags that were left, and the bounds."""
    block, members = part.block, part.state.members
    bounds = np.arange(0, len(members) + 1, int(block.k))
    for row in part.state.alive[: part.state.numbers[ALIVE]].tolist():
        chosen = int(profiles.find_cluster(block, members, bounds, np.int64(row)))
        members = np.insert(members, bounds[chosen + 1], row)
        bounds = bounds + (np.arange(len(bounds)) > chosen)
    return block, members, bounds


def begin_exchanging(block: Block, members: Int64s, bounds: Int64s, rounds: int) -> Exchanging:
    """The exchanges of a block before their first step."""
    count = len(bounds) - 1
    owner, rest = np.empty(len(members), dtype=np.int64), np.zeros(len(members), dtype=np.int64)
    owner[members] = np.repeat(np.arange(count), np.diff(bounds))
    groups = profiles.Groups(members, bounds, owner, np.zeros(count, dtype=np.int64), rest)
    return Exchanging(block, groups, 0, (rounds + 1) * count if rounds else 0)


def exchange_some(part: Exchanging) -> Exchanging:
    """The block after exchanges of some more clusters; what was given stays as it is."""
    groups = profiles.Groups._make(array.copy() for array in part.groups)
    count = len(groups.worth)
    first = part.done % count
    last = min(first + BUDGET, count)
    searching = np.int64(part.done >= count)
    profiles.exchange(part.block, groups, np.int64(first), np.int64(last), searching)
    return part._replace(groups=groups, done=part.done + last - first)


def with_slots(clusters: tuple[Block, Int64s, Int64s]) -> Clusters:
    """Clusters with their slots; given are the bags of each in turn, and the bounds."""
    block, members, bounds = clusters
    made, times, leaves = fill_slots(block, members, bounds)
    return Clusters(members, bounds, np.repeat(np.arange(len(made)), made), times, leaves)


def with_rest(data: Bags, clusters: Clusters, hierarchy: Hierarchy) -> Clusters:
    """Clusters with slots for what they do not publish yet, as far as it shares a node.

    Slots that have nothing but the root in common are dissolved first: they lose everything."""
    clusters = _without_root(data, clusters, hierarchy)
    width, sizes = max(len(data.vocabulary), 1), clusters.slot_sizes
    people = clusters.members[ranges(clusters.bounds[clusters.slot_cluster], sizes)]
    at = find(data.rows * width + data.items, people * width + clusters.terms)
    left = data.counts - sums(at, np.repeat(clusters.slot_times, sizes), len(data.counts))
    is_left = left > 0
    owners, items, counts = data.rows[is_left], data.items[is_left], left[is_left]
    rest = Bags.from_pairs(owners, items, data.vocabulary, size=len(data), counts=counts)
    rest = rest.take(clusters.members)
    if not rest.occurrences:
        return clusters
    block, named = block_of(rest, hierarchy, 1)
    more = with_slots((block, np.arange(len(clusters.members)), clusters.bounds))
    return replace(
        clusters,
        slot_cluster=np.concatenate((clusters.slot_cluster, more.slot_cluster)),
        slot_times=np.concatenate((clusters.slot_times, more.slot_times)),
        terms=np.concatenate((clusters.terms, named[more.terms])),
    )


def _without_root(data: Bags, clusters: Clusters, hierarchy: Hierarchy) -> Clusters:
    """Clusters without the slots whose terms have only the root in common."""
    leaves = hierarchy.leaf_numbers(data.vocabulary)[clusters.terms]
    count, owners = len(clusters.slot_times), clusters.slot_owners
    kept = common_ancestors(hierarchy, owners, leaves, count) != hierarchy.root
    return replace(
        clusters,
        slot_cluster=clusters.slot_cluster[kept],
        slot_times=clusters.slot_times[kept],
        terms=clusters.terms[kept[owners]],
    )
