"""Kernels of global recoding: threats (itemsets of nodes that stand in 1 to k - 1 records), and what is done about them.

Nodes are numbered in preorder: left to right, parents before children.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.jit import kernel, step
from setveil.kernels.recoding.raising import raise_cheapest, stands
from setveil.kernels.recoding.search import COLLECT, EVICT, FIRST, FOUND, NOTHING, OVER, search

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


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
def list_holders(
    indptr: Int64s, leaves: Int32s, up: Int32s, over: Int32s, starts: Int64s, holders: Int32s
) -> None:
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
def repair(
    data: Data, tree: Tree, desk: Desk, shown: Int32s, current: Int64s, size: int, k: int
) -> int:
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
def insert(
    data: Data,
    tree: Tree,
    desk: Desk,
    shown: Int32s,
    node: int,
    m: int,
    k: int,
    budget: int,
    effort: int,
) -> int:
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
def collect(
    data: Data, tree: Tree, desk: Desk, over: Int32s, allowed: npt.NDArray[np.uint8], m: int, k: int
) -> int:
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
    ended: int = search(
        tree, desk, groups, np.int64(len(data.indptr)), np.int64(0), m, k, np.int64(COLLECT)
    )
    return ended


@kernel
def are_minimal(
    data: Data, sizes: Int64s, itemsets: Int32s, k: int, minimal: npt.NDArray[np.uint8]
) -> None:
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
