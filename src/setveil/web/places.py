"""Files of this machine that the page may read: a path that is named, or what a folder contains.

Links are followed before a path is judged, so neither `..` nor a link leads out of the folders that
the page may read. The folder in which the page keeps its own data is never read by path."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.errors import FileFormatError, ParameterError
from setveil.words import printable

MOST_SHOWN = 500
"""How many entries of a folder are shown; a filter finds the others."""


@dataclass(frozen=True)
class Entry:
    """A file or a folder."""

    name: str
    path: Path
    """Where it really is, links followed."""
    is_folder: bool
    size: int
    modified: float

    def to_dict(self) -> dict[str, Any]:
        """The entry as JSON shows it."""
        about = {} if self.is_folder else {"size": self.size, "modified": self.modified}
        return {"name": self.name, "path": str(self.path), **about}


@dataclass(frozen=True)
class Listing:
    """What a folder contains, as far as it is shown."""

    folder: Path
    parent: Path | None
    """The folder above; None if the page may not read it."""
    folders: tuple[Entry, ...]
    files: tuple[Entry, ...]
    more: int
    """How many entries are left out because there are too many."""


@dataclass(frozen=True)
class Places:
    """The folders whose files the page may read."""

    roots: tuple[Path, ...]
    """Resolved; relative paths begin in the first."""
    own: Path
    """The data folder of the page, which is never read by path."""

    def file(self, given: str) -> Path:
        """The file that a user has named.

        Raises:
            ParameterError: if it is outside the folders that the page may read.
            FileFormatError: if there is no such file.
        """
        if not given.strip():
            raise ParameterError("path", None, "name a file on this machine")
        place = self._allowed(given.strip())
        if not _is(place, "is_file"):
            is_folder = _is(place, "is_dir")
            problem = "this is a folder, not a file" if is_folder else "there is no such file"
            raise FileFormatError(printable(given), problem)
        return place

    def listing(self, given: str = "", wanted: str = "") -> Listing:
        """What is in a folder (the first root if none is given): folders and files whose names
        contain `wanted`. Hidden ones are left out, and links that lead out of the roots.

        Raises:
            ParameterError: if it is outside the folders that the page may read.
            FileFormatError: if there is no such folder, or it cannot be opened.
        """
        folder = self._allowed(given) if given else self.roots[0]
        try:
            found = sorted(self._entries(folder, wanted.casefold()), key=_order)
        except OSError as error:
            problem = "there is no such folder" if isinstance(error, FileNotFoundError) else (
                "this folder cannot be opened"
            )  # fmt: skip
            raise FileFormatError(printable(str(folder)), problem) from None
        shown = found[:MOST_SHOWN]
        return Listing(
            folder,
            folder.parent if self.may_read(folder.parent) and folder.parent != folder else None,
            tuple(entry for entry in shown if entry.is_folder),
            tuple(entry for entry in shown if not entry.is_folder),
            len(found) - len(shown),
        )

    def may_read(self, place: Path) -> bool:
        """Whether a path without links is inside the folders that the page may read."""
        inside = any(place.is_relative_to(root) for root in self.roots)
        return inside and not place.is_relative_to(self.own)

    def _allowed(self, given: str) -> Path:
        """The path with all links followed, if the page may read it."""
        if "\0" in given:
            raise ParameterError("path", printable(given), "this is not the name of a file")
        place = _resolved(self.roots[0], given, expand=True)
        if place is None or not self.may_read(place):
            folders = " or ".join(map(str, self.roots))
            allowed = f"it must be in {folders}; start with {{files}} for others"
            raise ParameterError("path", printable(given), allowed)
        return place

    def _entries(self, folder: Path, wanted: str) -> Iterator[Entry]:
        with os.scandir(folder) as inside:
            for found in inside:
                if wanted in found.name.casefold() and _is_shown(found.name):
                    entry = self._entry(folder, found.name)
                    if entry is not None:
                        yield entry

    def _entry(self, folder: Path, name: str) -> Entry | None:
        """A file or folder that may be read; None for all else, such as a link that leads out."""
        place = _resolved(folder, name)
        if place is None or not self.may_read(place):
            return None
        try:
            about = place.stat()
        except OSError:
            return None
        is_folder = place.is_dir()
        if not is_folder and not place.is_file():
            return None
        return Entry(name, place, is_folder, about.st_size, about.st_mtime)


def _resolved(base: Path, given: str, *, expand: bool = False) -> Path | None:
    """A path with all links followed; None if they never end, or no such user exists."""
    try:
        return (base / (Path(given).expanduser() if expand else given)).resolve()
    except (OSError, RuntimeError):
        return None


def _is(place: Path, kind: str) -> bool:
    try:
        return bool(getattr(place, kind)())
    except OSError:  # such as a name that is too long
        return False


def _is_shown(name: str) -> bool:
    """Hidden files are not shown, nor names that a form could not send back."""
    return not name.startswith(".") and name.isprintable() and name == name.strip()


def _order(entry: Entry) -> tuple[bool, str, str]:
    return not entry.is_folder, entry.name.casefold(), entry.name
