"""Lines of text to a file, plain or compressed, or to standard output."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from setveil.errors import DataError, OutputError, brief
from setveil.io.source.source import PACKED

_TEXT_AT_ONCE = 1 << 20


def write_lines(
    lines: Iterable[str], target: Path, compression: str | None = None, *, for_parquet: bool = False
) -> None:
    """Write lines as UTF-8 text; a compressed file contains neither a time nor a name.

    Raises:
        DataError: if a line has a NUL character, unless the lines are only made for a Parquet file.
    """
    lines = lines if for_parquet else _without_nul(lines)
    if compression == "zstd":
        import zstandard

        with target.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as stream:
            _write_blocks(lines, stream)
    elif compression == "gzip":
        with (
            target.open("wb") as file,
            gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0, compresslevel=6) as stream,
        ):
            _write_blocks(lines, stream)
    else:
        with target.open("wb") as file:
            _write_blocks(lines, file)


def write_to_output(lines: Iterable[str]) -> None:
    """Write lines to standard output, all of them or with an error.

    If Python does not buffer its output, a write may accept only part of the text, so it is
    buffered here.
    """
    stream: IO[bytes] = sys.stdout.buffer
    raw = isinstance(stream, io.RawIOBase)
    stream = io.BufferedWriter(stream) if raw else stream
    try:
        _write_blocks(_without_nul(lines), stream)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError("standard output", error.strerror or str(error)) from None
    finally:
        if raw:
            with suppress(OSError):
                stream.detach()  # type: ignore[attr-defined]


def compression_of(path: Path) -> str | None:
    """How a file of this name is compressed."""
    return PACKED.get(path.suffix.lower())


def not_unicode(error: UnicodeEncodeError) -> DataError:
    """The error for an item that cannot be written as UTF-8."""
    half = error.object[error.start : error.end]
    problem = f"an item contains {brief(half)}, which is not Unicode text and cannot be written"
    return DataError(problem)


def _without_nul(lines: Iterable[str]) -> Iterator[str]:
    """The lines, if none has a NUL character: most programs end a text there, or refuse it."""
    for line in lines:
        if "\0" in line:
            problem = "an item contains a NUL character, which a text file cannot hold"
            raise DataError(problem, remedy="choose a format that can, such as parquet")
        yield line


def _write_blocks(lines: Iterable[str], stream: IO[bytes] | gzip.GzipFile) -> None:
    for block in _gathered(lines):
        try:
            stream.write(("\n".join(block) + "\n").encode("utf-8"))
        except UnicodeEncodeError as error:
            raise not_unicode(error) from None


def _gathered(lines: Iterable[str]) -> Iterator[list[str]]:
    """Lines by the megabyte; one that is longer, as some writers join many lines, comes alone."""
    block: list[str] = []
    length = 0
    for line in lines:
        block.append(line)
        length += len(line)
        if length >= _TEXT_AT_ONCE:
            yield block
            block, length = [], 0
    if block:
        yield block
