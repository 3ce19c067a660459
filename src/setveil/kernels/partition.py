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
def split_pending(tree: Tree, records: Records, stack: Stack, done: Done, scratch: Scratch, k: int, budget: int) -> None:
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
            finish(stack, done, scratch, start, stop, size)
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
def finish(stack, done, scratch, start, stop, size):
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
def group_by_children(tree, records, scratch, node, start, stop):
    """Give each record the number of its set of children of `node`; returns one more than the last number.

    The set is read as a word over the children and looked up letter by letter, so only sets that occur cost anything.
    """
    first, last, below = tree.first[node], tree.stop[node], tree.depth[node] + 1
    mask = table_mask(scratch, tree.fanout[node], records, start, stop)
    buckets = 1
    for i in range(start, stop):
        record = records.order[i]
        bucket, before = 0, -1
        for at in range(lower_bound(records, record, first), records.indptr[record + 1]):
            leaf = records.leaves[at]
            if leaf >= last:
                break
            child = tree.ancestors[leaf, below]
            if child != before:
                before = child
                key = (np.int64(bucket) << 32) | child
                place = (np.int64(bucket) * 1000003 + np.int64(child) * 7919) & mask
                while scratch.keys[place] != key and scratch.keys[place] != -1:
                    place = (place + 1) & mask
                if scratch.keys[place] == -1:
                    scratch.keys[place] = key
                    scratch.values[place] = buckets
                    scratch.used[buckets] = place
                    scratch.counts[buckets] = 0
                    buckets += 1
                bucket = scratch.values[place]
        records.group[i] = bucket
        scratch.counts[bucket] += 1
    return buckets


@step
def table_mask(scratch, fanout, records, start, stop):
    """A table of twice the words that can occur: subsets of few children, or one for each occurrence."""
    words = np.int64(1) << min(np.int64(fanout), 40)
    if words > 4096:
        occurrences = 0
        for i in range(start, stop):
            record = records.order[i]
            occurrences += records.indptr[record + 1] - records.indptr[record]
            if occurrences >= words:
                break
        words = min(words, occurrences)
    size = 16
    while size < 2 * words and size < len(scratch.keys):
        size *= 2
    return size - 1


@step
def clear_table(scratch, buckets):
    for bucket in range(1, buckets):
        scratch.keys[scratch.used[bucket]] = -1


@step
def lower_bound(records, record, leaf):
    """The first occurrence of a record at or after `leaf`."""
    low, high = records.indptr[record], records.indptr[record + 1]
    while high - low > 8:
        middle = (low + high) >> 1
        if records.leaves[middle] < leaf:
            low = middle + 1
        else:
            high = middle
    while low < high and records.leaves[low] < leaf:
        low += 1
    return low


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
                records.delta[at] = tree.penalty[child] - tree.penalty[tree.ancestors[leaf, below + 1]]


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
        after = part + 1
        while after < edge and records.group[after] == records.group[part]:
            after += 1
        descend(tree, records, node, part, after)
        push(tree, records, stack, done, scratch, part, after, size, best, np.int64(1))
        part = after
    if edge < stop:
        push(tree, records, stack, done, scratch, edge, stop, size, best, np.int64(0))


@step
def sort_by_bucket(records, scratch, k, start, stop, buckets):
    """Order a slice by bucket, those below k last; returns where these begin."""
    edge = start
    for bucket in range(1, buckets):
        if scratch.counts[bucket] >= k:
            scratch.target[bucket] = edge
            edge += scratch.counts[bucket]
    fill = edge
    for i in range(start, stop):
        bucket = records.group[i]
        if scratch.counts[bucket] >= k:
            place = scratch.target[bucket]
            scratch.target[bucket] = place + 1
        else:
            place = fill
            fill += 1
        records.spare[place] = records.order[i]
    for i in range(start, stop):
        records.order[i] = records.spare[i]
    for bucket in range(1, buckets):
        if scratch.counts[bucket] >= k:
            for place in range(scratch.target[bucket] - scratch.counts[bucket], scratch.target[bucket]):
                records.group[place] = bucket
    return edge


@step
def balance(tree, records, scratch, k, start, edge, stop, node):
    """Fill the leftover up to k: from buckets with more than k, or with the smallest bucket; returns where it now begins."""
    need, spare = k - (stop - edge), 0
    part, smallest, least = start, start, stop - start + 1
    while part < edge:
        after = bucket_end(records, part, edge)
        spare += after - part - k
        if after - part < least or (after - part == least and compare_children(tree, records, node, part, smallest) < 0):
            smallest, least = part, after - part
        part = after
    if spare < need:
        move_to_end(records, smallest, smallest + least, edge)
        return edge - least
    chosen, part = np.int64(0), start
    while part < edge:
        after = bucket_end(records, part, edge)
        limit = min(after - part - k, need)
        if limit > 0:
            chosen += least_gains(tree, records, scratch, node, part, after, limit, chosen)
        part = after
    take_least(records, scratch, chosen, need)
    return withdraw(records, scratch, start, edge, need)


