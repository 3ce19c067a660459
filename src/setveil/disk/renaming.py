"""Renames that survive a power cut, and that exchange two names in one step."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

_HERE = -100  # AT_FDCWD
_NO_REPLACE, _EXCHANGE = 1, 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


def sync(place: Path) -> None:
    """Wait until a file, or a folder with all that it contains, is on the disk."""
    if place.is_dir():
        for inner in place.iterdir():
            sync(inner)
    _sync(place)


def sync_entry(place: Path) -> None:
    """Wait until the name of a file or folder is on the disk."""
    _sync(place.parent)


def move(source: Path, target: Path) -> None:
    """Rename a file.

    Raises:
        FileExistsError: if another process has just written a file of this name (on Linux).
    """
    if not _rename(source, target, _NO_REPLACE):
        source.rename(target)


def exchange(new: Path, target: Path, old: Path) -> None:
    """Give `new` the name `target`, and what had that name another one (that of `new` or `old`).

    Where the system cannot exchange names, `target` is renamed to `old` first, and back if that
    fails; `remove_leftovers` does it for a process that was killed between the two steps.
    """
    if _rename(new, target, _EXCHANGE):
        return
    try:
        target.rename(old)
        new.rename(target)
    except BaseException:  # an interruption between the two steps counts too
        if old.exists() and not target.exists():
            old.rename(target)
        raise


def _rename(source: Path, target: Path, flag: int) -> bool:
    """Linux's rename with a flag; False if this system or disk does not have it."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(source), os.fsencode(target)
    if rename(_HERE, names[0], _HERE, names[1], ctypes.c_uint(flag)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(target))


def _sync(place: Path) -> None:
    if os.name == "nt" and place.is_dir():
        return
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:  # some network disks cannot
            raise
    finally:
        os.close(handle)
