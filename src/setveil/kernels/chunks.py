"""Kernels of VERPART and REFINE: put the terms of a cluster into chunks, and join clusters over the terms that are left.

The records of a cluster stand together; a record's number is its place. `chunk` holds, for each occurrence, the number of its record chunk
within its cluster, or -1 while it stands in the term chunk.

One long file: kernels that call each other stand together, as the cache of one does not see that another file has changed.
"""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel, step


@kernel
def split_vertically(indptr, items, width, bounds, first, last, k, m, sensitive, chunk, chunks, is_short):
    """Give the occurrences of the clusters `first` to `last - 1` their chunks; `chunks` gets the number of chunks of each cluster.

    `is_short` tells which clusters have too few subrecords for Lemma 2 but a term chunk that is not empty.

    A cluster whose record chunks hold too few subrecords for Lemma 2 and that has no term chunk gives up its least frequent term.
    """
    counts, place = np.zeros(width, np.int64), np.full(width, -1, np.int64)
    touched, keys = np.empty(width, np.int64), np.empty(width, np.int64)
    most, longest = np.int64(0), np.int64(1)
    for cluster in range(first, last):
        most = max(most, indptr[bounds[cluster + 1]] - indptr[bounds[cluster]])
        longest = max(longest, bounds[cluster + 1] - bounds[cluster])
    begin, positions = np.empty(width + 1, np.int64), np.empty(most + 1, np.int64)
    number = np.empty(width, np.int64)
    room = make_room(longest, most, width, m)
    for cluster in range(first, last):
        start, stop = bounds[cluster], bounds[cluster + 1]
        distinct, frequent = np.int64(0), np.int64(0)
        for i in range(start, stop):
            for at in range(indptr[i], indptr[i + 1]):
                if counts[items[at]] == 0:
                    touched[distinct] = items[at]
                    distinct += 1
                counts[items[at]] += 1
        for i in range(distinct):
            term = touched[i]
            if counts[term] >= k and not sensitive[term]:
                keys[frequent] = (stop - start - counts[term]) * width + term
                frequent += 1
        keys[:frequent].sort()
        end = np.int64(0)
        for i in range(frequent):
            term = keys[i] % width
            place[term] = i
            begin[i] = end
            end += counts[term]
        begin[frequent] = end
        for i in range(start, stop):
            for at in range(indptr[i], indptr[i + 1]):
                i_term = place[items[at]]
                if i_term >= 0:
                    positions[begin[i_term + 1] - counts[items[at]]] = i - start
                    counts[items[at]] -= 1
        found = assign_chunks(begin, positions, frequent, stop - start, k, m, number, room)
        subrecords = count_subrecords(begin, positions, frequent, number, found, stop - start, room)
        is_short[cluster] = found == 0 or subrecords < stop - start + k * (min(m, found) - 1)
        if is_short[cluster] and frequent == distinct and frequent > 0:
            found = give_up_last(number, frequent, found)
        chunks[cluster] = found
        for i in range(start, stop):
            for at in range(indptr[i], indptr[i + 1]):
                i_term = place[items[at]]
                chunk[at] = number[i_term] if i_term >= 0 else -1
        for i in range(distinct):
            counts[touched[i]] = 0
            place[touched[i]] = -1


@step
def make_room(longest, most, width, m):
    """Scratch of `assign_chunks`: lists of assigned terms by record, counts, and stacks for larger itemsets."""
    head = np.full(longest + 1, -1, np.int64)
    link = np.empty(most + 1, np.int64)
    owner = np.empty(most + 1, np.int64)
    together = np.zeros(width + 1, np.int64)
    seen = np.empty(width + 1, np.int64)
    clash = np.full(width + 1, -1, np.int64)
    stacked = np.empty((m + 1) * (longest + 1), np.int64)
    levels = np.empty((m + 2) * 4, np.int64)
    return head, link, owner, together, seen, clash, stacked, levels


