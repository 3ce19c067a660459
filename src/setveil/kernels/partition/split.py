"""Kernels of Partition: split partitions of records along a tree while k records stay together.

A partition is a slice of `order`. All its records show the same cut: nodes that replace their
items. For each occurrence, `node` is the cut node above it, and `delta` is what expanding that node
gains for this occurrence. Pending partitions are on a stack, with their cuts.
Partitions are disjoint and have at least k records, each with an item under every node of the cut,
so all cuts of a stack together have at most occurrences / k nodes."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.partition.buckets import (
    balance,
    bucket_end,
    clear_table,
    group_by_children,
    lower_bound,
    sort_by_bucket,
)

CLOSED = -1  # the gain of a node that cannot be expanded
START, STOP, LOW, HIGH = 0, 1, 2, 3
"""The columns of `Stack.bounds`: a slice of `order`, and one of the cuts."""


class Tree(NamedTuple):
    """The hierarchy as arrays."""

    ancestors: Int32s  # [leaf, depth] -> node
    depth: Int32s  # of each node
    fanout: Int32s  # children of each node
    first: Int32s  # the leaves of a node are first to stop - 1
    stop: Int32s
    penalty: Int64s  # leaves under a node; 0 for a leaf


class Records(NamedTuple):
    """The records and, for each occurrence, the node that represents it."""

    indptr: Int64s
    leaves: Int32s
    order: Int64s  # record numbers, partition by partition
    spare: Int64s  # scratch, parallel to `order`
    group: Int32s  # scratch, parallel to `order`: the bucket of each record
    node: Int32s  # the cut node above each occurrence
    delta: Int32s  # its penalty minus that of its child above the occurrence


class Stack(NamedTuple):
    """Partitions with their cuts."""

    size: Int64s  # one number: how many there are
    bounds: Int64s  # [partition, (START, STOP, LOW, HIGH)]
    nodes: Int32s  # the cuts, each in the order of the tree
    gains: Int64s  # what expanding each node gains, or CLOSED


class Scratch(NamedTuple):
    """Arrays that are reused from partition to partition."""

    cut: Int32s  # the cut of the partition being split, and its gains
    gains: Int64s
    slot: Int32s  # node -> place in the cut that is being summed up, -1 elsewhere
    keys: Int64s  # hash table: (bucket so far, child) -> longer bucket
    values: Int32s
    used: Int64s  # the place of each bucket in the table
    counts: Int64s  # records in each bucket
    target: Int64s  # where the records of each bucket go
    heap: Int64s  # gains and places of the records that leave their bucket
    places: Int64s


class Work(NamedTuple):
    """Everything that splitting reads and writes."""

    tree: Tree
    records: Records
    pending: Stack
    settled: Stack  # finished, or too small to be split here
    scratch: Scratch
    k: int


class Part(NamedTuple):
    """Some partitions with copies of their own records, numbered from 0 in their order."""

    indptr: Int64s
    leaves: Int32s
    node: Int32s  # as in `Records`
    delta: Int32s
    bounds: Int64s  # as in `Stack`
    nodes: Int32s
    gains: Int64s


@kernel
def split(work: Work, limit: int, most: int) -> None:
    """Split up to `most` pending partitions of more than `limit` records; settle smaller ones."""
    pending, scratch = work.pending, work.scratch
    while pending.size[0] > 0 and most > 0:
        top = pending.size[0] - 1
        pending.size[0] = top
        start, stop = pending.bounds[top, START], pending.bounds[top, STOP]
        low, high = pending.bounds[top, LOW], pending.bounds[top, HIGH]
        for i in range(low, high):
            scratch.cut[i - low], scratch.gains[i - low] = pending.nodes[i], pending.gains[i]
        if stop - start > limit:
            split_one(work, start, stop, high - low)
            most -= 1
        else:
            settle(work, start, stop, high - low)


@step
def split_one(work, start, stop, size):
    """Expand nodes of one partition until its records part, all of them descend, or none can."""
    scratch = work.scratch
    while True:
        best, gain = np.int64(-1), np.int64(CLOSED)
        for i in range(size):
            if scratch.gains[i] > gain:
                best, gain = i, scratch.gains[i]
        if best < 0:
            settle(work, start, stop, size)
            return
        buckets = group_by_children(
            work.tree, work.records, scratch, scratch.cut[best], start, stop
        )
        large = 0
        for bucket in range(1, buckets):
            if scratch.counts[bucket] >= work.k:
                large += 1
        if large == 0:
            # No k records agree on their children: try the node with the next largest gain.
            clear_table(scratch, buckets)
            scratch.gains[best] = CLOSED
        elif scratch.counts[work.records.group[start]] == stop - start:
            clear_table(scratch, buckets)
            descend(work.tree, work.records, scratch.cut[best], start, stop)
            push(work, start, stop, size, best, np.int64(1))
            return
        else:
            spread(work, start, stop, size, best, buckets)
            return


@step
def settle(work, start, stop, size):
    """Put a partition, whose cut is in the scratch, among the settled ones."""
    settled, scratch = work.settled, work.scratch
    entry = settled.size[0]
    low = settled.bounds[entry - 1, HIGH] if entry > 0 else 0
    settled.bounds[entry, START], settled.bounds[entry, STOP] = start, stop
    settled.bounds[entry, LOW], settled.bounds[entry, HIGH] = low, low + size
    for i in range(size):
        settled.nodes[low + i], settled.gains[low + i] = scratch.cut[i], scratch.gains[i]
    settled.size[0] = entry + 1


@step
def descend(tree, records, node, start, stop):
    """Let the children of `node` represent the items under it in these records."""
    first, last, below = tree.first[node], tree.stop[node], tree.depth[node] + 1
    for i in range(start, stop):
        record = records.order[i]
        for at in range(lower_bound(records, record, first), records.indptr[record + 1]):
            leaf = records.leaves[at]
            if leaf >= last:
                break
            child = tree.ancestors[leaf, below]
            records.node[at] = child
            if child >= tree.ancestors.shape[0]:
                records.delta[at] = (
                    tree.penalty[child] - tree.penalty[tree.ancestors[leaf, below + 1]]
                )


@step
def spread(work, start, stop, size, best, buckets):
    """Sort the records by bucket, fill the leftover, and push every part."""
    records, node = work.records, work.scratch.cut[best]
    edge = sort_by_bucket(records, work.scratch, work.k, start, stop, buckets)
    clear_table(work.scratch, buckets)
    if edge < stop and stop - edge < work.k:
        edge = balance(work, node, start, edge, stop)
    part = start
    while part < edge:
        after = bucket_end(records, part, edge)
        descend(work.tree, records, node, part, after)
        push(work, part, after, size, best, np.int64(1))
        part = after
    if edge < stop:
        push(work, edge, stop, size, best, np.int64(0))


@step
def push(work, start, stop, size, best, expanded):
    """Put a part on the stack: its cut, with one node expanded or closed, and its gains."""
    stack, scratch = work.pending, work.scratch
    top = stack.size[0]
    low = stack.bounds[top - 1, HIGH] if top > 0 else 0
    fill = low
    for i in range(size):
        if i != best:
            stack.nodes[fill] = scratch.cut[i]
            stack.gains[fill] = CLOSED if scratch.gains[i] == CLOSED else 0
            fill += 1
        elif expanded > 0:
            record = work.records.order[start]
            fill = write_children(work.tree, work.records, stack, record, scratch.cut[i], fill)
        else:
            stack.nodes[fill] = scratch.cut[i]
            stack.gains[fill] = CLOSED
            fill += 1
    stack.bounds[top, START], stack.bounds[top, STOP] = start, stop
    stack.bounds[top, LOW], stack.bounds[top, HIGH] = low, fill
    stack.size[0] = top + 1
    sum_gains(work.records, stack, scratch.slot, top)


@step
def write_children(tree, records, stack, record, node, fill):
    """Append the nodes below `node` that represent items of a record; returns the end."""
    before = -1
    for at in range(lower_bound(records, record, tree.first[node]), records.indptr[record + 1]):
        if records.leaves[at] >= tree.stop[node]:
            break
        child = records.node[at]
        if child != before:
            before = child
            stack.nodes[fill] = child
            stack.gains[fill] = 0 if child >= tree.ancestors.shape[0] else CLOSED
            fill += 1
    return fill


@step
def sum_gains(records, stack, slot, entry):
    """Sum the gains of the open nodes of a partition over its occurrences."""
    low, high, opened = stack.bounds[entry, LOW], stack.bounds[entry, HIGH], 0
    for i in range(low, high):
        if stack.gains[i] != CLOSED:
            slot[stack.nodes[i]] = i - low
            opened += 1
    if opened > 0:
        for i in range(stack.bounds[entry, START], stack.bounds[entry, STOP]):
            record = records.order[i]
            for at in range(records.indptr[record], records.indptr[record + 1]):
                place = slot[records.node[at]]
                if place >= 0:
                    stack.gains[low + place] += records.delta[at]
    for i in range(low, high):
        slot[stack.nodes[i]] = -1
