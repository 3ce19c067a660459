"""Kernels of SSC: clusters of bags by their profiles, the occurrences below each node of the tree.

A cluster can publish, at or below a node, as many occurrences as each of its members has there, and
all nodes reach their most at the same time. So what a cluster keeps is a sum over the nodes of its
common profile, the least count of any member, and no matching is needed to find it. Weights are
whole numbers: the leaves that a node has fewer than its parent."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import kernel, step


class Nodes(NamedTuple):
    """The nodes below the root that have occurrences, parents before their children."""

    parent: Int32s  # -1 below the root
    weight: Int64s  # how much less is lost by an occurrence at this node than at its parent
    first: Int32s  # the leaves below a node are `first` to `stop - 1`
    stop: Int32s


class Block(NamedTuple):
    """Bags to cluster: the leaf of each of their terms, and their profiles."""

    starts: Int64s  # the terms of bag i are starts[i] to starts[i + 1] - 1, in the tree's order
    leaves: Int32s
    times: Int64s
    indptr: Int64s  # the nodes of bag i, ascending
    nodes: Int32s
    counts: Int64s
    sizes: Int64s  # all occurrences of each bag
    values: Int64s  # what a bag keeps if it is published as it is
    tree: Nodes
    whole: np.int64  # what is lost by an occurrence that is not published
    k: np.int64


class Common(NamedTuple):
    """The common profile of some bags, with room for another number per node."""

    least: Int64s  # the count of the member that has least below a node
    present: Int64s  # how many of the bags have the node; 0 between calls
    touched: Int64s  # the nodes of the bags
    reach: Int64s  # what one occurrence below a node keeps at most


@step
def new_common(block):
    zeros = np.zeros((4, len(block.tree.parent)), np.int64)
    return Common(zeros[0], zeros[1], zeros[2], zeros[3])


@step
def set_common(block, members, skipped, common):
    """Fill in the common profile of all members but one; how many nodes were touched."""
    size, touched = np.int64(0), np.int64(0)
    for row in members:
        if row == skipped:
            continue
        size += 1
        for i in range(block.indptr[row], block.indptr[row + 1]):
            node, count = block.nodes[i], block.counts[i]
            if common.present[node] == 0:
                common.touched[touched] = node
                touched += 1
                common.least[node] = count
            elif count < common.least[node]:
                common.least[node] = count
            common.present[node] += 1
    for i in range(touched):
        node = common.touched[i]
        if common.present[node] < size:
            common.least[node] = 0
        common.present[node] = 0
    return touched


@step
def clear_common(common, touched):
    for i in range(touched):
        common.least[common.touched[i]] = 0


@step
def set_reach(tree, common):
    """Fill in what one occurrence below each node keeps if it has the common profile to itself."""
    for node in range(len(tree.parent)):
        parent = tree.parent[node]
        above = np.int64(0) if parent < 0 else common.reach[parent]
        common.reach[node] = above + (tree.weight[node] if common.least[node] > 0 else 0)


@step
def bound_of(block, row, common):
    """A bound on what a bag and the common profile share: each occurrence as if it were alone."""
    bound = np.int64(0)
    for i in range(block.starts[row], block.starts[row + 1]):
        bound += block.times[i] * common.reach[block.leaves[i]]
    return bound


@step
def shared_with(block, row, common):
    """What each member keeps if a bag joins those with this common profile."""
    shared = np.int64(0)
    for i in range(block.indptr[row], block.indptr[row + 1]):
        node = block.nodes[i]
        shared += block.tree.weight[node] * min(common.least[node], block.counts[i])
    return shared


@step
def value_of(tree, common, touched):
    """What each member keeps."""
    value = np.int64(0)
    for i in range(touched):
        node = common.touched[i]
        value += tree.weight[node] * common.least[node]
    return value


ALIVE, MEMBERS = 0, 1  # slots of `Gathered.numbers`


class Gathered(NamedTuple):
    """How far the clustering is."""

    alive: Int64s  # the bags that are in no cluster yet, ascending
    members: Int64s  # the bags of one cluster after the other, k each
    numbers: Int64s


@kernel
def gather(block, state, budget):
    """Make at most `budget` clusters: each takes the first bag left, then the nearest ones."""
    common, numbers = new_common(block), state.numbers
    bounds = np.empty(len(state.alive), np.int64)
    while numbers[ALIVE] >= block.k and budget > 0:
        budget -= 1
        start = numbers[MEMBERS]
        take(state, np.int64(0))
        for size in range(1, block.k):
            members = state.members[start : numbers[MEMBERS]]
            touched = set_common(block, members, np.int64(-1), common)
            place = find_nearest(block, state, np.int64(size), common, bounds)
            clear_common(common, touched)
            take(state, place)


@step
def take(state, place):
    """Move a bag from those that are left to the cluster that is being made."""
    state.members[state.numbers[MEMBERS]] = state.alive[place]
    state.numbers[MEMBERS] += 1
    state.numbers[ALIVE] -= 1
    for i in range(place, state.numbers[ALIVE]):
        state.alive[i] = state.alive[i + 1]


@step
def find_nearest(block, state, size, common, bounds):
    """The place in `alive` of the bag whose joining loses least; of equals the first.

    What is lost is all of the bag but what it shares, and what the `size` others no longer keep.
    Bags for which even the bound is too little are never compared exactly."""
    set_reach(block.tree, common)
    chosen = np.int64(0)
    for place in range(state.numbers[ALIVE]):
        row = state.alive[place]
        alone = block.whole * block.sizes[row]
        bounds[place] = alone - (size + 1) * bound_of(block, row, common)
        if bounds[place] < bounds[chosen]:
            chosen = place
    best = loss_of(block, state.alive[chosen], size, common)
    for place in range(state.numbers[ALIVE]):
        if bounds[place] < best or (bounds[place] == best and place < chosen):
            found = loss_of(block, state.alive[place], size, common)
            if found < best or (found == best and place < chosen):
                best, chosen = found, np.int64(place)
    return chosen


@step
def loss_of(block, row, size, common):
    """What is lost if a bag joins, up to what does not depend on the bag."""
    return block.whole * block.sizes[row] - (size + 1) * shared_with(block, row, common)


@kernel
def find_cluster(block, members, bounds, row):
    """The cluster in which one more bag loses least; of equals the first."""
    common = new_common(block)
    chosen, best = np.int64(-1), np.int64(0)
    for cluster in range(len(bounds) - 1):
        held = members[bounds[cluster] : bounds[cluster + 1]]
        touched = set_common(block, held, np.int64(-1), common)
        kept = (len(held) + 1) * shared_with(block, row, common)
        kept -= len(held) * value_of(block.tree, common, touched)
        clear_common(common, touched)
        if chosen < 0 or kept > best:
            chosen, best = np.int64(cluster), kept
    return chosen


class Groups(NamedTuple):
    """Clusters, and what each of them keeps."""

    members: Int64s  # the bags of each cluster
    bounds: Int64s
    owner: Int64s  # the cluster of each bag
    worth: Int64s  # what all members of a cluster keep together
    rest: Int64s  # for each bag what each of the others of its cluster would keep without it


@kernel
def exchange(block, groups, first, last, searching):
    """Exchange one member of each of the clusters `first` to `last - 1` for the best other bag.

    The member is the one without which the others would keep most. If not `searching`, fill in what
    the clusters are worth instead; do this first."""
    here, there = new_common(block), new_common(block)
    near = np.empty(len(groups.owner), np.int64)
    for cluster in range(first, last):
        if searching == 0:
            value_cluster(block, groups, cluster, here)
            continue
        row = groups.members[groups.bounds[cluster]]
        for i in range(groups.bounds[cluster] + 1, groups.bounds[cluster + 1]):
            if groups.rest[groups.members[i]] > groups.rest[row]:
                row = groups.members[i]
        other = find_other(block, groups, row, here, there, near)
        if other >= 0:
            swap(groups, row, other)
            value_cluster(block, groups, groups.owner[row], here)
            value_cluster(block, groups, groups.owner[other], here)


@step
def members_of(groups, cluster):
    return groups.members[groups.bounds[cluster] : groups.bounds[cluster + 1]]


@step
def value_cluster(block, groups, cluster, common):
    """Fill in what a cluster is worth, and what the others would keep without each member."""
    members = members_of(groups, cluster)
    for row in members:
        touched = set_common(block, members, row, common)
        groups.rest[row] = value_of(block.tree, common, touched)
        if row == members[0]:
            groups.worth[cluster] = len(members) * shared_with(block, row, common)
        clear_common(common, touched)


@step
def find_other(block, groups, row, here, there, near):
    """The bag of another cluster for which to exchange `row`; -1 if no exchange gains anything.

    A bag is compared only while bounds allow a gain above the best so far: first by what bags and
    clusters have in all, then by each occurrence on its own, then exactly on one side."""
    bound_all(block, row, here, near)
    cluster, best, chosen = groups.owner[row], np.int64(0), np.int64(-1)
    members = members_of(groups, cluster)
    size, left = len(members), groups.rest[row]
    touched = set_common(block, members, row, here)
    set_reach(block.tree, here)
    for other in range(len(groups.owner)):
        owner = groups.owner[other]
        if owner == cluster:
            continue
        joined = groups.bounds[owner + 1] - groups.bounds[owner]
        need = best + groups.worth[owner] + groups.worth[cluster]
        hope = joined * min(groups.rest[other], block.values[row])
        if hope + size * min(left, block.values[other]) <= need:
            continue
        for mate in members_of(groups, owner):
            if mate != other:
                hope = min(hope, joined * near[mate])
        if hope + size * min(left, block.values[other]) <= need:
            continue
        if hope + size * bound_of(block, other, here) <= need:
            continue
        kept = size * shared_with(block, other, here)
        if hope + kept <= need:
            continue
        used = set_common(block, members_of(groups, owner), other, there)
        kept += joined * shared_with(block, row, there)
        clear_common(there, used)
        if kept > need:
            best, chosen = best + kept - need, np.int64(other)
    clear_common(here, touched)
    return chosen


@step
def bound_all(block, row, common, near):
    """Fill in a bound on what each bag shares with `row`."""
    for i in range(block.indptr[row], block.indptr[row + 1]):
        common.least[block.nodes[i]] = block.counts[i]
    set_reach(block.tree, common)
    for other in range(len(near)):
        near[other] = bound_of(block, other, common)
    for i in range(block.indptr[row], block.indptr[row + 1]):
        common.least[block.nodes[i]] = 0


@step
def swap(groups, row, other):
    """Let two bags change places."""
    one, two = groups.owner[row], groups.owner[other]
    for i in range(groups.bounds[one], groups.bounds[one + 1]):
        if groups.members[i] == row:
            groups.members[i] = other
    for i in range(groups.bounds[two], groups.bounds[two + 1]):
        if groups.members[i] == other:
            groups.members[i] = row
    groups.owner[row], groups.owner[other] = two, one
