"""Files that come to the page: uploads, and files of this machine that it may read.

An upload goes to the disk block by block, so that its size does not matter to memory. With scripts
the browser sends the bare file (PUT); without, a form with one file (multipart). Links are followed
before a path is judged, so neither `..` nor a link leads out of the folders that the page may read.
The folder in which the page keeps its own data is never read by path."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from setveil.errors import DataError, FileFormatError, OutputError, ParameterError
from setveil.words import plural, printable

_LONGEST_NAME = 100
_LONGEST_HEAD = 16_384
_UNSAFE = re.compile(r"[^\w .,()+=@\[\]-]")
_MEGA = 1_000_000
MOST_SHOWN = 500
"""How many entries of a folder are shown; a filter finds the others."""


class TooLargeError(DataError):
    """An upload exceeds the limit of the page."""


def safe_name(given: str) -> str:
    """The name of an uploaded file, without folders and characters with a meaning elsewhere.

    Example:
        >>> [safe_name(name) for name in ("../../etc/passwd", "my baskets.csv", "..")]
        ['passwd', 'my baskets.csv', 'data']
    """
    name = given.replace("\\", "/").rsplit("/", 1)[-1]
    name = _UNSAFE.sub("_", name).strip().lstrip(".-~ ")
    stem, dot, ends = name.partition(".")
    name = f"{stem[: _LONGEST_NAME - len(ends[-40:])]}{dot}{ends[-40:]}"
    return name or "data"


async def receive_bare(request: Request, folder: Path, most: int) -> tuple[str, Path]:
    """The name and the place of a file that is the whole body of a request."""
    name = safe_name(request.query_params.get("name", ""))
    return name, await _keep(request.stream(), folder, name, _Limit(most, _length(request)))


async def receive_form(request: Request, folder: Path, most: int) -> tuple[str, Path]:
    """The name and the place of the first file of a multipart form."""
    form = _Form(request.headers.get("content-type", ""))
    blocks = form.blocks(request.stream())
    first = await anext(blocks, b"")  # after which the name is known
    if not form.name:
        raise DataError("no file was chosen")

    async def content() -> AsyncIterator[bytes]:
        yield first
        async for block in blocks:
            yield block
        if not form.is_whole:
            raise DataError("the upload was interrupted; send the file again")

    name = safe_name(form.name)
    return name, await _keep(content(), folder, name, _Limit(most, _length(request)))


class _Limit:
    """Counts bytes, and refuses more than are allowed."""

    def __init__(self, most: int, announced: int | None) -> None:
        self.most, self.seen = most, 0
        if announced is not None and announced > most + _LONGEST_HEAD:
            self.refuse()

    def count(self, block: bytes) -> None:
        self.seen += len(block)
        if self.seen > self.most:
            self.refuse()

    def refuse(self) -> None:
        size = plural(self.most // _MEGA, "MB", "MB")
        problem = f"the file is larger than the {size} that this page takes"
        remedy = "name the path of the file instead, or start with a larger {max_upload}"
        raise TooLargeError(problem, remedy=remedy)


async def _keep(blocks: AsyncIterator[bytes], folder: Path, name: str, limit: _Limit) -> Path:
    """Write a file under a name of its own; an upload that ends early leaves nothing."""
    place = folder / f"{secrets.token_hex(4)}-{name}"
    try:
        with os.fdopen(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            async for block in blocks:
                limit.count(block)
                file.write(block)
    except BaseException as error:
        with suppress(OSError):
            place.unlink()
        if isinstance(error, ClientDisconnect | TimeoutError):
            raise DataError("the upload was interrupted; send the file again") from None
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise OutputError(name, error.strerror or str(error)) from None
        raise
    return place


def _length(request: Request) -> int | None:
    given = request.headers.get("content-length", "")
    return int(given) if given.isdecimal() and len(given) < 19 else None


class _Form:
    """Finds the first file of a multipart form as it comes; at most one block is held."""

    def __init__(self, kind: str) -> None:
        _, words = parse_options_header(kind)
        boundary = words.get(b"boundary")
        if not kind.startswith("multipart/form-data") or not boundary:
            raise DataError("this form has no file")
        self.name, self.is_whole = "", False
        self._held: list[bytes] = []
        self._field, self._value, self._headers = b"", b"", dict[bytes, bytes]()
        self._in_file = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": self._on_field,
                "on_header_value": self._on_value,
                "on_header_end": self._on_header,
                "on_headers_finished": self._on_headers,
                "on_part_data": self._on_data,
                "on_part_end": self._on_end,
            },
        )

    async def blocks(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The blocks of the file; the first one comes when its name is known."""
        async for block in stream:
            try:
                self._parser.write(block)
            except MultipartParseError:
                raise DataError("this form cannot be read") from None
            if self._held or (self.name and self.is_whole):
                found, self._held = b"".join(self._held), []
                yield found

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header(self) -> None:
        self._headers[self._field.lower()] = self._value
        self._field = self._value = b""

    def _on_headers(self) -> None:
        _, words = parse_options_header(self._headers.get(b"content-disposition", b""))
        given = words.get(b"filename", b"").decode("utf-8", "replace")
        self._in_file = bool(given) and not self.name
        self.name = self.name or given

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._held.append(data[start:end])

    def _on_end(self) -> None:
        self.is_whole = self.is_whole or self._in_file
        self._in_file = False


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
        """The file that a user has named."""
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
        contain `wanted`. Hidden ones are left out, and links that lead out of the roots."""
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
                name = found.name  # hidden files are not shown, nor what a form cannot send back
                is_shown = name[0] != "." and name.isprintable() and name == name.strip()
                entry = (
                    self._entry(folder, name) if is_shown and wanted in name.casefold() else None
                )
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


def _order(entry: Entry) -> tuple[bool, str, str]:
    return not entry.is_folder, entry.name.casefold(), entry.name
