"""Long tables and baskets as lines of CSV and TSV files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError
from setveil.io.formats.fimi import occurrences, used_labels

_SPECIAL = re.compile('[",;|\t\r\n]|\\A[\\s\ufeff]|\\s\\Z')
_ROWS_AT_ONCE = 1 << 17


def write_csv(data: Transactions, people: Int64s | None = None) -> Iterator[str]:
    """The lines of a long table `record,item`, of bags `record,item,count`; with `people`, the
    number of the person of each record is a column `person`.

    An empty record has one row without an item.
    """
    yield from _long_lines(data, ",", empty_rows=True, people=people)


def write_tsv(data: Transactions, people: Int64s | None = None) -> Iterator[str]:
    """The lines of a long table with tabs."""
    yield from _long_lines(data, "\t", empty_rows=True, people=people)


def write_release_rows(data: Transactions, before: int = 0) -> Iterator[str]:
    """The lines of a release's `data.csv`: as `write_csv`, but an empty record has no rows;
    `before` records have lower numbers."""
    yield from _long_lines(data, ",", empty_rows=False, before=before)


def write_baskets(data: Transactions) -> Iterator[str]:
    """One line per record; an empty record is a pair of quotes."""
    cells = dict(zip(data.vocabulary.labels, csv_cells(data), strict=True))
    for record in occurrences(data):
        yield ",".join(map(cells.__getitem__, record)) or '""'


def csv_cell(label: str) -> str:
    """An item as a CSV cell."""
    return '"' + label.replace('"', '""') + '"' if _SPECIAL.search(label) else label


def csv_cells(data: Transactions) -> list[str]:
    """Each item of the vocabulary as a CSV cell; an empty one cannot be written."""
    if "" in used_labels(data):
        problem = "an empty text as an item cannot be written to a CSV file"
        raise DataError(problem, remedy="choose another format, such as jsonl")
    return [csv_cell(label) for label in data.vocabulary.labels]


class _Layout(NamedTuple):
    """How a long table is written."""

    delimiter: str
    empty_rows: bool
    ends: np.ndarray
    """The delimiter and the cell of each item, and last of a row without one."""
    before: int
    """How many records come before the first."""
    people: Int64s | None = None


def _long_lines(
    data: Transactions,
    delimiter: str,
    *,
    empty_rows: bool,
    before: int = 0,
    people: Int64s | None = None,
) -> Iterator[str]:
    """Blocks of about a hundred thousand lines, each without its last newline."""
    counted = isinstance(data, Bags)
    names = ("record", "item", *["count"] * counted, *["person"] * (people is not None))
    yield delimiter.join(names)
    ends = np.array([delimiter + cell for cell in csv_cells(data)] + [delimiter], dtype=object)
    layout = _Layout(delimiter, empty_rows, ends, before, people)
    step = max(1, int(_ROWS_AT_ONCE / max(1.0, len(data.items) / max(1, len(data)))))
    for start in range(0, len(data), step):
        block = list(_block_rows(data, start, min(start + step, len(data)), layout))
        if block:
            yield "\n".join(block)


def _block_rows(data: Transactions, start: int, stop: int, layout: _Layout) -> Iterator[str]:
    first, last = int(data.indptr[start]), int(data.indptr[stop])
    lengths, items = data.lengths[start:stop], data.items[first:last]
    counts = data.counts[first:last] if isinstance(data, Bags) else None
    if layout.empty_rows and (lengths == 0).any():
        gaps = (data.indptr[start:stop] - first)[lengths == 0]
        items = np.insert(items, gaps, len(layout.ends) - 1)
        counts = None if counts is None else np.insert(counts, gaps, 0)
        lengths = np.maximum(lengths, 1)
    numbers = np.arange(start + 1, stop + 1) + layout.before
    owners = np.repeat(numbers, lengths).tolist()
    rows = map(str.__add__, map(str, owners), layout.ends[items].tolist())
    mark = layout.delimiter
    if counts is not None:
        cells = [f"{mark}{count}" if count else mark for count in counts.tolist()]
        rows = map(str.__add__, rows, cells)
    if layout.people is not None:
        persons = np.repeat(layout.people[start:stop], lengths).tolist()
        rows = map(str.__add__, rows, [f"{mark}{person}" for person in persons])
    return rows
