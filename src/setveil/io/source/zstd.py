"""Zstandard without a library of its own: DuckDB compresses and decompresses.

DuckDB reads a truncated `.zst` file to its end and says nothing, so that records would be lost. So
`check_frames` first follows the headers of frames and blocks (RFC 8878), without reading the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from setveil.errors import FileFormatError
from setveil.io.source.database import database, is_small, lines_table, quoted, run, translated

MAGIC = b"\x28\xb5\x2f\xfd"

_BLOCK = 1 << 22


def check_frames(path: Path, name: str) -> None:
    """Raise `FileFormatError` if a file is not zstd or is cut off."""
    end = path.stat().st_size
    with path.open("rb") as stream:
        while stream.tell() < end:
            if not _skip_frame(stream) or stream.tell() > end:
                problem = "the zstd data is cut off or damaged"
                raise FileFormatError(name, problem, remedy="get the file again")


def _skip_frame(stream: BinaryIO) -> bool:
    magic = stream.read(4)
    if magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5:
        stream.seek(int.from_bytes(stream.read(4), "little"), 1)
        return True
    descriptor = stream.read(1)
    if magic != MAGIC or not descriptor:
        return False
    single = descriptor[0] >> 5 & 1
    content_size = (single, 2, 4, 8)[descriptor[0] >> 6]
    stream.seek((1 - single) + (0, 1, 2, 4)[descriptor[0] & 3] + content_size, 1)
    return _skip_blocks(stream) and (not descriptor[0] & 4 or len(stream.read(4)) == 4)


def _skip_blocks(stream: BinaryIO) -> bool:
    last = False
    while not last:
        header = stream.read(3)
        number = int.from_bytes(header, "little")
        last, kind, size = bool(number & 1), number >> 1 & 3, number >> 3
        if len(header) < 3 or kind == 3:
            return False
        stream.seek(1 if kind == 1 else size, 1)
    return True


def first_lines(path: Path, name: str, work: Path, count: int = 200) -> bytes:
    """The first lines of a text file; if line ends are mixed, some may look like blank lines."""
    small = is_small(path, packed=True)
    with database(work, small=small) as connection, translated(name):
        table = lines_table(path, compression="zstd", more=", strict_mode=false")
        rows = connection.execute(f"SELECT line FROM {table} LIMIT {count}").fetchall()
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
