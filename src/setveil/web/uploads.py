"""Uploads: a file goes to the disk block by block, so that its size does not matter to memory.

With scripts the browser sends the bare file (PUT); without, a form with one file (multipart)."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from setveil.errors import DataError, OutputError
from setveil.words import plural

_LONGEST_NAME = 100
_LONGEST_HEAD = 16_384
_UNSAFE = re.compile(r"[^\w .,()+=@\[\]-]")
_MEGA = 1_000_000


class TooLargeError(DataError):
    """An upload exceeds the limit of the page."""


def safe_name(given: str, instead: str = "data") -> str:
    """The name of an uploaded file, without folders and characters with a meaning elsewhere.

    Example:
        >>> [safe_name(name) for name in ("../../etc/passwd", "my baskets.csv", "..")]
        ['passwd', 'my baskets.csv', 'data']
    """
    name = given.replace("\\", "/").rsplit("/", 1)[-1]
    name = _UNSAFE.sub("_", name).strip().lstrip(".-~ ")
    stem, dot, ends = name.partition(".")
    name = f"{stem[: _LONGEST_NAME - len(ends[-40:])]}{dot}{ends[-40:]}"
    return name or instead


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
