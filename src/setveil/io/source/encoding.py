"""Zip files with one member, and text in other encodings, as plain UTF-8 files."""

import codecs
import zipfile
from dataclasses import replace
from pathlib import Path

from setveil.errors import FileFormatError, ParameterError
from setveil.io.source.source import PACKED, Source
from setveil.words import plural

ZIP = b"PK\x03\x04"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_AT_ONCE = 1 << 20


def check_encoding(encoding: str | None) -> None:
    """Refuse an encoding that Python does not have."""
    try:
        codecs.lookup(encoding or "utf-8")
    except LookupError:
        allowed = "it must be an encoding such as utf-8, cp1252, latin-1 or utf-16"
        raise ParameterError("encoding", encoding, allowed) from None


def readable(source: Source, encoding: str | None = None) -> Source:
    """The source, unpacked if it is a zip file, and in UTF-8.

    UTF-16 is recognized by its mark; any other encoding must be named.
    """
    if source.compression is None and source.head.startswith(ZIP):
        source = _unzipped(source)
    if encoding is None and source.head.startswith(UTF16):
        encoding = "utf-16"
    if encoding is None or codecs.lookup(encoding).name == "utf-8":
        return source
    return _decoded(source, encoding)


def _unzipped(source: Source) -> Source:
    if source.suffix in (".xlsx", ".xlsm", ".ods"):
        raise source.fault("this is a spreadsheet", remedy="save the sheet as CSV")
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


def _decoded(source: Source, encoding: str) -> Source:
    target, lines = source.work / "decoded", 1
    decoder = codecs.getincrementaldecoder(encoding)()
    with source.stream() as stream, target.open("w", encoding="utf-8", newline="") as plain:
        try:
            while block := stream.read(_AT_ONCE):
                plain.write(decoder.decode(block))
                lines += block.count(b"\n")
            plain.write(decoder.decode(b"", final=True))
        except UnicodeError:
            problem = f"the text is not {encoding}"
            raise source.fault(f"{problem} (near line {lines:,})", remedy=_NAME) from None
    return replace(source, path=target, compression=None)


_NAME = "name another {encoding}"
