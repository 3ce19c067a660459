"""A full disk, told by the name of the place that has no room left."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setveil.errors import OutputError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LITTLE = 1 << 20


@contextmanager
def naming(place: Path) -> Iterator[None]:
    """Say which place it was when there is no room left for what is written to it.

    Raises:
        OutputError: in the place of an error of the system that names no place.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, OutputError) or error.errno not in _FULL:
            raise
        raise OutputError(place, error.strerror or str(error)) from error


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder that is gone after the block, and is named when it has no room left."""
    with tempfile.TemporaryDirectory(prefix="setveil-") as folder:
        try:
            yield Path(folder)
        except OSError as error:
            if (
                isinstance(error, OutputError)
                or error.errno not in _FULL
                or shutil.disk_usage(folder).free > _LITTLE
            ):
                raise
            advice = "TMPDIR may name another place for what is temporary"
            raise OutputError(tempfile.gettempdir(), f"{error.strerror}; {advice}") from error
