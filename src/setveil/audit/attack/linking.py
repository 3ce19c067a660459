"""How likely a piece of disassociated data is a person's: what can be linked is never a record."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import comb, perm, prod
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s
from setveil.published.disassociated.forest import Forest
from setveil.published.disassociated.supports import NOWHERE, TERM, Group, Query, SupportIndex

_MOST_STATES = 400
"""How many numbers of subrecords that are left to place are examined one by one."""
_ROUNDS = 200


class Spread(NamedTuple):
    """Clusters that may hold the known items in the same way."""

    clusters: Int64s
    groups: list[Group]
    """The known items, by their place in the query, that are in one chunk."""
    expected: Floats
    """How many records of each cluster have them on average."""


class Odds(NamedTuple):
    """What known items lead to."""

    expected: float
    """How many records are expected to have them."""
    candidates: float
    """1 divided by the chance of the likeliest piece."""


def _odds(expected: float, best: float) -> Odds:
    """From the expected records with all items, in all and with the likeliest piece."""
    return Odds(expected, max(round(expected / best, 9), 1.0) if best > 0 else 1.0)


class Linking:
    """Pieces (subrecords of chunks) of a release, if all ways to place them are equally likely: the
    subrecords of each chunk on distinct records that may hold them, each item of a term chunk on
    one record.

    A person is in a cluster in proportion to the records that are expected there with all known
    items. There, the pieces of a chunk that contain its known items are equally likely, except in
    overlaid chunks, where those that may go to fewer clusters are likelier. An item of a term chunk
    has no piece: the person is any record of the cluster."""

    def __init__(self, index: SupportIndex) -> None:
        self.index, self.release, self.sizes = index, index.forest.release, index.forest.sizes
        self.overlaid = overlaid_chunks(index.forest)
        self._is_overlaid = np.zeros(len(self.release.chunk_node) + 2, dtype=bool)
        self._is_overlaid[list(self.overlaid)] = True
        room = self.release.sizes[self.release.chunk_node].astype(np.float64)
        self._room = np.append(room, [1.0, 1.0])  # for `TERM` and `NOWHERE`, as in `is_shared`
        self._chunks_of: dict[int, Int64s] = {}

    def spreads(self, query: Query, lacking: int | None = None) -> list[Spread]:
        """Each pattern of clusters, with how many of their records are expected to have the known
        items and not the lacking one."""
        found = []
        for clusters, groups in query.patterns():
            expected = self.sizes[clusters].astype(np.float64)
            for group in groups:
                source = query.sources[group[0], clusters]
                expected *= self._chance(query, group, clusters, source, lacking)
            if lacking is not None:
                known = query.sources[[group[0] for group in groups]][:, clusters]
                apart = (self.index.sources(lacking)[clusters] != known).all(axis=0)
                expected *= self._without(lacking, clusters, apart)
            found.append(Spread(clusters, groups, expected))
        return found

    def odds(self, query: Query, lacking: int | None = None) -> Odds:
        """How many records are expected to have the known items and not the lacking one, and 1
        divided by the chance of the likeliest piece; 1 if no record can have them."""
        live = np.flatnonzero((query.sources != NOWHERE).all(axis=0))
        sources = query.sources[:, live]
        absent = NOWHERE if lacking is None else self.index.sources(lacking)[live]
        if self._is_overlaid[sources].any() or self._is_overlaid[absent].any():
            return self._odds_by_pattern(query, lacking)
        return self._odds_at_once(query, live, lacking)

    def _odds_at_once(self, query: Query, live: Int64s, lacking: int | None) -> Odds:
        """All clusters at once: a chunk has the same known items for every cluster below it, so
        the subrecords that count are those with as many known items as the chunk has."""
        many, pieces = self._pieces(query.items, lacking)
        sources, sizes = query.sources[:, live], self.sizes[live]
        loose, shared = sources == TERM, self.index.is_shared[sources]
        chances = np.where(loose, 1 / sizes, pieces[sources] / self._room[sources])
        times = many[sources]
        if (times > 1).any():  # a chunk with n known items comes n times: each is the n-th root
            chances **= 1 / np.maximum(times, 1)
        expected = sizes * chances.prod(axis=0)
        if lacking is not None:
            expected *= self._without(lacking, live, many[self.index.sources(lacking)[live]] == 0)
        each = expected / np.where(loose, sizes, np.maximum(pieces[sources], 1))
        best = float(each[~shared].max(initial=0.0))
        if shared.any():  # a piece may be in any part, so its chances there add up
            sums = np.bincount(sources[shared], each[shared] / times[shared])
            best = max(best, float(sums.max()))
        return _odds(float(expected.sum()), best)

    def _pieces(self, items: Sequence[int], lacking: int | None) -> tuple[Int64s, Int64s]:
        """Known items of each chunk, and its subrecords with them but not the lacking one."""
        chunks, width = self.release.subrecord_chunk, len(self._room)
        holders = [self.index.holders(item) for item in items]
        for item, rows in zip(items, holders, strict=True):
            if item not in self._chunks_of:
                self._chunks_of[item] = np.unique(chunks[rows])
        inside = np.concatenate([self._chunks_of[item] for item in items])
        many, rows = np.bincount(inside, minlength=width), holders[0]
        if len(items) > 1:
            rows, held = np.unique(np.concatenate(holders), return_counts=True)
            rows = rows[held == many[chunks[rows]]]
        if lacking is not None:
            rows = np.setdiff1d(rows, self.index.holders(lacking), assume_unique=True)
        weights = self.release.subrecord_counts[rows]
        return many, np.bincount(chunks[rows], weights, minlength=width)

    def _odds_by_pattern(self, query: Query, lacking: int | None) -> Odds:
        """The same for clusters below overlaid chunks, whose subrecords are not alike."""
        spreads = self.spreads(query, lacking)
        best, chunks = 0.0, np.zeros(len(self.release.chunk_node))
        rows = dict[int, float]()
        for clusters, groups, expected in spreads:
            for group in groups:
                source = query.sources[group[0], clusters]
                if source[0] == TERM:
                    best = max(best, float((expected / self.sizes[clusters]).max(initial=0.0)))
                    continue
                pieces = np.maximum(self._count(query, group, lacking)[source], 1)
                plain = ~self._is_overlaid[source]
                if not self.index.is_shared[source[0]]:
                    best = max(best, float((expected / pieces).max(initial=0.0)))
                else:  # a piece may be in any part, so its chances there add up
                    share = expected[plain] / pieces[plain]
                    chunks += np.bincount(source[plain], share, minlength=len(chunks))
                for chunk in np.unique(source[~plain]).tolist():
                    at = source == chunk
                    part = clusters[at], expected[at]
                    self._add_overlaid(rows, query, group, (chunk, *part), lacking)
        best = max(best, float(chunks.max(initial=0.0)), *rows.values(), 0.0)
        return _odds(sum(float(spread.expected.sum()) for spread in spreads), best)

    def _chance(
        self, query: Query, group: Group, clusters: Int64s, source: Int64s, lacking: int | None
    ) -> Floats:
        """How likely a record of each cluster has the items of a group without the lacking one."""
        if source[0] == TERM:
            return 1.0 / self.sizes[clusters]
        found: Floats = self._count(query, group, lacking)[source] / self._room[source]
        for chunk in np.unique(source[self._is_overlaid[source]]).tolist():
            at = source == chunk
            rows, chances = self._copies(query, group, chunk, clusters[at], lacking)
            found[at] = self.release.subrecord_counts[rows] @ chances
        return found

    def _count(self, query: Query, group: Group, lacking: int | None) -> Int64s:
        """The subrecords of each chunk with the items of a group and not the lacking one."""
        if lacking is None:
            return query.count(group)
        rows = self._rows(query, group, lacking)
        weights = self.release.subrecord_counts[rows]
        counts = np.bincount(self.release.subrecord_chunk[rows], weights, minlength=len(self._room))
        return counts.astype(np.int64)

    def _rows(self, query: Query, group: Group, lacking: int | None) -> Int64s:
        rows = query.rows(group)
        if lacking is None:
            return rows
        return np.setdiff1d(rows, self.index.holders(lacking), assume_unique=True)

    def _copies(
        self, query: Query, group: Group, chunk: int, clusters: Int64s, lacking: int | None
    ) -> tuple[Int64s, Floats]:
        """Subrecords of an overlaid chunk with a group, and the chance of a copy in one record."""
        rows, first, chances = self.overlaid[chunk]
        held = np.isin(rows, self._rows(query, group, lacking))
        return rows[held], chances[held][:, clusters - first]

    def _add_overlaid(
        self,
        found: dict[int, float],
        query: Query,
        group: Group,
        part: tuple[int, Int64s, Floats],
        lacking: int | None,
    ) -> None:
        """Add how likely one copy of each subrecord is the person's, in some clusters."""
        chunk, clusters, expected = part
        rows, chances = self._copies(query, group, chunk, clusters, lacking)
        whole = self.release.subrecord_counts[rows] @ chances
        shares = chances @ np.divide(expected, whole, out=np.zeros_like(whole), where=whole > 0)
        for row, share in zip(rows.tolist(), shares.tolist(), strict=True):
            found[row] = found.get(row, 0.0) + share

    def _without(self, lacking: int, clusters: Int64s, apart: Flags) -> Floats:
        """How likely a record of each cluster lacks an item, if it is apart from known ones."""
        places = self.index.sources(lacking)[clusters]
        found: Floats = 1.0 - (places == TERM) / self.sizes[clusters]
        inside = apart & (places >= 0)
        if inside.any():
            own, some = Query(self.index, [lacking]), clusters[inside]
            found[inside] = 1.0 - self._chance(own, (0,), some, places[inside], None)
        return found


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
    """The same if each copy is in a region in proportion to the records that are free there."""
    free = room.astype(np.float64)
    shared = bool((allowed.sum(axis=0) > 1).any())
    placed = np.zeros(allowed.shape)
    for _ in range(_ROUNDS if shared else 1):
        weights = allowed * free
        placed = copies[:, None] * weights / np.maximum(weights.sum(axis=1), 1e-12)[:, None]
        free = (free + np.maximum(room - placed.sum(axis=0), 1e-9)) / 2
    return placed