@step
def assign_chunks(begin, positions, terms, size, k, m, number, room):
    """Put each term, in the given order, into the first chunk that stays k^m-anonymous with it; returns the number of chunks.

    Term i stands at `positions[begin[i]:begin[i + 1]]`, k or more of 0 to `size - 1`. This is what filling one chunk after the other gives.
    """
    head, link, owner, together, seen, clash, stacked, levels = room
    for i in range(size):
        head[i] = -1
    for i in range(terms + 1):
        clash[i] = -1
    found, entries = np.int64(0), np.int64(0)
    for term in range(terms):
        met = np.int64(0)
        for at in range(begin[term], begin[term + 1]):
            entry = head[positions[at]]
            while entry >= 0:
                other = owner[entry]
                if together[other] == 0:
                    seen[met] = other
                    met += 1
                together[other] += 1
                entry = link[entry]
        for i in range(met):
            if together[seen[i]] < k:
                clash[number[seen[i]]] = term
            together[seen[i]] = 0
        chosen = np.int64(0)
        while chosen < found:
            if (m > 1 and clash[chosen] == term) or (m > 2 and not keeps_larger(begin, positions, term, k, m, number, chosen, room)):
                chosen += 1
            else:
                break
        number[term] = chosen
        found = max(found, chosen + 1)
        for at in range(begin[term], begin[term + 1]):
            owner[entries], link[entries] = term, head[positions[at]]
            head[positions[at]] = entries
            entries += 1
    return found


@step
def keeps_larger(begin, positions, term, k, m, number, chosen, room):
    """Whether all itemsets of 3 to m terms with `term` in a chunk occur in k records or in none; pairs are known to."""
    head, link, owner, together, seen, clash, stacked, levels = room
    base = np.int64(0)
    for at in range(begin[term], begin[term + 1]):
        stacked[at - begin[term]] = positions[at]
    levels[0], levels[1], levels[2] = 0, begin[term + 1] - begin[term], -1
    depth = np.int64(0)
    while depth >= 0:
        low, high, last = levels[4 * depth], levels[4 * depth + 1], levels[4 * depth + 2]
        following = next_term(stacked, low, high, last, head, link, owner, number, chosen)
        if following < 0:
            depth -= 1
            continue
        levels[4 * depth + 2] = following
        base = high
        for i in range(low, high):
            if holds(head, link, owner, stacked[i], following):
                stacked[base] = stacked[i]
                base += 1
        if base - high < k:
            return False
        if depth + 2 < m:
            depth += 1
            levels[4 * depth], levels[4 * depth + 1], levels[4 * depth + 2] = high, base, following
    return True


@step
def next_term(stacked, low, high, last, head, link, owner, number, chosen):
    """The least term after `last` of the chunk that stands in one of the stacked records, or -1."""
    least = np.int64(-1)
    for i in range(low, high):
        entry = head[stacked[i]]
        while entry >= 0:
            other = owner[entry]
            if other > last and number[other] == chosen and (least < 0 or other < least):
                least = other
            entry = link[entry]
    return least


@step
def holds(head, link, owner, record, term):
    entry = head[record]
    while entry >= 0:
        if owner[entry] == term:
            return True
        entry = link[entry]
    return False


@step
def count_subrecords(begin, positions, terms, number, found, size, room):
    """The non-empty subrecords of all chunks together."""
    head, link, owner, together, seen, clash, stacked, levels = room
    total = np.int64(0)
    for chunk in range(found):
        for i in range(size):
            head[i] = -1
        for term in range(terms):
            if number[term] == chunk:
                for at in range(begin[term], begin[term + 1]):
                    if head[positions[at]] < 0:
                        head[positions[at]] = 1
                        total += 1
    return total


@step
def give_up_last(number, terms, found):
    """Move the least frequent term to the term chunk; returns the number of chunks that are left."""
    lost = number[terms - 1]
    number[terms - 1] = -1
    for term in range(terms - 1):
        if number[term] == lost:
            return found
    for term in range(terms - 1):
        if number[term] > lost:
            number[term] -= 1
    return found - 1


@kernel
def refine(lists, sizes, cluster, k, m, reach, weight, with_lost, shared):
    """Join clusters as the paper does, then neighbours level by level.

    Args:
        lists: What `list_open` gives.
        sizes: The records of each cluster.
        cluster: The cluster of each place.
        k: How many records hold each itemset at least.
        m: How many terms an itemset has at most.
        reach: How many records a joint cluster may have on average, but for those over terms that stand in no chunk.
        weight: See `join_levels`.
        with_lost: Whether terms that stand in no chunk are shared wherever they can be.
        shared: Gets the shared chunk of each occurrence that is put in one, from 0.

    Returns:
        The parent of each cluster and joint cluster, -1 for none, and the joint cluster of each shared chunk.
    """
    forest = make_forest(lists, sizes, cluster, k, m)
    in_chunk = np.full(len(forest[3][1]), not with_lost)
    mark_told(lists, in_chunk)
    lists, node, size, first = join_rounds(lists, sizes, cluster, k, m, forest, shared)
    mark_told(lists, in_chunk)
    join_levels(lists, node, size, first, in_chunk, sizes, cluster, k, m, reach, weight, with_lost, forest, shared)
    return cut_forest(forest)


