"""A copy of a log without the bytes that would stop a reader; every line keeps its number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from setveil.io.source.source import BOM, Source

MARK = "\x1a"
"""Replaces a line that cannot be read."""
LONGEST = 1 << 20
_BLOCK = 1 << 22
_MORE_CELLS = 100


def clean_lines(source: Source) -> Path:
    """The decompressed file, or a clean copy of it if it needs one.

    In the copy lines end with `\\n`, NUL bytes and lone carriage returns are blanks, and `MARK`
    replaces a line that is not UTF-8 or longer than a megabyte.
    """
    with source.stream() as stream:
        if all(map(_is_clean, _blocks(stream))):
            return source.plain()
    target = source.work / "clean"
    with source.stream() as stream, target.open("wb") as copy:
        for block in _blocks(stream):
            copy.write(block if _is_clean(block) else b"\n".join(map(_cleaned, block.split(b"\n"))))
    return target


def first_text(path: Path) -> str:
    """The beginning of a clean file."""
    with path.open("rb") as stream:
        return stream.read(1 << 16).removeprefix(BOM).decode("utf-8", errors="ignore")


def narrow_lines(path: Path, delimiter: str, columns: int, target: Path) -> Path:
    """The file, or a copy in which no row of a table has many more cells than it has columns.

    DuckDB describes a row with too many cells once per cell, with the whole row each time. In the
    copy such a row has two cells too many, all of them `MARK`, and is refused as it was before.
    """
    most, mark = columns + _MORE_CELLS, delimiter.encode()
    with path.open("rb") as stream:
        if not any(_has_long_line(block, most) for block in _blocks(stream)):
            return path
    quotes = re.compile(rb'(?:\A|%b)"[^"]*(?:""[^"]*)*("?)' % re.escape(mark))
    wide = mark.join([MARK.encode()] * (columns + 2))
    is_open = False
    with path.open("rb") as stream, target.open("wb") as copy:
        for line in stream:
            was_open, text = is_open, b'"' + line if is_open else line
            found = list(quotes.finditer(text)) if b'"' in text else []
            is_open = bool(found) and not found[-1][1]
            if text.count(mark) - sum(cell[0].count(mark, 1) for cell in found) >= most:
                line = (b'"' + mark) * was_open + wide + (mark + b'"') * is_open + b"\n"
            copy.write(line)
    return target


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Blocks of whole lines; a line longer than a block is cut, since it is too long anyway."""
    while block := stream.read(_BLOCK):
        block += stream.readline(_BLOCK)
        yield block
        while not block.endswith(b"\n") and (block := stream.readline(_BLOCK)):
            if block.endswith(b"\n"):
                yield b"\n"


def _is_clean(block: bytes) -> bool:
    if b"\r" in block or b"\0" in block or (len(block) > LONGEST and _has_long_line(block)):
        return False
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _has_long_line(block: bytes, longest: int = LONGEST) -> bool:
    """Whether a line is longer than allowed."""
    place = 0
    while place + longest < len(block):
        end = block.rfind(b"\n", place, place + longest)
        if end < 0:
            return True
        place = end + 1
    return False


def _cleaned(line: bytes) -> bytes:
    line = line.removesuffix(b"\r")
    if len(line) >= LONGEST:
        return MARK.encode()
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return MARK.encode()
    return line.replace(b"\0", b" ").replace(b"\r", b" ")
