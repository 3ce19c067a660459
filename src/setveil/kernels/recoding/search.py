"""Steps of global recoding: the search for threats among the itemsets of some rows, depth first.

A row holds nodes, ascending, and is closed by -1. A search starts from some rows and extends an
itemset by the nodes behind it in the rows that hold it; `places` has, for each depth, the places of
the last item. Each depth holds every row at most once, so memory is bounded by (m + 1) times the
rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Bytes, Int32s, Int64s
from setveil.kernels.jit import step

FIRST, EVICT, COLLECT = 0, 1, 2
"""What to do with a threat: stop at it, drop its cheapest member, or write it down."""
NOTHING, FOUND, OVER = 0, 1, 2
"""How a search ends: without a threat, at one, or beyond what may be spent or written."""
COUNTED, NEXT = 0, 1
"""Slots of `SearchScratch.marks`: how many nodes were counted, and which of them is next."""
ENTRIES, BUDGET, EFFORT = 0, 1, 2
"""Slots of `SearchScratch.used`: entries of `out`, what may be spent, and entries to read."""


class Tree(NamedTuple):
    """The tree without chains of single children; nodes in preorder."""

    up: Int32s  # the parent; -1 at the root, node 0
    first: Int32s  # the leaves of a node are first to stop - 1
    stop: Int32s
    over: Int32s  # the node of each leaf
    weight: Int64s  # occurrences under each node
    penalty: Int64s  # of one occurrence that is shown as the node; `whole` if it is suppressed
    whole: int


class SearchScratch(NamedTuple):
    """Room for a search."""

    rows: Int32s
    places: Int32s  # [depth, ...]
    counts: Int32s  # [depth, node]
    begins: Int32s  # [depth, node]: where the places of a longer itemset begin
    touched: Int32s  # [depth, ...]: the nodes that were counted
    path: Int32s  # the current itemset
    marks: Int64s  # [depth, slot]
    dead: Bytes  # nodes that were dropped during a search
    out: Int32s  # threats, each after its size; or the dropped nodes
    used: Int64s


class Goal(NamedTuple):
    """What to search for: itemsets of `base` to m nodes, the first `base` of which are given."""

    mode: np.int64
    base: np.int64
    m: np.int64
    k: np.int64


class Group(NamedTuple):
    """The rows that hold an itemset, `places[depth, begin:end]`; `held` counts their records."""

    depth: np.int64
    begin: np.int64
    end: np.int64
    held: np.int64


@step
def search(tree, scratch, goal, groups, held):
    """Visit all itemsets of the goal; the given nodes are in `scratch.path`, in `held` records."""
    depth = np.int64(0)
    ended = open_group(tree, scratch, goal, Group(depth, np.int64(0), groups, held))
    while depth >= 0:
        if ended != NOTHING:
            while depth >= 0:
                close_group(scratch, depth)
                depth -= 1
            return ended
        alive = True
        for i in range(depth):
            if scratch.dead[scratch.path[goal.base + i]]:
                alive = False
        follow, marks = np.int32(-1), scratch.marks[depth]
        while alive and marks[NEXT] < marks[COUNTED]:
            other = scratch.touched[depth, marks[NEXT]]
            marks[NEXT] += 1
            if scratch.begins[depth, other] >= 0 and not scratch.dead[other]:
                follow = other
                break
        if follow < 0:
            close_group(scratch, depth)
            depth -= 1
            continue
        scratch.path[goal.base + depth] = follow
        begin = np.int64(scratch.begins[depth, follow])
        count = np.int64(scratch.counts[depth, follow])
        depth += 1
        ended = open_group(tree, scratch, goal, Group(depth, begin, begin + count, count))
    return np.int64(NOTHING)


@step
def open_group(tree, scratch, goal, group):
    """Count the nodes behind an itemset, treat threats, and list the places of longer itemsets."""
    depth, size = group.depth, goal.base + group.depth + 1
    edge = tree.stop[scratch.path[size - 2]] if depth > 0 else np.int32(0)
    counted = np.int64(0)
    counts, touched = scratch.counts[depth], scratch.touched[depth]
    for i in range(group.begin, group.end):
        at = place_beyond(tree, scratch, scratch.places[depth, i], edge)
        while scratch.rows[at] >= 0:
            other = scratch.rows[at]
            if counts[other] == 0:
                touched[counted] = other
                counted += 1
            counts[other] += 1
            at += 1
        scratch.used[EFFORT] -= at - scratch.places[depth, i]
    touched[:counted].sort()
    scratch.marks[depth, COUNTED], scratch.marks[depth, NEXT] = counted, 0
    if goal.mode == EVICT and scratch.used[EFFORT] < 0:
        return np.int64(OVER)
    for i in range(counted):
        other = touched[i]
        scratch.begins[depth, other] = -1
        if counts[other] < goal.k and not scratch.dead[other]:
            scratch.path[size - 1] = other
            ended = treat(tree, scratch, goal, size)
            if ended != NOTHING:
                return ended
    if size < goal.m:
        list_places(tree, scratch, group, edge, goal.k)
    return np.int64(NOTHING)


@step
def treat(tree, scratch, goal, size):
    """Do with a threat, the first `size` nodes of the path, what the mode says."""
    used = scratch.used[ENTRIES]
    if goal.mode == FIRST:
        return np.int64(FOUND)
    if goal.mode == COLLECT:
        if used + size + 1 > len(scratch.out):
            return np.int64(OVER)
        scratch.out[used] = size
        for i in range(size):
            scratch.out[used + 1 + i] = scratch.path[i]
        scratch.used[ENTRIES] = used + size + 1
        return np.int64(NOTHING)
    cheapest, least = np.int32(-1), np.int64(0)
    for i in range(goal.base, size):
        node = scratch.path[i]
        if scratch.dead[node]:
            return np.int64(NOTHING)
        worth = tree.weight[node] * (tree.whole - tree.penalty[node])
        if cheapest < 0 or worth < least:
            cheapest, least = node, worth
    scratch.dead[cheapest] = 1
    scratch.out[used] = cheapest
    scratch.used[ENTRIES] = used + 1
    scratch.used[BUDGET] -= least
    return np.int64(OVER if scratch.used[BUDGET] < 0 else NOTHING)


@step
def list_places(tree, scratch, group, edge, k):
    """Sort the places behind an itemset by node.

    A node that is in all rows of the group is left out: no smallest threat holds it."""
    depth, fill = group.depth, np.int32(0)
    counts, begins, touched = scratch.counts[depth], scratch.begins[depth], scratch.touched[depth]
    counted = scratch.marks[depth, COUNTED]
    for i in range(counted):
        other = touched[i]
        if counts[other] >= k and counts[other] < group.held and not scratch.dead[other]:
            begins[other] = fill
            fill += counts[other]
    if fill == 0:
        return
    for i in range(group.begin, group.end):
        at = place_beyond(tree, scratch, scratch.places[depth, i], edge)
        while scratch.rows[at] >= 0:
            other = scratch.rows[at]
            if begins[other] >= 0:
                scratch.places[depth + 1, begins[other]] = at
                begins[other] += 1
            at += 1
    for i in range(counted):
        if begins[touched[i]] >= 0:
            begins[touched[i]] -= counts[touched[i]]


@step
def place_beyond(tree, scratch, place, edge):
    """The first place behind the given one whose node is right of the leaf `edge`."""
    at = place + 1
    while scratch.rows[at] >= 0 and tree.first[scratch.rows[at]] < edge:
        at += 1
    return at


@step
def close_group(scratch, depth):
    """Reset the counts of a depth."""
    for i in range(scratch.marks[depth, COUNTED]):
        scratch.counts[depth, scratch.touched[depth, i]] = 0
