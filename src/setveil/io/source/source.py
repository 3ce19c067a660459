"""Where data is read from: a file, standard input or a stream, plain or compressed.

DuckDB compresses and decompresses zstd. It reads a truncated `.zst` file to its end and says
nothing, so that records would be lost. So `check_frames` first follows the headers of frames and
blocks (RFC 8878), without reading the data."""

from __future__ import annotations

import codecs
import gzip
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from setveil.disk import private_folder, unpacked_limit
from setveil.disk.limits import copy_within, too_large
from setveil.errors import FileFormatError
from setveil.io.source.database import (
    database,
    is_small,
    lines_table,
    not_utf8,
    quoted,
    run,
    translated,
)
from setveil.io.source.several import is_table, plain_name, put_together, several_files

Compression = Literal["gzip", "zstd"]
PathOrStream = str | os.PathLike[str] | BinaryIO

BOM = b"\xef\xbb\xbf"
PACKED: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
_HEAD = 1 << 16
_LINES = 5
_LONGEST_HEAD = 1 << 20


@dataclass(frozen=True)
class Source:
    """One input: a file on disk and what is known about it."""

    name: str
    """What messages call it."""
    path: Path
    """Its file, under a name without characters that mean something to DuckDB."""
    compression: Compression | None
    suffix: str
    """The end of its name without `.gz` or `.zst`, in lower case."""
    work: Path
    """A private folder that is removed after reading."""
    most: int = field(default_factory=unpacked_limit)
    """How many bytes it may unpack to."""
    is_sheet: bool = False
    """Whether it was made from a sheet of a spreadsheet."""
    header_row: int = 0
    """The row that named the columns, if rows above it were left out."""
    lines_above: int = 0
    """How many lines of the file are not in it, above its first."""

    def fault(self, problem: str, *, remedy: str = "") -> FileFormatError:
        """The error for something wrong with this input."""
        return FileFormatError(self.name, problem, remedy=remedy)

    @cached_property
    def head(self) -> bytes:
        """The first 64 kB, decompressed, without a byte order mark.

        It is longer, up to 1 MB, if the first lines are: a table may have thousands of columns."""
        if self.compression == "zstd":
            lines = BytesIO(first_lines(self.path, self.name, self.work))
            return _start(lines).removeprefix(BOM)
        opened = gzip.open if self.compression == "gzip" else open
        with self._unpacked(), opened(self.path, "rb") as stream:
            return _start(stream).removeprefix(BOM)

    @cached_property
    def head_text(self) -> str:
        """The head as text with `\\n` line ends, without a character that is cut off at its end."""
        try:
            text = codecs.getincrementaldecoder("utf-8")().decode(self.head)
        except UnicodeDecodeError as error:
            raise not_utf8(self.name, self.head.count(b"\n", 0, error.start) + 1) from None
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @property
    def is_small(self) -> bool:
        """Whether it surely fits in memory."""
        return is_small(self.path, packed=self.compression is not None)

    def refuse_utf16(self) -> None:
        """Refuse a text file that begins with the mark of UTF-16."""
        if self.head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise not_utf8(self.name, encoding="utf-16")

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """The decompressed bytes, without a byte order mark."""
        with self.plain().open("rb", buffering=1 << 20) as stream:
            if stream.read(3) != BOM:
                stream.seek(0)
            yield stream

    def plain(self) -> Path:
        """A file with the decompressed bytes."""
        target = self.work / "plain"
        if self.compression is None:
            return self.path
        if not target.exists() and self.compression == "zstd":
            unpack_lines(self.path, self.name, self.work, target)
        elif not target.exists():
            with self._unpacked(), gzip.open(self.path) as packed, target.open("wb") as plain:
                copy_within(self.most, packed, plain, self.name)
        return target

    @contextmanager
    def _unpacked(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, gzip.BadGzipFile, zlib.error):
            problem = "the gzip data is cut off or damaged"
            raise self.fault(problem, remedy="get the file again") from None


