"""Kernels of profiles: how many occurrences of a bag are below each node of the hierarchy.

A cluster can publish, at or below a node, as many occurrences as each of its members has there, and
all nodes reach their most at the same time. So what a cluster keeps is a sum over the nodes of its
common profile, the least count of any member, and no matching is needed to find it. Weights are
whole numbers: the leaves that a node has fewer than its parent."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import step


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