@kernel
def refine_as_paper(lists, sizes, cluster, k, m, shared):
    """REFINE of the paper, but for its unsound Property 1; arguments and returns as in `refine`."""
    forest = make_forest(lists, sizes, cluster, k, m)
    join_rounds(lists, sizes, cluster, k, m, forest, shared)
    return cut_forest(forest)


@step
def make_forest(lists, sizes, cluster, k, m):
    """The parent of each node, the node of each shared chunk, how many nodes and shared chunks are made, and scratch."""
    count = len(sizes)
    parent, chunk_node = np.full(2 * count + 1, -1, np.int64), np.empty(len(lists[1]) // k + 1, np.int64)
    return parent, chunk_node, np.array([count, 0]), make_work(lists, len(cluster), count, k, m)


@step
def cut_forest(forest):
    parent, chunk_node, made, work = forest
    return parent[: made[0]].copy(), chunk_node[: made[1]].copy()


@step
def join_rounds(lists, sizes, cluster, k, m, forest, shared):
    """Sort the clusters by their term chunks, join neighbours by equation 1, and so on until none join.

    Terms must be numbered by the number of term chunks that hold them. A term that a chunk below tells of is not shared. What was refused
    once is not tried again.

    Returns:
        `(lists, node, size, first)`: what is left open in each cluster that is not part of another, its number, records and first cluster.
    """
    parent, chunk_node, made, work = forest
    node, size, first, mark = np.arange(len(sizes)), sizes.copy(), np.arange(len(sizes)), np.int64(0)
    refused = np.full(len(parent), -1, np.int64)
    while True:
        sequence = sort_lists(lists[0], lists[1])
        out, fill, told_fill = empty_lists(lists, len(sequence), k)
        next_node, next_size, next_first = np.empty_like(node), np.empty_like(size), np.empty_like(first)
        i, kept = np.int64(0), np.int64(0)
        while i < len(sequence):
            left, right, found = sequence[i], sequence[min(i + 1, len(sequence) - 1)], np.int64(0)
            end, told_end = fill, told_fill
            if left != right and refused[node[left]] != node[right] and has_enough(lists[0], lists[1], left, right, k):
                told_end = merge_told(lists[4], lists[5], left, right, out[5], told_fill)
                end = merge_open(lists, left, right, out, fill, told_fill, told_end)
                found = find_runs(out[1], fill, end, k, work[0])
                found = keep_fresh(out[1], out[5], told_fill, told_end, work[0], found)
                mark += 1
                if found > 0 and not gains(out[2], work[0], found, size[left] + size[right], cluster, sizes, work[6], mark):
                    found = np.int64(0)
            if found > 0:
                share(out, fill, end, told_fill, told_end, found, k, m, work, shared, chunk_node, made)
                told_end = tell(out[5], told_fill, told_end, out[1], work[0], found)
                end = drop_runs(out[1], out[2], out[3], fill, end, work[0], found)
                parent[node[left]], parent[node[right]] = made[0], made[0]
                next_node[kept], next_size[kept] = made[0], size[left] + size[right]
                next_first[kept] = min(first[left], first[right])
                made[0] += 1
                i += 2
            else:
                refused[node[left]] = node[right]
                end, told_end = copy_list(lists, left, out, fill, told_fill)
                next_node[kept], next_size[kept], next_first[kept] = node[left], size[left], first[left]
                i += 1
            kept += 1
            fill, told_fill = end, told_end
            out[0][kept], out[4][kept] = end, told_end
        node, size, first = next_node[:kept].copy(), next_size[:kept].copy(), next_first[:kept].copy()
        lists = cut_lists(out, kept, fill, told_fill)
        if kept == len(sequence):
            return lists, node, size, first


@step
def join_levels(lists, node, size, first, in_chunk, sizes, cluster, k, m, reach, weight, with_lost, forest, shared):
    """Share chunks among 2, 4, 8, ... neighbours in the order of the clusters, until all are together.

    A term is shared where a record of the joint cluster gets it at least `weight` times as likely as a record of the clusters that hold
    it in their term chunks now; and, `with_lost`, where it stands in no chunk yet, in the first joint cluster that has it k times. Terms
    that no chunk below tells of are put together into k^m-anonymous chunks; any other gets a chunk of its own, which is sound wherever it
    stands (see the method). Joint clusters of more than `reach` records only share terms that stand in no chunk yet.
    """
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
                told_end = merge_told(lists[4], lists[5], left, right, out[5], told_fill)
                end = merge_open(lists, left, right, out, fill, told_fill, told_end)
                after[tail[left]], tail[i], head[i], size[i] = head[right], tail[right], head[left], size[left] + size[right]
            else:
                end, told_end = copy_list(lists, left, out, fill, told_fill)
                tail[i], head[i], size[i] = tail[left], head[left], size[left]
            if right < nodes or nodes == 1:
                found = find_runs(out[1], fill, end, k, work[0])
                found = keep_likely(out[1], out[2], work[0], found, size[i], cluster, sizes, weight, in_chunk)
                if found > 0:
                    share(out, fill, end, told_fill, told_end, found, k, m, work, shared, chunk_node, made)
                    adopt(parent, head, tail, after, i, made)
                    told_end = tell(out[5], told_fill, told_end, out[1], work[0], found)
                    end = drop_runs(out[1], out[2], out[3], fill, end, work[0], found)
            fill, told_fill = end, told_end
            out[0][i + 1], out[4][i + 1] = end, told_end
        lists, nodes = out, pairs if nodes > 1 else np.int64(0)
        if nodes == 1:
            nodes = np.int64(0)


@step
def make_work(lists, places, count, k, m):
    """Scratch of the joining: runs, keys, layout of the candidates, records by place, and stamps of clusters."""
    term, most = lists[1], np.int64(0)
    for at in range(len(term)):
        most = max(most, np.int64(term[at]) + 1)
    runs = np.empty((most + 1, 2), np.int64)
    keys, begin, number = np.empty(most + 1, np.int64), np.empty(most + 2, np.int64), np.empty(most + 1, np.int64)
    positions, local = np.empty(len(term) + 1, np.int64), np.full(places, -1, np.int64)
    stamp = np.full(count, -1, np.int64)
    room = make_room(np.int64(min(places, len(term))), np.int64(len(term)), most, m)
    return runs, keys, begin, number, positions, local, stamp, room


@step
def empty_lists(lists, nodes, k):
    """Room for the lists of the next level."""
    ptr, told_ptr = np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1, np.int64)
    told = np.empty(len(lists[5]) + len(lists[1]) // k + 1, np.int32)
    out = (ptr, np.empty_like(lists[1]), np.empty_like(lists[2]), np.empty_like(lists[3]), told_ptr, told)
    return out, np.int64(0), np.int64(0)


@step
def cut_lists(lists, nodes, end, told_end):
    """Only what is filled of some lists."""
    return (
        lists[0][: nodes + 1].copy(),
        lists[1][:end].copy(),
        lists[2][:end].copy(),
        lists[3][:end].copy(),
        lists[4][: nodes + 1].copy(),
        lists[5][:told_end].copy(),
    )


@step
def take_lists(lists, order):
    """The lists of the nodes in another order."""
    out, end, told_end = empty_lists(lists, len(order), np.int64(1))
    for i in range(len(order)):
        end, told_end = copy_list(lists, order[i], out, end, told_end)
        out[0][i + 1], out[4][i + 1] = end, told_end
    return cut_lists(out, len(order), end, told_end)


@step
def mark_told(lists, in_chunk):
    """Mark the terms that stand in a chunk; one that a cluster must keep does not for that."""
    for at in range(len(lists[5])):
        if lists[5][at] & 1 == 0 and lists[5][at] >> 1 < len(in_chunk):
            in_chunk[lists[5][at] >> 1] = True


@step
def only_lost(lists, nodes, in_chunk):
    """What is open of the terms that stand in no chunk, and which of them a cluster must keep."""
    out, end, told_end = empty_lists(lists, nodes, np.int64(1))
    for node in range(nodes):
        for at in range(lists[0][node], lists[0][node + 1]):
            if not in_chunk[lists[1][at]]:
                out[1][end], out[2][end], out[3][end] = lists[1][at], lists[2][at], lists[3][at]
                end += 1
        for at in range(lists[4][node], lists[4][node + 1]):
            if lists[5][at] & 1 == 1 and lists[5][at] >> 1 < len(in_chunk) and not in_chunk[lists[5][at] >> 1]:
                out[5][told_end] = lists[5][at]
                told_end += 1
        out[0][node + 1], out[4][node + 1] = end, told_end
    return cut_lists(out, nodes, end, told_end)


@step
def has_enough(ptr, term, left, right, k):
    """Whether some term is open k times in two nodes together."""
    i, j, begin = ptr[left], ptr[right], ptr[left] + ptr[right]
    last = np.int64(-1)
    while i < ptr[left + 1] or j < ptr[right + 1]:
        if j >= ptr[right + 1] or (i < ptr[left + 1] and term[i] <= term[j]):
            at = i
            i += 1
        else:
            at = j
            j += 1
        if term[at] != last:
            last, begin = np.int64(term[at]), i + j - 1
        if i + j - begin >= k:
            return True
    return False


@step
def merge_told(ptr, told, left, right, out, end):
    """Write the union of two ascending lists of terms that are told of; returns its end."""
    i, j = ptr[left], ptr[right]
    while i < ptr[left + 1] or j < ptr[right + 1]:
        if j >= ptr[right + 1] or (i < ptr[left + 1] and told[i] >> 1 < told[j] >> 1):
            out[end] = told[i]
            i += 1
        else:
            out[end] = told[j]
            if i < ptr[left + 1] and told[i] >> 1 == told[j] >> 1:
                out[end] = max(told[i], told[j])
                i += 1
            j += 1
        end += 1
    return end


@step
def merge_open(lists, left, right, out, end, told_at, told_end):
    """Write what is open in both, by term, but for terms that a cluster must keep; returns the end.

    `out` holds the terms that are told of from `told_at` to `told_end`.
    """
    ptr, term, told = lists[0], lists[1], out[5]
    i, j = ptr[left], ptr[right]
    while i < ptr[left + 1] or j < ptr[right + 1]:
        if j >= ptr[right + 1] or (i < ptr[left + 1] and term[i] <= term[j]):
            at = i
            i += 1
        else:
            at = j
            j += 1
        while told_at < told_end and told[told_at] >> 1 < term[at]:
            told_at += 1
        if told_at >= told_end or told[told_at] >> 1 != term[at] or told[told_at] & 1 == 0:
            out[1][end], out[2][end], out[3][end] = term[at], lists[2][at], lists[3][at]
            end += 1
    return end


@step
def copy_list(lists, node, out, end, told_end):
    """Write what is open and told in one node as it is; returns the ends."""
    for at in range(lists[0][node], lists[0][node + 1]):
        out[1][end], out[2][end], out[3][end] = lists[1][at], lists[2][at], lists[3][at]
        end += 1
    for at in range(lists[4][node], lists[4][node + 1]):
        out[5][told_end] = lists[5][at]
        told_end += 1
    return end, told_end


@step
def find_runs(term, start, end, k, runs):
    """Find the terms that stand k times or more; returns how many."""
    found, at = np.int64(0), start
    while at < end:
        following = at + 1
        while following < end and term[following] == term[at]:
            following += 1
        if following - at >= k:
            runs[found, 0], runs[found, 1] = at, following
            found += 1
        at = following
    return found


@step
def keep_fresh(term, told, told_at, told_end, runs, found):
    """Keep the terms that no chunk below tells of; returns how many."""
    kept = np.int64(0)
    for j in range(found):
        while told_at < told_end and told[told_at] >> 1 < term[runs[j, 0]]:
            told_at += 1
        if told_at >= told_end or told[told_at] >> 1 != term[runs[j, 0]]:
            runs[kept, 0], runs[kept, 1] = runs[j, 0], runs[j, 1]
            kept += 1
    return kept


@step
def keep_likely(term, place, runs, found, records, cluster, sizes, weight, in_chunk):
    """Keep the terms that the joint cluster makes likely enough or that stand in no chunk yet; returns how many."""
    kept = np.int64(0)
    for j in range(found):
        listed, holders, before = np.int64(0), np.int64(0), np.int64(-1)
        for at in range(runs[j, 0], runs[j, 1]):
            owner = cluster[place[at]]
            if owner != before:
                before = owner
                listed += 1
                holders += sizes[owner]
        number = term[runs[j, 0]]
        if not in_chunk[number] or (runs[j, 1] - runs[j, 0]) * holders >= weight * listed * records:
            in_chunk[number] = True
            runs[kept, 0], runs[kept, 1] = runs[j, 0], runs[j, 1]
            kept += 1
    return kept


@step
def share(lists, start, end, told_start, told_end, found, k, m, work, shared, chunk_node, made):
    """Make the shared chunks of a new joint cluster over the terms in `runs`."""
    runs, keys, begin, number, positions, local, stamp, room = work
    base, fresh, told_at = np.int64(len(keys)), np.int64(0), told_start
    for j in range(found):
        term = lists[1][runs[j, 0]]
        while told_at < told_end and lists[5][told_at] >> 1 < term:
            told_at += 1
        if told_at < told_end and lists[5][told_at] >> 1 == term:
            for at in range(runs[j, 0], runs[j, 1]):
                shared[lists[3][at]] = made[1]
            chunk_node[made[1]] = made[0]
            made[1] += 1
        else:
            keys[fresh] = (end - start - (runs[j, 1] - runs[j, 0])) * base + j
            fresh += 1
    keys[:fresh].sort()
    records = lay_out(lists[2], runs, keys, fresh, base, begin, positions, local)
    chunks = assign_chunks(begin, positions, fresh, records, k, m, number, room)
    for j in range(fresh):
        run = keys[j] % base
        for at in range(runs[run, 0], runs[run, 1]):
            shared[lists[3][at]] = made[1] + number[j]
            local[lists[2][at]] = -1
    for j in range(chunks):
        chunk_node[made[1] + j] = made[0]
    made[1] += chunks


@step
def lay_out(place, runs, keys, found, base, begin, positions, local):
    """Lay out the terms, most frequent first, for `assign_chunks`; returns how many records they stand in."""
    records, end = np.int64(0), np.int64(0)
    for j in range(found):
        run = keys[j] % base
        begin[j] = end
        for at in range(runs[run, 0], runs[run, 1]):
            if local[place[at]] < 0:
                local[place[at]] = records
                records += 1
            positions[end] = local[place[at]]
            end += 1
    begin[found] = end
    return records


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


@step
def tell(told, start, end, term, runs, found):
    """Add the terms of the runs to an ascending list; returns its end."""
    at, fresh = start, np.int64(0)
    for j in range(found):
        while at < end and told[at] >> 1 < term[runs[j, 0]]:
            at += 1
        if at >= end or told[at] >> 1 != term[runs[j, 0]]:
            told[end + fresh] = 2 * term[runs[j, 0]]
            fresh += 1
    told[start : end + fresh].sort()
    return end + fresh


@step
def drop_runs(term, place, occurrence, start, end, runs, found):
    """Take the runs out of what is open; returns the end."""
    fill, at, j = start, start, np.int64(0)
    while at < end:
        if j < found and at == runs[j, 0]:
            at = runs[j, 1]
            j += 1
        else:
            term[fill], place[fill], occurrence[fill] = term[at], place[at], occurrence[at]
            fill += 1
            at += 1
    return fill


@step
def gains(place, runs, found, records, cluster, sizes, stamp, mark):
    """Equation 1: whether a record of the joint cluster gets one of the terms at least as likely as one of those that hold them now."""
    supports, listed, holders = np.int64(0), np.int64(0), np.int64(0)
    for j in range(found):
        supports += runs[j, 1] - runs[j, 0]
        before = np.int64(-1)
        for at in range(runs[j, 0], runs[j, 1]):
            owner = cluster[place[at]]
            if owner != before:
                before = owner
                listed += 1
                if stamp[owner] != mark:
                    stamp[owner] = mark
                    holders += sizes[owner]
    return supports * holders >= listed * records


@step
def sort_lists(ptr, values):
    """The numbers of lists of ascending values, sorted as words; equal ones by number."""
    count = len(ptr) - 1
    sequence, spare = np.arange(count), np.empty(count, np.int64)
    width = 1
    while width < count:
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            left, right = low, middle
            if middle < high and not is_before(ptr, values, sequence[middle], sequence[middle - 1]):
                spare[low:high] = sequence[low:high]
                continue
            for at in range(low, high):
                if right >= high or (left < middle and not is_before(ptr, values, sequence[right], sequence[left])):
                    spare[at] = sequence[left]
                    left += 1
                else:
                    spare[at] = sequence[right]
                    right += 1
        sequence, spare = spare, sequence
        width *= 2
    return sequence


@step
def is_before(ptr, values, one, other):
    """Whether a list stands before another; an empty one comes last."""
    i, j = ptr[one], ptr[other]
    while i < ptr[one + 1] and j < ptr[other + 1]:
        if values[i] != values[j]:
            return values[i] < values[j]
        i += 1
        j += 1
    return i < ptr[one + 1] and j >= ptr[other + 1]
