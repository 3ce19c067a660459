"""How likely a person has each item of disassociated data, if all placements are equally likely."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setveil.audit.attack.linking import Spread
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.safe import Domain
from setveil.data.arrays import Floats, Int64s, ranges
from setveil.published.disassociated.supports import TERM, Group, Query, SupportIndex


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
