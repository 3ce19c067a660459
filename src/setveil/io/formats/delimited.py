"""CSV and TSV: long tables with a header, and baskets (one record per line) without one."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import NamedTuple

import numpy as np

from setveil.data.tables.columns import find_columns, looks_long
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, FileFormatError
from setveil.io.formats.fimi import occurrences, used_labels
from setveil.io.formats.guess import LIKELY, NO, POSSIBLE, Sample
from setveil.io.formats.longform import read_columns
from setveil.io.formats.reading import Reading, RecordBuilder
from setveil.io.source.database import csv_table, not_utf8
from setveil.io.source.source import Source

_DELIMITERS = ",;|\t"
_OPENED = re.compile(r'"(?:[^"]|"")*"?')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_LINE_END = re.compile(rb"\r\n|\r|\n")
_SPECIAL = re.compile('[",;|\t\r\n]|\\A[\\s\ufeff]|\\s\\Z')
_ROWS_AT_ONCE = 1 << 17
_MOST_COLUMNS = 10_000
_CUT_OFF = 1 << 15
"""A sample of this length may end within a line."""


def recognize_csv(sample: Sample) -> int:
    """Likely if the first line is the header of a long table, or the options name its columns."""
    if not sample.text.strip() and sample.named in ("csv", "tsv"):
        return POSSIBLE
    return LIKELY if _long_delimiter(sample) not in (None, "\t") else NO


def recognize_tsv(sample: Sample) -> int:
    """As `recognize_csv`, with tabs between the columns."""
    return LIKELY if _long_delimiter(sample) == "\t" else NO


def recognize_baskets(sample: Sample) -> int:
    """Possible if lines differ in their number of cells, or a table file has one cell per line."""
    if not sample.text.strip():
        return NO
    lines = _QUOTED.sub("x", sample.text).rstrip("\n").split("\n")
    lines = lines[:-1] if len(lines) > 1 and len(sample.text) >= _CUT_OFF else lines
    widths = {line.count(guess_delimiter(sample.text)) + 1 for line in lines if line}
    return POSSIBLE if len(widths) > 1 or (widths == {1} and sample.named is not None) else NO


def read_csv(source: Source, reading: Reading) -> Transactions:
    """Read a long table with commas (or semicolons, bars or tabs) between its columns."""
    return _read_long(source, reading, _DELIMITERS)


def read_tsv(source: Source, reading: Reading) -> Transactions:
    """Read a long table with tabs between its columns."""
    return _read_long(source, reading, "\t")


def read_baskets(source: Source, reading: Reading) -> Transactions:
    """Read one record per line, its items as CSV cells.

    Empty cells are not items, and empty lines at the end are not records.
    """
    records, blank = RecordBuilder(), 0
    tabs = source.suffix in (".tsv", ".tab")
    delimiter = "\t" if tabs else guess_delimiter(source.head_text)
    with source.stream() as stream:
        for row in csv_rows(_decoded(stream, source.name), source.name, delimiter):
            if not row:
                blank += 1
                continue
            records.add_empty(blank)
            records.add(filter(None, row) if "" in row else row)
            blank = 0
    return records.finish(bags=bool(reading.bags))


def write_csv(data: Transactions) -> Iterator[str]:
    """The lines of a long table `record,item`, of bags `record,item,count`.

    An empty record has one row without an item.
    """
    yield from _long_lines(data, ",", empty_rows=True)


def write_tsv(data: Transactions) -> Iterator[str]:
    """The lines of a long table with tabs."""
    yield from _long_lines(data, "\t", empty_rows=True)


def write_release_rows(data: Transactions) -> Iterator[str]:
    """The lines of a release's `data.csv`: as `write_csv`, but an empty record has no rows."""
    yield from _long_lines(data, ",", empty_rows=False)


def write_baskets(data: Transactions) -> Iterator[str]:
    """One line per record; an empty record is a pair of quotes."""
    cells = dict(zip(data.vocabulary.labels, _cells(data), strict=True))
    for record in occurrences(data):
        yield ",".join(map(cells.__getitem__, record)) or '""'


def csv_cell(label: str) -> str:
    """An item as a CSV cell."""
    return '"' + label.replace('"', '""') + '"' if _SPECIAL.search(label) else label


def guess_delimiter(text: str, candidates: str = _DELIMITERS) -> str:
    """The candidate that occurs most often outside quotes; the first if none does."""
    bare = _OPENED.sub("", text)
    return max(candidates, key=lambda mark: (bare.count(mark), -candidates.index(mark)))


def header(source: Source, head: str, delimiter: str, most: int = _MOST_COLUMNS) -> list[str]:
    """The names of the columns: the cells of the first line of `head`.

    Raises:
        FileFormatError: if its quotes are wrong: one that is never closed would hide all rows.
    """
    rows = csv.reader(StringIO(head, newline=""), delimiter=delimiter, strict=True)
    try:
        names = [cell.strip() for cell in next(rows, [])]
    except csv.Error:
        names = ["\n"]
    if any("\n" in name for name in names):
        problem = "a quote in the first line is not closed, or in the wrong place"
        raise source.fault(problem, remedy="each column name is in a pair of quotes or has none")
    if len(names) > most:
        raise source.fault(f"the first line has {len(names):,} columns: {most:,} are allowed")
    return names