@step
def bucket_end(records, part, edge):
    after = part + 1
    while after < edge and records.group[after] == records.group[part]:
        after += 1
    return after


@step
def compare_children(tree, records, node, left, right):
    """Compare the child sets of two records, as words in the order of the tree."""
    one, other = records.order[left], records.order[right]
    below = tree.depth[node] + 1
    i, j = lower_bound(records, one, tree.first[node]), lower_bound(records, other, tree.first[node])
    while True:
        i_over = i >= records.indptr[one + 1] or records.leaves[i] >= tree.stop[node]
        j_over = j >= records.indptr[other + 1] or records.leaves[j] >= tree.stop[node]
        if i_over or j_over:
            return np.int64(j_over) - np.int64(i_over)
        a, b = tree.ancestors[records.leaves[i], below], tree.ancestors[records.leaves[j], below]
        if a != b:
            return np.int64(tree.first[a]) - np.int64(tree.first[b])
        while i < records.indptr[one + 1] and records.leaves[i] < tree.stop[a]:
            i += 1
        while j < records.indptr[other + 1] and records.leaves[j] < tree.stop[a]:
            j += 1


@step
def move_to_end(records, start, stop, edge):
    """Move the slice start..stop behind everything before `edge`."""
    for i in range(start, stop):
        records.spare[i] = records.order[i]
    for i in range(stop, edge):
        records.order[i - (stop - start)] = records.order[i]
        records.group[i - (stop - start)] = records.group[i]
    for i in range(start, stop):
        records.order[edge - (stop - start) + i - start] = records.spare[i]


@step
def gain_of(tree, records, record, node):
    total = np.int64(0)
    for at in range(lower_bound(records, record, tree.first[node]), records.indptr[record + 1]):
        if records.leaves[at] >= tree.stop[node]:
            break
        total += records.delta[at]
    return total


@step
def is_less(records, gain, place, other_gain, other_place):
    """Order by gain, then by content."""
    if gain != other_gain:
        return gain < other_gain
    one, other = records.order[place], records.order[other_place]
    i, j = records.indptr[one], records.indptr[other]
    while i < records.indptr[one + 1] and j < records.indptr[other + 1]:
        if records.leaves[i] != records.leaves[j]:
            return records.leaves[i] < records.leaves[j]
        i += 1
        j += 1
    return i == records.indptr[one + 1] and j < records.indptr[other + 1]


@step
def sift_down(records, heap, places, base, size, at):
    """Restore the heap with the greatest on top, after the entry `at` became less."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and is_less(
            records, heap[base + child], places[base + child], heap[base + child + 1], places[base + child + 1]
        ):
            child += 1
        if not is_less(records, heap[base + at], places[base + at], heap[base + child], places[base + child]):
            return
        heap[base + at], heap[base + child] = heap[base + child], heap[base + at]
        places[base + at], places[base + child] = places[base + child], places[base + at]
        at = child


@step
def least_gains(tree, records, scratch, node, part, after, limit, base):
    """Keep, from `base` on, the `limit` records of a bucket that gain least; returns how many."""
    heap, places = scratch.heap, scratch.places
    for i in range(part, part + limit):
        heap[base + i - part] = gain_of(tree, records, records.order[i], node)
        places[base + i - part] = i
    for i in range(limit // 2 - 1, -1, -1):
        sift_down(records, heap, places, base, limit, i)
    for i in range(part + limit, after):
        gain = gain_of(tree, records, records.order[i], node)
        if is_less(records, gain, i, heap[base], places[base]):
            heap[base], places[base] = gain, i
            sift_down(records, heap, places, base, limit, np.int64(0))
    return limit


@step
def take_least(records, scratch, chosen, need):
    """Keep the `need` least of all the chosen at the front."""
    heap, places = scratch.heap, scratch.places
    for i in range(need // 2 - 1, -1, -1):
        sift_down(records, heap, places, np.int64(0), need, i)
    for i in range(need, chosen):
        if is_less(records, heap[i], places[i], heap[0], places[0]):
            heap[0], places[0] = heap[i], places[i]
            sift_down(records, heap, places, np.int64(0), need, np.int64(0))


@step
def withdraw(records, scratch, start, edge, need):
    """Move the chosen records out of their buckets to the end; returns where they begin."""
    for i in range(need):
        records.group[scratch.places[i]] = -records.group[scratch.places[i]]
    fill, out = start, 0
    for i in range(start, edge):
        if records.group[i] < 0:
            records.spare[start + out] = records.order[i]
            out += 1
        else:
            records.order[fill] = records.order[i]
            records.group[fill] = records.group[i]
            fill += 1
    for i in range(out):
        records.order[fill + i] = records.spare[start + i]
    return fill


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
