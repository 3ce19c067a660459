"""Kernels of global recoding: threats, which are itemsets of nodes in 1 to k - 1 records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Bytes, Int32s, Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.recoding.raising import Cut, Records, are_held, raise_cheapest
from setveil.kernels.recoding.search import (
    BUDGET,
    COLLECT,
    EFFORT,
    ENTRIES,
    EVICT,
    FIRST,
    FOUND,
    NOTHING,
    OVER,
    Goal,
    SearchScratch,
    Tree,
    search,
)


class Limits(NamedTuple):
    """What a node that is inserted must keep to."""

    m: int
    k: int
    budget: int  # the greatest worth of the nodes that are dropped for it, in sum
    effort: int  # how many entries of rows may be read to find out


@kernel
def list_holders(indptr: Int64s, leaves: Int32s, up: Int32s, over: Int32s) -> tuple[Int64s, Int32s]:
    """The records under each node, one node after the other, and where each begins."""
    starts, holders = np.zeros(len(up) + 1, np.int64), np.empty(0, np.int32)
    fill = starts.copy()
    for writing in range(2):  # count first, then write
        last = np.full(len(up), -1, dtype=np.int64)
        for record in range(len(indptr) - 1):
            for at in range(indptr[record], indptr[record + 1]):
                node = over[leaves[at]]
                while node >= 0 and last[node] != record:
                    last[node] = record
                    if writing:
                        holders[fill[node]] = record
                        fill[node] += 1
                    else:
                        starts[node + 1] += 1
                    node = up[node]
        if not writing:
            for node in range(len(up)):
                starts[node + 1] += starts[node]
            fill, holders = starts.copy(), np.empty(starts[-1], np.int32)
    return starts, holders


@kernel
def repair(
    records: Records, tree: Tree, scratch: SearchScratch, cut: Cut, size: int, k: int
) -> bool:
    """Raise the cut until no itemset of `size` nodes is a threat, given that no smaller one is.

    Takes the first threat in the tree first, and raises its members, siblings included, in the
    cheapest way that k records hold. False if there is none: even the root is in fewer records."""
    at, members = 0, scratch.path
    goal = Goal(np.int64(FIRST), np.int64(1), np.int64(size), np.int64(k))
    while at < len(cut.shown):
        node = np.int64(cut.shown[at])
        members[0] = node
        held = records.starts[node + 1] - records.starts[node]
        if size == 1:
            found = 0 < held < k
        else:
            groups = project(records, scratch, cut.shown, node, node)
            found = search(tree, scratch, goal, groups, held) == FOUND
        if not found:
            at = tree.stop[node]
        elif not raise_cheapest(records, tree, cut, members[:size], k):
            return False
        elif cut.shown[at] != node:
            at = tree.first[cut.shown[at]]
    return True


@kernel
def insert(
    records: Records, tree: Tree, scratch: SearchScratch, shown: Int32s, node: int, limits: Limits
) -> tuple[bool, Int32s]:
    """Whether a node can be shown as well within the limits, and which nodes are dropped for it.

    `shown` must be safe and show nothing under the node; it is not changed."""
    held, used = records.starts[node + 1] - records.starts[node], scratch.used
    used[ENTRIES], used[BUDGET], used[EFFORT] = 0, limits.budget, limits.effort
    if held < limits.k or limits.m == 1:
        return held >= limits.k or held == 0, scratch.out[:0]
    scratch.path[0] = node
    groups = project(records, scratch, shown, node, np.int64(-1))
    goal = Goal(np.int64(EVICT), np.int64(1), np.int64(limits.m), np.int64(limits.k))
    ended = search(tree, scratch, goal, groups, held)
    dropped = scratch.out[: used[ENTRIES]]
    for other in dropped:
        scratch.dead[other] = 0
    return ended == NOTHING, dropped


@kernel
def collect(
    records: Records, tree: Tree, scratch: SearchScratch, allowed: Bytes, m: int, k: int
) -> tuple[bool, Int32s]:
    """The threats of all cuts, each after its size; False if they do not fit.

    No two nodes of a threat are on one path, and all nodes but the last together are no threat."""
    top, groups = np.int64(0), np.int64(0)
    for record in range(len(records.indptr) - 1):
        scratch.places[0, groups] = top
        groups += 1
        scratch.rows[top] = -1
        top += 1
        begin = top
        for at in range(records.indptr[record], records.indptr[record + 1]):
            node = tree.over[records.leaves[at]]
            while node >= 0:  # put in the allowed nodes above the leaf that are not yet there
                if allowed[node]:
                    place = top
                    while place > begin and scratch.rows[place - 1] > node:
                        place -= 1
                    if place > begin and scratch.rows[place - 1] == node:
                        break
                    for back in range(top, place, -1):
                        scratch.rows[back] = scratch.rows[back - 1]
                    scratch.rows[place] = node
                    top += 1
                node = tree.up[node]
    scratch.rows[top] = -1
    scratch.used[ENTRIES] = 0
    goal = Goal(np.int64(COLLECT), np.int64(0), np.int64(m), np.int64(k))
    ended = search(tree, scratch, goal, groups, np.int64(len(records.indptr)))
    return ended != OVER, scratch.out[: scratch.used[ENTRIES]]


@kernel
def are_minimal(records: Records, sizes: Int64s, itemsets: Int32s, k: int) -> Bytes:
    """1 for each threat of which every part with one node less is in k records."""
    at, longest, minimal = 0, np.int64(1), np.ones(len(sizes), dtype=np.uint8)
    for size in sizes:
        longest = max(longest, size)
    part = np.empty(longest, dtype=np.int32)
    for number in range(len(sizes)):
        size = sizes[number]
        for left in range(size if size > 1 else 0):
            for i in range(size - 1):
                part[i] = itemsets[at + (i if i < left else i + 1)]
            if not are_held(records, part[: size - 1], k):
                minimal[number] = 0
                break
        at += size
    return minimal


@step
def project(records, scratch, shown, node, after):
    """Write the shown nodes beyond `after` of each record under `node`; the number of rows."""
    top, groups = np.int64(0), np.int64(0)
    for at in range(records.starts[node], records.starts[node + 1]):
        record = records.holders[at]
        scratch.rows[top] = -1
        begin, last = top, np.int32(-1)
        top += 1
        for entry in range(records.indptr[record], records.indptr[record + 1]):
            other = shown[records.leaves[entry]]
            if other > after and other != last and other != node:
                scratch.rows[top] = other
                last = other
                top += 1
        if top == begin + 1:
            top = begin
        else:
            scratch.places[0, groups] = begin
            groups += 1
    scratch.rows[top] = -1
    return groups
