"""Random places for the pieces of a disassociated release: distinct ones for a million small draws,
and the clusters that shared subrecords go to, if some cannot take them or need them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Flags, changes, ranges
from setveil.data.transactions import Counts, Offsets
from setveil.errors import DataError
from setveil.published.disassociated.forest import Forest

_SMALL = 64
_MOST_CELLS = 1 << 22


def allot(counts: Counts, allowed: Flags, sizes: Counts, random: np.random.Generator) -> Counts:
    """How many of each kind of subrecord (row) go to each cluster (column), at random: each record
    takes one at most.

    Kinds with the fewest places choose first, each free place with equal chance. If a kind finds no
    place, others make room.

    Raises:
        DataError: if they cannot all be placed.
    """
    table, free = np.zeros(allowed.shape, dtype=np.int64), sizes.copy()
    for kind in np.argsort(allowed @ sizes, kind="stable").tolist():
        places = np.where(allowed[kind], free, 0)
        now = min(int(counts[kind]), int(places.sum()))
        chosen = random.multivariate_hypergeometric(places, now, method="marginals")
        table[kind] += chosen
        free -= chosen
        for _ in range(int(counts[kind]) - now):
            _make_way(kind, table, allowed, free)
    return table


def _make_way(kind: int, table: Counts, allowed: Flags, free: Counts) -> None:
    """Place one more subrecord of a kind by moving others along a shortest chain."""
    came = dict.fromkeys(np.flatnonzero(allowed[kind]).tolist(), (-1, kind))
    pending = deque(came)
    while pending:
        cluster = pending.popleft()
        if free[cluster] > 0:
            free[cluster] -= 1
            while cluster >= 0:
                above, moved = came[cluster]
                table[moved, cluster] += 1
                if above >= 0:
                    table[moved, above] -= 1
                cluster = above
            return
        for other in np.flatnonzero(table[:, cluster]).tolist():
            for goal in np.flatnonzero(allowed[other]).tolist():
                if goal not in came:
                    came[goal] = (cluster, other)
                    pending.append(goal)
    raise DataError(
        "the release has no possible original: a shared chunk has more subrecords than records "
        "that may hold them"
    )


class Supply:
    """Moves shared subrecords to clusters that have fewer pieces than records, and no term chunk to
    fill the rest."""

    def __init__(
        self, forest: Forest, pieces: Offsets, kinds: Offsets, random: np.random.Generator
    ) -> None:
        """Args: the record of each piece, and its subrecord; terms have higher numbers. `pieces`
        is changed in place."""
        self._forest, self._pieces, self._kinds, self._random = forest, pieces, kinds, random
        self._stock = np.bincount(forest.cluster_of[pieces], minlength=len(forest.nodes))
        self._held = np.bincount(pieces, minlength=int(forest.starts[-1]))

    def settle(self) -> None:
        """Move pieces until each cluster can fill its records.

        Raises:
            DataError: if that is impossible.
        """
        forest = self._forest
        short = (self._stock < forest.sizes) & ~forest.has_terms & ~forest.is_empty
        for cluster in np.flatnonzero(short).tolist():
            movable = self._shared_pieces(cluster)
            for _ in range(int(forest.sizes[cluster] - self._stock[cluster])):
                self._fetch(cluster, movable)

    def _shared_pieces(self, cluster: int) -> Offsets:
        """The shared pieces of the whole tree over a cluster."""
        forest, release = self._forest, self._forest.release
        root = int(forest.nodes[cluster])
        while release.parent[root] >= 0:
            root = int(release.parent[root])
        low, high = forest.starts[forest.first[root]], forest.starts[forest.stop[root]]
        inside = (self._pieces >= low) & (self._pieces < high)
        inside &= self._kinds < len(release.subrecords)
        pieces = np.flatnonzero(inside)
        nodes = release.chunk_node[release.subrecord_chunk[self._kinds[pieces]]]
        return pieces[~release.is_simple[nodes]]

    def _fetch(self, cluster: int, movable: Offsets) -> None:
        """Give one more piece to a cluster, along a shortest chain from one that can spare it."""
        forest, came = self._forest, {cluster: (-1, -1)}
        pending = deque([cluster])
        while pending:
            goal = pending.popleft()
            for piece in movable[self._may_go(movable, goal)].tolist():
                source = int(forest.cluster_of[self._pieces[piece]])
                if source in came:
                    continue
                came[source] = (goal, piece)
                if forest.has_terms[source] or self._stock[source] > forest.sizes[source]:
                    self._move(source, came)
                    return
                pending.append(source)
        raise DataError(
            "the release has no possible original: a cluster has more records than subrecords "
            "and terms to fill them"
        )

    def _may_go(self, movable: Offsets, goal: int) -> Flags:
        forest, release = self._forest, self._forest.release
        kinds = self._kinds[movable]
        nodes = release.chunk_node[release.subrecord_chunk[kinds]]
        barred = [
            any(first <= goal < stop for first, stop in forest.barred.get(kind, ()))
            for kind in kinds.tolist()
        ]
        below = (forest.first[nodes] <= goal) & (goal < forest.stop[nodes])
        free: Flags = below & ~np.array(barred, dtype=bool)
        return free

    def _move(self, source: int, came: dict[int, tuple[int, int]]) -> None:
        chain = []
        while came[source][0] >= 0:
            chain.append(came[source])
            source = came[source][0]
        for goal, piece in reversed(chain):
            low, high = self._forest.starts[goal], self._forest.starts[goal + 1]
            empty = np.flatnonzero(self._held[low:high] == 0)
            record = int(low + empty[self._random.integers(len(empty))])
            self._held[self._pieces[piece]] -= 1
            self._held[record] += 1
            self._stock[self._forest.cluster_of[self._pieces[piece]]] -= 1
            self._stock[goal] += 1
            self._pieces[piece] = record


def draw_places(
    first: Offsets, sizes: Counts, counts: Counts, random: np.random.Generator
) -> Offsets:
    """For each draw d, `counts[d]` distinct places from `first[d]` to `first[d] + sizes[d] - 1`, in
    random order, one draw after the other.

    Every ordered choice is equally likely. `counts` must not exceed `sizes`.

    Example:
        >>> first, sizes, counts = np.array([0, 10]), np.array([3, 5]), np.array([3, 2])
        >>> places = draw_places(first, sizes, counts, np.random.default_rng(1)).tolist()
        >>> sorted(places[:3]), len(set(places[3:])), set(places[3:]) <= set(range(10, 15))
        ([0, 1, 2], 2, True)
    """
    ends = np.cumsum(counts)
    places = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    single = counts == 1
    places[ends[single] - 1] = first[single] + random.integers(0, sizes[single])
    dense = ~single & (counts > 0) & ((sizes <= _SMALL) | (2 * counts > sizes))
    asked = _Asked(first, sizes, counts, ends - counts, random)
    _permute(np.flatnonzero(dense), asked, places)
    _reject(np.flatnonzero(~single & ~dense & (counts > 0)), asked, places)
    return places


class _Asked(NamedTuple):
    """All draws, and where the places of each are written."""

    first: Offsets
    sizes: Counts
    counts: Counts
    starts: Offsets
    random: np.random.Generator


def _permute(draws: Offsets, asked: _Asked, places: Offsets) -> None:
    """The beginning of a random order of all places; draws of one size together."""
    first, sizes, counts, starts, random = asked
    draws = draws[np.argsort(sizes[draws], kind="stable")]
    cuts = np.flatnonzero(np.diff(sizes[draws])) + 1
    for group in np.split(draws, cuts):
        size = int(sizes[group[0]]) if len(group) else 1
        step = max(_MOST_CELLS // size, 1)
        for at in range(0, len(group), step):
            block = group[at : at + step]
            order = random.random((len(block), size)).argsort(axis=1)
            columns = np.arange(size)
            used = columns < counts[block, None]
            places[(starts[block, None] + columns)[used]] = (first[block, None] + order)[used]


def _reject(draws: Offsets, asked: _Asked, places: Offsets) -> None:
    """Any places, and anew for those that were drawn before, until all are distinct."""
    first, sizes, counts, starts, random = asked
    owners = np.repeat(draws, counts[draws])
    target = ranges(starts[draws], counts[draws])
    places[target] = first[owners] + random.integers(0, sizes[owners])
    while len(target):
        order = np.lexsort((places[target], owners))
        again = np.sort(order[~changes(owners[order], places[target[order]])])
        places[target[again]] = first[owners[again]] + random.integers(0, sizes[owners[again]])
        open_draws = np.isin(owners, np.unique(owners[again]))
        owners, target = owners[open_draws], target[open_draws]