def csv_rows(lines: Iterable[str], name: str, delimiter: str = ",") -> Iterator[list[str]]:
    """The cells of each row of the file `name`.

    Raises:
        FileFormatError: if a line is not CSV or not UTF-8.
    """
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        yield from rows
    except UnicodeDecodeError:
        raise not_utf8(name) from None
    except csv.Error as error:
        problem = f"this line is not CSV ({error})"
        raise FileFormatError(name, problem, line=rows.line_num) from None


def _long_delimiter(sample: Sample) -> str | None:
    """What separates the columns of a long table; None if the file does not look like one."""
    delimiter = guess_delimiter(sample.text.split("\n", 1)[0])
    first = next(csv.reader(StringIO(sample.text, newline=""), delimiter=delimiter), [])
    is_long = sample.reading.names_columns or looks_long([cell.strip() for cell in first])
    return delimiter if is_long else None


def _read_long(source: Source, reading: Reading, delimiters: str) -> Transactions:
    text = source.head_text
    head = text.lstrip("\n")
    _refuse_mixed_ends(source)
    delimiter = guess_delimiter(head.split("\n", 1)[0], delimiters)
    names = header(source, head, delimiter)
    if not any(names):
        raise source.fault("the file is empty: its first line must name the columns")
    columns = find_columns(names, reading, source.fault)
    chosen = {"record": columns.record, "item": columns.item, "count": columns.count}
    selected = ", ".join(f"c{names.index(name)} AS {role}" for role, name in chosen.items() if name)
    packed = source.compression == "zstd"
    table = csv_table(
        source.path if packed else source.plain(),
        [f"c{number}" for number in range(len(names))],
        delimiter=delimiter,
        compression="zstd" if packed else "none",
        more=f", skip={len(text) - len(head)}",
    )
    return read_columns(source, f"SELECT {selected} FROM {table}", reading, columns, names)


def _refuse_mixed_ends(source: Source) -> None:
    """Refuse blank lines before the header that end otherwise than it: DuckDB would skip all."""
    first = source.head.lstrip(b"\r\n")
    blank = source.head[: len(source.head) - len(first)]
    ends = set(_LINE_END.findall(blank)) | set(_LINE_END.findall(first)[:1])
    if blank and len(ends) > 1:
        problem = "the file mixes Windows and Unix line ends"
        raise source.fault(problem, remedy="correct it and try again")


def _decoded(lines: Iterable[bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            raise not_utf8(name, number) from None


class _Layout(NamedTuple):
    """How a long table is written."""

    delimiter: str
    empty_rows: bool
    ends: np.ndarray
    """The delimiter and the cell of each item, and last of a row without one."""


def _long_lines(data: Transactions, delimiter: str, *, empty_rows: bool) -> Iterator[str]:
    """Blocks of about a hundred thousand lines, each without its last newline."""
    counted = isinstance(data, Bags)
    yield delimiter.join(("record", "item", "count") if counted else ("record", "item"))
    ends = np.array([delimiter + cell for cell in _cells(data)] + [delimiter], dtype=object)
    layout = _Layout(delimiter, empty_rows, ends)
    step = max(1, int(_ROWS_AT_ONCE / max(1.0, len(data.items) / max(1, len(data)))))
    for start in range(0, len(data), step):
        block = list(_block_rows(data, start, min(start + step, len(data)), layout))
        if block:
            yield "\n".join(block)


def _cells(data: Transactions) -> list[str]:
    """Each item of the vocabulary as a CSV cell."""
    if "" in used_labels(data):
        problem = "an empty text as an item cannot be written to a CSV file"
        raise DataError(problem, remedy="choose another format, such as jsonl")
    return [csv_cell(label) for label in data.vocabulary.labels]


def _block_rows(data: Transactions, start: int, stop: int, layout: _Layout) -> Iterator[str]:
    first, last = int(data.indptr[start]), int(data.indptr[stop])
    lengths, items = data.lengths[start:stop], data.items[first:last]
    counts = data.counts[first:last] if isinstance(data, Bags) else None
    if layout.empty_rows and (lengths == 0).any():
        gaps = (data.indptr[start:stop] - first)[lengths == 0]
        items = np.insert(items, gaps, len(layout.ends) - 1)
        counts = None if counts is None else np.insert(counts, gaps, 0)
        lengths = np.maximum(lengths, 1)
    owners = np.repeat(np.arange(start + 1, stop + 1), lengths).tolist()
    rows = map(str.__add__, map(str, owners), layout.ends[items].tolist())
    if counts is None:
        return rows
    mark = layout.delimiter
    return map(
        str.__add__, rows, [f"{mark}{count}" if count else mark for count in counts.tolist()]
    )
