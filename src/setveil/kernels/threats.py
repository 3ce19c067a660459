"""Kernels of global recoding: threats (itemsets of nodes that stand in 1 to k - 1 records), and what is done about them.

Nodes are numbered in preorder: left to right, parents before children. A record is a row of nodes, ascending, closed by -1. A search
starts from some rows and extends an itemset by the nodes behind it in the rows that hold it, depth first; `places` has, for each depth,
the places of the last item. Each depth holds every row at most once, so memory is bounded by (m + 1) times the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.jit import kernel, step

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

FIRST, EVICT, COLLECT = 0, 1, 2
"""What to do with a threat: stop at it, drop its cheapest member, write it down."""

NOTHING, FOUND, OVER = 0, 1, 2
"""How a search ends: without a threat, at one, or beyond what may be spent or written."""


class Data(NamedTuple):
    """The records, and the records under each node."""

    indptr: Int64s
    leaves: Int32s
    starts: Int64s  # of each node in `holders`
    holders: Int32s  # records that hold a leaf under the node, ascending


class Tree(NamedTuple):
    """The tree without chains of single children."""

    up: Int32s  # the parent; -1 at the root, node 0
    first: Int32s  # the leaves of a node are first to stop - 1
    stop: Int32s
    weight: Int64s  # occurrences under each node
    penalty: Int64s  # of one occurrence that stands as the node; `whole` when it is suppressed
    whole: int


class Desk(NamedTuple):
    """Room for a search."""

    rows: Int32s
    places: Int32s  # [depth, ...]
    counts: Int32s  # [depth, node]
    begins: Int32s  # [depth, node]: where the places of a longer itemset begin
    touched: Int32s  # [depth, ...]: the nodes that were counted
    path: Int32s
    marks: Int64s  # [depth, (rows of the group, counted nodes, next of them)], flat
    dead: npt.NDArray[np.uint8]  # nodes that are dropped during a search
    out: Int32s  # threats, each `base + size` nodes behind its size; or the dropped nodes
    used: Int64s  # (entries of `out`, what may still be spent, entries of rows that may still be looked at)


@kernel
def list_holders(indptr: Int64s, leaves: Int32s, up: Int32s, first: Int32s, over: Int32s, starts: Int64s, holders: Int32s) -> None:
    """Count (`holders` is empty) or write the records under each node; `over` is the node of each leaf."""
    writing = len(holders) > 0
    last = np.full(len(up), -1, dtype=np.int64)
    fill = starts[:-1].copy()
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


@kernel
def repair(data: Data, tree: Tree, desk: Desk, shown: Int32s, current: Int64s, size: int, k: int) -> int:
    """Raise the cut until no itemset of `size` nodes is a threat, if none of fewer is; the first threat in the tree first.

    Each time the cheapest way is taken to raise members, siblings along, until their image stands in k records. Returns OVER when there is
    none, for even the root stands in fewer. `current` is the cost of what is shown under each node.
    """
    at = 0
    members = desk.path
    while at < len(shown):
        node = shown[at]
        members[0] = node
        held = data.starts[node + 1] - data.starts[node]
        if size == 1:
            found = 0 < held < k
        else:
            groups = project(data, desk, shown, node, node)
            found = search(tree, desk, groups, held, np.int64(1), size, k, np.int64(FIRST)) == FOUND
        if not found:
            at = tree.stop[node]
        elif not raise_cheapest(data, tree, shown, current, members, size, k):
            return OVER
        elif shown[at] != node:
            at = tree.first[shown[at]]
    return NOTHING


@kernel
def insert(data: Data, tree: Tree, desk: Desk, shown: Int32s, node: int, m: int, k: int, budget: int, effort: int) -> int:
    """Whether a node may be shown beside those that are, if nodes that are worth no more than `budget` in sum are dropped for it.

    Returns NOTHING and the dropped nodes in `desk.out`, or OVER, also when that takes more than `effort` entries of rows to see. `shown`
    must be safe and show nothing under the node; it is not changed.
    """
    held = data.starts[node + 1] - data.starts[node]
    desk.used[0], desk.used[1], desk.used[2] = 0, budget, effort
    if held < k:
        return OVER if held > 0 else NOTHING
    if m == 1:
        return NOTHING
    desk.path[0] = node
    groups = project(data, desk, shown, node, np.int64(-1))
    ended: int = search(tree, desk, groups, held, np.int64(1), m, k, np.int64(EVICT))
    for at in range(desk.used[0]):
        desk.dead[desk.out[at]] = 0
    return ended


@kernel
def collect(data: Data, tree: Tree, desk: Desk, over: Int32s, allowed: npt.NDArray[np.uint8], m: int, k: int) -> int:
    """Write the threats of all cuts, no two nodes of one on a path, whose nodes but the last are no threat together; OVER when full."""
    top = np.int64(0)
    groups = 0
    for record in range(len(data.indptr) - 1):
        desk.places[0, groups] = top
        groups += 1
        desk.rows[top] = -1
        top += 1
        begin = top
        for at in range(data.indptr[record], data.indptr[record + 1]):
            node = over[data.leaves[at]]
            while node >= 0:
                if allowed[node]:
                    place = top
                    while place > begin and desk.rows[place - 1] > node:
                        place -= 1
                    if place > begin and desk.rows[place - 1] == node:
                        break
                    for back in range(top, place, -1):
                        desk.rows[back] = desk.rows[back - 1]
                    desk.rows[place] = node
                    top += 1
                node = tree.up[node]
    desk.rows[top] = -1
    desk.used[0] = 0
    ended: int = search(tree, desk, groups, np.int64(len(data.indptr)), np.int64(0), m, k, np.int64(COLLECT))
    return ended


@kernel
def are_minimal(data: Data, sizes: Int64s, itemsets: Int32s, k: int, minimal: npt.NDArray[np.uint8]) -> None:
    """Mark the threats of which every part with one node less stands in k records."""
    at = 0
    part = np.empty(64, dtype=np.int32)
    for number in range(len(sizes)):
        size = sizes[number]
        minimal[number] = 1
        for left in range(size if size > 1 else 0):
            for i in range(size - 1):
                part[i] = itemsets[at + (i if i < left else i + 1)]
            if not stands(data, part, size - 1, k):
                minimal[number] = 0
                break
        at += size


@step
def project(data, desk, shown, node, after):
    """Write the shown nodes beyond `after` of each record under `node`; returns the number of rows."""
    top, groups = np.int64(0), np.int64(0)
    for at in range(data.starts[node], data.starts[node + 1]):
        record = data.holders[at]
        desk.rows[top] = -1
        begin, last = top, np.int32(-1)
        top += 1
        for entry in range(data.indptr[record], data.indptr[record + 1]):
            other = shown[data.leaves[entry]]
            if other > after and other != last and other != node:
                desk.rows[top] = other
                last = other
                top += 1
        if top == begin + 1:
            top = begin
        else:
            desk.places[0, groups] = begin
            groups += 1
    desk.rows[top] = -1
    return groups


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
        ended = open_group(tree, desk, depth, begin, begin + count, np.int64(count), base, m, k, mode)
    return np.int64(NOTHING)


@step
def open_group(tree, desk, depth, begin, end, held, base, m, k, mode):
    """Count what stands behind an itemset in its rows, treat the threats, and list the places of what may be extended."""
    edge = tree.stop[desk.path[base + depth - 1]] if depth > 0 else np.int32(0)
    counted = 0
    counts, touched = desk.counts, desk.touched
    for i in range(begin, end):
        at = desk.places[depth, i] + 1
        while desk.rows[at] >= 0 and tree.first[desk.rows[at]] < edge:
            at += 1
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
        at = desk.places[depth, i] + 1
        while desk.rows[at] >= 0 and tree.first[desk.rows[at]] < edge:
            at += 1
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
def close_group(desk, depth):
    for i in range(desk.marks[3 * depth + 1]):
        desk.counts[depth, desk.touched[depth, i]] = 0


@step
def raise_cheapest(data, tree, shown, current, members, size, k):
    """Raise members of a threat in the cheapest way; of equals the one that raises the last ones first. False when there is none."""
    targets, best, top = members[:size].copy(), members[:size].copy(), members[:size].copy()
    least, bump = np.int64(-1), size - 1
    while True:
        while bump >= 0 and tree.up[targets[bump]] < 0:
            targets[bump] = members[bump]
            bump -= 1
        if bump < 0:
            break
        targets[bump] = tree.up[targets[bump]]
        last, bump = bump, size - 1
        tops, cost = topmost(tree, targets, top), np.int64(0)
        for i in range(tops):
            cost += tree.weight[top[i]] * tree.penalty[top[i]] - current[top[i]]
        dear = least >= 0 and cost >= least
        if dear or stands(data, top, tops, k):
            if not dear:
                least = cost
                best[:] = targets
            targets[last] = members[last]
            bump = last - 1
    if least < 0:
        return False
    for i in range(topmost(tree, best, top)):
        apply_raise(tree, shown, current, top[i])
    return True


@step
def topmost(tree, targets, top):
    """Write the distinct targets that lie under no other; returns their number."""
    count = 0
    for i in range(len(targets)):
        covered = False
        for j in range(len(targets)):
            one, other = targets[i], targets[j]
            if (other < one and tree.stop[one] <= tree.stop[other]) or (other == one and j < i):
                covered = True
        if not covered:
            top[count] = targets[i]
            count += 1
    return count


@step
def apply_raise(tree, shown, current, node):
    more = tree.weight[node] * tree.penalty[node] - current[node]
    for leaf in range(tree.first[node], tree.stop[node]):
        shown[leaf] = node
    while node >= 0:
        current[node] += more
        node = tree.up[node]


@step
def stands(data, nodes, size, k):
    """Whether k records or more hold all these nodes."""
    rarest = nodes[0]
    for i in range(1, size):
        if data.starts[nodes[i] + 1] - data.starts[nodes[i]] < data.starts[rarest + 1] - data.starts[rarest]:
            rarest = nodes[i]
    if data.starts[rarest + 1] - data.starts[rarest] < k:
        return False
    count = 0
    for at in range(data.starts[rarest], data.starts[rarest + 1]):
        record = data.holders[at]
        held = True
        for i in range(size):
            if held and nodes[i] != rarest:
                low, high = data.starts[nodes[i]], data.starts[nodes[i] + 1]
                while low < high:
                    middle = (low + high) >> 1
                    if data.holders[middle] < record:
                        low = middle + 1
                    else:
                        high = middle
                held = low < data.starts[nodes[i] + 1] and data.holders[low] == record
        if held:
            count += 1
            if count >= k:
                return True
    return False
