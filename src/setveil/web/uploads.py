"""Uploads: a file goes to the disk block by block, so that its size does not matter to memory.

With scripts the browser sends the bare file (PUT); without, a form with one file (multipart)."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from email.message import Message
from pathlib import Path

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
    head = Message()
    head["content-type"] = request.headers.get("content-type", "")
    boundary = head.get_param("boundary")
    if head.get_content_type() != "multipart/form-data" or not isinstance(boundary, str):
        raise DataError("this form has no file")
    parts = _Parts(request.stream(), b"\r\n--" + boundary.encode("latin-1", "replace"))
    while (headers := await parts.next_headers()) is not None:
        given = headers.get_param("filename", header="content-disposition")
        if isinstance(given, tuple):
            given = given[2]
        if given:
            name = safe_name(str(given))
            limit = _Limit(most, _length(request))
            return name, await _keep(parts.content(), folder, name, limit)
        async for _ in parts.content():
            pass
    raise DataError("no file was chosen")


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
        if isinstance(error, ClientDisconnect):
            raise DataError("the upload was interrupted; send the file again") from None
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise OutputError(name, error.strerror or str(error)) from None
        raise
    return place


def _length(request: Request) -> int | None:
    given = request.headers.get("content-length", "")
    return int(given) if given.isdecimal() and len(given) < 19 else None


class _Parts:
    """Reads a multipart body as it comes; at most one block and one boundary are held."""

    def __init__(self, stream: AsyncIterator[bytes], mark: bytes) -> None:
        self.stream, self.mark, self.held, self.ended = stream, mark, b"\r\n", False

    async def next_headers(self) -> Message | None:
        """The headers of the next part; None after the last."""
        while self.mark not in self.held:
            if not await self._more():
                return None
            if self.mark not in self.held:
                self.held = self.held[-len(self.mark) :]
        self.held = self.held.split(self.mark, 1)[1]
        while b"\r\n\r\n" not in self.held:
            if self.held.startswith(b"--") or not await self._more():
                return None
            if len(self.held) > _LONGEST_HEAD and b"\r\n\r\n" not in self.held:
                raise DataError("this form cannot be read")
        head, self.held = self.held.split(b"\r\n\r\n", 1)
        return _headers(head)

    async def content(self) -> AsyncIterator[bytes]:
        """The bytes of the part, up to the next boundary."""
        while self.mark not in self.held:
            safe = len(self.held) - len(self.mark)
            if safe > 0:
                yield self.held[:safe]
                self.held = self.held[safe:]
            if not await self._more():
                raise DataError("the upload was interrupted; send the file again")
        content, _, rest = self.held.partition(self.mark)
        self.held = self.mark + rest
        yield content

    async def _more(self) -> bool:
        async for block in self.stream:
            if block:
                self.held += block
                return True
        return False


def _headers(head: bytes) -> Message:
    made = Message()
    for line in head.decode("utf-8", "replace").split("\r\n"):
        name, colon, value = line.partition(":")
        if colon:
            made[name.strip()] = value.strip()
    return made
