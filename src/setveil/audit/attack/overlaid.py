"""Shared chunks with items that some parts list themselves: how likely a record has a subrecord."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import comb, perm, prod
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s
from setveil.published.disassociated.forest import Forest

_MOST_STATES = 400
"""How many numbers of subrecords that are left to place are examined one by one."""
_ROUNDS = 200


class Overlaid(NamedTuple):
    """A shared chunk of which some subrecords cannot belong to some simple clusters."""

    rows: Int64s
    """Its subrecords."""
    first: int
    """The first simple cluster below it."""
    chances: Floats
    """For each subrecord and simple cluster: how likely one copy of it is in one certain record of
    the cluster, if all ways to place the subrecords are equally likely."""


def overlaid_chunks(forest: Forest) -> dict[int, Overlaid]:
    """The overlaid chunks of a release, by their numbers."""
    release, found = forest.release, dict[int, Overlaid]()
    chunks = np.unique(release.subrecord_chunk[np.array(list(forest.barred), dtype=np.int64)])
    order = np.argsort(release.subrecord_chunk, kind="stable")
    ends = np.searchsorted(release.subrecord_chunk[order], np.stack((chunks, chunks + 1)))
    for chunk, low, high in zip(chunks.tolist(), *ends.tolist(), strict=True):
        node = release.chunk_node[chunk]
        first, stop = int(forest.first[node]), int(forest.stop[node])
        rows = order[low:high]
        allowed = np.ones((len(rows), stop - first), dtype=bool)
        for at, row in enumerate(rows.tolist()):
            for begin, end in forest.barred.get(row, ()):
                allowed[at, begin - first : end - first] = False
        counts = release.subrecord_counts[rows]
        found[chunk] = Overlaid(rows, first, _chances(allowed, counts, forest.sizes[first:stop]))
    return found


def _chances(allowed: Flags, counts: Int64s, sizes: Int64s) -> Floats:
    """How likely one copy of each row is in one certain record of each column.

    Rows that may go to the same columns are alike, and so are columns that take the same rows."""
    kinds, kind = np.unique(allowed, axis=0, return_inverse=True)
    regions, region = np.unique(kinds, axis=1, return_inverse=True)
    kind, region = kind.reshape(-1), region.reshape(-1)
    copies = np.bincount(kind, counts, minlength=len(kinds)).astype(np.int64)
    room = np.bincount(region, sizes, minlength=regions.shape[1]).astype(np.int64)
    if (regions.sum(axis=0) > 1).any() and prod(copies + 1) <= _MOST_STATES:
        placed = _mean_exactly(regions, copies.tolist(), room.tolist())
    else:
        placed = _mean(regions, copies, room)
    return (placed / (copies[:, None] * room))[kind][:, region]


def _mean_exactly(allowed: Flags, copies: list[int], room: list[int]) -> Floats:
    """How many copies of each kind are in each region on average over all placements."""
    options = allowed.tolist()

    @cache
    def steps(region: int, left: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
        """What a region may take of what is left, and in how many ways."""
        limits = (range(min(n, room[region]) + 1) if may[region] else range(1)
                  for n, may in zip(left, options, strict=True))  # fmt: skip
        taken = (each for each in product(*limits) if sum(each) <= room[region])
        return [(prod(map(comb, left, each)) * perm(room[region], sum(each)), each)
                for each in taken]  # fmt: skip

    @cache
    def ways(region: int, left: tuple[int, ...]) -> int:
        if region == len(room):
            return int(not any(left))
        return sum(n * ways(region + 1, _less(left, each)) for n, each in steps(region, left))

    reached, total = {tuple(copies): 1}, ways(0, tuple(copies))
    found = np.zeros(allowed.shape)
    for region in range(len(room) if total else 0):
        after = dict[tuple[int, ...], int]()
        for left, before in reached.items():
            for number, each in steps(region, left):
                rest = _less(left, each)
                share = before * number * ways(region + 1, rest) / total
                found[:, region] += [share * n for n in each]
                after[rest] = after.get(rest, 0) + before * number
        reached = after
    return found


def _less(left: tuple[int, ...], taken: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a - b for a, b in zip(left, taken, strict=True))


def _mean(allowed: Flags, copies: Int64s, room: Int64s) -> Floats:
    """The same, approximately: a copy is in each region in proportion to the records that are free
    there. Exact if no region takes more than one kind."""
    free = room.astype(np.float64)
    shared = bool((allowed.sum(axis=0) > 1).any())
    placed = np.zeros(allowed.shape)
    for _ in range(_ROUNDS if shared else 1):
        weights = allowed * free
        placed = copies[:, None] * weights / np.maximum(weights.sum(axis=1), 1e-12)[:, None]
        free = (free + np.maximum(room - placed.sum(axis=0), 1e-9)) / 2
    return placed
