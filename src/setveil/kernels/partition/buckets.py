"""Steps of Partition: records in buckets by the children of a node, and the leftover of a split."""

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


@step
def balance(work, node, start, edge, stop):
    """Fill the leftover up to k records, or join the smallest bucket to it; where it begins."""
    tree, records, scratch, k = work.tree, work.records, work.scratch, work.k
    need, spare = k - (stop - edge), 0
    part, smallest, least = start, start, stop - start + 1
    while part < edge:
        after = bucket_end(records, part, edge)
        spare += after - part - k
        if after - part < least or (
            after - part == least and compare_children(tree, records, node, part, smallest) < 0
        ):
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
            least_gains(work, node, part, after, limit, chosen)
            chosen += limit
        part = after
    take_least(records, scratch, chosen, need)
    return withdraw(records, scratch, start, edge, need)


@step
def compare_children(tree, records, node, left, right):
    """Compare the child sets of two records, as words in the order of the tree."""
    one, other = records.order[left], records.order[right]
    below = tree.depth[node] + 1
    i, j = (
        lower_bound(records, one, tree.first[node]),
        lower_bound(records, other, tree.first[node]),
    )
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
def least_gains(work, node, part, after, limit, base):
    """Write the `limit` records of a bucket that gain least to `places`, from `base` on.

    They are kept as a heap with the greatest gain on top, which any record with less replaces."""
    tree, records, heap, places = work.tree, work.records, work.scratch.heap, work.scratch.places
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
    for i in range(need):  # buckets begin at 1, so a sign marks who leaves
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
def gain_of(tree, records, record, node):
    total = np.int64(0)
    for at in range(lower_bound(records, record, tree.first[node]), records.indptr[record + 1]):
        if records.leaves[at] >= tree.stop[node]:
            break
        total += records.delta[at]
    return total


@step
def sift_down(records, heap, places, base, size, at):
    """Restore the heap with the greatest on top, after entry `at` became less."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        low, high = base + child, base + child + 1
        if child + 1 < size and is_less(records, heap[low], places[low], heap[high], places[high]):
            child += 1
        here, below = base + at, base + child
        if not is_less(records, heap[here], places[here], heap[below], places[below]):
            return
        heap[here], heap[below] = heap[below], heap[here]
        places[here], places[below] = places[below], places[here]
        at = child


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
