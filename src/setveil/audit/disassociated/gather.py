"""Builds the worlds of single top-level clusters from the flat arrays of a release."""

from __future__ import annotations

import numpy as np

from setveil.alignment.flow import Budget, TooLargeError
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.worlds import TERMS, Chunk, Itemset, Part, Worlds
from setveil.data.arrays import Int64s, distinct

_MOST_PLACES = 2_000_000
"""The most pairs of a simple cluster and a subrecord of a shared chunk."""

Content = tuple[int, list[Itemset], list[int]]
"""The node of a chunk, its distinct subrecords, and how often each occurs."""


class Gatherer:
    """The worlds of each top-level cluster of a release, and which clusters contain an item."""

    def __init__(self, layout: Layout, budget: Budget) -> None:
        self.layout, self.budget = layout, budget
        release = layout.release
        self._nodes = _Grouped(layout.top, layout.node_count)
        self._chunks = _Grouped(release.chunk_node, layout.node_count)
        self._rows = _Grouped(release.subrecord_chunk, len(release.chunk_node))
        self._holding: tuple[Int64s, Int64s] | None = None
        self._known: dict[int, Worlds] = {}

    def worlds(self, top: int) -> Worlds:
        """The worlds of one top-level cluster."""
        if top not in self._known:
            self._known[top] = self._gather(top)
        return self._known[top]

    def forget(self, top: int) -> None:
        """Free the memory of one top-level cluster."""
        self._known.pop(top, None)

    def tops_with(self, itemset: Itemset) -> list[int]:
        """The top-level clusters that contain all of these items somewhere."""
        items, tops = self._holders()
        found: Int64s | None = None
        for item in itemset:
            low, high = np.searchsorted(items, [item, item + 1])
            here = tops[low:high]
            found = here if found is None else np.intersect1d(found, here, assume_unique=True)
            self.budget.spend(int(high - low))
        return [] if found is None else found.tolist()

    def _holders(self) -> tuple[Int64s, Int64s]:
        """The pairs (item, top-level cluster), ascending."""
        if self._holding is None:
            nodes, items = np.divmod(
                np.concatenate((self.layout.chunk_places[0], self.layout.term_places)),
                self.layout.width,
            )
            pairs = distinct(items * max(self.layout.node_count, 1) + self.layout.top[nodes])
            self._holding = np.divmod(pairs, max(self.layout.node_count, 1))
        return self._holding

    def _gather(self, top: int) -> Worlds:
        release, nodes = self.layout.release, sorted(self._nodes.members(top))
        contents: list[Content] = []
        of_node: dict[int, list[int]] = {}
        for node in nodes:
            for chunk in self._chunks.members(node):
                of_node.setdefault(node, []).append(len(contents))
                contents.append((node, *self._subrecords(chunk)))
        simple = [node for node in nodes if release.is_simple[node]]
        shared = sum(len(found) for node, found, _ in contents if not release.is_simple[node])
        if len(simple) * shared > _MOST_PLACES:
            raise TooLargeError
        sources = [self._source(node, of_node, contents) for node in simple]
        parts = [self._part(node, source) for node, source in zip(simple, sources, strict=True)]
        chunks = []
        for number, (node, subrecords, counts) in enumerate(contents):
            places = [self._places(number, items, sources) for items in subrecords]
            chunks.append(Chunk(subrecords, counts, places, not release.is_simple[node]))
        return Worlds(parts, chunks, self.budget, is_void=bool(self.layout.is_void[top]))

    def _part(self, node: int, source: dict[int, int]) -> Part:
        layout, size = self.layout, int(self.layout.release.sizes[node])
        return Part(size, bool(layout.has_terms[node]), int(layout.node_totals[node]), source)

    def _subrecords(self, chunk: int) -> tuple[list[Itemset], list[int]]:
        """The distinct subrecords of a chunk and how often each occurs."""
        release, counts = self.layout.release, dict[Itemset, int]()
        rows = release.subrecords
        for row in self._rows.members(chunk):
            items = frozenset(rows.items[rows.entries(row)].tolist())
            counts[items] = counts.get(items, 0) + int(release.subrecord_counts[row])
        self.budget.spend(len(counts))
        return list(counts), list(counts.values())

    def _source(
        self, node: int, of_node: dict[int, list[int]], contents: list[Content]
    ) -> dict[int, int]:
        """Where the records of a simple cluster get each item from: the lowest place with it."""
        terms = self.layout.release.terms
        source = dict.fromkeys(terms.items[terms.entries(node)].tolist(), TERMS)
        while node >= 0:
            here = {
                item: chunk
                for chunk in of_node.get(node, ())
                for items in contents[chunk][1]
                for item in items
            }
            source = {**here, **source}
            node = int(self.layout.release.parent[node])
            self.budget.spend(len(here) + len(source))
        return source

    def _places(self, chunk: int, items: Itemset, sources: list[dict[int, int]]) -> list[int]:
        """The parts whose records may get a subrecord: those with all its items from this chunk."""
        self.budget.spend(len(sources))
        return [
            number
            for number, source in enumerate(sources)
            if all(source.get(item) == chunk for item in items)
        ]


class _Grouped:
    """The members of each group, by one sort."""

    def __init__(self, groups: Int64s, size: int) -> None:
        self._order = np.argsort(groups, kind="stable")
        self._bounds = np.searchsorted(groups[self._order], np.arange(size + 1))

    def members(self, group: int) -> list[int]:
        found: list[int] = self._order[self._bounds[group] : self._bounds[group + 1]].tolist()
        return found
