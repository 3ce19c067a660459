"""How many records contain an itemset, computed from a disassociated release alone.

The expected number is the mean over all placements of the pieces that `reconstruct` draws from: the
subrecords of each chunk in distinct records of its cluster, each term in as many as `Listed` says,
all placements equally likely. It ignores that reconstructions then fill empty records, and that a
subrecord of a shared chunk may be barred from a part because of another of its items; both matter
little."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s, offsets, ranges, sorted_pairs
from setveil.data.arrays import sums as total
from setveil.data.transactions import Counts, Offsets, Transactions
from setveil.data.vocabulary import texts_of
from setveil.published.disassociated.forest import Forest
from setveil.published.release import Support

if TYPE_CHECKING:
    from setveil.published.disassociated.form import Disassociated


NOWHERE, TERM = -1, -2
"""In place of a chunk: the cluster does not have the item, or it is in the term chunk."""

Group = tuple[int, ...]
"""Items of a query, by their place in it, that are in one chunk."""
SHARE, POWER = 0.1, 0.3
"""Measured on eight real and four generated sets, with k = 3, 5, 10 and 25."""
ERROR = 0.25
"""The standard error of `Listed.further`, as a share of the most that it can be. It is that of an
item that is common elsewhere, and so most likely nearly common enough; for others it is less."""


@dataclass(frozen=True, eq=False)
class SupportIndex:
    """Where each item is, so that a query reads only clusters and subrecords with its items."""

    forest: Forest
    inside: tuple[Offsets, Offsets]
    """The subrecords that hold each item: starts, and numbers one item after the other."""
    loose: tuple[Offsets, Offsets]
    """The simple clusters with each item in their term chunk, likewise."""

    @classmethod
    def of(cls, release: Disassociated) -> SupportIndex:
        forest = Forest.of(release)
        starts, nodes = _inverted(release.terms)
        return cls(forest, _inverted(release.subrecords), (starts, forest.first[nodes]))

    def bounds(self, itemset: Iterable[object]) -> Support:
        """How many records contain an itemset: certain bounds, and the average over worlds."""
        items = self._numbers(itemset)
        if items is None:
            return Support(0, 0, 0.0)
        if not items:
            everybody = len(self.forest.release)
            return Support(everybody, everybody, float(everybody))
        return Query(self, items).answer()

    def expected(self, itemset: Iterable[object]) -> float:
        """The average over worlds alone, in a fraction of the time that the bounds take.

        Every subrecord is in some record, so a single item needs no chances."""
        items = self._numbers(itemset)
        if not items:
            return 0.0 if items is None else float(len(self.forest.release))
        if len(items) > 1:
            return Query(self, items).expected()
        counts, (starts, clusters) = self.forest.release.subrecord_counts, self.loose
        loose = clusters[starts[items[0]] : starts[items[0] + 1]]
        inside = counts[self.holders(items[0])].sum()
        return float(inside + self.listed.mean(items[0], loose).sum())

    @cached_property
    def listed(self) -> Listed:
        """In how many records a term is."""
        return Listed.of(self.forest)

    @cached_property
    def is_shared(self) -> Flags:
        """Whether each chunk is a shared one; `TERM` and `NOWHERE` are not."""
        release = self.forest.release
        return np.append(~release.is_simple[release.chunk_node], [False, False])

    def holders(self, item: int) -> Offsets:
        """The subrecords that hold an item, ascending."""
        starts, rows = self.inside
        return rows[starts[item] : starts[item + 1]]

    def sources(self, item: int) -> Offsets:
        """The chunk that an item comes from in the records of each simple cluster; `TERM` or
        `NOWHERE` where it is no chunk."""
        forest, release = self.forest, self.forest.release
        sources = np.full(len(forest.nodes), NOWHERE, dtype=np.int64)
        chunks = np.unique(release.subrecord_chunk[self.holders(item)])
        nodes = release.chunk_node[chunks]
        order = np.argsort(forest.preorder[nodes], kind="stable")
        chunks, nodes = chunks[order], nodes[order]
        lengths = forest.stop[nodes] - forest.first[nodes]
        sources[ranges(forest.first[nodes], lengths)] = np.repeat(chunks, lengths)
        starts, clusters = self.loose
        sources[clusters[starts[item] : starts[item + 1]]] = TERM
        return sources

    def _numbers(self, itemset: Iterable[object]) -> list[int] | None:
        """The numbers of the items, in the order of their labels; None if one is not published."""
        labels, numbers = sorted(set(texts_of(itemset))), self.forest.release.items.numbers
        known = all(label in numbers for label in labels)
        return [numbers[label] for label in labels] if known else None


def _inverted(rows: Transactions) -> tuple[Offsets, Offsets]:
    """The rows that hold each item: where each begins, and the rows one item after the other."""
    supports = np.bincount(rows.items, minlength=len(rows.vocabulary))
    return offsets(supports), sorted_pairs(rows.items, rows.rows)[1]


class Query:
    """One itemset: the clusters that may hold it, by how its items are spread over chunks."""

    def __init__(self, index: SupportIndex, items: Sequence[int]) -> None:
        self.index, self.forest, self.release = index, index.forest, index.forest.release
        self.items = items
        self.sources = np.stack([index.sources(item) for item in items])
        self.counted: dict[Group, Counts] = {}
        self.roomy: dict[Group, Counts] = {}

    def expected(self) -> float:
        """The average over worlds."""
        return sum(self.expect(*pattern) for pattern in self.patterns())

    def answer(self) -> Support:
        """The bounds and the average over worlds, summed over all patterns, with its error.

        A number between bounds, if each term is in as many records as expected, has at most half
        of their distance as its standard deviation: 0 if all records of a cluster have all groups
        but one. That the mean is near a bound makes it no smaller: items that belong together are
        not independent. Errors of one kind add up: if items do in one cluster, they do in others.
        If a term is in more records than expected, these have the other items as often as by chance
        or always, so with a chance between the two.
        """
        lower, upper, expected, apart, listed, chance = 0, 0, 0.0, 0.0, 0.0, 0.0
        for clusters, groups in self.patterns():
            low, high = self.bounds(clusters, groups)
            mean = self.expect(clusters, groups)
            # The clusters have the same kinds of groups.
            terms = [self.items[at] for at, *_ in groups if self.sources[at, clusters[0]] == TERM]
            lower, upper, expected = lower + round(low), upper + round(high), expected + mean
            low, high = self.bounds(clusters, groups, as_listed=True)
            apart, more = apart + (high - low) / 2, (mean + high) / 2
            for error, variance in (self.index.listed.error(item, clusters) for item in terms):
                listed, chance = listed + more * error, chance + more * variance
        guess = min(max(expected, float(lower)), float(upper))
        return Support(lower, upper, guess, math.hypot(apart, listed, math.sqrt(chance)))

    def patterns(self) -> Iterable[tuple[Offsets, list[Group]]]:
        """Clusters that hold all items, with the same items together in a chunk, and of the same
        kind of chunk."""
        live = np.flatnonzero((self.sources != NOWHERE).all(axis=0))
        sources = self.sources[:, live]
        kinds = np.where(sources == TERM, 1, np.where(self.index.is_shared[sources], 2, 0))
        leaders, code = np.empty_like(sources), np.zeros(len(live), dtype=np.int64)
        for at in range(len(sources)):
            leaders[at] = at
            for before in range(at - 1, -1, -1):
                leaders[at, (sources[before] == sources[at]) & (sources[at] != TERM)] = before
            code = np.unique(
                code * 3 * len(sources) + 3 * leaders[at] + kinds[at], return_inverse=True
            )[1]
        _, examples = np.unique(code, return_index=True)
        for number, example in enumerate(examples.tolist()):
            together: dict[int, list[int]] = {}
            for at, leader in enumerate(leaders[:, example].tolist()):
                together.setdefault(leader, []).append(at)
            yield live[code == number], [tuple(group) for group in together.values()]

    def count(self, group: Group) -> Counts:
        """The number of subrecords of each chunk that hold all items of a group."""
        if group not in self.counted:
            rows, release = self.rows(group), self.release
            chunks, counts = release.subrecord_chunk[rows], release.subrecord_counts[rows]
            self.counted[group] = total(chunks, counts, len(release.chunk_node))
        return self.counted[group]

    def rows(self, group: Group) -> Offsets:
        """The subrecords that hold all items of a group."""
        rows = self.index.holders(self.items[group[0]])
        for at in group[1:]:
            rows = np.intersect1d(rows, self.index.holders(self.items[at]), assume_unique=True)
        return rows

    def bounds(
        self, clusters: Offsets, groups: list[Group], *, as_listed: bool = False
    ) -> tuple[float, float]:
        """The bounds over some clusters with the same groups; if a and b records have two groups,
        at least a + b - size have both. Terms are in one to all records, or `as_listed`."""
        sizes = self.forest.sizes[clusters].astype(np.float64)
        low, high, shared = sizes, sizes, list[Group]()
        for group in groups:
            source = self.sources[group[0], clusters]
            if self.index.is_shared[source[0]]:
                shared.append(group)
                continue
            least = most = self.held(group, clusters)
            if source[0] == TERM and not as_listed:
                least, most = np.ones_like(sizes), sizes
            low, high = np.maximum(low + least - sizes, 0), np.minimum(high, most)
        if not shared:
            return float(low.sum()), float(high.sum())
        whole = len(groups) == 1
        least_shared = self.least_shared(clusters, shared, low, whole)
        return least_shared, self.most_shared(clusters, shared, high)

    def expect(self, clusters: Offsets, groups: list[Group]) -> float:
        """The average over worlds in some clusters with the same groups: a subrecord is in any
        record that may hold it alike."""
        sizes = self.forest.sizes[clusters]
        mean = sizes.astype(np.float64)
        for group in groups:
            source = self.sources[group[0], clusters]
            if self.index.is_shared[source[0]]:
                mean = mean * self.count(group)[source] / self.room(group)[source]
            else:
                mean = mean * self.held(group, clusters) / sizes
        return float(mean.sum())

    def held(self, group: Group, clusters: Offsets) -> Floats:
        """How many records of each cluster have a group that is not in a shared chunk; of a term,
        as many as expected."""
        source = self.sources[group[0], clusters]
        if source[0] == TERM:
            return self.index.listed.mean(self.items[group[0]], clusters)
        found: Floats = self.count(group)[source].astype(np.float64)
        return found

    def least_shared(
        self, clusters: Offsets, groups: list[Group], low: Floats, whole: bool
    ) -> float:
        """Of a shared chunk at least those subrecords are in some clusters for which there is no
        room elsewhere in the joint one."""
        columns = [self.sources[group[0], clusters] for group in groups]
        keys, members = _classes(columns)
        if whole:
            return float(self.count(groups[0])[keys[0]].sum())
        sums, sizes = _sum(members, low), _sum(members, self.forest.sizes[clusters])
        for group, chunks in zip(groups, keys, strict=True):
            here = np.maximum(self.count(group)[chunks] - (self.room(group)[chunks] - sizes), 0)
            sums = np.maximum(sums + here - sizes, 0)
        return float(sums.sum())

    def most_shared(self, clusters: Offsets, groups: list[Group], high: Floats) -> float:
        """No more than a shared chunk has for all clusters that take from it; the chunks of the
        smallest joint clusters first."""
        columns = {group: self.sources[group[0], clusters] for group in groups}
        spans = self.forest.stop - self.forest.first
        order = sorted(
            groups, key=lambda group: float(spans[self.release.chunk_node[columns[group]]].mean())
        )
        rest = [columns[group] for group in order]
        for group in order:
            rest, members = _classes(rest)
            high = np.minimum(_sum(members, high), self.count(group)[rest[0]])
            rest = rest[1:]
        return float(high.sum())

    def room(self, group: Group) -> Counts:
        """The number of records that may hold a subrecord with the items of a group, for each
        chunk."""
        if group not in self.roomy:
            sources = self.sources[list(group)]
            able = (sources == sources[0]).all(axis=0) & (sources[0] >= 0)
            sizes = self.forest.sizes[able]
            self.roomy[group] = total(sources[0, able], sizes, len(self.release.chunk_node))
        return self.roomy[group]


def _classes(columns: list[Offsets]) -> tuple[list[Offsets], Offsets]:
    """The distinct rows of some columns, column by column, and the class of each row."""
    members = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, codes = np.unique(column, return_inverse=True)
        members = np.unique(members * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[
            1
        ]
    _, first = np.unique(members, return_index=True)
    return [column[first] for column in columns], members


def _sum(members: Offsets, values: Counts | Floats) -> Floats:
    return np.bincount(members, weights=values).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Listed:
    """The numbers of records in which items are that clusters list without counts.

    The release says: at least one. An item of k records or more has a chunk, so fewer than k; in
    between it says nothing. But the more items of a cluster are common enough for a chunk, the more
    are nearly so, on all data that we looked at: if it shows `t` items for each one that it lists,
    a listed item is in `1 + SHARE (k - 2) t^POWER` records on average. Estimates and the worlds of
    `reconstruct` both follow this rule. It needs no other cluster, so the estimates of the parts of
    a release add up."""

    further: Floats
    """In how many records of each simple cluster a listed item is on average, besides the first."""
    sizes: Counts
    is_open: Flags
    """The items that are always listed, however many records have them, and all if k < 3, for which
    the rule was not measured: nothing is known."""
    most: int

    @classmethod
    def of(cls, forest: Forest) -> Listed:
        """From how many items each cluster lists, and how many it shows in record chunks."""
        release, (_, chunks) = forest.release, forest.domains
        nodes = release.chunk_node[chunks]
        shown = np.bincount(nodes, minlength=len(release.parent))[forest.nodes]
        listed, k = release.terms.lengths[forest.nodes], release.promise.crowd
        always = release.promise.named_items.get("sensitive", frozenset())
        is_open = np.array([item in always for item in release.items], dtype=bool) | (k < 3)
        return cls(further_records(shown, listed, k), forest.sizes, is_open, max(k - 1, 1))

    def mean(self, item: int, clusters: Offsets) -> Floats:
        """The expected number in these clusters: of `draw`, exactly."""
        most = np.minimum(self.sizes[clusters], self.most)
        return mean_drawn(self._more(item, clusters), most)

    def error(self, item: int, clusters: Offsets) -> tuple[float, float]:
        """The standard error of the mean over these clusters, as a share of it, and its variance
        for each record by chance alone."""
        if self.is_open[item]:
            return np.inf, 0.0
        further = float(self._more(item, clusters).mean())
        return ERROR * (self.most - 1) / (1 + further), further

    def draw(self, items: Int32s, clusters: Offsets, random: np.random.Generator) -> Counts:
        """A random number for each item in a cluster: one, and each time another with the same
        chance, up to `most` or all."""
        drawn = random.geometric(1 / (1 + self._more(items, clusters)))
        return np.minimum(np.minimum(drawn, self.sizes[clusters]), self.most)

    def _more(self, item: int | Int32s, clusters: Offsets) -> Floats:
        return np.where(self.is_open[item], 0.0, self.further[clusters])


def further_records(shown: Counts, listed: Counts, k: int) -> Floats:
    """The rule of `Listed`: in how many records besides the first an item is on average that a
    cluster lists, by how many items each cluster shows in record chunks and how many it lists."""
    ratio = np.minimum(shown / np.maximum(listed, 1), 1)
    found: Floats = SHARE * max(k - 2, 0) * ratio**POWER
    return found


def mean_drawn(further: Floats, most: Counts) -> Floats:
    """The mean of what `Listed.draw` draws."""
    more = further / (1 + further)
    found: Floats = (1 - more**most) / (1 - more)
    return found
