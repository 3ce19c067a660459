"""A disassociated release laid out for checking: the tree of clusters, where each item is, and
every rule of the form that needs no promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import Flags, Int64s, changes, find, numbered, order_of, sums
from setveil.published.disassociated.forest import preorder_of
from setveil.published.disassociated.form import Disassociated
from setveil.words import plural


@dataclass(frozen=True)
class Layout:
    """Arrays that follow from a release; each is made on first use.

    A place, that is an item in a cluster, is coded as `node * width + item`.
    """

    release: Disassociated

    @property
    def width(self) -> int:
        return max(len(self.release.items), 1)

    @property
    def node_count(self) -> int:
        return len(self.release.parent)

    @cached_property
    def top(self) -> Int64s:
        """The top-level cluster of each node."""
        top = np.arange(self.node_count)
        while True:
            above = self.release.parent[top]
            if not (above >= 0).any():
                return top
            top = np.where(above >= 0, above, top)

    @cached_property
    def tops(self) -> Int64s:
        """The top-level clusters."""
        return np.flatnonzero(self.release.parent < 0)

    @cached_property
    def chunk_totals(self) -> Int64s:
        """The number of subrecords of each chunk."""
        release = self.release
        return sums(release.subrecord_chunk, release.subrecord_counts, len(release.chunk_node))

    @cached_property
    def node_totals(self) -> Int64s:
        """The number of subrecords in the chunks of each node."""
        return sums(self.release.chunk_node, self.chunk_totals, self.node_count)

    @cached_property
    def node_chunks(self) -> Int64s:
        """The number of nonempty chunks of each node."""
        full = self.release.chunk_node[self.chunk_totals > 0]
        return np.bincount(full, minlength=self.node_count)

    @cached_property
    def has_terms(self) -> Flags:
        """Which nodes have a term chunk that is not empty."""
        return np.diff(self.release.terms.indptr) > 0

    @cached_property
    def is_void(self) -> Flags:
        """Which nodes publish empty records: simple, at the top, without chunks and terms."""
        bare: Flags = (self.node_chunks == 0) & ~self.has_terms & self.release.is_simple
        return bare & (self.release.parent < 0)

    @property
    def domains(self) -> tuple[Int64s, Int64s]:
        """The chunks and the items of their domains: pairs (chunk, item), ascending."""
        return self._domains[0]

    @property
    def domain_at(self) -> Int64s:
        """Which pair of `domains` each entry of the subrecords is."""
        return self._domains[1]

    @cached_property
    def _domains(self) -> tuple[tuple[Int64s, Int64s], Int64s]:
        rows = self.release.subrecords
        codes = np.repeat(self.release.subrecord_chunk, rows.lengths) * self.width + rows.items
        known, numbers = numbered(codes)
        return np.divmod(known, self.width), numbers

    @cached_property
    def chunk_places(self) -> tuple[Int64s, Int64s]:
        """The places of items in chunks, ascending, and the chunk of each."""
        chunks, items = self.domains
        places = self.release.chunk_node[chunks] * self.width + items
        order = order_of(places)
        return places[order], chunks[order]

    @cached_property
    def term_places(self) -> Int64s:
        """The places of items in term chunks, ascending."""
        return self.release.terms.rows * self.width + self.release.terms.items

    @cached_property
    def bounds(self) -> tuple[Int64s, Int64s]:
        """The fewest and the most records that can contain each item."""
        rows, terms, width = self.release.subrecords, self.release.terms, self.width
        inside = sums(rows.items, self.release.subrecord_counts[rows.rows], width)
        most = sums(terms.items, self.release.sizes[terms.rows], width)
        return inside + sums(terms.items, 1, width), inside + most

    def chunk_at(self, places: Int64s) -> Int64s:
        """The chunk that has each place; -1 if none does."""
        known, chunks = self.chunk_places
        at = find(known, places)
        return np.where(at >= 0, chunks[at], -1) if len(known) else at

    @cached_property
    def numbering(self) -> tuple[Int64s, Int64s]:
        """A number for each node, such that all below it have the next ones; and where these
        end."""
        return preorder_of(self.release.parent)

    @cached_property
    def shared(self) -> SharedPlaces:
        """Where the items of shared chunks are."""
        return SharedPlaces.of(self)

    def climb(self, places: Int64s) -> tuple[Int64s, Int64s]:
        """The places whose item is also in a shared chunk above: (number of the place, node of the
        lowest such chunk)."""
        nodes, items = np.divmod(places, self.width)
        found = self.shared.lowest_above(self.numbering[0][nodes], items)
        numbers = np.flatnonzero(found >= 0)
        return numbers, self.release.chunk_node[self.shared.chunks[found[numbers]]]

    @property
    def repeats_shared_terms(self) -> bool:
        """Whether an item of a shared chunk is in a term chunk below."""
        terms, shared = self.release.terms, self.shared
        numbers = np.repeat(self.numbering[0], terms.lengths)
        known = np.sort(terms.items.astype(np.int64) * shared.nodes + numbers)
        begins = np.searchsorted(known, shared.keys + 1)
        return bool((np.searchsorted(known, shared.stops) > begins).any())

    def label(self, item: int) -> str:
        return self.release.items[item]

    def name(self, node: int) -> str:
        """A node in words; clusters have no names, only their content."""
        kind = "cluster" if self.release.is_simple[node] else "joint cluster"
        chunks, items = self.domains
        own = items[self.release.chunk_node[chunks] == node].tolist()
        labels = sorted({self.label(item) for item in own} | set(self.release.terms.record(node)))
        size = int(self.release.sizes[node])
        return f"the {kind} of {plural(size, 'record')} with {show_items(tuple(labels), 6)}"


@dataclass(frozen=True)
class SharedPlaces:
    """The items of shared chunks, each with the nodes below its chunk.

    By item, then by the first of these nodes, as numbered by `Layout.numbering`: of two places of
    an item, one contains the other or they have no node in common."""

    keys: Int64s
    """`item * nodes + first node`, ascending."""
    stops: Int64s
    chunks: Int64s
    outer: Int64s
    """The smallest other place of the same item that contains this one; -1 if there is none."""
    nodes: int

    @classmethod
    def of(cls, layout: Layout) -> SharedPlaces:
        """Those of a release."""
        places, chunks = layout.chunk_places
        above, items = np.divmod(places, layout.width)
        joint = np.flatnonzero(~layout.release.is_simple[above])
        nodes, (first, stop) = max(layout.node_count, 1), layout.numbering
        keys = items[joint] * nodes + first[above[joint]]
        order = order_of(keys)
        order = order[changes(keys[order])]  # one chunk, if an item is in two of a cluster
        keys, stops = keys[order], (items[joint] * nodes + stop[above[joint]])[order]
        outer = np.arange(len(keys)) - 1
        # What contains this place contains all that begin between the two, so none is skipped.
        while len(wrong := np.flatnonzero((outer >= 0) & (stops[outer] <= keys))):
            outer[wrong] = outer[outer[wrong]]
        return cls(keys, stops, chunks[joint][order], outer, nodes)

    def lowest_above(self, numbers: Int64s, items: Int64s) -> Int64s:
        """The smallest place of each item that contains each node, but does not begin with it; -1
        if none does."""
        wanted = items * self.nodes + numbers
        order = order_of(wanted)
        wanted = wanted[order]  # what is searched in order is found several times as fast
        found = np.searchsorted(self.keys, wanted) - 1
        wrong = np.flatnonzero(found >= 0)
        while len(wrong := wrong[self.stops[found[wrong]] <= wanted[wrong]]):
            found[wrong] = self.outer[found[wrong]]
            wrong = wrong[found[wrong] >= 0]
        answer = np.empty_like(found)
        answer[order] = found
        return answer


def check_structure(layout: Layout, limit: int = 1) -> Check:
    """Whether clusters, chunks and term chunks fit together, by the rules below.

    They are those of [Terrovitis2012] section 3.
    """
    broken = _broken_arrays(layout.release)
    if broken:
        return Check("structure", False, broken, (Witness(broken),))
    faults = {rule: list(islice(find(layout), limit)) for rule, find in _RULES.items()}
    witnesses = [witness for found in faults.values() for witness in found]
    if witnesses:
        text = "broken rules: " + "; ".join(rule for rule, found in faults.items() if found)
        return Check("structure", False, text, tuple(witnesses[:limit]))
    clusters = plural(int(layout.release.is_simple.sum()), "cluster")
    return Check("structure", True, f"{clusters}: chunks and term chunks fit together")


def _broken_arrays(release: Disassociated) -> str | None:
    """Why the arrays themselves cannot be used, if so."""
    nodes, chunks = len(release.parent), len(release.chunk_node)
    if len(release.sizes) != nodes or len(release.terms) != nodes:
        return "each cluster needs one size and one term chunk"
    if not len(release.subrecords) == len(release.subrecord_chunk) == len(release.subrecord_counts):
        return "each subrecord needs one chunk and one count"
    if release.subrecords.vocabulary != release.terms.vocabulary:
        return "subrecords and term chunks must have one vocabulary"
    if (release.parent >= np.arange(nodes)).any() or (release.parent < -1).any():
        return "a joint cluster must come before its parts"
    if _outside(release.chunk_node, nodes) or _outside(release.subrecord_chunk, chunks):
        return "a chunk must belong to a cluster, and a subrecord to a chunk"
    return None


def _outside(values: Int64s, size: int) -> bool:
    return bool(((values < 0) | (values >= size)).any())


def _without_records(layout: Layout) -> Iterator[Witness]:
    for node in np.flatnonzero(layout.release.sizes < 1).tolist():
        yield Witness(f"{layout.name(node)} has no records", count=int(layout.release.sizes[node]))


def _wrong_sums(layout: Layout) -> Iterator[Witness]:
    release = layout.release
    inner = release.parent >= 0
    totals = sums(release.parent[inner], release.sizes[inner], layout.node_count)
    for node in np.flatnonzero(~release.is_simple & (totals != release.sizes)).tolist():
        text = f"the parts of {layout.name(node)} have {plural(int(totals[node]), 'record')}"
        yield Witness(text, count=int(totals[node]))


def _terms_of_joints(layout: Layout) -> Iterator[Witness]:
    for node in np.flatnonzero(~layout.release.is_simple & layout.has_terms).tolist():
        yield Witness(f"{layout.name(node)} has a term chunk", layout.release.terms.record(node))


def _void_subrecords(layout: Layout) -> Iterator[Witness]:
    release = layout.release
    void = (release.subrecords.lengths == 0) | (release.subrecord_counts < 1)
    for row in np.flatnonzero(void).tolist():
        count, items = int(release.subrecord_counts[row]), release.subrecords.record(row)
        text = f"a subrecord of {plural(len(items), 'item')} occurs {plural(count, 'time')}"
        yield Witness(text, items, count)


def _crowded_chunks(layout: Layout) -> Iterator[Witness]:
    release = layout.release
    for chunk in np.flatnonzero(layout.chunk_totals > release.sizes[release.chunk_node]).tolist():
        total, name = int(layout.chunk_totals[chunk]), layout.name(int(release.chunk_node[chunk]))
        yield Witness(f"{name} has a chunk of {plural(total, 'subrecord')}", count=total)


def _shared_items(layout: Layout) -> Iterator[Witness]:
    places, _ = layout.chunk_places
    twice = places[1:][places[1:] == places[:-1]]
    both = layout.term_places[layout.chunk_at(layout.term_places) >= 0]
    yield from (_double(layout, place, "two chunks") for place in twice.tolist())
    yield from (_double(layout, place, "a chunk and the term chunk") for place in both.tolist())


def _double(layout: Layout, place: int, where: str) -> Witness:
    node, item = divmod(place, layout.width)
    label = layout.label(item)
    return Witness(f"{label} is in {where} of {layout.name(node)}", (label,))


def _terms_below_chunks(layout: Layout) -> Iterator[Witness]:
    if not layout.repeats_shared_terms:
        return
    numbers, nodes = layout.climb(layout.term_places)
    for number, above in zip(numbers.tolist(), nodes.tolist(), strict=True):
        node, item = divmod(int(layout.term_places[number]), layout.width)
        text = f"{layout.label(item)} is in a shared chunk of {layout.name(above)}"
        text += f" and in the term chunk of {layout.name(node)}"
        yield Witness(text, (layout.label(item),))


_RULES: dict[str, Callable[[Layout], Iterator[Witness]]] = {
    "a cluster has at least one record": _without_records,
    "a joint cluster has as many records as its parts": _wrong_sums,
    "only simple clusters have term chunks": _terms_of_joints,
    "a subrecord has items and occurs at least once": _void_subrecords,
    "a chunk has at most as many subrecords as its cluster has records": _crowded_chunks,
    "an item is in only one chunk, or in the term chunk, of a cluster": _shared_items,
    "an item of a shared chunk is in no term chunk below": _terms_below_chunks,
}
