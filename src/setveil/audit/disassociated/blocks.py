"""Compares a release with its original, block of clusters by block, on threads.

A block fits into the caches of a processor. That saves most of the time: searching is slow where
each step reads another part of memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.projections import Difference, Rows, compare_rows, project
from setveil.data.arrays import Flags, Int64s, changes, find, positions, ranges
from setveil.data.transactions import Transactions
from setveil.threads import on_threads

_ENTRIES = 1 << 18
"""About how many entries of the original a block has."""
_PARTS = 8
"""Into how many parts shared chunks are divided."""


@dataclass(frozen=True)
class Placed:
    """A well-formed release, and the simple cluster of each original record."""

    layout: Layout
    original: Transactions
    alignment: Int64s
    numbers: Int64s
    """The number in the release of each item of the original."""


class Findings(NamedTuple):
    """What is wrong in some clusters, if anything is."""

    missing: tuple[int, int, int] | None = None
    """The first original record with an item that its cluster does not show, the cluster, and the
    item by its number in the release."""
    idle: int | None = None
    """The first place in a term chunk, as in `Layout.term_places`, that no original needs."""
    differences: tuple[Difference, ...] = ()
    """Subrecords that are published more or less often than originals project to them."""


def compare(placed: Placed, limit: int) -> tuple[Layout, Findings]:
    """What is wrong in all clusters, and the layout to which the numbers of nodes belong.

    Record chunks and term chunks are compared block by block, and shared chunks after that."""
    placed = _numbered(placed)
    found = [*on_threads(lambda block: _compare_block(block, limit), _blocks(placed))]
    missing = min((each.missing for each, _ in found if each.missing is not None), default=None)
    if missing is not None:
        return placed.layout, Findings(missing)
    idle = min((each.idle for each, _ in found if each.idle is not None), default=None)
    tasks = _shared_chunks(placed.layout, [rows for _, rows in found])
    rest = on_threads(lambda task: compare_rows(*task, limit), tasks)
    differences = [one for each, _ in found for one in each.differences]
    differences += [one for part in rest for one in part]
    return placed.layout, Findings(None, idle, tuple(sorted(differences)[:limit]))


def _numbered(placed: Placed) -> Placed:
    """The same with all nodes below a node right after it, as files have them."""
    release, (numbers, _) = placed.layout.release, placed.layout.numbering
    order = positions(numbers)
    if np.array_equal(order, np.arange(len(order))):
        return placed
    parent = release.parent[order]
    same = replace(
        release,
        parent=np.where(parent >= 0, numbers[parent], -1),
        sizes=release.sizes[order],
        chunk_node=numbers[release.chunk_node],
        terms=release.terms.take(order),
        alignment=None,
    )
    return replace(placed, layout=Layout(same), alignment=numbers[placed.alignment])


@dataclass(frozen=True)
class _Block:
    """The nodes from `low` to `high`, their originals, and the subrecords of their record
    chunks."""

    placed: Placed
    low: int
    high: int
    records: Int64s
    subrecords: Int64s

    def inside(self, places: Int64s) -> slice:
        """The places of these nodes, among ascending ones."""
        width = self.placed.layout.width
        return slice(*np.searchsorted(places, [self.low * width, self.high * width]).tolist())


def _blocks(placed: Placed) -> Iterator[_Block]:
    layout, original = placed.layout, placed.original
    release, nodes = layout.release, layout.node_count
    entries = np.bincount(placed.alignment, weights=original.lengths + 1, minlength=nodes)
    parts = (np.cumsum(entries) // _ENTRIES).astype(np.int64)
    starts = np.flatnonzero(changes(parts))
    of_subrecord = release.chunk_node[release.subrecord_chunk]
    apart = np.flatnonzero(release.is_simple[of_subrecord])
    records, bounds = _sorted(placed.alignment, starts)
    subrecords, own = _sorted(of_subrecord[apart], starts)
    stops = np.append(starts, nodes)[1:]
    for at, (low, high) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        here = records[bounds[at] : bounds[at + 1]]
        yield _Block(placed, low, high, here, apart[subrecords[own[at] : own[at + 1]]])


def _sorted(keys: Int64s, starts: Int64s) -> tuple[Int64s, Int64s]:
    """The members of all blocks, one block after the other, and where each block begins."""
    order = np.argsort(keys, kind="stable")
    return order, np.append(np.searchsorted(keys, starts, sorter=order), len(keys))


def _compare_block(block: _Block, limit: int) -> tuple[Findings, Rows]:
    """What is wrong, and what the originals of the block have in shared chunks."""
    layout, original = block.placed.layout, block.placed.original
    starts = original.indptr[block.records]
    lengths = original.indptr[block.records + 1] - starts
    items = block.placed.numbers[original.items[ranges(starts, lengths)]]
    owners = np.repeat(np.arange(len(block.records)), lengths)
    nodes = block.placed.alignment[block.records][owners]
    terms = layout.term_places[block.inside(layout.term_places)]
    chunks, loose, shared = _locate(block, nodes, items, terms)
    lost = np.flatnonzero((chunks < 0) & (loose < 0))
    if len(lost):
        first = lost[np.argmin(block.records[owners[lost]])]
        missing = int(block.records[owners[first]]), int(nodes[first]), int(items[first])
        return Findings(missing), project(lost[:0], lost[:0], lost[:0])
    idle = terms[np.bincount(loose[loose >= 0], minlength=len(terms)) == 0]
    own = np.flatnonzero((loose < 0) & ~shared)
    projected = project(owners[own], chunks[own], items[own])
    differences = compare_rows(*_published(layout, block.subrecords), projected, limit)
    findings = Findings(None, int(idle[0]) if len(idle) else None, tuple(differences))
    above = np.flatnonzero(shared)
    return findings, project(owners[above], chunks[above], items[above])


def _locate(
    block: _Block, nodes: Int64s, items: Int64s, terms: Int64s
) -> tuple[Int64s, Int64s, Flags]:
    """For each occurrence the lowest chunk with its item on the way up, or its number among the
    places in term chunks, -1 where there is none; and whether the chunk is a shared one."""
    layout = block.placed.layout
    wanted = nodes * layout.width + items
    known = block.inside(layout.chunk_places[0])
    at, loose = find(layout.chunk_places[0][known], wanted), find(terms, wanted)
    chunks = (
        np.where(at >= 0, layout.chunk_places[1][known][at], -1) if known.stop > known.start else at
    )
    missing = np.flatnonzero((at < 0) & (loose < 0))
    above = layout.shared.lowest_above(nodes[missing], items[missing])
    missing, above = missing[above >= 0], above[above >= 0]
    chunks[missing] = layout.shared.chunks[above]
    shared = np.zeros(len(items), dtype=bool)
    shared[missing] = True
    return chunks, loose, shared


def _published(layout: Layout, subrecords: Int64s) -> tuple[Rows, Int64s]:
    """Subrecords, and how often each occurs."""
    release, rows = layout.release, layout.release.subrecords
    starts = rows.indptr[subrecords]
    lengths = rows.indptr[subrecords + 1] - starts
    found = Rows(release.subrecord_chunk[subrecords], starts, lengths, rows.items)
    return found, release.subrecord_counts[subrecords]


def _shared_chunks(layout: Layout, found: list[Rows]) -> Iterator[tuple[Rows, Int64s, Rows]]:
    """The subrecords of shared chunks, and what originals have there, some chunks at a time."""
    release = layout.release
    rows = Rows.joined(found)
    published = np.flatnonzero(~release.is_simple[release.chunk_node[release.subrecord_chunk]])
    size = len(release.chunk_node) // _PARTS + 1
    part_of, part = release.subrecord_chunk[published] // size, rows.chunks // size
    for number in range(_PARTS):
        some = np.flatnonzero(part == number)
        yield *_published(layout, published[part_of == number]), rows.take(some)
