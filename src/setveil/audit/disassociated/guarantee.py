"""Guarantee 1: at least k records of some world can contain a set of up to m items, or none can."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain, combinations, islice, product

import numpy as np

from setveil.alignment.flow import Budget, TooLargeError
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.proof import find_doubtful, prove
from setveil.audit.disassociated.worlds import TERMS, Chunk, Itemset, Part, Worlds
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import Int64s, distinct
from setveil.promises.kanonymity import KmAnonymity
from setveil.words import plural

MOST_WORK = 100_000_000
"""How many arcs are examined in all before the answer is `not proved`; about a minute."""
_MOST_PLACES = 2_000_000
"""The most pairs of a simple cluster and a subrecord of a shared chunk."""
Content = tuple[int, list[Itemset], list[int]]
"""The node of a chunk, its distinct subrecords, and how often each occurs."""


def check_guarantee(
    layout: Layout,
    promise: KmAnonymity,
    limit: int = 1,
    *,
    chunks_hold: bool = False,
    work: int = MOST_WORK,
) -> Check:
    """Whether Guarantee 1 holds for a well-formed release; the witnesses are itemsets with the most
    records that contain them in any world.

    Most clusters are proved by counting (`prove`). For each other top-level cluster and each set of
    up to m of its items, it finds the most records with that set in one world. An itemset in
    several top-level clusters counts in all of them together: a world of the release consists of
    one world of each.

    Args:
        chunks_hold: Whether every chunk is known to be k^m-anonymous.
        work: Limit on the work for clusters that counting does not prove; beyond it the promise
            counts as broken.
    """
    proved = prove(layout, promise, chunks_hold=chunks_hold)
    open_tops, budget = layout.tops[~proved].tolist(), Budget(work)
    safe, witnesses = frozenset(layout.tops[proved].tolist()), list[Witness]()
    decision = _Decision(Gatherer(layout, budget), promise, safe) if open_tops else None
    try:
        for top in open_tops:
            assert decision is not None
            found = (_witness(layout, *one, promise.k) for one in decision.violations(top))
            witnesses.extend(islice(found, limit - len(witnesses)))
            if len(witnesses) >= limit:
                break
    except TooLargeError:
        if not witnesses:
            return _not_proved(layout, promise, top, chunks_hold)
    if witnesses:
        items = f"a set of {plural(len(witnesses[0].items), 'item')}"
        text = (
            f"{items} can be in a record of a possible original, but never in {promise.k} records"
        )
        if not witnesses[0].items:
            text = "no data set can have led to one of the clusters"
        return Check(promise.model, False, text, tuple(witnesses))
    fits = f"could be in at least {promise.k} records of the original, or in none"
    text = f"each set of up to {promise.m} items {fits}"
    if not open_tops:
        return Check(promise.model, True, f"{text} (proved by counting)")
    built = f"{plural(len(open_tops), 'cluster')} by constructing the originals"
    return Check(promise.model, True, f"{text} (proved by counting, {built})")


def _witness(layout: Layout, top: int, itemset: Itemset, most: int, k: int) -> Witness:
    if not itemset:
        return Witness(f"no data set can have led to {layout.name(top)}", count=0)
    items = tuple(sorted(layout.label(item) for item in itemset))
    records = f"at most {plural(most, 'record')} of any possible original"
    return Witness(f"{show_items(items)} occurs in {records}, not {k}", items, most)


def _not_proved(layout: Layout, promise: KmAnonymity, top: int, chunks_hold: bool) -> Check:
    doubtful = find_doubtful(layout, promise, chunks_hold=chunks_hold) & (layout.top == top)
    text = f"counting proves nothing for {layout.name(int(doubtful.argmax()))}"
    text += f", and {layout.name(top)} is too large to construct its originals"
    witness = Witness(text, count=int(layout.release.sizes[top]))
    text = "not proved: counting proves nothing for a cluster that is too large to construct"
    return Check(promise.model, False, f"{text} its originals", (witness,))


class _Decision:
    """Finds the itemsets that occur in some world, but in none k times."""

    def __init__(self, gatherer: Gatherer, promise: KmAnonymity, proved: frozenset[int]) -> None:
        self._gatherer, self._k, self._proved = gatherer, promise.k, proved
        self._m = min(promise.m, gatherer.layout.width)

    def violations(self, top: int) -> Iterator[tuple[int, Itemset, int]]:
        """The violations in one top-level cluster, smallest first: (cluster, itemset, most
        records); the empty set if it has no world."""
        worlds = self._gatherer.worlds(top)
        if not worlds.exist():
            yield top, frozenset(), 0
            return
        for itemset, most in self._scarce(worlds):
            total = self._total(top, itemset, most)
            if total < self._k:
                yield top, itemset, total
        self._gatherer.forget(top)

    def _scarce(self, worlds: Worlds) -> Iterator[tuple[Itemset, int]]:
        """The itemsets that this cluster alone contains at least once and never k times.

        Items in the same subrecords and term chunks are of one kind; itemsets of the same kinds
        have the same answer. Kinds are combined level by level, as long as some world has them.
        """
        kinds = _kinds(worlds)
        level: list[tuple[int, ...]] = [()]
        for _ in range(self._m):
            scarce: list[tuple[tuple[int, ...], int]] = []
            longer: list[tuple[int, ...]] = []
            for chosen in level:
                for kind in range(chosen[-1] + 1 if chosen else 0, len(kinds)):
                    more = (*chosen, kind)
                    most = worlds.most(frozenset(kinds[number][0] for number in more), self._k)
                    if most:
                        longer.append(more)
                    if 0 < most < self._k:
                        scarce.append((more, most))
            for combination, most in scarce:
                for itemset in _itemsets([kinds[number] for number in combination], self._m):
                    self._gatherer.budget.spend(1)
                    yield itemset, most
            level = longer

    def _total(self, top: int, itemset: Itemset, most: int) -> int:
        """The most records of the whole release, counted up to k."""
        total = most
        for other in self._gatherer.tops_with(itemset):
            if other != top and total < self._k:
                worlds = self._gatherer.worlds(other)
                if other in self._proved:
                    total += self._k * bool(worlds.holders(itemset, self._k))
                else:
                    total += worlds.most(itemset, self._k - total)
        return total


def _kinds(worlds: Worlds) -> list[list[int]]:
    """The items of a cluster, grouped by the subrecords and term chunks that contain them."""
    places: dict[int, list[tuple[int, int]]] = {}
    for number, chunk in enumerate(worlds.chunks):
        for at, items in enumerate(chunk.subrecords):
            for item in items:
                places.setdefault(item, []).append((number, at))
    for number, part in enumerate(worlds.parts):
        for item, chunk_number in part.source.items():
            if chunk_number == TERMS:
                places.setdefault(item, []).append((TERMS, number))
    kinds: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for item in sorted(places):
        kinds.setdefault(tuple(places[item]), []).append(item)
    return list(kinds.values())


def _itemsets(kinds: list[list[int]], most: int) -> Iterator[Itemset]:
    """The sets of up to `most` items with at least one of each kind, smallest first."""
    sizes = range(1, most - len(kinds) + 2)
    parts_of = ([part for size in sizes for part in combinations(kind, size)] for kind in kinds)
    for parts in product(*parts_of):
        itemset = frozenset(chain.from_iterable(parts))
        if len(itemset) <= most:
            yield itemset


class Gatherer:
    """The worlds of each top-level cluster of a release, and which clusters contain an item."""

    def __init__(self, layout: Layout, budget: Budget) -> None:
        self.layout, self.budget = layout, budget
        release = layout.release
        self._nodes = _Grouped(layout.top, layout.node_count)
        self._chunks = _Grouped(release.chunk_node, layout.node_count)
        self._rows = _Grouped(release.subrecord_chunk, len(release.chunk_node))
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
        items, tops = self._holders
        found: Int64s | None = None
        for item in itemset:
            low, high = np.searchsorted(items, [item, item + 1])
            here = tops[low:high]
            found = here if found is None else np.intersect1d(found, here, assume_unique=True)
            self.budget.spend(int(high - low))
        return [] if found is None else found.tolist()

    @cached_property
    def _holders(self) -> tuple[Int64s, Int64s]:
        """The pairs (item, top-level cluster), ascending."""
        layout = self.layout
        places = np.concatenate((layout.chunk_places[0], layout.term_places))
        nodes, items = np.divmod(places, layout.width)
        pairs = distinct(items * max(layout.node_count, 1) + layout.top[nodes])
        return np.divmod(pairs, max(layout.node_count, 1))

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
        layout, terms = self.layout, self.layout.has_terms
        parts = [
            Part(int(release.sizes[node]), bool(terms[node]), int(layout.node_totals[node]), source)
            for node, source in zip(simple, sources, strict=True)
        ]
        chunks = []
        for number, (node, subrecords, counts) in enumerate(contents):
            places = [self._places(number, items, sources) for items in subrecords]
            chunks.append(Chunk(subrecords, counts, places, not release.is_simple[node]))
        return Worlds(parts, chunks, self.budget, is_void=bool(self.layout.is_void[top]))

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
