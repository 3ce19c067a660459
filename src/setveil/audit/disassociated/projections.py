"""Compares what original records project to with the subrecords of chunks; exact, all chunks at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.audit.disassociated.layout import Layout, Numbers

Difference = tuple[tuple[str, ...], int, int]
"""A subrecord, how often it is published in a chunk, and how many originals project to it there."""


@dataclass(frozen=True)
class _Rows:
    """Sets of items, each of one chunk: row i holds `items[starts[i]:starts[i] + lengths[i]]`, ascending."""

    chunks: Numbers
    starts: Numbers
    lengths: Numbers
    items: npt.NDArray[np.integer]


def compare_projections(
    layout: Layout, records: Numbers, chunks: Numbers, items: Numbers, limit: int
) -> list[Difference]:
    """Up to `limit` subrecords that are published more or less often than originals project to them.

    Args:
        layout: The release.
        records: The original record of each occurrence.
        chunks: The chunk that tells of it.
        items: Its item, by the number in the release.
        limit: How many differences to give at most.
    """
    release = layout.release
    published = _Rows(
        release.subrecord_chunk,
        release.subrecords.indptr[:-1],
        release.subrecords.lengths,
        release.subrecords.items,
    )
    projected = _project(records, chunks, items, max(len(release.chunk_node), 1))
    names = _name(published, projected, layout.width)
    split, size = len(published.chunks), int(names.max(initial=-1)) + 1
    here = np.zeros(size, dtype=np.int64)
    np.add.at(here, names[:split], release.subrecord_counts)
    there = np.bincount(names[split:], minlength=size)
    wrong = np.flatnonzero(here != there)[:limit]
    return [
        _difference(layout, published, projected, names, name, (here, there))
        for name in wrong.tolist()
    ]


def _project(records: Numbers, chunks: Numbers, items: Numbers, chunk_count: int) -> _Rows:
    """The occurrences of one record in one chunk as one row."""
    codes = records * chunk_count + chunks
    order = np.lexsort((items, codes))
    codes, items = codes[order], items[order]
    starts = (
        np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
        if len(codes)
        else np.zeros(0, dtype=np.int64)
    )
    return _Rows(codes[starts] % chunk_count, starts, np.diff(np.append(starts, len(codes))), items)


def _name(published: _Rows, projected: _Rows, width: int) -> Numbers:
    """A number for each row, equal exactly for equal sets of one chunk: first the published rows, then the projected.

    Read item by item: two rows are named alike as long as their chunks and their items so far are alike.
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


def _difference(
    layout: Layout,
    published: _Rows,
    projected: _Rows,
    names: Numbers,
    name: int,
    counts: tuple[Numbers, Numbers],
) -> Difference:
    row = int(np.flatnonzero(names == name)[0])
    rows, row = (
        (published, row)
        if row < len(published.chunks)
        else (projected, row - len(published.chunks))
    )
    items = rows.items[rows.starts[row] : rows.starts[row] + rows.lengths[row]].tolist()
    here, there = counts
    return tuple(layout.label(item) for item in items), int(here[name]), int(there[name])
