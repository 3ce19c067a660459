"""How large an input may become: one size, the memory, limits all that a file can unpack to.

A data file is unpacked to a temporary file, which may be ten times as large as the memory. What is
held in memory as a whole (a hierarchy, a list of items, a job file, a line of data) takes about
twenty times the size of its text there, so its text may be a twentieth of the memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from gzip import GzipFile
from typing import IO, AnyStr

from setveil.errors import FileFormatError, ParameterError

USUAL_MEMORY = "3GB"
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B\s*\Z", re.IGNORECASE)
_UNPACKED, _WHOLE = 10, 20
_AT_ONCE = 1 << 20


def bytes_of(size: str) -> int:
    """The bytes of a size such as `3GB` or `512MiB`."""
    found = _SIZE.match(size)
    if found is None:
        raise ParameterError("memory", size, "it must be a size such as 500MB or 3GB")
    return int(
        float(found[1]) * (1024 if found[3] else 1000) ** " KMGT".index(found[2].upper() or " ")
    )


def unpacked_limit(memory: str | None = None) -> int:
    """How many bytes a compressed data file may unpack to."""
    return bytes_of(memory or USUAL_MEMORY) * _UNPACKED


def whole_limit(memory: str | None = None) -> int:
    """How many bytes of text a file may have that is held in memory as a whole."""
    return bytes_of(memory or USUAL_MEMORY) // _WHOLE


def read_blocks(stream: IO[bytes] | GzipFile) -> Iterator[bytes]:
    """The content of a stream by the megabyte."""
    while block := stream.read(_AT_ONCE):
        yield block


def copy_within(most: int, blocks: Iterable[bytes], target: IO[bytes], name: str) -> None:
    """Write blocks of what is unpacked, up to a limit.

    Raises:
        FileFormatError: if it is more.
    """
    seen = 0
    for block in blocks:
        seen += len(block)
        if seen > most:
            raise too_large(name, most)
        target.write(block)


def whole_lines(stream: IO[AnyStr], name: str) -> Iterator[AnyStr]:
    """The lines of a file, each of which is held in memory as a whole.

    Raises:
        FileFormatError: if one is too long for that.
    """
    most, number = whole_limit(), 0
    while line := stream.readline(most + 1):
        number += 1
        if len(line) > most:
            problem = f"this line is longer than {shown(most)}, too much to hold in memory"
            raise FileFormatError(name, problem, line=number)
        yield line


def too_large(name: str, most: int) -> FileFormatError:
    """The error for a data file that unpacks to more than its limit."""
    remedy = "if it is the right file, unpack it yourself or allow more {memory}"
    return FileFormatError(name, f"it unpacks to more than {shown(most)}", remedy=remedy)


def shown(size: int) -> str:
    """A number of bytes as messages name it."""
    return f"{size / 1e9:,.3g} GB" if size >= 10**9 else f"{size / 1e6:,.3g} MB"
