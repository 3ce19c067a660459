"""Where data is read from: a file, standard input or a stream, plain or packed, with a private folder for what must lie on disk."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Literal

from setveil.disk import private_folder
from setveil.errors import FileFormatError
from setveil.io.source.zstd import MAGIC, check_frames, first_lines, unpack_lines

Compression = Literal["gzip", "zstd"]
PathOrStream = str | os.PathLike[str] | BinaryIO

BOM = b"\xef\xbb\xbf"
PACKED: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
_HEAD = 1 << 16


@dataclass(frozen=True)
class Source:
    """One input: a file on disk and what is known of it."""

    name: str
    """What messages call it."""
    path: Path
    """Its file, under a name in which nothing has a meaning for DuckDB."""
    compression: Compression | None
    suffix: str
    """The end of its name without `.gz` or `.zst`, in small letters."""
    work: Path
    """A private folder that is removed after reading."""

    def fault(self, problem: str, *, remedy: str = "") -> FileFormatError:
        """The error for something wrong with this input."""
        return FileFormatError(self.name, problem, remedy=remedy)

    @cached_property
    def head(self) -> bytes:
        """The first 64 kB (of zstd: of the first lines), unpacked, without a byte order mark."""
        if self.compression == "zstd":
            return first_lines(self.path, self.name, self.work)[:_HEAD].removeprefix(BOM)
        with (
            self._unpacked(),
            gzip.open(self.path) if self.compression == "gzip" else self.path.open("rb") as stream,
        ):
            return stream.read(_HEAD).removeprefix(BOM)

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """The unpacked bytes, without a byte order mark."""
        with self.plain().open("rb", buffering=1 << 20) as stream:
            if stream.read(3) != BOM:
                stream.seek(0)
            yield stream

    def plain(self) -> Path:
        """A file with the unpacked bytes."""
        target = self.work / "plain"
        if self.compression is None:
            return self.path
        if not target.exists() and self.compression == "zstd":
            unpack_lines(self.path, self.name, self.work, target)
        elif not target.exists():
            with self._unpacked(), gzip.open(self.path) as packed, target.open("wb") as plain:
                shutil.copyfileobj(packed, plain, 1 << 20)
        return target

    @contextmanager
    def _unpacked(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise FileFormatError(
                self.name, "the gzip data is cut off or damaged: get the file again"
            ) from None


@contextmanager
def open_source(path: PathOrStream) -> Iterator[Source]:
    """The source behind a path, `-` for standard input, or an open binary stream; what it puts on disk is gone afterwards."""
    with private_folder() as work:
        if isinstance(path, str | os.PathLike) and str(path) != "-":
            file = Path(path)
            yield _of_file(_spooled_pipe(_checked(file), work), file.name, str(path), work)
        else:
            stream = sys.stdin.buffer if isinstance(path, str | os.PathLike) else path
            shown = (
                "standard input"
                if stream is sys.stdin.buffer
                else str(getattr(stream, "name", "the stream"))
            )
            yield _of_file(_spool(stream, work, shown), shown if "." in shown else "", shown, work)


def _checked(path: Path) -> Path:
    if path.is_dir():
        hint = (
            "; to check a release, use setveil.io.read_release"
            if (path / "release.json").exists()
            else ""
        )
        raise FileFormatError(path, f"this is a folder, not a data file{hint}")
    if not path.exists():
        raise FileFormatError(path, "there is no such file")
    if not os.access(path, os.R_OK):
        raise FileFormatError(path, "the file may not be read: its permissions forbid it")
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
                raise FileFormatError(name, "this stream gives text: open it in binary mode")
            copy.write(block)
    return target


def _of_file(path: Path, filename: str, shown: str, work: Path) -> Source:
    ends = [end.lower() for end in Path(filename).suffixes]
    suffix = next((end for end in reversed(ends) if end not in PACKED), "")
    with path.open("rb") as stream:
        start = stream.read(4)
    compression: Compression | None = (
        "gzip" if start[:2] == b"\x1f\x8b" else "zstd" if start == MAGIC else None
    )
    claimed = PACKED.get(ends[-1]) if ends else None
    if claimed and compression is None and start:
        raise FileFormatError(shown, f"the name says {claimed}, but the content is not packed so")
    if compression == "zstd":
        check_frames(path, shown)
    return Source(shown, _linked(path, work / "input"), compression, suffix, work)


def _linked(path: Path, target: Path) -> Path:
    try:
        target.symlink_to(path.absolute())
    except OSError:
        shutil.copyfile(path, target)
    return target
