"""Temporary folders, and full disks by name."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setveil.disk.workplace import working_folder
from setveil.errors import OutputError

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
