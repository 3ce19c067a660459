"""The classes of records: the largest partitions on the spot, all others as tasks of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from setveil.data.arrays import Int32s, Int64s, gathered, offsets, ranges
from setveil.data.transactions import Transactions
from setveil.engines.parts import Block, joined
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.partition import split as kernels
from setveil.methods.method import Request
from setveil.methods.partition.parts import CLOSED, Cut

SHARE = 32
"""A task has at most about 1 / SHARE of all occurrences ..."""
SMALLEST, LARGEST = 100_000, 4_000_000
"""... unless that is fewer or more than this."""
_ALL = 1 << 62


class Task(NamedTuple):
    """Some partitions to split to the end."""

    tree: kernels.Tree
    part: kernels.Part
    k: int


class Classes(NamedTuple):
    """The answer: class i is `order[start[i]:stop[i]]`, and is published as its cut."""

    order: Int64s
    start: Int64s
    stop: Int64s
    sizes: Int64s
    """How many nodes each cut has."""
    nodes: Int32s
    """The nodes of all cuts."""

    def of_records(self) -> Int64s:
        """The class of each record."""
        by_start, found = np.argsort(self.start), np.empty_like(self.order)
        found[self.order] = np.repeat(by_start, (self.stop - self.start)[by_start])
        return found


def split_records(
    data: Transactions, kept: Int64s, k: int, request: Request[Any]
) -> Iterator[tuple[Int64s, Classes]]:
    """The classes of the kept records over the leaves of the tree, and the records they are of.

    Partitions do not depend on each other, so the classes do not depend on the tasks.
    """
    if len(kept) == 0:
        return
    tree = tree_arrays(request.tree)
    work = _work(Task(tree, _whole(data, kept, request.tree, tree), k))
    occurrences = len(work.records.leaves)
    limit = int(np.clip(occurrences // SHARE, SMALLEST, LARGEST)) * len(kept) // occurrences
    while work.pending.size[0]:
        kernels.split(work, limit, 1)
        request.report(0, len(kept), "partitioning")
    records, parts = work.records, work.settled
    del work
    starts = parts.bounds[: parts.size[0], 0]
    entries = np.argsort(starts)
    edges = np.flatnonzero(np.diff(starts[entries] // max(limit, 1))) + 1
    batches, done = np.split(entries, edges), 0
    tasks = (Task(tree, _taken(records, parts, batch), k) for batch in batches)
    for classes in request.engine.map(split_part, tasks):
        yield kept[records.order[done : done + len(classes.order)]], classes
        done += len(classes.order)
        request.report(done, len(kept), "partitioning")


def split_part(task: Task) -> Classes:
    """The classes of some partitions."""
    work = _work(task)
    kernels.split(work, 0, _ALL)
    count = int(work.settled.size[0])
    start, stop, low, high = work.settled.bounds[:count].T.copy()
    return Classes(
        work.records.order, start, stop, high - low, work.settled.nodes[: high[-1]].copy()
    )


def _whole(
    data: Transactions, kept: Int64s, hierarchy: Hierarchy, tree: kernels.Tree
) -> kernels.Part:
    """All records in one partition, under the root."""
    root, is_leaf = (
        np.array([hierarchy.root], dtype=np.int32),
        hierarchy.leaf_count == len(hierarchy),
    )
    lengths = data.indptr[kept + 1] - data.indptr[kept]
    leaves = gathered(data.items, data.indptr[kept], lengths)
    node, gains = np.repeat(root, len(leaves)), np.array([kernels.CLOSED if is_leaf else 0])
    delta = np.zeros(hierarchy.leaf_count, dtype=np.int32)  # what expanding the root gains
    if not is_leaf:
        delta[:] = tree.penalty[root] - tree.penalty[tree.ancestors[:, 1]]
    bounds = np.array([[0, len(kept), 0, 1]])
    return kernels.Part(offsets(lengths), leaves, node, delta[leaves], bounds, root, gains)


def _taken(records: kernels.Records, stack: kernels.Stack, entries: Int64s) -> kernels.Part:
    """Partitions whose records follow each other in `order`, as a part of their own."""
    begin, end, low, high = stack.bounds[entries].T
    chosen = records.order[begin[0] : end[-1]]
    starts, lengths = records.indptr[chosen], records.indptr[chosen + 1] - records.indptr[chosen]
    inside, of_cuts, bounds = ranges(starts, lengths), ranges(low, high - low), offsets(high - low)
    return kernels.Part(
        indptr=offsets(lengths),
        leaves=records.leaves[inside],
        node=records.node[inside],
        delta=records.delta[inside],
        bounds=np.stack((begin - begin[0], end - begin[0], bounds[:-1], bounds[1:]), axis=1),
        nodes=stack.nodes[of_cuts],
        gains=stack.gains[of_cuts],
    )


def tree_arrays(hierarchy: Hierarchy) -> kernels.Tree:
    """The tree as the kernels take it."""
    above = hierarchy.parent[hierarchy.parent >= 0]
    return kernels.Tree(
        ancestors=hierarchy.ancestors,
        depth=hierarchy.depth,
        fanout=np.bincount(above, minlength=len(hierarchy)).astype(np.int32),
        first=hierarchy.first,
        stop=hierarchy.stop,
        penalty=np.where(hierarchy.widths == 1, 0, hierarchy.widths),
    )


def _work(task: Task) -> kernels.Work:
    """Room to split the partitions of a task."""
    tree, part, k = task
    count, occurrences = len(part.indptr) - 1, len(part.leaves)
    records = kernels.Records(
        indptr=part.indptr,
        leaves=part.leaves,
        order=np.arange(count),
        spare=np.empty(count, dtype=np.int64),
        group=np.empty(count, dtype=np.int32),
        node=part.node.copy(),  # splitting changes these two, and never its task
        delta=part.delta.copy(),
    )
    pending, settled = (_stack(count // k + 2, occurrences // k + 2) for _ in range(2))
    pending.size[0] = len(part.bounds)
    pending.bounds[: len(part.bounds)] = part.bounds
    pending.nodes[: len(part.nodes)], pending.gains[: len(part.nodes)] = part.nodes, part.gains
    return kernels.Work(tree, records, pending, settled, _scratch(tree, part), k)


def _stack(partitions: int, nodes: int) -> kernels.Stack:
    return kernels.Stack(
        size=np.zeros(1, dtype=np.int64),
        bounds=np.empty((partitions, 4), dtype=np.int64),
        nodes=np.empty(nodes, dtype=np.int32),
        gains=np.empty(nodes, dtype=np.int64),
    )


def _scratch(tree: kernels.Tree, part: kernels.Part) -> kernels.Scratch:
    count, longest = len(part.indptr) - 1, int(np.diff(part.indptr).max(initial=0)) + 1
    words = min(1 << min(int(tree.fanout.max(initial=0)), 40), len(part.leaves)) + 2
    table = max(16, 1 << (2 * words - 1).bit_length())
    return kernels.Scratch(
        cut=np.empty(longest, dtype=np.int32),
        gains=np.empty(longest, dtype=np.int64),
        slot=np.full(len(tree.depth), -1, dtype=np.int32),
        keys=np.full(table, -1, dtype=np.int64),
        values=np.empty(table, dtype=np.int32),
        used=np.empty(words, dtype=np.int64),
        counts=np.empty(words, dtype=np.int64),
        target=np.empty(words, dtype=np.int64),
        heap=np.empty(count, dtype=np.int64),
        places=np.empty(count, dtype=np.int64),
    )


def split_blocks(
    blocks: Sequence[Block], cuts: Sequence[Cut], k: int, hierarchy: Hierarchy
) -> Iterator[tuple[Int64s, Classes]]:
    """The same for partitions whose first splits are done; one with an empty cut has no classes."""
    filled = [at for at, cut in enumerate(cuts) if cut.nodes]
    first, tree = offsets([len(block) for block in blocks]), tree_arrays(hierarchy)
    if filled:
        part = _part([blocks[at] for at in filled], [cuts[at] for at in filled], tree)
        records = [np.arange(first[at], first[at + 1]) for at in filled]
        yield np.concatenate(records), split_part(Task(tree, part, k))


def _part(blocks: Sequence[Block], cuts: Sequence[Cut], tree: kernels.Tree) -> kernels.Part:
    """Partitions as the kernels take them."""
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
    """For each occurrence the node of the cut above it and its gain; and the sums for each node."""
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
