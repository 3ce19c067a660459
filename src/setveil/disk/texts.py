"""Text files that are held in memory as a whole, plain or `.gz`, and bytes that are not text."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from setveil.disk.kinds import foreign_kind
from setveil.disk.limits import shown, whole_limit
from setveil.errors import FileFormatError

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
