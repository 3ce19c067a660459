"""Steps of REFINE at one joint cluster: which of its open terms to share, and the shared chunks
they make.

A run is one term in what is open: from its first occurrence to the one after its last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.disassociation.chunks import Room, assign_chunks, make_room
from setveil.kernels.jit import step

Int64s = npt.NDArray[np.int64]


class Work(NamedTuple):
    """Scratch of the joining."""

    runs: Int64s  # [run, (start, stop)]
    keys: Int64s  # the runs to put together, most frequent first
    begin: Int64s  # their terms as `assign_chunks` takes them
    number: Int64s
    positions: Int64s
    local: Int64s  # the number of each place among the records of the runs, -1 between uses
    stamp: Int64s  # the last joint cluster that asked for each cluster
    room: Room


@step
def make_work(lists, places, count, m):
    """Scratch for what is open in `count` clusters of `places` records."""
    term, most = lists.term, np.int64(0)
    for at in range(len(term)):
        most = max(most, np.int64(term[at]) + 1)
    runs = np.empty((most + 1, 2), np.int64)
    keys, begin, number = (
        np.empty(most + 1, np.int64),
        np.empty(most + 2, np.int64),
        np.empty(most + 1, np.int64),
    )
    positions, local = np.empty(len(term) + 1, np.int64), np.full(places, -1, np.int64)
    stamp = np.full(count, -1, np.int64)
    room = make_room(np.int64(min(places, len(term))), np.int64(len(term)), most, m)
    return Work(runs, keys, begin, number, positions, local, stamp, room)


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
    """Keep the terms that the joint cluster makes likely enough or that stand in no chunk yet;
    returns how many."""
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
def gains(place, runs, found, records, cluster, sizes, stamp, mark):
    """Equation 1: whether a record of the joint cluster gets one of the terms at least as likely
    as one of those that hold them now."""
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
def share(lists, start, end, told_start, told_end, found, k, m, work, shared, chunk_node, made):
    """Make the shared chunks of a new joint cluster over the terms in `runs`."""
    runs, keys, number, local = work.runs, work.keys, work.number, work.local
    base, fresh, told_at = np.int64(len(keys)), np.int64(0), told_start
    for j in range(found):
        term = lists.term[runs[j, 0]]
        while told_at < told_end and lists.told[told_at] >> 1 < term:
            told_at += 1
        if told_at < told_end and lists.told[told_at] >> 1 == term:
            for at in range(runs[j, 0], runs[j, 1]):
                shared[lists.occurrence[at]] = made[1]
            chunk_node[made[1]] = made[0]
            made[1] += 1
        else:
            keys[fresh] = (end - start - (runs[j, 1] - runs[j, 0])) * base + j
            fresh += 1
    keys[:fresh].sort()
    records = lay_out(lists.place, runs, keys, fresh, base, work.begin, work.positions, local)
    chunks = assign_chunks(work.begin, work.positions, fresh, records, k, m, number, work.room)
    for j in range(fresh):
        run = keys[j] % base
        for at in range(runs[run, 0], runs[run, 1]):
            shared[lists.occurrence[at]] = made[1] + number[j]
            local[lists.place[at]] = -1
    for j in range(chunks):
        chunk_node[made[1] + j] = made[0]
    made[1] += chunks


@step
def lay_out(place, runs, keys, found, base, begin, positions, local):
    """Lay out the terms, most frequent first, for `assign_chunks`; returns how many records they
    stand in."""
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
