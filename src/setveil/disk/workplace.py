"""Private working folders, full disks by name, and leftovers of killed processes.

A working folder contains a lock file that its process keeps locked. The system releases the lock
when the process ends, however it ends, so a folder whose lock is free belongs to nobody. The next
run that writes removes it."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from setveil.errors import LeftoverWarning, OutputError

try:
    import fcntl
except ImportError:  # on Windows nothing is locked, so leftovers are not found
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"
"""The lock file; it contains the name of what is being written."""
OLD = "old"
"""What is being replaced, on systems that cannot exchange two names in one step."""
_OURS = re.compile(r"\.?setveil-[0-9a-f]{12}")


@contextmanager
def working_folder(parent: Path, *, target: str = "", hidden: bool = True) -> Iterator[Path]:
    """A new folder that only the user can open, and that is removed after the block.

    Args:
        parent: Where. If the work will get a name there, leftovers of killed processes are removed
            first, there and among temporary files; mere reading removes nothing.
        target: The name in `parent` that the work will get.
        hidden: Whether the name starts with a dot.
    """
    if target:
        remove_leftovers(parent)
        remove_leftovers(Path(tempfile.gettempdir()))
    folder, lock = _claim(parent, target, "." if hidden else "")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_leftovers(parent: Path) -> None:
    """Remove the working folders of killed processes, with a warning: they hold private data.

    A release that such a process had moved aside gets its name back.
    """
    if fcntl is None:
        return
    with suppress(OSError):
        for entry in list(os.scandir(parent)):
            if _OURS.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                _remove_if_dead(Path(entry.path))


def _claim(parent: Path, target: str, dot: str) -> tuple[Path, int]:
    """Make and lock a folder. Another process may take it for a leftover until it is locked."""
    while True:
        folder = parent / f"{dot}setveil-{secrets.token_hex(6)}"
        folder.mkdir(mode=0o700)
        try:
            lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:
            continue
        if fcntl is not None:
            with suppress(OSError):  # some network disks have no locks
                fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            os.write(lock, os.fsencode(target))
            return folder, lock
        os.close(lock)


def _remove_if_dead(folder: Path) -> None:
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        with suppress(OSError):
            folder.rmdir()  # it is empty if its process was killed before it had a lock
        return
    except OSError:  # of another user
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # its process is alive
        os.close(lock)
        return
    try:
        _put_back(folder, os.fsdecode(os.read(lock, 4096)))
        shutil.rmtree(folder)
        _warn(f"removed {folder}, which an interrupted run had left behind")
    except OSError as error:
        _warn(
            f"{folder} is left from an interrupted run and may hold private data; remove it "
            f"({error.strerror})"
        )
    finally:
        os.close(lock)


def _put_back(folder: Path, target: str) -> None:
    """Return its name to an old release whose replacement was interrupted between two renames."""
    old, place = folder / OLD, folder.parent / target
    if target and old.exists() and not place.exists():
        old.rename(place)
        _warn(f"restored {place}, which an interrupted run was about to replace")


def _warn(text: str) -> None:
    warnings.warn(text, LeftoverWarning, stacklevel=2)


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LITTLE = 1 << 20
_LIMIT = "allow larger files (ulimit -f)"


@contextmanager
def private_folder() -> Iterator[Path]:
    """A temporary folder that is removed after the block.

    Raises:
        OutputError: if the disk of temporary files is full; it names the folder.
    """
    place = tempfile.gettempdir()
    with working_folder(Path(place), hidden=False) as folder:
        try:
            yield folder
        except OSError as error:
            is_here = str(error.filename).startswith(str(folder))
            if not is_full(error) or not (is_here or shutil.disk_usage(folder).free <= _LITTLE):
                raise
            is_large = error.errno == errno.EFBIG
            remedy = _LIMIT if is_large else "set TMPDIR to another folder for temporary files"
            raise OutputError(place, error.strerror or str(error), remedy=remedy) from error


@contextmanager
def naming(place: Path) -> Iterator[None]:
    """Say which file or folder it was if the disk is full, which the system does not.

    Raises:
        OutputError: instead of the error of the system.
    """
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        remedy = _LIMIT if error.errno == errno.EFBIG else ""
        raise OutputError(place, error.strerror or str(error), remedy=remedy) from error


def is_full(error: OSError) -> bool:
    """Whether the system has no room left, or allows no larger file."""
    return error.errno in _FULL and not isinstance(error, OutputError)
