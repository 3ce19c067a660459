"""Steps of global recoding: the search for threats among the itemsets of some rows of nodes, depth first.

A row holds nodes, ascending, and is closed by -1. A search starts from some rows and extends an itemset by the nodes behind it in the rows
that hold it; `places` has, for each depth, the places of the last item. Each depth holds every row at most once, so memory is bounded by
(m + 1) times the rows.
"""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import step

FIRST, EVICT, COLLECT = 0, 1, 2
"""What to do with a threat: stop at it, drop its cheapest member, write it down."""

NOTHING, FOUND, OVER = 0, 1, 2
"""How a search ends: without a threat, at one, or beyond what may be spent or written."""


@step
def search(tree, desk, groups, held, base, m, k, mode):
    """Look through all itemsets of `base` to m nodes; the first `base` stand in `desk.path` already, in `held` records."""
    depth = np.int64(0)
    ended = open_group(tree, desk, depth, np.int64(0), groups, held, base, m, k, mode)
    while depth >= 0:
        if ended != NOTHING:
            while depth >= 0:
                close_group(desk, depth)
                depth -= 1
            return ended
        alive = True
        for i in range(depth):
            if desk.dead[desk.path[base + i]]:
                alive = False
        follow = np.int32(-1)
        while alive and desk.marks[3 * depth + 2] < desk.marks[3 * depth + 1]:
            other = desk.touched[depth, desk.marks[3 * depth + 2]]
            desk.marks[3 * depth + 2] += 1
            if desk.begins[depth, other] >= 0 and not desk.dead[other]:
                follow = other
                break
        if follow < 0:
            close_group(desk, depth)
            depth -= 1
            continue
        desk.path[base + depth] = follow
        begin, count = desk.begins[depth, follow], desk.counts[depth, follow]
        depth += 1
        ended = open_group(
            tree, desk, depth, begin, begin + count, np.int64(count), base, m, k, mode
        )
    return np.int64(NOTHING)


@step
def open_group(tree, desk, depth, begin, end, held, base, m, k, mode):
    """Count what stands behind an itemset in its rows, treat the threats, and list the places of what may be extended."""
    edge = tree.stop[desk.path[base + depth - 1]] if depth > 0 else np.int32(0)
    counted = 0
    counts, touched = desk.counts, desk.touched
    for i in range(begin, end):
        at = place_beyond(tree, desk, desk.places[depth, i], edge)
        while desk.rows[at] >= 0:
            other = desk.rows[at]
            if counts[depth, other] == 0:
                touched[depth, counted] = other
                counted += 1
            counts[depth, other] += 1
            at += 1
        desk.used[2] -= at - desk.places[depth, i]
    touched[depth, :counted].sort()
    desk.marks[3 * depth], desk.marks[3 * depth + 1], desk.marks[3 * depth + 2] = held, counted, 0
    if mode == EVICT and desk.used[2] < 0:
        return np.int64(OVER)
    size = base + depth + 1
    for i in range(counted):
        other = touched[depth, i]
        desk.begins[depth, other] = -1
        if counts[depth, other] < k and not desk.dead[other]:
            desk.path[base + depth] = other
            ended = treat(tree, desk, size, base, mode)
            if ended != NOTHING:
                return ended
    if size < m:
        list_places(tree, desk, depth, begin, end, held, counted, edge, k)
    return np.int64(NOTHING)


@step
def treat(tree, desk, size, base, mode):
    """Do with a threat, the first `size` nodes of the path, what the mode says."""
    used = desk.used[0]
    if mode == FIRST:
        return np.int64(FOUND)
    if mode == COLLECT:
        if used + size + 1 > len(desk.out):
            return np.int64(OVER)
        desk.out[used] = size
        for i in range(size):
            desk.out[used + 1 + i] = desk.path[i]
        desk.used[0] = used + size + 1
        return np.int64(NOTHING)
    cheapest, least = np.int32(-1), np.int64(0)
    for i in range(base, size):
        node = desk.path[i]
        if desk.dead[node]:
            return np.int64(NOTHING)
        worth = tree.weight[node] * (tree.whole - tree.penalty[node])
        if cheapest < 0 or worth < least:
            cheapest, least = node, worth
    desk.dead[cheapest] = 1
    desk.out[used] = cheapest
    desk.used[0] = used + 1
    desk.used[1] -= least
    return np.int64(OVER if desk.used[1] < 0 else NOTHING)


@step
def list_places(tree, desk, depth, begin, end, held, counted, edge, k):
    """Sort the places behind an itemset by node; one that adds nothing is left out, for what holds it is never a smallest threat."""
    fill = np.int32(0)
    for i in range(counted):
        other = desk.touched[depth, i]
        count = desk.counts[depth, other]
        if count >= k and count < held and not desk.dead[other]:
            desk.begins[depth, other] = fill
            fill += count
    if fill == 0:
        return
    for i in range(begin, end):
        at = place_beyond(tree, desk, desk.places[depth, i], edge)
        while desk.rows[at] >= 0:
            other = desk.rows[at]
            if desk.begins[depth, other] >= 0:
                desk.places[depth + 1, desk.begins[depth, other]] = at
                desk.begins[depth, other] += 1
            at += 1
    for i in range(counted):
        other = desk.touched[depth, i]
        if desk.begins[depth, other] >= 0:
            desk.begins[depth, other] -= desk.counts[depth, other]


@step
def place_beyond(tree, desk, place, edge):
    """The first place of a row behind the given one whose node lies right of the leaf `edge`."""
    at = place + 1
    while desk.rows[at] >= 0 and tree.first[desk.rows[at]] < edge:
        at += 1
    return at


@step
def close_group(desk, depth):
    for i in range(desk.marks[3 * depth + 1]):
        desk.counts[depth, desk.touched[depth, i]] = 0
