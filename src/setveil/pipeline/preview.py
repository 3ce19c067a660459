"""Preview: the first rows of a file as they are, its columns, and the format it seems to have."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

from setveil.data.tables.columns import distinct_names
from setveil.data.tables.headers import CsvRows, guess_delimiter
from setveil.data.tables.headers import sample_rows as sample_cells
from setveil.errors import FileFormatError, ParameterError, SetveilError
from setveil.io.files import reading_of
from setveil.io.formats.arff import read_head
from setveil.io.formats.guess import below_titles, checked_text, format_of
from setveil.io.formats.parquet import START
from setveil.io.querylog.logcolumns import looks_like_log, names_columns
from setveil.io.querylog.tables import log_delimiter, sample_rows
from setveil.io.source.database import NotUtf8Error, database, quoted, translated
from setveil.io.source.encoding import check_encoding, decoded, decoded_anyhow
from setveil.io.source.packed import sheet_names, unpacked
from setveil.io.source.source import Source, open_source

ROWS = 8
_LINES = 200  # of which the log is recognized
_TABLES = ("csv", "tsv")
_LONGEST = 120  # characters of a cell


@dataclass(frozen=True, kw_only=True)
class PreviewJob:
    """Which file to look at."""

    data: Path | str
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Options of `setveil.read`."""


@dataclass(frozen=True, kw_only=True)
class Preview:
    """How a file begins. Private: it shows rows of the original."""

    format: str = ""
    """Empty if it is not obvious."""
    columns: tuple[str, ...] = ()
    """The names of the columns, if the file is a table with a header."""
    rows: tuple[tuple[str, ...], ...] = ()
    """The cells of the first rows, without the header; long cells are cut."""
    is_log: bool = False
    """Whether it is beyond doubt a query log."""
    doubt: SetveilError | None = None
    """Why the format is not obvious."""
    top: tuple[tuple[str, ...], ...] = ()
    """The first rows of a table as they are, titles among them."""
    sheets: tuple[str, ...] = ()
    """The sheets of a spreadsheet."""

    def to_dict(self) -> dict[str, object]:
        """The preview as one JSON object."""
        return {
            "format": self.format or None,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "is_log": self.is_log,
            "top": [list(row) for row in self.top],
            "sheets": list(self.sheets),
        }


def run(job: PreviewJob) -> Preview:
    """Look at the beginning of a file; the rest is not read.

    Raises:
        FileFormatError: if the file cannot be read at all.
    """
    with open_source(job.data, header=job.reading.get("header")) as opened:
        sheets = sheet_names(opened)
        try:
            source, _ = unpacked(opened, job.reading.get("sheet"), job.reading.get("format"))
        except FileFormatError as error:
            if not sheets:
                raise
            return Preview(doubt=error, sheets=sheets)
        if source.head.startswith(START):
            return _of_parquet(source)
        found = _of_text(_as_utf8(source, job.reading.get("encoding")), job.reading)
        return replace(found, sheets=sheets)


def _as_utf8(source: Source, encoding: str | None) -> Source:
    check_encoding(encoding)
    plain, _ = decoded(source, encoding)
    try:
        checked_text(plain)
    except NotUtf8Error as error:
        plain, _ = decoded_anyhow(source, error, encoding)
    return plain


def _of_text(source: Source, reading: Mapping[str, Any]) -> Preview:
    doubt: SetveilError | None = None
    top = _cut(sample_cells(source.head_text, guess_delimiter(source.head_text)))
    format = str(reading.get("format") or "")
    try:
        source, format = format_of(source, reading_of(reading), format or None)
    except (FileFormatError, ParameterError) as error:
        doubt = error
        with suppress(SetveilError):  # which row names the columns may be known all the same
            source = below_titles(source, reading.get("header"))
    lines = [line for line in source.head_text.split("\n") if line.strip()][:_LINES]
    is_log = bool(lines) and looks_like_log(sample_rows(lines, log_delimiter(lines)))
    if b"\0" in source.head:
        raise doubt or source.fault("this is a binary file")
    found = Preview(format=format, is_log=is_log, doubt=doubt)
    if format == "arff":
        return replace(found, **_relation(source))
    if format == "jsonl":
        return replace(found, **_objects(lines))
    if format == "fimi":
        return replace(found, rows=_cut([line.split() for line in lines[:ROWS]]))
    found = replace(found, top=() if format == "baskets" else top)
    return replace(found, **_cells(source, format, is_log, reading.get("header")))


def _cells(source: Source, format: str, is_log: bool, header: object) -> dict[str, Any]:
    """The cells of a table or of baskets; what has no format yet is shown as a table."""
    text = source.head_text.lstrip("\n")
    mark = "\t" if format == "tsv" else guess_delimiter(text.split("\n", 1)[0])
    if is_log:
        mark = log_delimiter(text.split("\n")[:_LINES])
    rows = []
    try:
        for row in CsvRows(StringIO(text, newline=""), mark):
            rows += [row] if row else []
            if len(rows) > ROWS:
                break
    except csv.Error:
        rows = [line.split(mark) for line in text.split("\n")[: ROWS + 1]]
    is_named = names_columns(rows[0]) if is_log and rows else format in _TABLES or not format
    has_names = rows and is_named and header is not False
    columns = distinct_names([cell.strip() for cell in rows[0]]) if has_names else []
    return {"columns": tuple(columns), "rows": _cut(rows[bool(columns) :])}


def _relation(source: Source) -> dict[str, Any]:
    relation = read_head(source)
    rows = [
        [row.values.get(at, each.default) for at, each in enumerate(relation.attributes)]
        for row in islice(relation.rows(), ROWS)
    ]
    return {"columns": tuple(relation.names), "rows": _cut(rows)}


def _objects(lines: list[str]) -> dict[str, Any]:
    found = []
    for line in lines[:ROWS]:
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    if not found or not all(isinstance(each, dict) for each in found):
        return {"rows": _cut([[line] for line in lines[:ROWS]])}
    columns = tuple(dict.fromkeys(name for each in found for name in each))
    rows = [[_shown(each.get(name, "")) for name in columns] for each in found]
    return {"columns": columns, "rows": _cut(rows)}


def _of_parquet(source: Source) -> Preview:
    table = f"read_parquet({quoted(source.plain())})"
    with database(source.work, small=source.is_small) as connection, translated(source.name):
        found = connection.execute(f"SELECT * FROM {table} LIMIT {ROWS}")
        columns = tuple(column[0] for column in found.description or ())
        rows = [[_shown(cell) for cell in row] for row in found.fetchall()]
    return Preview(format="parquet", columns=columns, rows=_cut(rows))


def _shown(cell: object) -> str:
    if isinstance(cell, list | tuple):
        return ", ".join(map(str, cell))
    return "" if cell is None else str(cell)


def _cut(rows: Any) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(cell if len(cell) <= _LONGEST else f"{cell[: _LONGEST - 1]}…" for cell in row)
        for row in list(rows)[:ROWS]
    )
