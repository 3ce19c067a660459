"""Zip files with one member and spreadsheets as plain files, and files that are no data."""

from __future__ import annotations

import re
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from setveil.disk.kinds import foreign_kind, foreign_zip
from setveil.disk.limits import copy_within, too_large
from setveil.errors import ParameterError, SetveilError
from setveil.io.source.excel import damaged, sheet_as_csv, sheets_of
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

    A text that looks like one JSON value is fine if the user says that it has another format.

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
    """The names of the files in a zip file, which together are not too large.

    Nothing unpacks to more bytes than a zip file says: reading a member ends there."""
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
        copy_within(source.most, stream, plain, source.name)
    ends = [end.lower() for end in Path(members[0]).suffixes if end.lower() not in PACKED]
    return replace(source, path=target, suffix=ends[-1] if ends else "")


def _refuse_foreign(source: Source) -> None:
    """Refuse a file that begins like something else than data, or unlike its name."""
    kind = foreign_kind(source.head)
    if kind is not None and not source.head.startswith(_PARQUET):
        raise source.fault(f"this is {kind.name}, not a data file", remedy=kind.remedy)
    if source.suffix in (".zip", *_SHEETS):
        raise source.fault(f"the name ends in {source.suffix}, but this is no such file")
