"""The classes of some partitions whose first splits are done, each with its cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.arrays import Int32s, Int64s, offsets
from setveil.data.transactions import Transactions
from setveil.engines.parts import Block, joined
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.partition.parts import CLOSED, Cut
from setveil.methods.partition.split import Task, split_part, tree_arrays

if TYPE_CHECKING:
    from setveil.kernels.partition import split as kernels


def classes_of(
    blocks: Sequence[Block], cuts: Sequence[Cut], k: int, hierarchy: Hierarchy
) -> tuple[Transactions, Int64s]:
    """The classes as records of nodes, and the class of each record, block by block; partitions
    with an empty cut are published as empty records."""
    filled = [at for at, cut in enumerate(cuts) if cut.nodes]
    first = offsets([len(block) for block in blocks])
    numbers = [np.arange(first[at], first[at + 1]) for at in filled]
    alignment = np.full(int(first[-1]), -1, dtype=np.int64)
    owners, nodes, count = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), 0
    if filled:
        tree = tree_arrays(hierarchy)
        part = _part([blocks[at] for at in filled], [cuts[at] for at in filled], tree, hierarchy)
        classes = split_part(Task(tree, part, k))
        alignment[np.concatenate(numbers)] = classes.of_records()
        count, nodes = len(classes.sizes), classes.nodes
        owners = np.repeat(np.arange(count), classes.sizes)
    is_empty = alignment < 0
    alignment[is_empty] = count
    size = count + bool(is_empty.any())
    return Transactions.from_pairs(owners, nodes, hierarchy.nodes, size=size), alignment


def _part(
    blocks: Sequence[Block], cuts: Sequence[Cut], tree: kernels.Tree, hierarchy: Hierarchy
) -> kernels.Part:
    """Partitions as the kernels take them."""
    from setveil.kernels.partition import split as kernels

    found = [_within(block, cut, tree) for block, cut in zip(blocks, cuts, strict=True)]
    whole = joined(list(blocks))
    ends = offsets([len(block) for block in blocks])
    high = offsets([len(cut.nodes) for cut in cuts])
    return kernels.Part(
        whole.indptr,
        whole.items,
        np.concatenate([node for node, _, _ in found]),
        np.concatenate([delta for _, delta, _ in found]),
        np.stack((ends[:-1], ends[1:], high[:-1], high[1:]), axis=1),
        np.array([node for cut in cuts for node in cut.nodes], dtype=np.int32),
        np.concatenate([gains for _, _, gains in found]),
    )


def _within(block: Block, cut: Cut, tree: kernels.Tree) -> tuple[Int32s, Int32s, Int64s]:
    """For each occurrence the node of the cut above it and what expanding that gains; and the sums
    for each node."""
    leaves = len(tree.ancestors)
    above, delta = np.full(leaves, -1, dtype=np.int32), np.zeros(leaves, dtype=np.int32)
    for place, node in enumerate(cut.nodes):
        first, stop = tree.first[node], tree.stop[node]
        above[first:stop] = place
        if node >= leaves:
            child = tree.ancestors[first:stop, tree.depth[node] + 1]
            delta[first:stop] = tree.penalty[node] - tree.penalty[child]
    places, gained = above[block.items], delta[block.items]
    sums = np.bincount(places, weights=gained, minlength=len(cut.nodes)).astype(np.int64)
    nodes = np.array(cut.nodes, dtype=np.int32)
    return nodes[places], gained, np.where(np.array(cut.is_open), sums, CLOSED)
