"""Zstandard without a library of its own: DuckDB compresses and decompresses.

DuckDB reads a truncated `.zst` file to its end and says nothing, so that records would be lost. So
`check_frames` first follows the headers of frames and blocks (RFC 8878), without reading the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from setveil.disk.limits import too_large
from setveil.errors import FileFormatError
from setveil.io.source.database import database, is_small, lines_table, quoted, run, translated

MAGIC = b"\x28\xb5\x2f\xfd"

_BLOCK = 1 << 22
_LONGEST = 1 << 20
_LARGEST = 1 << 17
"""No block unpacks to more bytes."""


def is_frame(start: bytes) -> bool:
    """Whether a file begins with a frame, or with one that readers skip."""
    return start[:4] == MAGIC or _is_skipped(start[:4])


def _is_skipped(magic: bytes) -> bool:
    return magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5


def check_frames(path: Path, name: str, most: int) -> None:
    """Raise `FileFormatError` if a file is not zstd, is cut off, or may unpack to more than `most`.

    A block unpacks to at most 128 kB, which is the size of nearly all blocks that programs write.
    """
    end, unpacked = path.stat().st_size, 0
    with path.open("rb") as stream:
        while stream.tell() < end:
            size = _skip_frame(stream)
            if size is None or stream.tell() > end:
                problem = "the zstd data is cut off or damaged"
                raise FileFormatError(name, problem, remedy="get the file again")
            unpacked += size
            if unpacked > most:
                raise too_large(name, most)


def _skip_frame(stream: BinaryIO) -> int | None:
    """Skip a frame: how many bytes it unpacks to at most; None if it is damaged."""
    magic = stream.read(4)
    if _is_skipped(magic):
        length = stream.read(4)
        stream.seek(int.from_bytes(length, "little"), 1)
        return 0 if len(length) == 4 else None
    descriptor = stream.read(1)
    if magic != MAGIC or not descriptor:
        return None
    single = descriptor[0] >> 5 & 1
    content_size = (single, 2, 4, 8)[descriptor[0] >> 6]
    stream.seek((1 - single) + (0, 1, 2, 4)[descriptor[0] & 3] + content_size, 1)
    size = _skip_blocks(stream)
    return None if descriptor[0] & 4 and len(stream.read(4)) < 4 else size


def _skip_blocks(stream: BinaryIO) -> int | None:
    last, unpacked = False, 0
    while not last:
        header = stream.read(3)
        number = int.from_bytes(header, "little")
        last, kind, size = bool(number & 1), number >> 1 & 3, number >> 3
        if len(header) < 3 or kind == 3:
            return None
        stream.seek(1 if kind == 1 else size, 1)
        unpacked += _LARGEST if kind == 2 else size
    return unpacked


def first_lines(path: Path, name: str, work: Path, count: int = 200) -> bytes:
    """The first lines of a text file; if line ends are mixed, some may look like blank lines."""
    small = is_small(path, packed=True)
    with database(work, small=small) as connection, translated(name):
        table = lines_table(path, compression="zstd", more=", strict_mode=false")
        rows = connection.execute(f"SELECT line[:{_LONGEST}] FROM {table} LIMIT {count}").fetchall()
    return b"".join((line or "").encode() + b"\n" for (line,) in rows)


def unpack_lines(path: Path, name: str, work: Path, target: Path) -> None:
    """Write the lines of a compressed text file to a plain file."""
    table = lines_table(path, compression="zstd")
    options = "FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01'"
    lines = f"SELECT coalesce(line, '') FROM {table}"
    small = is_small(path, packed=True)
    with database(work, small=small) as connection, translated(name):
        run(connection, f"COPY ({lines}) TO {quoted(target)} ({options})")


@contextmanager
def pack(target: Path, work: Path) -> Iterator[BinaryIO]:
    """A stream whose content becomes the zstd file `target`."""
    plain = work / "unpacked"
    with plain.open("wb") as stream:
        yield stream
    small = is_small(plain)
    with database(work, small=small) as connection, plain.open("rb") as stream:
        connection.execute("CREATE TABLE blocks (content BLOB)")
        while block := stream.read(_BLOCK):
            connection.execute("INSERT INTO blocks VALUES (?)", [block]).fetchall()
        run(connection, f"COPY blocks TO {quoted(target)} (FORMAT blob, COMPRESSION zstd)")
    plain.unlink()
