"""Kernel of exchanges: two bags change places if both clusters together lose less."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.ssc.profiles import (
    bound_of,
    clear_common,
    new_common,
    set_common,
    set_reach,
    shared_with,
    value_of,
)


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
