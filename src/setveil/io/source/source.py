"""Where data is read from: a file, standard input or a stream, plain or compressed; or several
files as one, a folder or a pattern such as `log/2024-*.parquet`."""

from __future__ import annotations

import codecs
import glob
import gzip
import os
import re
import shutil
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from setveil.disk import private_folder, unpacked_limit
from setveil.disk.limits import copy_within, read_blocks
from setveil.errors import FileFormatError
from setveil.io.source.database import database, is_small, not_utf8, quoted, run, translated

Compression = Literal["gzip", "zstd"]
PathOrStream = str | os.PathLike[str] | BinaryIO

BOM = b"\xef\xbb\xbf"
PACKED: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
_TABLES = (".csv", ".tsv", ".tab")
_AT_ONCE = 1 << 20
_HEAD = 1 << 16
_LINES = 5
_LONGEST_HEAD = 1 << 20
_PACKED_AT_ONCE = 1 << 12
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")  # a frame, or one to skip


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
        with self.stream() as stream:
            start = bytes(stream.read(_HEAD))
            while len(start) < _LONGEST_HEAD and start.count(b"\n") + start.count(b"\r") < _LINES:
                more = stream.read(_LONGEST_HEAD // 4)
                if not more:
                    break
                start += more
            return start

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
        target, kind = self.work / "plain", self.compression
        if kind is None:
            return self.path
        if not target.exists():
            draft = self.work / "unpacking"
            with self.path.open("rb") as packed, draft.open("wb") as plain:
                blocks = _gunzipped(packed) if kind == "gzip" else _zstd_blocks(packed)
                try:
                    copy_within(self.most, blocks, plain, self.name)
                except (EOFError, gzip.BadGzipFile, zlib.error):
                    problem = f"the {kind} data is cut off or damaged"
                    raise self.fault(problem, remedy="get the file again") from None
            draft.rename(target)
        return target


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


def _gunzipped(packed: BinaryIO) -> Iterator[bytes]:
    with gzip.open(packed) as stream:
        yield from read_blocks(stream)


def _zstd_blocks(packed: BinaryIO) -> Iterator[bytes]:
    """What the frames of a zstd file contain; little is read at once, as it may unpack to much."""
    import zstandard

    frame, rest = None, b""
    try:
        while block := rest or packed.read(_PACKED_AT_ONCE):
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(block)
            rest = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    except zstandard.ZstdError:
        raise EOFError from None
    if frame is not None:
        raise EOFError


class Place(NamedTuple):
    """What messages call an input, where it may be worked on, and what it may unpack to."""

    name: str
    work: Path
    most: int


def _of_several(files: list[Path], place: Place, header: bool | int | str | None) -> Source:
    """One source with the content of several files, each without title lines."""
    from setveil.io.formats.guess import below_titles

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
        "gzip" if start[:2] == b"\x1f\x8b" else "zstd" if _ZSTD.match(start) else None
    )
    claimed = PACKED.get(ends[-1]) if ends else None
    if claimed and compression is None:
        raise FileFormatError(
            place.name, f"the name says {claimed}, but the content is not compressed"
        )
    link = place.work / "input"
    try:
        link.symlink_to(path.absolute())
    except OSError:
        shutil.copyfile(path, link)
    return Source(place.name, link, compression, suffix, place.work, place.most)


def several_files(path: str | os.PathLike[str]) -> list[Path]:
    """The data files that a folder contains or a pattern describes, by name; none for one file.

    Files whose name starts with a dot or an underscore are left out: other programs put them there.

    Raises:
        FileFormatError: if there are none, or files of several formats.
    """
    place = Path(path)
    if place.is_dir() and not (place / "release.json").exists():
        found = sorted(each for each in place.iterdir() if each.is_file())
    elif not place.exists() and glob.has_magic(str(path)):
        found = sorted(Path(each) for each in glob.glob(str(path)) if Path(each).is_file())
    else:
        return []
    found = [each for each in found if not each.name.startswith((".", "_"))]
    if not found:
        raise FileFormatError(str(path), "there are no data files")
    kinds = sorted({_suffix(each) for each in found})
    if len(kinds) > 1:
        problem = f"the files are of several formats ({', '.join(kinds)})"
        raise FileFormatError(
            str(path), problem, remedy="name them by a pattern such as 'folder/*.csv'"
        )
    return found


def plain_name(file: Path) -> str:
    """The name of a file without `.gz` or `.zst`."""
    return file.stem if file.suffix.lower() in PACKED else file.name


def is_table(file: Path) -> bool:
    """Whether a file is a table by its name."""
    return _suffix(file) in _TABLES


def put_together(
    files: Sequence[Path], target: Path, work: Path, *, named: str, header: bool
) -> None:
    """Write what all files contain to one file.

    Args:
        files: The files, each decompressed already.
        target: The file to write.
        work: A private folder for what exceeds memory.
        named: What the user calls them, for errors.
        header: Whether the first line of tables names the columns; then it must be the same.
    """
    if _suffix(files[0]) in (".parquet", ".pq"):
        listed = ", ".join(map(quoted, files))
        table = f"SELECT * FROM read_parquet([{listed}], union_by_name=true)"
        with database(work) as connection, translated(named):
            run(connection, f"COPY ({table}) TO {quoted(target)} (FORMAT parquet)")
        return
    has_header = header and is_table(files[0])
    if has_header and len({*map(_first, files)}) > 1:
        raise FileFormatError(
            named,
            "its files begin with different lines, so they may have different columns",
            remedy="name files of one kind by a pattern; if they have no header, {header=False}",
        )
    with target.open("wb") as stream:
        for number, file in enumerate(files):
            with file.open("rb") as source:
                if number and has_header:
                    source.readline(_AT_ONCE)
                shutil.copyfileobj(source, stream, _AT_ONCE)
                _end_line(source, stream)


def _end_line(source: BinaryIO, stream: BinaryIO) -> None:
    """Begin a new line if the file did not end with one."""
    if source.tell():
        source.seek(-1, os.SEEK_END)
        if source.read(1) != b"\n":
            stream.write(b"\n")


def _first(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.readline(_AT_ONCE).rstrip(b"\r\n")


def _suffix(file: Path) -> str:
    return Path(plain_name(file)).suffix.lower()
