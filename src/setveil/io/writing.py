"""Write so that nothing half-written is ever seen: to a temporary name beside the target, then rename."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from setveil.errors import DataError, OutputError
from setveil.io.source.source import PACKED
from setveil.io.space import naming, private_folder

_TEXT_AT_ONCE = 1 << 20


@contextmanager
def new_file(path: Path, *, force: bool = False, mode: int | None = None) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well, and is removed when it does not.

    A symbolic link stays one: what it points to is replaced. What nobody else could read before, nobody else can read afterwards.
    """
    check_place(path, force=force)
    place = Path(os.path.realpath(path))
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
    try:
        with _writable(path):
            os.close(
                os.open(
                    temporary,
                    os.O_CREAT | os.O_EXCL | os.O_WRONLY,
                    _mode(place) if mode is None else mode,
                )
            )
        with naming(path):
            yield temporary
        check_place(path, force=force)
        with _writable(path):
            temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)


def _mode(place: Path) -> int:
    """The permissions of the file that is replaced, of which the process may take away some; all where there is none."""
    return stat.S_IMODE(place.stat().st_mode) & 0o666 | 0o600 if place.exists() else 0o666


def check_place(path: Path, *, force: bool) -> None:
    """Refuse a place that is taken or cannot be written to."""
    if path.is_dir():
        raise OutputError(path, "it is a folder; give the name of a file")
    if path.exists() and not path.is_file():
        raise OutputError(path, "it is a device or a pipe; give the name of a file")
    if path.exists() and not force:
        raise OutputError(
            path, "it exists already; choose another name or allow overwriting (force)"
        )
    if not path.parent.is_dir():
        raise OutputError(path, f"the folder {path.parent} does not exist")


def write_lines(lines: Iterable[str], target: Path, compression: str | None) -> None:
    """Write lines as UTF-8 text, plain or packed; nothing of the time or the file's name goes into it."""
    if compression == "zstd":
        from setveil.io.source.zstd import pack

        with private_folder() as work, pack(target, work) as stream:
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
    """Write lines to standard output, whole or with an error.

    Where Python does not buffer its output, a write may take only a part of the text, so it is buffered here.
    """
    stream: IO[bytes] = sys.stdout.buffer
    raw = isinstance(stream, io.RawIOBase)
    stream = io.BufferedWriter(stream) if raw else stream
    try:
        _write_blocks(lines, stream)
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
    """How a file of this name is packed."""
    return PACKED.get(path.suffix.lower())


@contextmanager
def new_folder(
    folder: Path, *, force: bool = False, is_ours: str, kind: str = "release"
) -> Iterator[Path]:
    """A temporary folder beside `folder` that takes its place when the block ends well; until then nobody else can look into it.

    With `force` an old folder is replaced, but only when it is empty or holds the file `is_ours`; messages call such a folder a `kind`.
    """
    _check_folder(folder, force, is_ours, kind)
    hidden = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    stage, old = hidden / "new", hidden.with_suffix(".old")
    try:
        with _writable(folder):
            hidden.mkdir(mode=0o700)
            stage.mkdir()
        with naming(folder):
            yield stage
        _check_folder(folder, force, is_ours, kind)
        with _writable(folder):
            _move_in(stage, folder, old)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)


def _check_folder(folder: Path, force: bool, is_ours: str, kind: str) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError(folder, "it exists and is not a folder")
    if not folder.parent.is_dir():
        raise OutputError(folder, f"the folder {folder.parent} does not exist")
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not (folder / is_ours).is_file():
        raise OutputError(
            folder,
            f"the folder is not empty and is no {kind} (it has no {is_ours}); choose another name",
        )
    if not force:
        raise OutputError(
            folder, f"a {kind} is there already; choose another name or allow overwriting (force)"
        )


def _move_in(stage: Path, folder: Path, old: Path) -> None:
    """Rename the old folder away and the new one in; undo when it is not to be, by an interruption between the two too."""
    try:
        if folder.exists():
            folder.rename(old)
        stage.rename(folder)
    except BaseException:
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None


def _write_blocks(lines: Iterable[str], stream: IO[bytes] | gzip.GzipFile) -> None:
    for block in _gathered(lines):
        try:
            stream.write(("\n".join(block) + "\n").encode("utf-8"))
        except UnicodeEncodeError as error:
            half = error.object[error.start : error.end]
            raise DataError(
                f"an item holds {half!r}, which is no Unicode text and cannot be written"
            ) from None


def _gathered(lines: Iterable[str]) -> Iterator[list[str]]:
    """Short lines by the megabyte; what is long already goes as it is, for a writer may give many lines as one text."""
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
