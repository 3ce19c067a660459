"""Files that are surely no data of ours, by their first bytes."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

_EXPORT = "export the table as CSV, Parquet or .xlsx first"
_UNPACK = "unpack it and name the file inside"


class Kind(NamedTuple):
    """What a file is, and what to do with it."""

    name: str
    remedy: str = "name another file"


_STARTS: dict[bytes, Kind] = {
    rb"%PDF-": Kind("a PDF document", _EXPORT),
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|II\*\0|MM\0\*|RIFF.{4}WEBP": Kind("a picture"),
    rb"BM.{4}\0\0\0\0|\s*<svg[\s>]": Kind("a picture"),
    rb"SQLite format 3\0": Kind("an SQLite database", _EXPORT),
    rb"\0\x01\0\0Standard (?:Jet|ACE) DB": Kind("an Access database", _EXPORT),
    rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": Kind(
        "an Office file in an old format or with a password",
        "save it as .xlsx or as CSV, without a password",
    ),
    rb"7z\xbc\xaf\x27\x1c": Kind("a 7z archive", _UNPACK),
    rb"Rar!\x1a\x07": Kind("a RAR archive", _UNPACK),
    rb"\xfd7zXZ\0": Kind("an xz file", _UNPACK),
    rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)": Kind("a bzip2 file", _UNPACK),
    rb"\x04\x22\x4d\x18": Kind("an lz4 file", _UNPACK),
    rb"\x1f\x8b\x08": Kind("a gzip file", _UNPACK),
    rb"\x28\xb5\x2f\xfd": Kind("a zstd file", _UNPACK),
    rb".{257}ustar(?:\0|  \0)": Kind("a tar archive", _UNPACK),
    rb"PK(?:\x03\x04|\x05\x06|\x07\x08)": Kind("a zip file", _UNPACK),
    rb"PAR1\x15": Kind("a Parquet file", "read it with {input_format=parquet}"),
    rb"ARROW1\0\0": Kind("an Arrow file", "save it as Parquet"),
    rb"Obj\x01": Kind("an Avro file", "save it as Parquet"),
    rb"\x89HDF\r\n\x1a\n": Kind("an HDF5 file", _EXPORT),
    rb"\$FL[23]@\(#\)": Kind("an SPSS file", _EXPORT),
    rb"<stata_dta>": Kind("a Stata file", _EXPORT),
    rb"RD[AX][23]\n[ABX]\n": Kind("an R data file", "save the table as CSV"),
    rb"\x93NUMPY": Kind("a NumPy file", "save the table as CSV"),
    rb"\x80[\x02-\x05][\x95}\](cX]": Kind("a Python pickle", "save the table as CSV"),
    rb"\x7fELF|MZ.{58}\0": Kind("a program"),
    rb"\s*<(?i:!doctype\s+html|html|head|body|table)[\s>]": Kind("an HTML page", _EXPORT),
    rb"\s*<\?xml\s": Kind("an XML file", _EXPORT),
    rb"\{\\rtf": Kind("an RTF document", _EXPORT),
    rb"%!PS": Kind("a PostScript document", _EXPORT),
}
"""What the first bytes of a file may be, as a pattern, and what the file is then."""
_MEMBERS = {
    "word/document.xml": Kind("a Word document", _EXPORT),
    "ppt/presentation.xml": Kind("a presentation", _EXPORT),
    "content.xml": Kind("an OpenDocument file", "save the sheet as .xlsx or CSV"),
    "xl/workbook.bin": Kind("a binary spreadsheet (.xlsb)", "save it as .xlsx or CSV"),
}
"""Zip files that are documents, by a member."""
_RELATION = re.compile(rb"(?:\s|%[^\r\n]*)*+@relation\s", re.IGNORECASE)
_ANY = re.compile(b"|".join(b"(%s)" % start for start in _STARTS), re.DOTALL)


def is_arff(head: bytes) -> bool:
    """Whether a file that begins like this is ARFF: the first line that is no comment says so."""
    return _RELATION.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def foreign_kind(head: bytes) -> Kind | None:
    """What a file is that begins like this, if it is surely neither text nor data of ours."""
    found = _ANY.match(head.removeprefix(b"\xef\xbb\xbf"))
    return None if found is None else list(_STARTS.values())[(found.lastindex or 1) - 1]


def foreign_zip(members: Collection[str]) -> Kind | None:
    """The document that a zip file with these members is."""
    return next((kind for name, kind in _MEMBERS.items() if name in members), None)
