"""Kernels of REFINE: join clusters over the terms that their term chunks have in common."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.disassociation.lists import (
    copy_list,
    cut_lists,
    empty_lists,
    has_enough,
    mark_told,
    merge_open,
    merge_told,
    only_lost,
    sort_lists,
    take_lists,
)
from setveil.kernels.disassociation.sharing import (
    Work,
    drop_runs,
    find_runs,
    gains,
    keep_fresh,
    keep_likely,
    make_work,
    share,
    tell,
)
from setveil.kernels.jit import kernel, step

Int64s = npt.NDArray[np.int64]


class Forest(NamedTuple):
    """What the joining makes."""

    parent: Int64s  # the joint cluster of each node, -1 for none
    chunk_node: Int64s  # the joint cluster of each shared chunk
    made: Int64s  # how many nodes and shared chunks there are
    work: Work


@kernel
def refine(lists, sizes, cluster, k, m, reach, weight, with_lost, shared):
    """Join clusters as the paper does, then neighbours level by level.

    Args:
        lists: What `list_open` gives.
        sizes: The records of each cluster.
        cluster: The cluster of each place.
        k: How many records hold each itemset at least.
        m: How many terms an itemset has at most.
        reach: How many records a joint cluster may have on average, but for those over terms that
            stand in no chunk.
        weight: See `join_levels`.
        with_lost: Whether terms that stand in no chunk are shared wherever they can be.
        shared: Gets the shared chunk of each occurrence that is put in one, from 0.

    Returns:
        The parent of each cluster and joint cluster, -1 for none, and the joint cluster of each
        shared chunk.
    """
    forest = make_forest(lists, sizes, cluster, k, m)
    in_chunk = np.full(len(forest.work.keys), not with_lost)
    mark_told(lists, in_chunk)
    lists, node, size, first = join_rounds(lists, sizes, cluster, k, m, forest, shared)
    mark_told(lists, in_chunk)
    join_levels(
        lists,
        node,
        size,
        first,
        in_chunk,
        sizes,
        cluster,
        k,
        m,
        reach,
        weight,
        with_lost,
        forest,
        shared,
    )
    return cut_forest(forest)


@kernel
def refine_as_paper(lists, sizes, cluster, k, m, shared):
    """REFINE of the paper, but for its unsound Property 1; arguments and returns as in `refine`."""
    forest = make_forest(lists, sizes, cluster, k, m)
    join_rounds(lists, sizes, cluster, k, m, forest, shared)
    return cut_forest(forest)


@step
def make_forest(lists, sizes, cluster, k, m):
    """The clusters by themselves, before any are joined."""
    count = len(sizes)
    parent, chunk_node = (
        np.full(2 * count + 1, -1, np.int64),
        np.empty(len(lists.term) // k + 1, np.int64),
    )
    return Forest(
        parent, chunk_node, np.array([count, 0]), make_work(lists, len(cluster), count, m)
    )


@step
def cut_forest(forest):
    return forest.parent[: forest.made[0]].copy(), forest.chunk_node[: forest.made[1]].copy()


@step
def join_rounds(lists, sizes, cluster, k, m, forest, shared):
    """Sort the clusters by their term chunks, join neighbours by equation 1, and so on until none
    join.

    Terms must be numbered by the number of term chunks that hold them. A term that a chunk below
    tells of is not shared. What was refused once is not tried again.

    Returns:
        `(lists, node, size, first)`: what is left open in each cluster that is not part of another,
        its number, records and first cluster.
    """
    parent, chunk_node, made, work = forest
    node, size, first, mark = (
        np.arange(len(sizes)),
        sizes.copy(),
        np.arange(len(sizes)),
        np.int64(0),
    )
    refused = np.full(len(parent), -1, np.int64)
    while True:
        sequence = sort_lists(lists.ptr, lists.term)
        out, fill, told_fill = empty_lists(lists, len(sequence), k)
        next_node, next_size, next_first = (
            np.empty_like(node),
            np.empty_like(size),
            np.empty_like(first),
        )
        i, kept = np.int64(0), np.int64(0)
        while i < len(sequence):
            left, right, found = sequence[i], sequence[min(i + 1, len(sequence) - 1)], np.int64(0)
            end, told_end = fill, told_fill
            if (
                left != right
                and refused[node[left]] != node[right]
                and has_enough(lists.ptr, lists.term, left, right, k)
            ):
                told_end = merge_told(lists.told_ptr, lists.told, left, right, out.told, told_fill)
                end = merge_open(lists, left, right, out, fill, told_fill, told_end)
                found = find_runs(out.term, fill, end, k, work.runs)
                found = keep_fresh(out.term, out.told, told_fill, told_end, work.runs, found)
                mark += 1
                if found > 0 and not gains(
                    out.place,
                    work.runs,
                    found,
                    size[left] + size[right],
                    cluster,
                    sizes,
                    work.stamp,
                    mark,
                ):
                    found = np.int64(0)
            if found > 0:
                share(
                    out, fill, end, told_fill, told_end, found, k, m, work, shared, chunk_node, made
                )
                told_end = tell(out.told, told_fill, told_end, out.term, work.runs, found)
                end = drop_runs(out.term, out.place, out.occurrence, fill, end, work.runs, found)
                parent[node[left]], parent[node[right]] = made[0], made[0]
                next_node[kept], next_size[kept] = made[0], size[left] + size[right]
                next_first[kept] = min(first[left], first[right])
                made[0] += 1
                i += 2
            else:
                refused[node[left]] = node[right]
                end, told_end = copy_list(lists, left, out, fill, told_fill)
                next_node[kept], next_size[kept], next_first[kept] = (
                    node[left],
                    size[left],
                    first[left],
                )
                i += 1
            kept += 1
            fill, told_fill = end, told_end
            out.ptr[kept], out.told_ptr[kept] = end, told_end
        node, size, first = (
            next_node[:kept].copy(),
            next_size[:kept].copy(),
            next_first[:kept].copy(),
        )
        lists = cut_lists(out, kept, fill, told_fill)
        if kept == len(sequence):
            return lists, node, size, first


@step
def join_levels(
    lists,
    node,
    size,
    first,
    in_chunk,
    sizes,
    cluster,
    k,
    m,
    reach,
    weight,
    with_lost,
    forest,
    shared,
):
    """Share chunks among 2, 4, 8, ... neighbours in the order of the clusters, until all are
    together.

    A term is shared where a record of the joint cluster gets it at least `weight` times as likely
    as a record of the clusters that hold it in their term chunks now; and, `with_lost`, where it
    stands in no chunk yet, in the first joint cluster that has it k times. Terms that no chunk
    below tells of are put together into k^m-anonymous chunks; any other gets a chunk of its own,
    which is sound wherever it stands (see the method). Joint clusters of more than `reach` records
    only share terms that stand in no chunk yet."""
    parent, chunk_node, made, work = forest
    order = np.argsort(first)
    lists, head, size = take_lists(lists, order), node[order], size[order]
    tail, after = head.copy(), np.full(len(parent), -1, np.int64)
    records, nodes, narrow = size.sum(), len(node), False
    while nodes > 0:
        if not narrow and records >= reach * nodes:
            if not with_lost:
                break
            lists, narrow = only_lost(lists, nodes, in_chunk), True
        out, fill, told_fill = empty_lists(lists, nodes, k)
        pairs = (nodes + 1) // 2
        for i in range(pairs):
            left, right = 2 * i, 2 * i + 1
            if right < nodes:
                told_end = merge_told(lists.told_ptr, lists.told, left, right, out.told, told_fill)
                end = merge_open(lists, left, right, out, fill, told_fill, told_end)
                after[tail[left]], tail[i], head[i], size[i] = (
                    head[right],
                    tail[right],
                    head[left],
                    size[left] + size[right],
                )
            else:
                end, told_end = copy_list(lists, left, out, fill, told_fill)
                tail[i], head[i], size[i] = tail[left], head[left], size[left]
            if right < nodes or nodes == 1:
                found = find_runs(out.term, fill, end, k, work.runs)
                found = keep_likely(
                    out.term, out.place, work.runs, found, size[i], cluster, sizes, weight, in_chunk
                )
                if found > 0:
                    share(
                        out,
                        fill,
                        end,
                        told_fill,
                        told_end,
                        found,
                        k,
                        m,
                        work,
                        shared,
                        chunk_node,
                        made,
                    )
                    adopt(parent, head, tail, after, i, made)
                    told_end = tell(out.told, told_fill, told_end, out.term, work.runs, found)
                    end = drop_runs(
                        out.term, out.place, out.occurrence, fill, end, work.runs, found
                    )
            fill, told_fill = end, told_end
            out.ptr[i + 1], out.told_ptr[i + 1] = end, told_end
        lists, nodes = out, pairs if nodes > 1 else np.int64(0)
        if nodes == 1:
            nodes = np.int64(0)


@step
def adopt(parent, head, tail, after, node, made):
    """Make everything under a node part of a new joint cluster."""
    child = head[node]
    while child >= 0:
        parent[child] = made[0]
        following = after[child] if child != tail[node] else np.int64(-1)
        child = following
    head[node] = made[0]
    tail[node] = made[0]
    made[0] += 1
