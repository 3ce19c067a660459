"""Files: data in every format, and releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.io.files import read, write
from setveil.io.formats import FORMATS, Format

if TYPE_CHECKING:
    import os

    from setveil.published import Release


def read_release(path: str | os.PathLike[str]) -> Release:
    """The release in a folder; see `setveil.io.releases.folder.read_release`."""
    from setveil.io.releases.folder import read_release

    return read_release(path)


__all__ = ["FORMATS", "Format", "read", "read_release", "write"]