@contextmanager
def open_source(
    path: PathOrStream, *, header: bool | int | str | None = None, most: int | None = None
) -> Iterator[Source]:
    """The source behind a path, `-` for standard input, or an open binary stream.

    A folder or a pattern means all its files together; `header` says whether the first row of
    tables names the columns, or which row. Temporary files are removed after the block.

    All that the source unpacks to has at most `most` bytes, by default `unpacked_limit()`; reading
    more of it is an error that names the file.
    """
    most = unpacked_limit() if most is None else most
    with private_folder() as work:
        files = several_files(path) if isinstance(path, str | os.PathLike) else []
        if files:
            yield _of_several(files, Place(str(path), work, most), header)
        elif isinstance(path, str | os.PathLike) and str(path) != "-":
            file = Path(path)
            place = Place(str(path), work, most)
            yield _of_file(_spooled_pipe(_checked(file), work), file.name, place)
        else:
            stream = sys.stdin.buffer if isinstance(path, str | os.PathLike) else path
            name = str(getattr(stream, "name", "the stream"))
            name = "standard input" if stream is sys.stdin.buffer else name
            place = Place(name, work, most)
            yield _of_file(_spool(stream, work, name), name if "." in name else "", place)


def _start(stream: BinaryIO | gzip.GzipFile) -> bytes:
    start = bytes(stream.read(_HEAD))
    while len(start) < _LONGEST_HEAD and start.count(b"\n") + start.count(b"\r") < _LINES:
        more = stream.read(_LONGEST_HEAD // 4)
        if not more:
            break
        start += more
    return start


class Place(NamedTuple):
    """What messages call an input, where it may be worked on, and what it may unpack to."""

    name: str
    work: Path
    most: int


def _of_several(files: list[Path], place: Place, header: bool | int | str | None) -> Source:
    """One source with the content of several files, each without title lines."""
    from setveil.io.formats.titles import below_titles

    plain, row, work, left = list[Path](), 0, place.work, place.most
    for number, file in enumerate(files):
        inner = work / f"file-{number}"
        inner.mkdir()
        opened = _of_file(_checked(file), file.name, Place(str(file), inner, left))
        left -= opened.plain().stat().st_size if opened.compression else 0
        if is_table(file):
            opened = below_titles(opened, header)
            row = row or opened.header_row
        (inner / plain_name(file)).symlink_to(opened.plain().absolute())
        plain.append(inner / plain_name(file))
    target = work / f"together{Path(plain_name(files[0])).suffix}"
    put_together(plain, target, work, named=place.name, header=header is not False)
    made = _of_file(target, plain_name(files[0]), place)
    return replace(made, header_row=row or int(is_table(files[0])))


def _checked(path: Path) -> Path:
    if path.is_dir():
        is_release = (path / "release.json").exists()
        remedy = "setveil.read_release reads a release" if is_release else ""
        raise FileFormatError(path, "this is a folder, not a data file", remedy=remedy)
    if not path.exists():
        raise FileFormatError(path, "there is no such file")
    if not os.access(path, os.R_OK):
        raise FileFormatError(path, "you do not have permission to read this file")
    return path


def _spooled_pipe(path: Path, work: Path) -> Path:
    if path.is_file():
        return path
    with path.open("rb") as stream:
        return _spool(stream, work, str(path))


def _spool(stream: BinaryIO, work: Path, name: str) -> Path:
    target = work / "spooled"
    with target.open("wb") as copy:
        while block := stream.read(1 << 20):
            if isinstance(block, str):
                problem = "this stream gives text, not bytes"
                raise FileFormatError(name, problem, remedy="open it in binary mode")
            copy.write(block)
    return target


def _of_file(path: Path, filename: str, place: Place) -> Source:
    ends = [end.lower() for end in Path(filename).suffixes]
    suffix = next((end for end in reversed(ends) if end not in PACKED), "")
    with path.open("rb") as stream:
        start = stream.read(4)
    compression: Compression | None = (
        "gzip" if start[:2] == b"\x1f\x8b" else "zstd" if is_frame(start) else None
    )
    claimed = PACKED.get(ends[-1]) if ends else None
    if claimed and compression is None:
        raise FileFormatError(
            place.name, f"the name says {claimed}, but the content is not compressed"
        )
    if compression == "zstd":
        check_frames(path, place.name, place.most)
    link = _linked(path, place.work / "input")
    return Source(place.name, link, compression, suffix, place.work, place.most)


def _linked(path: Path, target: Path) -> Path:
    try:
        target.symlink_to(path.absolute())
    except OSError:
        shutil.copyfile(path, target)
    return target


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
