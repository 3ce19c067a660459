"""Steps of Partition: put records into buckets by the children of one node that they contain."""

import numpy as np

from setveil.kernels.jit import step


@step
def group_by_children(tree, records, scratch, node, start, stop):
    """Number the sets of children of `node` that records contain; returns one more than the last.

    A set is read as a word over the children and looked up letter by letter, so only sets that
    occur cost time."""
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
    """The mask of a table with room for twice the words that can occur.

    There is at most one word for each set of children, and one for each occurrence."""
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
def sort_by_bucket(records, scratch, k, start, stop, buckets):
    """Order a slice by bucket, buckets of fewer than k records last; returns where these begin."""
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
            end = scratch.target[bucket]
            for place in range(end - scratch.counts[bucket], end):
                records.group[place] = bucket
    return edge


@step
def bucket_end(records, part, edge):
    after = part + 1
    while after < edge and records.group[after] == records.group[part]:
        after += 1
    return after


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
