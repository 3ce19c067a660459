"""JSON texts, read strictly: whole, or piece by piece."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

SAME_KEY = "an object has the same key twice"
"""Readers of JSON differ in which of the two they use, so it is refused."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""An escape that is half of a character, and right only next to its other half."""
_SOON = 1 << 16
"""The most characters of a value that is read at once."""
_SPACE = re.compile(r"[ \t\r\n]*").match


def parse_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: if it is none.
    """
    pieces = JsonPieces(text)
    value = pieces.value()
    pieces.end()
    return value


class JsonPieces:
    """A JSON text that is read piece by piece, so that a long list need not be held whole."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        if _SURROGATE.search(text):
            try:
                json.dumps(json.loads(text), ensure_ascii=False).encode()
            except UnicodeEncodeError:
                raise ValueError("half of a surrogate pair is not a character") from None

    def value(self) -> Any:
        """The whole value that comes next."""
        self.at = at = _space(self.text, self.at)
        try:
            value, self.at = _SCAN(self.text, at)
        except StopIteration as error:
            raise json.JSONDecodeError("Expecting value", self.text, error.value) from None
        return value

    def ends_soon(self, begin: str, end: str) -> bool:
        """Whether the text goes on with `begin`, and within some thousand characters has `end`."""
        at = self.at
        return self.text.startswith(begin, at) and self.text.find(end, at, at + _SOON) >= 0

    def passes(self, mark: str) -> bool:
        """Go past this mark, if it comes next."""
        self.at = at = _space(self.text, self.at)
        found = self.text.startswith(mark, at)
        self.at += found
        return found

    def each(self, end: str) -> Iterator[None]:
        """Stop before each member of a list or an object that has begun, and go past its end."""
        if self.passes(end):
            return
        yield
        while self.passes(","):
            yield
        if not self.passes(end):
            raise json.JSONDecodeError("Expecting ',' delimiter", self.text, self.at)

    def named(self) -> Iterator[str]:
        """Each key of an object that has begun; stops before its value."""
        for _ in self.each("}"):
            at, key = self.at, self.value()
            if not isinstance(key, str):
                problem = "Expecting property name enclosed in double quotes"
                raise json.JSONDecodeError(problem, self.text, at)
            if not self.passes(":"):
                raise json.JSONDecodeError("Expecting ':' delimiter", self.text, self.at)
            yield key

    def back_at(self, at: int) -> JsonPieces:
        """The same text, from an earlier place on."""
        again = object.__new__(JsonPieces)
        again.text, again.at = self.text, at
        return again

    def end(self) -> None:
        """Refuse a text that goes on."""
        self.at = _space(self.text, self.at)
        if self.at < len(self.text):
            raise json.JSONDecodeError("Extra data", self.text, self.at)


def _space(text: str, at: int) -> int:
    """The place after blanks."""
    return at if text[at : at + 1] > " " else _SPACE(text, at).end()  # type: ignore[union-attr]


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON value")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(SAME_KEY)
    return found


_DECODER: Any = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_object)
_SCAN = _DECODER.scan_once
