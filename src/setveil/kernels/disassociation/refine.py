"""Kernel of REFINE: join clusters over the terms that their term chunks have in common."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.disassociation.lists import (
    copy_list,
    cut_lists,
    empty_lists,
    has_enough,
    mark_chunked,
    merge_lists,
    only_lost,
    take_lists,
)
from setveil.kernels.disassociation.sharing import (
    CHUNKS,
    NODES,
    Joining,
    find_runs,
    gains,
    keep_fresh,
    keep_likely,
    make_scratch,
    share,
)
from setveil.kernels.jit import kernel, patient, step
from setveil.kernels.steps import sort_words


class Roots(NamedTuple):
    """The nodes that are not part of another."""

    node: Int64s  # the number of each
    size: Int64s  # its records
    first: Int64s  # its first cluster


@patient
@kernel
def refine(lists, block, rule, plan):
    """Join clusters as the paper does, and then, if so planned, neighbours level by level.

    Returns the parent of each cluster and joint cluster, or -1; the joint cluster of each shared
    chunk; and the shared chunk of each occurrence, or -1."""
    joining = make_joining(lists, block, rule, plan)
    mark_chunked(lists, joining.in_chunk)
    lists, roots = join_rounds(lists, joining)
    if plan.with_levels:
        mark_chunked(lists, joining.in_chunk)
        join_levels(lists, roots, joining)
    parent = joining.parent[: joining.made[NODES]].copy()
    return parent, joining.chunk_node[: joining.made[CHUNKS]].copy(), joining.shared


@step
def make_joining(lists, block, rule, plan):
    """The clusters by themselves, before any are joined."""
    count, places = len(block.bounds) - 1, len(block.indptr) - 1
    sizes, cluster = np.empty(count, np.int64), np.empty(places, np.int64)
    for i in range(count):
        sizes[i] = block.bounds[i + 1] - block.bounds[i]
        for place in range(block.bounds[i], block.bounds[i + 1]):
            cluster[place] = i
    scratch = make_scratch(lists, places, count, rule.m)
    made = np.zeros(2, np.int64)
    made[NODES] = count
    return Joining(
        rule,
        plan,
        sizes,
        cluster,
        np.full(2 * count + 1, -1, np.int64),
        np.empty(len(lists.term) // rule.k + 1, np.int64),
        np.full(len(block.items), -1, np.int64),
        made,
        np.full(len(scratch.keys), not plan.with_lost),
        scratch,
    )


@step
def join_rounds(lists, joining):
    """Sort the nodes by their open terms, join neighbours by equation 1, until none join.

    Terms must be numbered by the number of term chunks that have them. A term that is in a chunk of
    a node is not shared above it. A pair that was refused once is not tried again."""
    k, made = joining.rule.k, joining.made
    count = len(joining.sizes)
    roots = Roots(np.arange(count), joining.sizes.copy(), np.arange(count))
    refused, mark = np.full(len(joining.parent), -1, np.int64), np.int64(0)
    while True:
        sequence = np.arange(len(lists.ptr) - 1)
        sort_words(lists.ptr, lists.term, sequence, np.int64(0), np.int64(len(sequence)), False)
        out, span = empty_lists(lists, len(sequence), k)
        node, size, first = roots
        following = Roots(
            np.empty(len(node), np.int64),
            np.empty(len(node), np.int64),
            np.empty(len(node), np.int64),
        )
        i, kept = np.int64(0), np.int64(0)
        while i < len(sequence):
            left, right = sequence[i], sequence[min(i + 1, len(sequence) - 1)]
            before, found = span, np.int64(0)
            if (
                left != right
                and refused[node[left]] != node[right]
                and has_enough(lists, left, right, k)
            ):
                span = merge_lists(lists, left, right, out, before)
                mark += 1
                found = find_gaining(out, span, size[left] + size[right], mark, joining)
            if found > 0:
                span = share(out, span, found, joining)
                joining.parent[node[left]] = joining.parent[node[right]] = made[NODES]
                following.node[kept], following.size[kept] = made[NODES], size[left] + size[right]
                following.first[kept] = min(first[left], first[right])
                made[NODES] += 1
                i += 2
            else:
                refused[node[left]] = node[right]
                span = copy_list(lists, left, out, before)
                following.node[kept], following.size[kept] = node[left], size[left]
                following.first[kept] = first[left]
                i += 1
            kept += 1
            out.ptr[kept], out.chunked_ptr[kept] = span.end, span.chunked_end
        roots = Roots(
            following.node[:kept].copy(),
            following.size[:kept].copy(),
            following.first[:kept].copy(),
        )
        lists = cut_lists(out, kept, span)
        if kept == len(sequence):
            return lists, roots


@step
def find_gaining(out, span, records, mark, joining):
    """Find the terms that a joint cluster may share by the paper; their number, 0 if no gain."""
    runs = joining.scratch.runs
    found = find_runs(out.term, span, joining.rule.k, runs)
    found = keep_fresh(out, span, runs, found)
    return found if found > 0 and gains(out, found, records, mark, joining) else np.int64(0)


@step
def join_levels(lists, roots, joining):
    """Share chunks among 2, 4, 8, ... neighbours in the order of the clusters, until all are
    together.

    A term is shared if a joint cluster makes it likely enough, and, if so planned, in the first
    joint cluster that has it k times if it is in no chunk yet. A chunk of one term is sound even if
    the term is in a chunk below (see the method). Once joint clusters have more than `reach`
    records on average, they only share terms that are in no chunk yet."""
    plan, k = joining.plan, joining.rule.k
    order = order_roots(roots.first, len(joining.sizes))
    lists, nodes, records, narrow = take_lists(lists, order), len(order), np.int64(0), False
    # The nodes under each neighbour: a linked list from `head` to `tail`.
    head, tail, size = (
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
    )
    after = np.full(len(joining.parent), -1, np.int64)
    for i in range(nodes):
        head[i] = tail[i] = roots.node[order[i]]
        size[i] = roots.size[order[i]]
        records += size[i]
    while nodes > 0:
        if not narrow and records >= plan.reach * nodes:
            if not plan.with_lost:
                break
            lists, narrow = only_lost(lists, nodes, joining.in_chunk), True
        out, span = empty_lists(lists, nodes, k)
        pairs = (nodes + 1) // 2
        for i in range(pairs):
            left, right = 2 * i, 2 * i + 1
            if right < nodes:
                span = merge_lists(lists, left, right, out, span)
                after[tail[left]], tail[i], head[i] = head[right], tail[right], head[left]
                size[i] = size[left] + size[right]
            else:
                span = copy_list(lists, left, out, span)
                tail[i], head[i], size[i] = tail[left], head[left], size[left]
            if right < nodes or nodes == 1:
                found = find_runs(out.term, span, k, joining.scratch.runs)
                found = keep_likely(out, found, size[i], joining)
                if found > 0:
                    span = share(out, span, found, joining)
                    adopt(joining, head, tail, after, i)
            out.ptr[i + 1], out.chunked_ptr[i + 1] = span.end, span.chunked_end
        lists, nodes = out, pairs if pairs > 1 else np.int64(0)


@step
def order_roots(first, clusters):
    """The roots by their first cluster; no two have the same."""
    place, order = np.full(clusters, -1, np.int64), np.empty(len(first), np.int64)
    for i in range(len(first)):
        place[first[i]] = i
    found = np.int64(0)
    for cluster in range(clusters):
        if place[cluster] >= 0:
            order[found] = place[cluster]
            found += 1
    return order


@step
def adopt(joining, head, tail, after, node):
    """Make all nodes under a neighbour part of a new joint cluster."""
    parent, made = joining.parent, joining.made
    child = head[node]
    while child >= 0:
        parent[child] = made[NODES]
        child = after[child] if child != tail[node] else np.int64(-1)
    head[node] = tail[node] = made[NODES]
    made[NODES] += 1
