"""What an adversary sees of disassociated data: clusters whose pieces may fit together in many
ways."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import cast

import numpy as np

from setveil.alignment.align import check_size
from setveil.alignment.flow import Budget, TooLargeError
from setveil.audit.attack.draws import Items
from setveil.audit.attack.pieces import Pieces, Spread
from setveil.audit.attack.statistics import Estimate
from setveil.audit.attack.view import Finding, View
from setveil.audit.disassociated.gather import Gatherer
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.proof import find_doubtful
from setveil.audit.disassociated.safe import Domain
from setveil.data.arrays import Flags, Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.errors import MisfitError
from setveil.promises.kanonymity import KmAnonymity
from setveil.promises.promise import Promise
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.supports import TERM, Group, Query, SupportIndex
from setveil.words import plural, rough_share

_REMEMBERED = 2_000
"""For how many items the place in each cluster is kept."""
_MOST_WORK = 20_000_000
"""How many arcs are examined for clusters that counting does not decide."""


class Clusters(View):
    """Disassociated data.

    A candidate is a record of one original that fits the release and contains the known items; of
    all these originals, the one with the most such records counts. That is what the promise is
    about: it says that there are at least k.

    `likely` and `beliefs` take all ways to place the pieces as equally likely: the subrecords of
    each chunk on distinct records of its cluster, each item of a term chunk on one record."""

    candidate = "a record with the known items, in the possible original with the most of these"

    def __init__(
        self, release: Disassociated, original: Transactions, capped: Int64s | None = None
    ) -> None:
        self.release, self.original = release, original
        self.layout = Layout(release)
        self.index = _Index.of(release)
        self.numbers = release.items.find(original.vocabulary)
        self._capped = capped
        """The most records of each simple cluster with an item of its term chunk, if known."""
        self._pieces: Pieces | None = None
        forest = self.index.forest
        own = self.layout.node_totals[forest.nodes] - forest.sizes
        self._slack = np.where(forest.has_terms, np.iinfo(np.int64).max // 2, np.maximum(own, 0))
        self._exact = self._hard_tops()

    def candidates(self, known: Items, lacking: Items = ()) -> int:
        """At least so many records can have the items in one world; in most cases exactly.

        A shared chunk gives no more subrecords than it has to all clusters that take from it. If
        some clusters take from several shared chunks and others from one, only the larger part is
        counted, because both may need the same subrecords."""
        query = self._query(known)
        if query is None:
            return max(len(self.release), 1)
        absent = [int(self.numbers[item]) for item in lacking if self.numbers[item] >= 0]
        own, several = 0, 0
        by_chunk = np.zeros(len(self.release.chunk_node), dtype=np.int64)
        limits = np.zeros(len(self.release.chunk_node), dtype=np.int64)
        for clusters, groups in query.patterns():
            clusters = clusters[~self._exact[clusters]]
            if not len(clusters):
                continue
            high, shared = self._most(query, clusters, groups, absent)
            if not shared:
                own += int(high.sum())
            elif len(shared) == 1:
                source = query.sources[shared[0][0], clusters]
                np.add.at(by_chunk, source, high)
                limits[source] = query.count(shared[0])[source]
            else:
                several = max(several, query.most_shared(clusters, shared, high))
        once = int(np.minimum(by_chunk, limits).sum())
        return max(own + max(once, several) + self._most_exactly(query), 1)

    def places(self, known: Items) -> Int64s:
        query = self._query(known)
        if query is None:
            return np.flatnonzero(self.release.is_simple)
        found = [clusters for clusters, _ in query.patterns()]
        return self.index.forest.nodes[np.concatenate((self.numbers[:0], *found))]

    def home(self) -> Int64s | None:
        return self.release.alignment

    def likely(self, known: Items) -> float:
        query = self._query(known)
        if query is None:
            return float(len(self.release))
        return max(sum(float(spread.expected.sum()) for spread in self._spreads(query)), 1.0)

    def beliefs(self, known: Items) -> Floats:
        if self._pieces is None:
            self._pieces = Pieces(self.layout, self.index)
        query = self._query(known)
        spreads = None if query is None else list(self._spreads(query))
        found = np.append(self._pieces.beliefs(query, spreads), 0.0)
        beliefs = found[self.numbers]
        beliefs[list(known)] = 1.0
        return beliefs

    def knowing_method(self) -> View | None:
        """An item is in a term chunk because fewer than k records of the cluster have it; the only
        item of a term chunk may be there for another reason, and so may a sensitive one."""
        k, terms = self.release.promise.crowd, self.release.terms
        if k < 2 or self._capped is not None:
            return None
        nodes = self.index.forest.nodes
        capped = np.where(terms.lengths[nodes] > 1, k - 1, np.iinfo(np.int64).max // 2)
        return Clusters(self.release, self.original, capped)

    def findings(self) -> list[Finding]:
        return [_cover(self.layout)] if self._capped is None else []

    def _query(self, known: Items) -> Query | None:
        items = [int(self.numbers[item]) for item in known if self.numbers[item] >= 0]
        return Query(self.index, items) if items else None

    def _most(
        self, query: Query, clusters: Int64s, groups: list[Group], lacking: list[int]
    ) -> tuple[Int64s, list[Group]]:
        """The most records of each of these clusters with all items of the query in one world, if
        shared chunks give them what they need; and what they need from shared chunks.

        That is the least of: its size; the subrecords of each record chunk with its share; and, if
        there is no term chunk to fill the other records, as many as leave a subrecord for each of
        them (see `Worlds`; shared chunks are not counted on for that)."""
        high = self.index.forest.sizes[clusters]
        shared, own = list[Group](), 0
        for group in groups:
            source = query.sources[group[0], clusters]
            if source[0] == TERM:
                high = high if self._capped is None else np.minimum(high, self._capped[clusters])
            elif self.index.is_shared[source[0]]:
                shared.append(group)
            else:
                own += 1
                high = np.minimum(high, query.count(group)[source])
        if own > 1:
            high = np.minimum(high, self._slack[clusters] // (own - 1))
        for item in lacking:
            high = np.minimum(high, self._without(query, clusters, groups, item))
        return np.maximum(high, 0), shared

    def _without(self, query: Query, clusters: Int64s, groups: list[Group], item: int) -> Int64s:
        """How many records of each cluster can have the items of a query and lack another one."""
        forest, release = self.index.forest, self.release
        sizes, places = forest.sizes[clusters], self.index.sources(item)[clusters]
        holders = self.index.holders(item)
        found = sizes - (places == TERM)
        counted = np.bincount(
            release.subrecord_chunk[holders],
            release.subrecord_counts[holders],
            minlength=len(release.chunk_node) + 2,
        )
        inside = (places >= 0) & ~self.index.is_shared[places]
        found = np.where(inside, sizes - counted[places], found)
        for group in groups:
            source = query.sources[group[0], clusters]
            both = query.rows(group)
            both = both[np.isin(both, holders, assume_unique=True)]
            joint = np.bincount(
                release.subrecord_chunk[both],
                release.subrecord_counts[both],
                minlength=len(release.chunk_node) + 2,
            )
            here = (source == places) & (source >= 0)
            counts = np.append(query.count(group), [0, 0])
            found = np.where(here, counts[source] - joint[source], found)
        return found.astype(np.int64)

    def _spreads(self, query: Query) -> Iterator[Spread]:
        """Each pattern of clusters with how many of their records have the items on average."""
        for clusters, groups in query.patterns():
            sizes = self.index.forest.sizes[clusters].astype(np.float64)
            mean = sizes.copy()
            for group in groups:
                source = query.sources[group[0], clusters]
                if source[0] == TERM:
                    mean = mean / sizes
                else:
                    mean = mean * query.count(group)[source] / self._room(query, group, source)
            yield Spread(clusters, groups, mean)

    def _room(self, query: Query, group: Group, source: Int64s) -> Floats:
        """The records that the subrecords of a chunk may go to, for each cluster."""
        if self.index.is_shared[source[0]]:
            return query.room(group)[source].astype(np.float64)
        return self.release.sizes[self.release.chunk_node[source]].astype(np.float64)

    def _hard_tops(self) -> Flags:
        """The simple clusters below a top-level cluster that counting does not decide."""
        hard = np.zeros(len(self.index.forest.nodes), dtype=bool)
        parts = [part for part in self.release.promise.parts if _has_m(part)]
        if not parts:
            return hard
        doubtful = find_doubtful(self.layout, cast(KmAnonymity, parts[0]), chunks_hold=True)
        tops = np.unique(self.layout.top[doubtful])
        self._gatherer = Gatherer(self.layout, Budget(_MOST_WORK))
        self._tops = set(tops.tolist())
        hard[:] = np.isin(self.layout.top[self.index.forest.nodes], tops)
        return hard

    def _most_exactly(self, query: Query) -> int:
        """The same for the clusters that counting does not decide, by constructing worlds."""
        if not self._exact.any():
            return 0
        total, items = 0, frozenset(query.items)
        for top in self._gatherer.tops_with(items):
            if top in self._tops:
                try:
                    total += self._gatherer.worlds(top).most(items, len(self.release))
                except TooLargeError:
                    total += 1
        return total


def _has_m(part: Promise) -> bool:
    """Whether a promise has the numbers k and m."""
    return hasattr(part, "k") and hasattr(part, "m")


class _Index(SupportIndex):
    """An index that remembers where items are."""

    @cached_property
    def _remembered(self) -> dict[int, Int64s]:
        return {}

    def sources(self, item: int) -> Int64s:
        if item not in self._remembered:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[item] = super().sources(item)
        return self._remembered[item]


def view_disassociated(release: Disassociated, original: Transactions) -> View:
    """Clusters as an adversary sees them who reasons about all originals that fit."""
    check_size(release, original)
    lost = (release.items.find(original.vocabulary) < 0) & (original.supports() > 0)
    if lost.any():
        raise MisfitError(f"it lacks {plural(int(lost.sum()), 'item')} of the original")
    return Clusters(release, original)


def _cover(layout: Layout) -> Finding:
    """The cover problem: how likely a person of a known cluster has an item of another chunk."""
    k = max(layout.release.promise.crowd, 1)
    domain = Domain.of(layout)
    chances, counts = domain.chances, domain.counts
    total = max(int(counts.sum()), 1)
    above, half, sure = (
        Estimate.certain(float(counts[marks].sum() / total))
        for marks in (chances > 1 / k, chances > 0.5, chances >= 1)
    )
    text = (
        "An adversary who knows the cluster of a person can guess items of other chunks by how "
        f"many of its records have them. This chance is above 1/{k} for "
        f"{rough_share(above.value)} of all occurrences in chunks, above 1/2 for "
        f"{rough_share(half.value)}, and certainty for {rough_share(sure.value)}."
    )
    return Finding("cover", text, {"above_1/k": above, "above_1/2": half, "certain": sure})
