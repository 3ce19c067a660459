"""Compares the projections of original records with the subrecords of all chunks, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.audit.disassociated.layout import Layout
from setveil.data.arrays import Int64s, changes, sums

Difference = tuple[tuple[str, ...], int, int]
"""A subrecord, how often it is published in a chunk, and how many originals project to it there."""


@dataclass(frozen=True)
class _Rows:
    """Sorted sets of items, each of one chunk: row i is `lengths[i]` items from `starts[i]` on."""

    chunks: Int64s
    starts: Int64s
    lengths: Int64s
    items: npt.NDArray[np.integer]

    def row(self, number: int) -> list[int]:
        start = self.starts[number]
        found: list[int] = self.items[start : start + self.lengths[number]].tolist()
        return found


def compare_projections(
    layout: Layout, records: Int64s, chunks: Int64s, items: Int64s, limit: int
) -> list[Difference]:
    """Up to `limit` subrecords published more or less often than originals project to them.

    Args:
        layout: The release.
        records: The original record of each occurrence.
        chunks: The chunk that has it.
        items: Its item, by the number in the release.
        limit: The most differences.
    """
    release, rows = layout.release, layout.release.subrecords
    published = _Rows(release.subrecord_chunk, rows.indptr[:-1], rows.lengths, rows.items)
    projected = _project(records, chunks, items, max(len(release.chunk_node), 1))
    names = _name(published, projected, layout.width)
    split, size = len(published.chunks), int(names.max(initial=-1)) + 1
    here = sums(names[:split], release.subrecord_counts, size)
    there = np.bincount(names[split:], minlength=size)
    wrong = np.flatnonzero(here != there)[:limit]
    differences = []
    for name in wrong.tolist():
        row = int(np.flatnonzero(names == name)[0])
        shown = published.row(row) if row < split else projected.row(row - split)
        labels = tuple(layout.label(item) for item in shown)
        differences.append((labels, int(here[name]), int(there[name])))
    return differences


def _project(records: Int64s, chunks: Int64s, items: Int64s, chunk_count: int) -> _Rows:
    """The occurrences of one record in one chunk as one row."""
    codes = records * chunk_count + chunks
    order = np.lexsort((items, codes))
    codes, items = codes[order], items[order]
    starts = np.flatnonzero(changes(codes))
    return _Rows(codes[starts] % chunk_count, starts, np.diff(np.append(starts, len(codes))), items)


def _name(published: _Rows, projected: _Rows, width: int) -> Int64s:
    """A number for each row, equal exactly for equal sets of one chunk: published rows come first.

    Read item by item: two rows have the same number while their chunks and items so far are equal.
    """
    items = np.concatenate((published.items, projected.items))
    starts = np.concatenate((published.starts, projected.starts + len(published.items)))
    lengths = np.concatenate((published.lengths, projected.lengths))
    names = np.concatenate((published.chunks, projected.chunks))
    following, at = int(names.max(initial=-1)) + 1, 0
    alive = np.flatnonzero(lengths > 0)
    while len(alive):
        known, found = np.unique(
            names[alive] * width + items[starts[alive] + at], return_inverse=True
        )
        names[alive] = following + found
        following, at = following + len(known), at + 1
        alive = alive[lengths[alive] > at]
    return names
