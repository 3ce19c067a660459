"""Compares the projections of original records with the subrecords of chunks, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int64s, changes, numbered, ranges, sums

_WORD = 63
NONE = np.zeros(0, dtype=np.int64)


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
    """Which of some rows are the shortest ones, of the first chunks: `limit` of them, and those of
    the last one's chunk that are as long."""
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
