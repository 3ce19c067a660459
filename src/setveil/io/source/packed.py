"""Zip files with one member and spreadsheets as plain files, and files that are no data.

A sheet becomes CSV row by row, so that a large one does not fill the memory."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, time
from errno import EINVAL
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any

from setveil.data.tables.headers import find_header
from setveil.disk.limits import copy_within, read_blocks, too_large
from setveil.disk.texts import foreign_kind, foreign_text, foreign_zip
from setveil.errors import MissingExtraError, Note, ParameterError, SetveilError, brief, brief_list
from setveil.io.source.source import PACKED, Source
from setveil.words import plural

_ZIP = re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)")
_PARQUET = b"PAR1\x15"
_SHEETS = (".xlsx", ".xlsm")
_ONE_JSON = re.compile(rb"\s*\[\s*?(?:[\[{]|\n)|\s*\{\s*?\n")
"""How a list of records begins, or an object over several lines; no JSON lines begin like that."""


def unpacked(
    source: Source, sheet: str | int | None = None, format: str | None = None
) -> tuple[Source, list[str]]:
    """The source, unpacked if it is a zip file and as CSV if it is a spreadsheet, with notes.

    A text that looks like one JSON value or like YAML is fine if the user says that it has another
    format.

    Raises:
        FileFormatError: if it is damaged, too large, surely no data, or not what its name says.
    """
    if source.compression is None and _ZIP.match(source.head):
        members = _members(source)
        if "xl/workbook.xml" in members:
            return sheet_as_csv(source, sheet)
        source = _unzipped(source, members)
    _refuse_foreign(source)
    if format in (None, "jsonl") and _ONE_JSON.match(source.head):
        remedy = "write one record per line, for example with jq -c '.[]'"
        raise source.fault("this is one JSON value, not JSON lines", remedy=remedy)
    kind = foreign_text(source.head, source.suffix) if format is None else None
    if kind is not None:
        remedy = f"{kind.remedy}; or say what it is with {{input_format}}"
        raise source.fault(f"this seems to be {kind.name}, not a data file", remedy=remedy)
    if sheet is not None:
        raise ParameterError("sheet", sheet, "only a spreadsheet (.xlsx) has sheets")
    return source, []


def sheet_names(source: Source) -> tuple[str, ...]:
    """The sheets of a spreadsheet; none if the file is none, or cannot be read."""
    with suppress(SetveilError):
        if _ZIP.match(source.head) and "xl/workbook.xml" in _members(source):
            return sheets_of(source)
    return ()


def _members(source: Source) -> list[str]:
    """The files in a zip file; none unpacks to more bytes than the zip file says."""
    is_sheet = source.suffix in _SHEETS
    problem = "the spreadsheet is damaged" if is_sheet else "the zip file is damaged"
    with (
        damaged(source, problem, remedy="save it again" if is_sheet else "get it again"),
        zipfile.ZipFile(source.path) as packed,
    ):
        found = packed.infolist()
        if sum(member.file_size for member in found) > source.most:
            raise too_large(source.name, source.most)
        return [member.filename for member in found if not member.is_dir()]


def _unzipped(source: Source, members: list[str]) -> Source:
    kind = foreign_zip(members)
    if kind is not None:
        raise source.fault(f"this is {kind.name}, not a data file", remedy=kind.remedy)
    if source.suffix in _SHEETS:
        raise source.fault("the spreadsheet is damaged", remedy="save it again")
    if len(members) != 1:
        problem = f"the zip file has {plural(len(members), 'file')}, not one"
        raise source.fault(problem, remedy="unpack it and name the file")
    target, problem = source.work / "unzipped", "the zip file is damaged, or is encrypted"
    with (
        damaged(source, problem, remedy="unpack it yourself"),
        zipfile.ZipFile(source.path) as packed,
        packed.open(members[0]) as stream,
        target.open("wb") as plain,
    ):
        copy_within(source.most, read_blocks(stream), plain, source.name)
    ends = [end.lower() for end in Path(members[0]).suffixes if end.lower() not in PACKED]
    return replace(source, path=target, suffix=ends[-1] if ends else "")


def _refuse_foreign(source: Source) -> None:
    """Refuse a file that begins like something else than data, or unlike its name."""
    kind = foreign_kind(source.head)
    if kind is not None and not source.head.startswith(_PARQUET):
        raise source.fault(f"this is {kind.name}, not a data file", remedy=kind.remedy)
    if source.suffix in (".zip", *_SHEETS):
        raise source.fault(f"the name ends in {source.suffix}, but this is no such file")


_MOST_ROWS = 1 << 20
"""A sheet has no more; a damaged one may say so, and would have that many empty ones."""
_LOOK = 200
"""So many rows show how wide a sheet is, and whether it looks like a table."""


def sheet_as_csv(source: Source, sheet: str | int | None = None) -> tuple[Source, list[str]]:
    """A sheet as a CSV file, the first that is not hidden if none is named; and a note on others.

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
        chosen = _first_shown(book, names) if sheet is None else _chosen(source, names, sheet)
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
        first = f"the first of {len(names)}{' that is not hidden' if chosen else ''}"
        note = f"The sheet {brief(names[chosen])} was read, {first}; {{sheet}} names"
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


def _first_shown(book: Any, names: list[str]) -> int:
    """The place of the first sheet that is not hidden."""
    states = (getattr(book[name], "sheet_state", "visible") for name in names)
    return next((place for place, state in enumerate(states) if state == "visible"), 0)


def _chosen(source: Source, names: list[str], sheet: str | int) -> int:
    """The place of a sheet: by its name, or if none has that name by its number from 1."""
    if str(sheet) in names:
        return names.index(str(sheet))
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
