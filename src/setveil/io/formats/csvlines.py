"""Long tables and baskets as lines of CSV and TSV files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int64s, gathered, offsets
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError
from setveil.io.formats.fimi import occurrences, used_labels
from setveil.threads import on_threads

_SPECIAL = re.compile('[",;|\t\r\n]|\\A[\\s\ufeff]|\\s\\Z')
_ROWS_AT_ONCE = 1 << 17

Column = tuple[list[str], npt.NDArray[np.integer]]
"""Some texts, and for each row the number of one of them."""


def write_csv(data: Transactions, people: Int64s | None = None) -> Iterator[str]:
    """The lines of a long table `record,item`, of bags `record,item,count`; with `people`, the
    number of the person of each record is a column `person`.

    An empty record has one row without an item.
    """
    yield from _long_lines(data, ",", people=people)


def write_tsv(data: Transactions, people: Int64s | None = None) -> Iterator[str]:
    """The lines of a long table with tabs."""
    yield from _long_lines(data, "\t", people=people)


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

    mark: str
    cells: list[str]
    """The delimiter and the cell of each item, and last of a row without one."""
    empty_rows: bool
    before: int
    """How many records come before the first."""
    people: Int64s | None


def _long_lines(
    data: Transactions,
    mark: str,
    *,
    empty_rows: bool = True,
    before: int = 0,
    people: Int64s | None = None,
) -> Iterator[str]:
    """Blocks of about a hundred thousand lines, each without its last newline."""
    names = (
        "record",
        "item",
        *["count"] * isinstance(data, Bags),
        *["person"] * (people is not None),
    )
    yield mark.join(names)
    layout = _Layout(
        mark, [mark + cell for cell in csv_cells(data)] + [mark], empty_rows, before, people
    )
    wanted = np.arange(0, len(data.items) + len(data), _ROWS_AT_ONCE)
    starts = np.searchsorted(data.indptr[:-1] + np.arange(len(data)), wanted)
    cuts = np.unique(np.append(starts, len(data)))
    yield from filter(None, on_threads(partial(_block, data, layout), pairwise(cuts.tolist())))


def _block(data: Transactions, layout: _Layout, place: tuple[int, int]) -> str:
    """The lines of some records, put together from the texts of their numbers and cells."""
    start, stop = place
    inside = slice(*data.indptr[[start, stop]])
    lengths, items, mark = data.lengths[start:stop], data.items[inside], layout.mark
    counts = data.counts[inside] if isinstance(data, Bags) else None
    if layout.empty_rows and (lengths == 0).any():
        gaps = (data.indptr[start:stop] - data.indptr[start])[lengths == 0]
        items = np.insert(items, gaps, len(layout.cells) - 1)
        counts = None if counts is None else np.insert(counts, gaps, 0)
        lengths = np.maximum(lengths, 1)
    owners = np.repeat(np.arange(stop - start), lengths)
    numbers = range(layout.before + start + 1, layout.before + stop + 1)
    columns: list[Column] = [(list(map(str, numbers)), owners), (layout.cells, items)]
    for values in (counts, None if layout.people is None else layout.people[start:stop][owners]):
        if values is not None:
            known, codes = np.unique(values, return_inverse=True)
            is_count = values is counts
            texts = [
                f"{mark}{value}" if value or not is_count else mark for value in known.tolist()
            ]
            columns.append((texts, codes))
    columns[-1] = ([f"{text}\n" for text in columns[-1][0]], columns[-1][1])
    return _put_together(columns)[:-1]


def _put_together(columns: list[Column]) -> str:
    """The texts of all rows, one after the other."""
    texts = [text.encode("utf-8", "surrogatepass") for held, _ in columns for text in held]
    bounds, shifts = offsets(list(map(len, texts))), offsets([len(held) for held, _ in columns])
    numbers = [codes + shift for (_, codes), shift in zip(columns, shifts, strict=False)]
    chosen = np.stack(numbers, axis=1).ravel()
    whole = np.frombuffer(b"".join(texts), dtype=np.uint8)
    text = gathered(whole, bounds[chosen], np.diff(bounds)[chosen])
    return text.tobytes().decode("utf-8", "surrogatepass")
