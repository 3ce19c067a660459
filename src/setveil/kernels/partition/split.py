"""Kernels of Partition: split a partition of records top-down along a tree until no split leaves k records together.

A partition is a slice of `order`. Its records share a cut, the nodes that stand for their items; `node` holds, for each occurrence,
the cut node over it, and `delta` the gain of expanding that node by this occurrence. Pending partitions lie on a stack, their cuts
one after the other in an arena. As partitions are disjoint and hold k records or more, no arena outgrows occurrences / k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.jit import kernel, step
from setveil.kernels.partition.balance import balance
from setveil.kernels.partition.buckets import (
    bucket_end,
    clear_table,
    group_by_children,
    lower_bound,
    sort_by_bucket,
)

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

CLOSED = -1


class Tree(NamedTuple):
    """The hierarchy as arrays."""

    ancestors: Int32s  # [leaf, depth] -> node
    depth: Int32s  # of each node
    fanout: Int32s  # children of each node
    first: Int32s  # the leaves of a node are first to stop - 1
    stop: Int32s
    penalty: Int64s  # leaves under a node; 0 for one


class Records(NamedTuple):
    """The records and, for each occurrence, where it stands; shared by all workers, who hold disjoint slices of `order`."""

    indptr: Int64s
    leaves: Int32s
    order: Int64s  # record numbers, partition by partition
    spare: Int64s  # scratch beside `order`
    group: Int32s  # scratch beside `order`: the bucket of each record
    node: Int32s  # the cut node over each occurrence
    delta: Int32s  # its penalty less that of the child over the occurrence


class Stack(NamedTuple):
    """Pending partitions; entry i is `bounds[i] = (start, stop of order, start, stop of the arena)`."""

    bounds: Int64s
    nodes: Int32s  # arena of cuts, each in the order of the tree
    gains: Int64s  # gain of expanding each; CLOSED where it may not be expanded


class Done(NamedTuple):
    """Finished classes, in the layout of `Stack`; `tops = (entries on the stack, finished classes, finished records, work done)`."""

    bounds: Int64s
    nodes: Int32s
    tops: Int64s


class Scratch(NamedTuple):
    """What one worker needs beside its stack."""

    cut: Int32s
    gains: Int64s
    slot: Int32s  # node -> place in the cut that is being summed up, -1 elsewhere
    keys: Int64s  # hash table: (bucket so far, child) -> longer bucket
    values: Int32s
    used: Int64s  # the table's place of each bucket
    counts: Int64s  # records in each bucket
    target: Int64s  # where the records of each bucket go
    heap: Int64s  # gains and places of those that leave their bucket
    places: Int64s


@kernel
def start_at_root(tree: Tree, records: Records) -> None:
    """Put every occurrence under the root."""
    for at in range(len(records.leaves)):
        leaf = records.leaves[at]
        root = tree.ancestors[leaf, 0]
        records.node[at] = root
        if tree.ancestors.shape[1] > 1:
            child = tree.ancestors[leaf, 1]
            if child >= 0:
                records.delta[at] = tree.penalty[root] - tree.penalty[child]


@kernel
def split_pending(
    tree: Tree, records: Records, stack: Stack, done: Done, scratch: Scratch, k: int, budget: int
) -> None:
    """Work on the top of the stack until it is empty or `budget` occurrences were looked at."""
    tops = done.tops
    tops[3] = 0
    while tops[0] > 0 and tops[3] < budget:
        top = tops[0] - 1
        tops[0] = top
        start, stop = stack.bounds[top, 0], stack.bounds[top, 1]
        size = stack.bounds[top, 3] - stack.bounds[top, 2]
        for i in range(size):
            scratch.cut[i] = stack.nodes[stack.bounds[top, 2] + i]
            scratch.gains[i] = stack.gains[stack.bounds[top, 2] + i]
        split_one(tree, records, stack, done, scratch, k, start, stop, size)


@step
def split_one(tree, records, stack, done, scratch, k, start, stop, size):
    """Expand nodes of one partition until it falls into buckets, or is finished."""
    while True:
        best, gain = np.int64(-1), np.int64(CLOSED)
        for i in range(size):
            if scratch.gains[i] > gain:
                best, gain = i, scratch.gains[i]
        if best < 0:
            finish(done, scratch, start, stop, size)
            return
        buckets = group_by_children(tree, records, scratch, scratch.cut[best], start, stop)
        done.tops[3] += stop - start
        large = 0
        for bucket in range(1, buckets):
            if scratch.counts[bucket] >= k:
                large += 1
        if large == 0:
            clear_table(scratch, buckets)
            scratch.gains[best] = CLOSED
        elif scratch.counts[records.group[start]] == stop - start:
            clear_table(scratch, buckets)
            descend(tree, records, scratch.cut[best], start, stop)
            push(tree, records, stack, done, scratch, start, stop, size, best, np.int64(1))
            return
        else:
            spread(tree, records, stack, done, scratch, k, start, stop, size, best, buckets)
            return


@step
def finish(done, scratch, start, stop, size):
    """Move a partition that cannot be split to the finished classes."""
    entry = done.tops[1]
    at = done.bounds[entry - 1, 3] if entry > 0 else 0
    done.bounds[entry, 0], done.bounds[entry, 1] = start, stop
    done.bounds[entry, 2], done.bounds[entry, 3] = at, at + size
    for i in range(size):
        done.nodes[at + i] = scratch.cut[i]
    done.tops[1] = entry + 1
    done.tops[2] += stop - start


@step
def descend(tree, records, node, start, stop):
    """Let the children of `node` stand for what it covers in these records."""
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
def spread(tree, records, stack, done, scratch, k, start, stop, size, best, buckets):
    """Sort the records by bucket, balance the leftover, and push every part."""
    node = scratch.cut[best]
    edge = sort_by_bucket(records, scratch, k, start, stop, buckets)
    clear_table(scratch, buckets)
    if edge < stop and stop - edge < k:
        edge = balance(tree, records, scratch, k, start, edge, stop, node)
    part = start
    while part < edge:
        after = bucket_end(records, part, edge)
        descend(tree, records, node, part, after)
        push(tree, records, stack, done, scratch, part, after, size, best, np.int64(1))
        part = after
    if edge < stop:
        push(tree, records, stack, done, scratch, edge, stop, size, best, np.int64(0))


@step
def push(tree, records, stack, done, scratch, start, stop, size, best, expanded):
    """Put a part on the stack with its cut (one node expanded, or closed) and the gains of its own records."""
    top = done.tops[0]
    base = stack.bounds[top - 1, 3] if top > 0 else 0
    fill = base
    for i in range(size):
        if i != best:
            stack.nodes[fill] = scratch.cut[i]
            stack.gains[fill] = CLOSED if scratch.gains[i] == CLOSED else 0
            fill += 1
        elif expanded > 0:
            fill = write_children(tree, records, stack, records.order[start], scratch.cut[i], fill)
        else:
            stack.nodes[fill] = scratch.cut[i]
            stack.gains[fill] = CLOSED
            fill += 1
    stack.bounds[top, 0], stack.bounds[top, 1] = start, stop
    stack.bounds[top, 2], stack.bounds[top, 3] = base, fill
    done.tops[0] = top + 1
    sum_gains(records, stack, done, scratch, start, stop, base, fill)


@step
def write_children(tree, records, stack, record, node, fill):
    """Append the nodes that stand below `node` in a record; returns the end."""
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
def sum_gains(records, stack, done, scratch, start, stop, base, fill):
    """Sum the gains of a part's open nodes over its occurrences."""
    opened = 0
    for i in range(base, fill):
        if stack.gains[i] != CLOSED:
            scratch.slot[stack.nodes[i]] = i - base
            opened += 1
    if opened > 0:
        for i in range(start, stop):
            record = records.order[i]
            for at in range(records.indptr[record], records.indptr[record + 1]):
                slot = scratch.slot[records.node[at]]
                if slot >= 0:
                    stack.gains[base + slot] += records.delta[at]
            done.tops[3] += records.indptr[record + 1] - records.indptr[record]
    for i in range(base, fill):
        scratch.slot[stack.nodes[i]] = -1
