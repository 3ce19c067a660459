"""Files and folders that appear whole or not at all, temporary folders, and full disks by name."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setveil.errors import OutputError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LITTLE = 1 << 20
_OVERWRITE = "choose another name or allow overwriting with {force=True}"


@contextmanager
def new_file(path: Path, *, force: bool = False, mode: int | None = None) -> Iterator[Path]:
    """A temporary file that replaces `path` if the block succeeds, and is removed otherwise.

    A symbolic link is kept: the file it points to is replaced. A file that only its owner could
    read stays private.
    """
    check_place(path, force=force)
    place = Path(os.path.realpath(path))
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    try:
        with _writable(path):
            os.close(os.open(temporary, flags, _mode(place) if mode is None else mode))
        with naming(path):
            yield temporary
        check_place(path, force=force)
        with _writable(path):
            temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)


def check_place(path: Path, *, force: bool) -> None:
    """Refuse a place where no file can be written, or where one exists and may not be replaced."""
    if path.is_dir():
        raise OutputError(path, "it is a folder", remedy="give the name of a file")
    if path.exists() and not path.is_file():
        raise OutputError(path, "it is a device or a pipe", remedy="give the name of a file")
    if path.exists() and not force:
        raise OutputError(path, "it exists already", remedy=_OVERWRITE)
    if not path.parent.is_dir():
        raise OutputError(path, f"the folder {path.parent} does not exist")


@contextmanager
def new_folder(
    folder: Path, *, force: bool = False, is_ours: str, kind: str = "release"
) -> Iterator[Path]:
    """A temporary folder that replaces `folder` if the block succeeds, and is removed otherwise.

    Until then nobody else can open it. With `force` an old folder is replaced, but only if it is
    empty or contains the file `is_ours`; messages call such a folder a `kind`.
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


@contextmanager
def private_folder() -> Iterator[Path]:
    """A temporary folder that is removed after the block.

    Raises:
        OutputError: if the disk of temporary files is full; it names the folder.
    """
    with tempfile.TemporaryDirectory(prefix="setveil-") as folder:
        try:
            yield Path(folder)
        except OSError as error:
            if not _is_full(error) or shutil.disk_usage(folder).free > _LITTLE:
                raise
            remedy = "set TMPDIR to another folder for temporary files"
            problem = error.strerror or str(error)
            raise OutputError(tempfile.gettempdir(), problem, remedy=remedy) from error


@contextmanager
def naming(place: Path) -> Iterator[None]:
    """Say which file or folder it was if the disk is full, which the system does not.

    Raises:
        OutputError: instead of the error of the system.
    """
    try:
        yield
    except OSError as error:
        if not _is_full(error):
            raise
        raise OutputError(place, error.strerror or str(error)) from error


def _mode(place: Path) -> int:
    """The permissions of the file to be replaced; those of a new file if there is none."""
    return stat.S_IMODE(place.stat().st_mode) & 0o666 | 0o600 if place.exists() else 0o666


def _check_folder(folder: Path, force: bool, is_ours: str, kind: str) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError(folder, "it exists and is not a folder")
    if not folder.parent.is_dir():
        raise OutputError(folder, f"the folder {folder.parent} does not exist")
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not (folder / is_ours).is_file():
        problem = f"the folder is not empty and not a {kind} (it has no {is_ours})"
        raise OutputError(folder, problem, remedy="choose another name")
    if not force:
        raise OutputError(folder, f"a {kind} exists there already", remedy=_OVERWRITE)


def _move_in(stage: Path, folder: Path, old: Path) -> None:
    """Rename the old folder away and the new one in; undo the first step if the second fails."""
    try:
        if folder.exists():
            folder.rename(old)
        stage.rename(folder)
    except BaseException:  # an interruption between the two steps counts too
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None


def _is_full(error: OSError) -> bool:
    return error.errno in _FULL and not isinstance(error, OutputError)
