"""CSV and TSV: long tables with a header, and basket lines without one."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from io import StringIO

import numpy as np

from setveil.data.tables.columns import find_columns
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, FileFormatError
from setveil.io.formats.fimi import occurrences, used_labels
from setveil.io.formats.longform import read_columns
from setveil.io.formats.reading import Reading, Rows
from setveil.io.source.database import not_utf8, quoted
from setveil.io.source.source import Source

DELIMITERS = {"csv": ",;|\t", "tsv": "\t"}
_QUOTED = re.compile(r'"(?:[^"]|"")*"?')
_SPECIAL = re.compile('[",;|\t\r\n]|\\A[\\s\ufeff]|\\s\\Z')
_ROWS_AT_ONCE = 1 << 17


def read_csv(source: Source, reading: Reading) -> Transactions:
    """Read a long table with commas (or semicolons, bars or tabs) between its columns."""
    return _read_long(source, reading, "csv")


def read_tsv(source: Source, reading: Reading) -> Transactions:
    """Read a long table with tabs between its columns."""
    return _read_long(source, reading, "tsv")


def _read_long(source: Source, reading: Reading, format: str) -> Transactions:
    text = header_text(source)
    head = text.lstrip("\n")
    delimiter = guess_delimiter(head.split("\n", 1)[0], DELIMITERS[format])
    names = header(head, delimiter)
    if not any(names):
        raise source.fault("the file is empty: its first line must name the columns")
    columns = find_columns(names, reading, source.fault)
    chosen = {"record": columns.record, "item": columns.item} | (
        {"count": columns.count} if columns.count else {}
    )
    select = "SELECT " + ", ".join(
        f"c{names.index(name)} AS {role}" for role, name in chosen.items()
    )
    packed = source.compression == "zstd"
    types = ", ".join(f"c{number}: 'VARCHAR'" for number in range(len(names)))
    options = f"columns={{{types}}}, header=true, auto_detect=false, skip={len(text) - len(head)}, delim={quoted(delimiter)}"
    options += f", quote='\"', escape='\"', compression='{'zstd' if packed else 'none'}'"
    table = f"read_csv({quoted(source.path if packed else source.plain())}, {options})"
    return read_columns(source, f"{select} FROM {table}", reading, columns, names)


def header_text(source: Source) -> str:
    """The beginning of the file as text with newlines; a character cut off at its end does not matter."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(source.head)
    except UnicodeDecodeError as error:
        raise not_utf8(source.name, source.head.count(b"\n", 0, error.start) + 1) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def header(head: str, delimiter: str) -> list[str]:
    """The cells of the first line."""
    rows = csv.reader(StringIO(head, newline=""), delimiter=delimiter)
    return [cell.strip() for cell in next(rows, [])]


def guess_delimiter(text: str, candidates: str) -> str:
    """The candidate that stands most often outside quotes; the first one when none does."""
    bare = _QUOTED.sub("", text)
    return max(candidates, key=lambda mark: (bare.count(mark), -candidates.index(mark)))


def read_baskets(source: Source, reading: Reading) -> Transactions:
    """Read one record per line, as cells with CSV quoting; empty cells are no items, empty lines at the end no records."""
    rows, blank = Rows(), 0
    delimiter = (
        "\t" if source.suffix in (".tsv", ".tab") else guess_delimiter(header_text(source), ",;|\t")
    )
    with source.stream() as stream:
        cells = csv.reader(_decoded(stream, source), delimiter=delimiter, strict=True)
        try:
            for row in cells:
                if not row:
                    blank += 1
                    continue
                rows.add_empty(blank)
                rows.add(filter(None, row) if "" in row else row)
                blank = 0
        except csv.Error as error:
            raise FileFormatError(
                source.name, f"this is no CSV line ({error})", line=cells.line_num
            ) from None
    return rows.finish(bags=bool(reading.bags))


def _decoded(lines: Iterator[bytes] | object, source: Source) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):  # type: ignore[arg-type, var-annotated]
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            raise not_utf8(source.name, number) from None


def write_csv(data: Transactions) -> Iterator[str]:
    """The lines of a long table `record,item` (of bags `record,item,count`); an empty record has one row without an item."""
    yield from _long_lines(data, ",", empty_rows=True)


def write_tsv(data: Transactions) -> Iterator[str]:
    """The lines of a long table with tabs."""
    yield from _long_lines(data, "\t", empty_rows=True)


def write_release_rows(data: Transactions) -> Iterator[str]:
    """The lines of a release's `data.csv`: as `write_csv`, but a number without rows is an empty record."""
    yield from _long_lines(data, ",", empty_rows=False)


def write_baskets(data: Transactions) -> Iterator[str]:
    """One line per record; an empty record is a pair of quotes."""
    labels = dict(zip(data.vocabulary.labels, cells(data), strict=True))
    for record in occurrences(data):
        yield ",".join(map(labels.__getitem__, record)) or '""'


def cells(data: Transactions) -> list[str]:
    """Each item of the vocabulary as a CSV cell."""
    if "" in used_labels(data):
        raise DataError(
            "an item that is the empty text cannot be written to a CSV file: choose another format, such as jsonl"
        )
    return [
        '"' + label.replace('"', '""') + '"' if _SPECIAL.search(label) else label
        for label in data.vocabulary.labels
    ]


def _long_lines(data: Transactions, delimiter: str, *, empty_rows: bool) -> Iterator[str]:
    """Blocks of lines without the last newline; rows are put together by the hundred thousand."""
    counted = isinstance(data, Bags)
    yield delimiter.join(("record", "item", "count") if counted else ("record", "item"))
    ends = np.array([delimiter + cell for cell in cells(data)] + [delimiter], dtype=object)
    step = max(1, int(_ROWS_AT_ONCE / max(1.0, len(data.items) / max(1, len(data)))))
    for start in range(0, len(data), step):
        block = list(
            _block_rows(data, start, min(start + step, len(data)), ends, delimiter, empty_rows)
        )
        if block:
            yield "\n".join(block)


def _block_rows(
    data: Transactions, start: int, stop: int, ends: np.ndarray, delimiter: str, empty_rows: bool
) -> Iterator[str]:
    first, last = int(data.indptr[start]), int(data.indptr[stop])
    lengths = data.lengths[start:stop]
    items = data.items[first:last]
    counts = data.counts[first:last] if isinstance(data, Bags) else None
    if empty_rows and (lengths == 0).any():
        gaps = (data.indptr[start:stop] - first)[lengths == 0]
        items = np.insert(items, gaps, len(ends) - 1)
        counts = None if counts is None else np.insert(counts, gaps, 0)
        lengths = np.maximum(lengths, 1)
    owners = np.repeat(np.arange(start + 1, stop + 1), lengths).tolist()
    rows = map(str.__add__, map(str, owners), ends[items].tolist())
    if counts is None:
        return rows
    return map(
        str.__add__,
        rows,
        [f"{delimiter}{count}" if count else delimiter for count in counts.tolist()],
    )
