"""Text files that are held in memory as a whole, and files that are surely no text of ours."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from setveil.disk.limits import shown, whole_limit
from setveil.errors import FileFormatError

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
_MAIL = Kind("a mail", "save the table that it contains as a file of its own")
_YAML = Kind("a YAML file", "save it as JSON lines: one list of items per line")
_SUFFIXES = {".yaml": _YAML, ".yml": _YAML, ".eml": _MAIL, ".mbox": _MAIL}
_MAILED = r"(?i:Received|Return-Path|Delivered-To|Message-ID|MIME-Version|Subject|X-[\w-]+):"
_HEAD = rf"(?:{_MAILED}|(?i:From|To|Cc|Date|Reply-To):)[^\n]*\n(?:[ \t][^\n]*\n)*"
_KEY = r"[^\s:,;|][^\n:,;|]*:"
_LIST = r"\[[^\n]*\]\s*\n"
_TEXTS = {
    rf"(?:From [^\n]*\n)?(?=(?:{_HEAD})*?{_MAILED})(?:{_HEAD}){{2}}": _MAIL,
    r"%YAML |---\s*\n": _YAML,
    rf"(?>#[^\n]*\n|\s)*(?:-[ ]+{_KEY}\s|{_KEY}\s*\n\s*-[ ])": _YAML,
    rf"(?>#[^\n]*\n|\s)*(?:(?:-[ ]+{_LIST}){{2}}|(?:{_KEY}[ ]+{_LIST}){{2}})": _YAML,
    r"(?:[ \t]*-[ ]+\S[^\n]*\n){2}": Kind("a list with dashes", "remove the dash before each line"),
    r"(?:(?=[^\n]*[|+])[^\n]*\n)?(?=[^\n]*---)(?=[^\n]*[|+])[-|+: \t]+\n": Kind(
        "a table drawn with lines", _EXPORT
    ),
    r"(?:\s*(?:\{[^\n{}\":]*\}|\[[^\n\[\]\"\d]*\])[ \t]*\n){2}": Kind(
        "a list of sets in brackets", "remove the brackets"
    ),
    r"TABLE\s*\n0,1\s*\n|ID;P[^\n]*\n(?:[A-Z]{1,2};[^\n]*\n)*?C;[XY]\d": Kind(
        "a spreadsheet in an old format (.dif, .slk)", "save it as .xlsx or CSV"
    ),
    r"(?:MSH|FHS|BHS)\|\^~\\&|(?:UNA[^\n]{6}\s*)?UNB\+|ISA\*\d\d\*": Kind(
        "a file of messages (HL7, EDIFACT, X12)", _EXPORT
    ),
    r"(?i:BEGIN:V(?:CARD|CALENDAR))\s*\n": Kind("an address book or a calendar", _EXPORT),
    r"(?>--[^\n]*\n|/\*.*?\*/;?|\s)*(?i:CREATE|DROP|INSERT)\s+(?i:TABLE|INTO)\s": Kind(
        "an SQL script", _EXPORT
    ),
    r"\s*<(\w[\w.:-]*)(?:\s[^<>]*)?>\s*<\w": Kind("an XML file", _EXPORT),
}
"""How texts begin that are no data, although their lines could be read as baskets."""
_RELATION = re.compile(rb"(?:\s|%[^\r\n]*)*+@relation\s", re.IGNORECASE)
_ANY = re.compile(b"|".join(b"(%s)" % start for start in _STARTS), re.DOTALL)


def is_arff(head: bytes) -> bool:
    """Whether a file that begins like this is ARFF: the first line that is no comment says so."""
    return _RELATION.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def foreign_kind(head: bytes) -> Kind | None:
    """What a file is that begins like this, if it is surely neither text nor data of ours."""
    found = _ANY.match(head.removeprefix(b"\xef\xbb\xbf"))
    return None if found is None else list(_STARTS.values())[(found.lastindex or 1) - 1]


def foreign_text(head: bytes, suffix: str) -> Kind | None:
    r"""What a text is that begins like this or has such a name, if it is most likely no data.

    Example:
        >>> foreign_text(b"- wine\n- beer\n", ".txt").name, foreign_text(b"wine\n-\n", ".txt")
        ('a list with dashes', None)
    """
    text = head.removeprefix(b"\xef\xbb\xbf").decode("latin-1").replace("\r\n", "\n")
    found = (kind for start, kind in _TEXTS.items() if re.match(start, text, re.DOTALL))
    return next(found, _SUFFIXES.get(suffix))


def foreign_zip(members: Collection[str]) -> Kind | None:
    """The document that a zip file with these members is."""
    return next((kind for name, kind in _MEMBERS.items() if name in members), None)


ENCODINGS = ("utf-8", "cp1252", "latin-1")
"""What text may be, the likeliest first; every byte is a letter of the last."""


class BadByte(NamedTuple):
    """The first byte of a text that is not in the encoding that it should be in."""

    line: int
    byte: int
    """Its place in the line, from 1 on."""
    value: int
    wanted: str
    works: str
    """An encoding that all of the text can be read in."""
    has_others: bool
    """Whether the text has other letters that are not ASCII and in the encoding."""

    @property
    def problem(self) -> str:
        name = "UTF-8" if self.wanted == "utf-8" else self.wanted
        return f"byte {self.byte:,} of the line (0x{self.value:02X}) is not {name}"


def read_text(path: Path, memory: str | None = None, *, remedy: str = "") -> str:
    """The text of a file, plain or `.gz`, without a byte order mark.

    Its size is limited by the memory; the `remedy` says what to do if it is too large.

    Raises:
        FileFormatError: if it cannot be read, is not text, or is too large to hold in memory.
    """
    most = whole_limit(memory)
    content = _content(path, most)
    if len(content) > most:
        problem = f"it has more than {shown(most)} of text, too much to hold in memory"
        raise FileFormatError(path, problem, remedy=remedy)
    kind = foreign_kind(content)
    if kind is not None:
        remedy = "save it as a text file first, or name another file"
        raise FileFormatError(path, f"this is {kind.name}, not a text file", remedy=remedy)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        bad = bad_byte(content.split(b"\n"))
        assert bad is not None
        remedy = f"save the file as UTF-8, for example with iconv -f {bad.works} -t utf-8"
        raise FileFormatError(path, bad.problem, line=bad.line, remedy=remedy) from None


def _content(path: Path, most: int) -> bytes:
    try:
        if "\0" in str(path):
            raise FileNotFoundError
        with path.open("rb") as plain:
            packed = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            with gzip.open(plain) if packed else plain as stream:
                content = stream.read(most + 1)
    except FileNotFoundError:
        raise FileFormatError(path, "there is no such file") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        problem = "the gzip data is cut off or damaged"
        raise FileFormatError(path, problem, remedy="get the file again") from None
    except OSError as error:
        raise FileFormatError(path, f"the file cannot be read ({error.strerror})") from None
    return bytes(content)


def bad_byte(lines: Iterable[bytes], encoding: str = "utf-8") -> BadByte | None:
    """The first byte of these lines that is not in an encoding of single lines; None if none is."""
    found: tuple[int, int, int] | None = None
    fitting, has_others = list(ENCODINGS), False
    for number, line in enumerate(lines, start=1):
        if line.isascii():
            continue
        try:
            line.decode(encoding)
        except UnicodeDecodeError as error:
            found = found or (number, error.start + 1, line[error.start])
        has_others = has_others or not line.decode(encoding, "ignore").isascii()
        fitting = [each for each in fitting if _fits(line, each)]
    return None if found is None else BadByte(*found, encoding, fitting[0], has_others)


def _fits(line: bytes, encoding: str) -> bool:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
