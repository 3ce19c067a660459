"""What an adversary sees of disassociated data: clusters whose pieces may fit together in many
ways, and how likely a person has each item then."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import cast

import numpy as np

from setveil.alignment.align import check_size
from setveil.alignment.flow import Budget, TooLargeError
from setveil.alignment.merging import item_supports
from setveil.audit.attack.draws import Estimate, Items
from setveil.audit.attack.linking import Linking, Spread
from setveil.audit.attack.outcome import Finding, View
from setveil.audit.disassociated.check import Domain
from setveil.audit.disassociated.guarantee import Gatherer
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.proof import find_doubtful
from setveil.data.arrays import Flags, Floats, Int64s, ranges
from setveil.data.transactions import Transactions
from setveil.errors import MisfitError
from setveil.promises.kanonymity import KmAnonymity
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.supports import TERM, Group, Query, SupportIndex
from setveil.words import plural, rough_share

_REMEMBERED = 2_000
"""For how many items the place in each cluster is kept."""
_MOST_WORK = 20_000_000
"""How many arcs are examined for clusters that counting does not decide."""


class Clusters(View):
    """Disassociated data.

    `candidates`, `expected` and `beliefs` take all ways to place the pieces as equally likely; see
    `Linking`. `possible` asks for one original that fits the release: it is what the promise is
    about, which says that in some original at least k records contain the known items."""

    candidate = "a piece, a subrecord of a chunk, that contains known items"
    target = "piece"
    success = (
        "No whole record is published, so what can be linked to a person is a piece. All ways to "
        "put the pieces together are taken as equally likely. Success is the chance of the "
        "likeliest piece to be the person's, and the number of candidates is 1 divided by it."
    )

    def __init__(self, release: Disassociated, original: Transactions) -> None:
        self.release, self.original = release, original
        self.layout = Layout(release)
        self.index = _Index.of(release)
        self.linking = Linking(self.index)
        self.numbers = release.items.find(original.vocabulary)
        self._last: tuple[Items, Query | None] = (), None
        forest = self.index.forest
        own = self.layout.node_totals[forest.nodes] - forest.sizes
        self._slack = np.where(forest.has_terms, np.iinfo(np.int64).max // 2, np.maximum(own, 0))
        self._exact = self._hard_tops()

    @cached_property
    def _pieces(self) -> Pieces:
        return Pieces(self.layout, self.index)

    @cached_property
    def _capped(self) -> Int64s:
        """The most records of each simple cluster with an item of its term chunk, for somebody who
        knows the method: fewer than k. The only item of a term chunk may be there for another
        reason, and so may a sensitive one."""
        many = self.release.terms.lengths[self.index.forest.nodes] > 1
        k = max(self.release.promise.crowd, 2)
        return np.where(many, k - 1, np.iinfo(np.int64).max // 2)

    def candidates(self, known: Items, lacking: Items = ()) -> float:
        query = self._query(known)
        if query is None:
            return float(max(len(self.release), 1))
        absent = [int(self.numbers[item]) for item in lacking if self.numbers[item] >= 0]
        one = absent[0] if absent else None
        return self.linking.odds(query, one).candidates

    def expected(self, known: Items) -> float:
        query = self._query(known)
        if query is None:
            return float(len(self.release))
        return self.linking.odds(query).expected

    def possible(self, known: Items, *, knowing_method: bool = False) -> int:
        """At least so many records can have the items in one world; in most cases exactly.

        A shared chunk gives no more subrecords than it has to all clusters that take from it. If
        some clusters take from several shared chunks and others from one, only the larger part is
        counted, because both may need the same subrecords."""
        query = self._query(known)
        if query is None:
            return max(len(self.release), 1)
        own, several = 0, 0
        by_chunk = np.zeros(len(self.release.chunk_node), dtype=np.int64)
        limits = np.zeros(len(self.release.chunk_node), dtype=np.int64)
        for clusters, groups in query.patterns():
            clusters = clusters[~self._exact[clusters]]
            if not len(clusters):
                continue
            high, shared = self._most(query, clusters, groups, knowing_method)
            if not shared:
                own += int(high.sum())
            elif len(shared) == 1:
                source = query.sources[shared[0][0], clusters]
                np.add.at(by_chunk, source, high)
                limits[source] = query.count(shared[0])[source]
            else:
                most = query.most_shared(clusters, shared, high.astype(np.float64))
                several = max(several, round(most))
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

    def beliefs(self, known: Items) -> Floats:
        query = self._query(known)
        spreads = None if query is None else self.linking.spreads(query)
        found = np.append(self._pieces.beliefs(query, spreads), 0.0)
        beliefs = found[self.numbers]
        beliefs[list(known)] = 1.0
        return beliefs

    def findings(self) -> list[Finding]:
        return [_cover(self.layout)]

    def _query(self, known: Items) -> Query | None:
        if self._last[0] != known:  # the same items are asked for several times in a row
            items = [int(self.numbers[item]) for item in known if self.numbers[item] >= 0]
            self._last = known, Query(self.index, items) if items else None
        return self._last[1]

    def _most(
        self, query: Query, clusters: Int64s, groups: list[Group], knowing_method: bool
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
                high = np.minimum(high, self._capped[clusters]) if knowing_method else high
            elif self.index.is_shared[source[0]]:
                shared.append(group)
            else:
                own += 1
                high = np.minimum(high, query.count(group)[source])
        if own > 1:
            high = np.minimum(high, self._slack[clusters] // (own - 1))
        return np.maximum(high, 0), shared

    def _hard_tops(self) -> Flags:
        """The simple clusters below a top-level cluster that counting does not decide."""
        hard = np.zeros(len(self.index.forest.nodes), dtype=bool)
        parts = [part for part in self.release.promise.parts if hasattr(part, "m")]
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
    lost = (release.items.find(original.vocabulary) < 0) & (item_supports(original) > 0)
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


class Pieces:
    """Where each item is, and in how many subrecords of its chunk."""

    def __init__(self, layout: Layout, index: SupportIndex) -> None:
        self.layout, self.index, self.release = layout, index, layout.release
        self.domain = Domain.of(layout)
        self.starts = np.searchsorted(
            self.domain.chunks, np.arange(len(layout.release.chunk_node) + 1)
        )

    def beliefs(self, query: Query | None, spreads: Sequence[Spread] | None) -> Floats:
        """How likely the person has each item of the release, given known items.

        A person is in each cluster as likely as its records have the known items. There, an item of
        a chunk with known items is as likely as the subrecords with these have it, and any other
        item as likely as its chunk has it for all records that it may belong to."""
        weights = self._weights(spreads)
        found = np.zeros(self.layout.width)
        used = np.zeros(len(self.release.chunk_node))
        for spread in spreads or ():
            assert query is not None
            for group in spread.groups:
                source = query.sources[group[0], spread.clusters]
                if source[0] != TERM:
                    self._add_group(found, query, group, source, weights[spread.clusters])
                    np.add.at(used, source, weights[spread.clusters])
        self._add_others(found, weights, used)
        self._add_terms(found, weights)
        return np.clip(found, 0.0, 1.0)

    def _weights(self, spreads: Sequence[Spread] | None) -> Floats:
        """How likely the person is in each simple cluster."""
        sizes = self.index.forest.sizes
        weights = np.zeros(len(sizes)) if spreads is not None else sizes.astype(np.float64)
        for spread in spreads or ():
            weights[spread.clusters] = spread.expected
        total = float(weights.sum())
        return weights / total if total else weights

    def _add_group(
        self, found: Floats, query: Query, group: Group, source: Int64s, weights: Floats
    ) -> None:
        """The items that occur in subrecords together with some known ones."""
        rows, release = query.rows(group), self.release
        by_chunk = np.zeros(len(release.chunk_node))
        np.add.at(by_chunk, source, weights)
        chunks = release.subrecord_chunk[rows]
        rows, chunks = rows[by_chunk[chunks] > 0], chunks[by_chunk[chunks] > 0]
        share = by_chunk[chunks] * release.subrecord_counts[rows] / query.count(group)[chunks]
        lengths = release.subrecords.lengths[rows]
        entries = ranges(release.subrecords.indptr[rows], lengths)
        np.add.at(found, release.subrecords.items[entries], np.repeat(share, lengths))

    def _add_others(self, found: Floats, weights: Floats, used: Floats) -> None:
        """The items of all chunks with which nothing is known to be together."""
        forest, release = self.index.forest, self.release
        sums = np.concatenate(([0.0], np.cumsum(weights)))
        below = sums[forest.stop] - sums[forest.first]
        left = below[release.chunk_node] - used
        chunks = np.flatnonzero(left > 1e-12)
        lengths = np.diff(self.starts)[chunks]
        entries = ranges(self.starts[chunks], lengths)
        share = np.repeat(left[chunks], lengths)
        domain = self.domain
        missing = np.flatnonzero(below[domain.overlaid_by] > 0)
        if len(missing):
            lost = np.zeros(len(domain.items))
            np.add.at(lost, domain.overlaid[missing], below[domain.overlaid_by[missing]])
            share = np.maximum(share - lost[entries], 0.0)
        room = np.maximum(domain.room[entries], 1)
        np.add.at(found, domain.items[entries], share * domain.counts[entries] / room)

    def _add_terms(self, found: Floats, weights: Floats) -> None:
        """The items of term chunks, which one record of the cluster has."""
        forest, terms = self.index.forest, self.release.terms
        clusters = np.flatnonzero(weights)
        nodes = forest.nodes[clusters]
        lengths = terms.lengths[nodes]
        entries = ranges(terms.indptr[nodes], lengths)
        chance = weights[clusters] / forest.sizes[clusters]
        np.add.at(found, terms.items[entries], np.repeat(chance, lengths))
