"""Zip files with one member, and spreadsheets, as plain files."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

from setveil.errors import FileFormatError, ParameterError
from setveil.io.source.excel import is_workbook, sheet_as_csv
from setveil.io.source.source import PACKED, Source
from setveil.words import plural

ZIP = b"PK\x03\x04"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_AT_ONCE = 1 << 20


def unpacked(source: Source, sheet: str | int | None = None) -> tuple[Source, list[str]]:
    """The source, unpacked if it is a zip file and as CSV if it is a spreadsheet, with notes."""
    if source.compression is None and source.head.startswith(ZIP):
        if is_workbook(source.path):
            return sheet_as_csv(source, sheet)
        source = _unzipped(source)
    if sheet is not None:
        raise ParameterError("sheet", sheet, "only a spreadsheet (.xlsx) has sheets")
    if source.head.startswith(_OLD_EXCEL):
        problem = "this is a spreadsheet in an old format"
        raise source.fault(problem, remedy="save it as .xlsx or as CSV")
    return source, []


def _unzipped(source: Source) -> Source:
    if source.suffix in (".xlsx", ".xlsm"):
        raise source.fault("the spreadsheet is damaged", remedy="save it again")
    if source.suffix == ".ods":
        raise source.fault("this is a spreadsheet", remedy="save the sheet as CSV or .xlsx")
    try:
        with zipfile.ZipFile(source.path) as packed:
            members = [member for member in packed.infolist() if not member.is_dir()]
            if len(members) != 1:
                problem = f"the zip file has {plural(len(members), 'file')}, not one"
                raise source.fault(problem, remedy="unpack it and name the file")
            target = source.work / "unzipped"
            with packed.open(members[0]) as stream, target.open("wb") as plain:
                while block := stream.read(_AT_ONCE):
                    plain.write(block)
    except FileFormatError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError):
        problem = "the zip file is damaged, or is encrypted"
        raise source.fault(problem, remedy="unpack it yourself") from None
    ends = [end.lower() for end in Path(members[0].filename).suffixes if end.lower() not in PACKED]
    return replace(source, path=target, suffix=ends[-1] if ends else "")
