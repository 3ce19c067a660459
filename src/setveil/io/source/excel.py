"""A sheet of an Excel file as CSV, row by row, so that a large one does not fill the memory."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, time
from errno import EINVAL
from importlib import import_module
from pathlib import Path
from typing import Any

from setveil.errors import MissingExtraError, Note, SetveilError, brief, brief_list
from setveil.io.source.source import Source


def is_workbook(path: Path) -> bool:
    """Whether a zip file is an Excel file."""
    try:
        with zipfile.ZipFile(path) as packed:
            return "xl/workbook.xml" in packed.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return False


def sheet_as_csv(source: Source, sheet: str | int | None = None) -> tuple[Source, list[str]]:
    """A sheet as a CSV file, the first if none is named; and a note if there are others.

    Raises:
        FileFormatError: if there is no such sheet, or the file is damaged.
        MissingExtraError: if openpyxl is not installed.
    """
    target = source.work / "sheet"
    try:
        with source.path.open("rb") as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles
            book = _library().load_workbook(stream, read_only=True, data_only=True)
            names = list(map(str, book.sheetnames))
            chosen = _chosen(source, names, sheet)
            _write(book[names[chosen]], target)
            book.close()
    except (SetveilError, MemoryError):
        raise
    except Exception as error:  # openpyxl has no error of its own for a damaged file
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):  # a place outside it
            raise
        raise source.fault("the spreadsheet is damaged", remedy="save it again") from None
    note = f"The sheet {brief(names[chosen])} was read, the first of {len(names)}; {{sheet}} names"
    notes: list[str] = [Note(f"{note} another.")] if sheet is None and len(names) > 1 else []
    return replace(source, path=target, suffix=".csv", is_sheet=True), notes


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


def _write(sheet: Any, target: Path) -> None:
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()  # what a file says about its size may be wrong
    rows = _filled(sheet.iter_rows(values_only=True)) if hasattr(sheet, "iter_rows") else iter(())
    width = 0
    with target.open("w", encoding="utf-8", newline="") as lines:
        for cells in rows:
            width = width or len(cells)
            padded = [*cells, *[""] * (width - len(cells))]
            lines.write(",".join(map(_quoted, padded)) + "\n")


def _filled(rows: Iterable[Iterable[object]]) -> Iterator[list[str]]:
    """The rows that are not empty, each up to its last cell that is not."""
    for row in rows:
        cells = [_text(cell) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
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
