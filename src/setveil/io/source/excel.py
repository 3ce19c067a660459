"""A sheet of an Excel file as CSV, row by row, so that a large one does not fill the memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, time
from errno import EINVAL
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any

from setveil.data.tables.headers import find_header
from setveil.disk.limits import too_large
from setveil.errors import MissingExtraError, Note, SetveilError, brief, brief_list
from setveil.io.source.source import Source

_MOST_ROWS = 1 << 20
"""A sheet has no more; a damaged one may say so, and would have that many empty ones."""
_LOOK = 200
"""So many rows show how wide a sheet is, and whether it looks like a table."""


def sheet_as_csv(source: Source, sheet: str | int | None = None) -> tuple[Source, list[str]]:
    """A sheet as a CSV file, the first if none is named; and a note if there are others.

    Raises:
        FileFormatError: if there is no such sheet, the file is damaged, or the first sheet does not
            look like a table and others do.
        MissingExtraError: if openpyxl is not installed.
    """
    target = source.work / "sheet"
    with (
        damaged(source, "the spreadsheet is damaged", remedy="save it again"),
        source.path.open("rb") as stream,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # about styles
        book = _library().load_workbook(stream, read_only=True, data_only=True)
        names = list(map(str, book.sheetnames))
        chosen = _chosen(source, names, sheet)
        tables = _tables(book, names) if sheet is None and len(names) > 1 else []
        _write(book[names[chosen]], target, source)
        book.close()
    if tables and names[chosen] not in tables:
        problem = f"the first sheet, {brief(names[chosen])}, does not look like a table"
        raise source.fault(
            f"{problem}, but {brief_list(tables)} {'does' if len(tables) == 1 else 'do'}",
            remedy="choose with {sheet}",
        )
    notes: list[str] = []
    if sheet is None and len(names) > 1:
        note = (
            f"The sheet {brief(names[chosen])} was read, the first of {len(names)}; {{sheet}} names"
        )
        others = [name for name in tables if name != names[chosen]]
        more = f" These look like tables too: {brief_list(others)}." if others else ""
        notes.append(Note(f"{note} another.{more}"))
    return replace(source, path=target, suffix=".csv", is_sheet=True), notes


def sheets_of(source: Source) -> tuple[str, ...]:
    """The names of the sheets."""
    with (
        damaged(source, "the spreadsheet is damaged", remedy="save it again"),
        source.path.open("rb") as stream,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # about styles
        book = _library().load_workbook(stream, read_only=True)
        return tuple(map(str, book.sheetnames))


def _tables(book: Any, names: list[str]) -> list[str]:
    """The sheets that look like tables: a row in each names the columns."""
    return [
        name for name in names if find_header(list(islice(_rows(book[name]), _LOOK))) is not None
    ]


@contextmanager
def damaged(source: Source, problem: str, *, remedy: str) -> Iterator[None]:
    """Say that a file is damaged, whatever a library stumbles over: zip, bzip2, lzma, XML and
    spreadsheets have no error in common."""
    try:
        yield
    except (SetveilError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):  # a place outside it
            raise
        raise source.fault(problem, remedy=remedy) from None


def _library() -> Any:
    try:
        return import_module("openpyxl")
    except ImportError:
        raise MissingExtraError("openpyxl", "a spreadsheet", extra="excel") from None


def _chosen(source: Source, names: list[str], sheet: str | int | None) -> int:
    """The place of a sheet: by its name, or if none has that name by its number from 1."""
    if sheet is None or str(sheet) in names:
        return 0 if sheet is None else names.index(str(sheet))
    number = int(sheet) if str(sheet).isdecimal() else 0
    if not 1 <= number <= len(names):
        raise source.fault(f"there is no sheet {brief(sheet)}: the sheets are {brief_list(names)}")
    return number - 1


def _write(sheet: Any, target: Path, source: Source) -> None:
    """Each row as a line, an empty one as a blank line, so that rows keep their numbers."""
    size = 0
    with target.open("w", encoding="utf-8", newline="") as lines:
        for cells in _rows(sheet):
            size += lines.write(",".join(map(_quoted, cells)) + "\n")
            if size > source.most:
                raise too_large(source.name, source.most)


def _rows(sheet: Any) -> Iterator[list[str]]:
    """The rows up to the last that is not empty, all as wide as the widest of the first ones."""
    if not hasattr(sheet, "iter_rows"):  # a sheet that is a chart
        return
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()  # what a file says about its size may be wrong
    rows = _trimmed(sheet.iter_rows(values_only=True))
    first = list(islice(rows, _LOOK))
    width = max(map(len, first), default=0)
    for cells in chain(first, rows):
        yield [*cells, *[""] * (width - len(cells))] if cells else []


def _trimmed(rows: Iterable[Sequence[object]]) -> Iterator[list[str]]:
    """Each row up to its last cell that is not empty; empty rows at the end are left out."""
    empty = 0
    for number, row in enumerate(rows):
        if number >= _MOST_ROWS:
            raise ValueError("a row has a number that no row can have")
        cells = [_text(cell) for cell in row] if row else []
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            empty += 1
            continue
        yield from ([] for _ in range(empty))
        empty = 0
        yield cells


def _text(cell: object) -> str:
    """A cell as Excel shows it, more or less: 3 rather than 3.0."""
    match cell:
        case None:
            return ""
        case bool():
            return str(cell).lower()
        case float() if cell.is_integer():
            return str(int(cell))
        case datetime() if cell.time() == time():
            return str(cell.date())
    return str(cell)


def _quoted(cell: str) -> str:
    """A cell in quotes, so that only commas can be the delimiter."""
    return '"' + cell.replace('"', '""') + '"' if cell else ""
