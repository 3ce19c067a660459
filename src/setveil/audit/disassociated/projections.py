"""Compares the projections of original records with the subrecords of chunks, exactly, block of
clusters by block, on threads.

A block fits into the caches of a processor. That saves most of the time: searching is slow where
each step reads another part of memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.audit.disassociated.layout import Layout
from setveil.data.arrays import (
    Flags,
    Int64s,
    changes,
    find,
    numbered,
    order_of,
    positions,
    ranges,
    sorted_pairs,
    sums,
)
from setveil.data.transactions import Transactions
from setveil.threads import on_threads

_WORD = 63
NONE = np.zeros(0, dtype=np.int64)
_ENTRIES = 1 << 18
"""About how many entries of the original a block has."""
_PARTS = 8
"""Into how many parts shared chunks are divided at least."""
TERM, NOWHERE = -1, -2
"""In place of a chunk: the item is in the term chunk, or its cluster does not show it."""


class Difference(NamedTuple):
    """A subrecord that is published another number of times than originals project to it."""

    length: int
    chunk: int
    items: tuple[int, ...]
    published: int
    projected: int


@dataclass(frozen=True)
class Rows:
    """Sorted sets of items, each of one chunk: row i is `lengths[i]` items from `starts[i]` on."""

    chunks: Int64s
    starts: Int64s
    lengths: Int64s
    items: npt.NDArray[np.integer]

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Several, one after the other; their rows must be one after the other too."""
        lengths = np.concatenate([NONE, *(part.lengths for part in parts)])
        chunks = np.concatenate([NONE, *(part.chunks for part in parts)])
        items = np.concatenate([NONE, *(part.items for part in parts)])
        return cls(chunks, np.cumsum(lengths) - lengths, lengths, items)

    def take(self, numbers: Int64s) -> Rows:
        """Some rows, one after the other."""
        lengths = self.lengths[numbers]
        items = self.items[ranges(self.starts[numbers], lengths)]
        return Rows(self.chunks[numbers], np.cumsum(lengths) - lengths, lengths, items)

    def row(self, number: int) -> tuple[int, ...]:
        start = self.starts[number]
        return tuple(self.items[start : start + self.lengths[number]].tolist())


def project(records: Int64s, chunks: Int64s, items: Int64s) -> Rows:
    """The occurrences of one record in one chunk as one row.

    Args:
        records: The original record of each occurrence.
        chunks: The chunk that has it.
        items: Its item, by the number in the release.
    """
    sizes = (int(each.max(initial=0)).bit_length() for each in (records, chunks, items))
    for_record, for_chunk, for_item = sizes
    if for_record + for_chunk + for_item > _WORD:
        order = np.lexsort((items, chunks, records))
        owners, chunks, items = records[order], chunks[order], items[order]
        starts = np.flatnonzero(changes(owners, chunks))
        of_row = chunks[starts]
    else:
        codes = np.sort((records << for_chunk | chunks) << for_item | items)
        owners, items = codes >> for_item, codes & ((1 << for_item) - 1)
        starts = np.flatnonzero(changes(owners))
        of_row = owners[starts] & ((1 << for_chunk) - 1)
    return Rows(of_row, starts, np.diff(np.append(starts, len(items))), items)


def compare_rows(published: Rows, counts: Int64s, projected: Rows, limit: int) -> list[Difference]:
    """Up to `limit` rows that are published more or less often than projected, shorter ones first.

    Args:
        published: Distinct rows.
        counts: How often each of them is published.
        projected: Rows, each as often as it occurs.
        limit: The most differences.
    """
    names = _name(published, projected)
    split, size = len(published.chunks), int(names.max(initial=-1)) + 1
    here = sums(names[:split], counts, size)
    there = np.bincount(names[split:], minlength=size)
    wrong = np.flatnonzero(here != there)
    if not len(wrong):
        return []
    first = np.empty(size, dtype=np.int64)
    first[names[::-1]] = np.arange(len(names))[::-1]
    differences = []
    for name in wrong[_shortest(published, projected, first[wrong], limit)].tolist():
        row = int(first[name])
        rows, at = (published, row) if row < split else (projected, row - split)
        items, chunk = rows.row(at), int(rows.chunks[at])
        found = int(here[name]), int(there[name])
        differences.append(Difference(len(items), chunk, items, *found))
    return sorted(differences)[:limit]


def _shortest(published: Rows, projected: Rows, rows: Int64s, limit: int) -> Int64s:
    """Which rows are the `limit` shortest of the first chunks, with those that tie."""
    lengths = np.concatenate((published.lengths, projected.lengths))[rows]
    chunks = np.concatenate((published.chunks, projected.chunks))[rows]
    order = np.lexsort((chunks, lengths))
    groups = np.cumsum(changes(lengths[order], chunks[order]))
    shortest: Int64s = order[groups <= groups[min(limit, len(order)) - 1]]
    return shortest


