"""A disassociated release laid out for checking: who lies under whom, and which item is told where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from setveil.audit.verdict import show_items
from setveil.published.disassociated.form import Disassociated

Numbers = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Layout:
    """Arrays that follow from a release; each is made on first use.

    A place where an item is told is coded as `node * width + item`.
    """

    release: Disassociated

    @property
    def width(self) -> int:
        return max(len(self.release.items), 1)

    @property
    def node_count(self) -> int:
        return len(self.release.parent)

    @cached_property
    def top(self) -> Numbers:
        """The top-level cluster of each node."""
        top = np.arange(self.node_count)
        while True:
            above = self.release.parent[top]
            if not (above >= 0).any():
                return top
            top = np.where(above >= 0, above, top)

    @cached_property
    def tops(self) -> Numbers:
        """The top-level clusters."""
        return np.flatnonzero(self.release.parent < 0)

    @cached_property
    def chunk_totals(self) -> Numbers:
        """The number of subrecords of each chunk."""
        return _sums(
            self.release.subrecord_chunk,
            self.release.subrecord_counts,
            len(self.release.chunk_node),
        )

    @cached_property
    def node_totals(self) -> Numbers:
        """The number of subrecords in the chunks of each node."""
        return _sums(self.release.chunk_node, self.chunk_totals, self.node_count)

    @cached_property
    def node_chunks(self) -> Numbers:
        """The number of chunks of each node that hold a subrecord."""
        return np.bincount(
            self.release.chunk_node[self.chunk_totals > 0], minlength=self.node_count
        )

    @cached_property
    def has_terms(self) -> Marks:
        """Which nodes have a term chunk that is not empty."""
        return np.diff(self.release.terms.indptr) > 0

    @cached_property
    def is_void(self) -> Marks:
        """Which nodes are how empty records are published: at the top, simple, with neither chunks nor terms."""
        void: Marks = (
            (self.release.parent < 0)
            & self.release.is_simple
            & (self.node_chunks == 0)
            & ~self.has_terms
        )
        return void

    @cached_property
    def domains(self) -> tuple[Numbers, Numbers]:
        """The chunks and the items of their domains: pairs (chunk, item), ascending."""
        rows = self.release.subrecords.rows
        codes = distinct(
            self.release.subrecord_chunk[rows] * self.width + self.release.subrecords.items
        )
        return np.divmod(codes, self.width)

    @cached_property
    def told(self) -> tuple[Numbers, Numbers]:
        """Where items stand in chunks: the places, ascending, and the chunk of each."""
        chunks, items = self.domains
        places = self.release.chunk_node[chunks] * self.width + items
        order = np.argsort(places, kind="stable")
        return places[order], chunks[order]

    @cached_property
    def term_places(self) -> Numbers:
        """Where items stand in term chunks, ascending."""
        return self.release.terms.rows * self.width + self.release.terms.items

    def chunk_at(self, places: Numbers) -> Numbers:
        """The chunk that tells of each place; -1 where none does."""
        known, chunks = self.told
        at = _find(known, places)
        return np.where(at >= 0, chunks[at], -1) if len(known) else at

    def term_at(self, places: Numbers) -> Numbers:
        """The number of each place in `term_places`; -1 where it is not there."""
        return _find(self.term_places, places)

    def climb(self, places: Numbers) -> tuple[Numbers, Numbers]:
        """Which places have their item in a shared chunk above as well: (number of the place, node of the lowest such chunk)."""
        nodes, items = np.divmod(places, self.width)
        numbers, above = np.arange(len(places)), self.release.parent[nodes]
        found: list[tuple[Numbers, Numbers]] = []
        while True:
            alive = above >= 0
            numbers, items, above = numbers[alive], items[alive], above[alive]
            if not len(above):
                break
            hit = self.chunk_at(above * self.width + items) >= 0
            found.append((numbers[hit], above[hit]))
            numbers, items, above = numbers[~hit], items[~hit], self.release.parent[above[~hit]]
        if not found:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return np.concatenate([one for one, _ in found]), np.concatenate(
            [node for _, node in found]
        )

    def label(self, item: int) -> str:
        return self.release.items[item]

    def name(self, node: int) -> str:
        """A node in words: nothing but its content tells clusters apart."""
        kind = "cluster" if self.release.is_simple[node] else "joint cluster"
        chunks, items = self.domains
        own = items[self.release.chunk_node[chunks] == node].tolist()
        labels = sorted({self.label(item) for item in own} | set(self.release.terms.record(node)))
        size = int(self.release.sizes[node])
        return f"the {kind} of {size} record{'s' * (size != 1)} with {show_items(tuple(labels), 6)}"


def _sums(groups: Numbers, values: Numbers, size: int) -> Numbers:
    """The sum of the values of each group, in whole numbers."""
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, groups, values)
    return sums


def _find(ordered: Numbers, values: Numbers) -> Numbers:
    """Where each value stands; -1 where it does not."""
    if not len(ordered):
        return np.full(len(values), -1)
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.where(ordered[at] == values, at, -1)


def distinct(codes: Numbers) -> Numbers:
    """The different values, ascending; by a sort, which is faster here than the hashing of `numpy.unique`."""
    ordered = np.sort(codes)
    return (
        ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))] if len(ordered) else ordered
    )
