"""Kernels of global recoding: threats, which are itemsets of nodes in 1 to k - 1 records.

A row holds nodes, ascending, and is closed by -1. A search starts from some rows and extends an
itemset by the nodes behind it in the rows that hold it; `places` has, for each depth, the places of
the last item. Each depth holds every row at most once, so memory is bounded by (m + 1) times the
rows."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Bytes, Int32s, Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.recoding.raising import Cut, Records, are_held, raise_cheapest
from setveil.kernels.steps import sort_slice

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
    sort_slice(touched, np.int64(0), counted)
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

    A node that is in all rows of the group is left out: no smallest threat holds it, as without it
    the threat would be in the same records. Counts become starts, starts move on as places are
    written, and the last loop moves them back."""
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