def _name(published: Rows, projected: Rows) -> Int64s:
    """A number for each row, equal exactly for equal sets of one chunk: published rows come first.

    Read some items at a time, as many as fit into a word with the number so far: two rows have the
    same number while their chunks and items so far are equal. Where a row has ended, it has a 0.
    """
    entries = ranges(published.starts, published.lengths)
    items = np.concatenate((published.items[entries].astype(np.int64), projected.items, [-1])) + 1
    lengths = np.concatenate((published.lengths, projected.lengths))
    starts = np.cumsum(lengths) - lengths
    known, names = numbered(np.concatenate((published.chunks, projected.chunks)))
    bits, longest = int(items.max()).bit_length(), int(lengths.max(initial=0))
    alive, at, base = np.flatnonzero(lengths > 0), 0, 0
    while len(alive):
        codes, begins, ends = names[alive] - base, starts[alive], lengths[alive]
        stop = at + max((_WORD - len(known).bit_length()) // bits, 1)
        for place in range(at, min(stop, longest)):
            codes = codes << bits | items[np.where(ends > place, begins + place, -1)]
        base, at = base + len(known), stop
        known, found = numbered(codes)
        names[alive] = base + found
        alive = alive[ends > at]
    return names


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
    """The nodes from `low` to `high`, their originals, and subrecords of their record chunks."""

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
    order = order_of(keys)
    return order, np.append(np.searchsorted(keys, starts, sorter=order), len(keys))


def _compare_block(block: _Block, limit: int) -> tuple[Findings, Rows]:
    """What is wrong, and what the originals of the block have in shared chunks."""
    layout = block.placed.layout
    terms = layout.term_places[block.inside(layout.term_places)]
    places, at, owners = _occurrences(block)
    chunks, is_shared = _locate(block, places, terms)
    if (chunks == NOWHERE).any():
        lost = np.flatnonzero((chunks == NOWHERE)[at])
        return Findings(_first_lost(block, places[at[lost]], owners[lost])), Rows.joined([])
    idle = terms[find(places, terms) < 0][:1].tolist()
    items = places % layout.width
    own = np.flatnonzero(((chunks != TERM) & ~is_shared)[at])
    projected = project(owners[own], chunks[at[own]], items[at[own]])
    differences = compare_rows(*_published(layout, block.subrecords), projected, limit)
    above = np.flatnonzero(is_shared[at])
    findings = Findings(None, idle[0] if idle else None, tuple(differences))
    return findings, project(owners[above], chunks[at[above]], items[at[above]])


def _occurrences(block: _Block) -> tuple[Int64s, Int64s, Int64s]:
    """The places that originals of the block have; of each occurrence its place and its record."""
    placed, width = block.placed, block.placed.layout.width
    starts = placed.original.indptr[block.records]
    lengths = placed.original.indptr[block.records + 1] - starts
    items = placed.numbers[placed.original.items[ranges(starts, lengths)]]
    low = block.low * width
    first = placed.alignment[block.records] * width - low
    owners = np.repeat(np.arange(len(first)), lengths)
    found, owners = sorted_pairs(np.repeat(first, lengths) + items, owners)
    new = changes(found)
    return found[new] + low, np.cumsum(new) - 1, owners


def _first_lost(block: _Block, places: Int64s, owners: Int64s) -> tuple[int, int, int]:
    """Of occurrences that no chunk shows, the first one: its record, its node and its item."""
    placed, record = block.placed, int(block.records[owners].min())
    lost = set((places[block.records[owners] == record] % placed.layout.width).tolist())
    items = placed.numbers[placed.original.items[placed.original.entries(record)]].tolist()
    return record, int(placed.alignment[record]), next(item for item in items if item in lost)


def _locate(block: _Block, places: Int64s, terms: Int64s) -> tuple[Int64s, Flags]:
    """For each place the lowest chunk with its item, and whether a cluster above shares it."""
    layout = block.placed.layout
    known = block.inside(layout.chunk_places[0])
    chunks = np.full(len(places), NOWHERE)
    # There are fewer places in the release than in the originals, so these are searched for.
    for places_of, values in (
        (terms, np.full(len(terms), TERM)),
        (layout.chunk_places[0][known], layout.chunk_places[1][known]),
    ):
        at = find(places, places_of)
        chunks[at[at >= 0]] = values[at >= 0]
    missing = np.flatnonzero(chunks == NOWHERE)
    above = layout.shared.lowest_above(*np.divmod(places[missing], layout.width))
    missing, above = missing[above >= 0], above[above >= 0]
    chunks[missing] = layout.shared.chunks[above]
    is_shared = np.zeros(len(places), dtype=bool)
    is_shared[missing] = True
    return chunks, is_shared


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
    parts = max(_PARTS, len(rows.items) // _ENTRIES)
    starts = np.linspace(0, len(release.chunk_node), parts, endpoint=False, dtype=np.int64)
    here, own = _sorted(release.subrecord_chunk[published], starts)
    there, bounds = _sorted(rows.chunks, starts)
    for at in range(len(starts)):
        some = rows.take(there[bounds[at] : bounds[at + 1]])
        yield *_published(layout, published[here[own[at] : own[at + 1]]]), some
