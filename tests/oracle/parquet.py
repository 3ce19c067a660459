"""A plain writer and reader of Parquet: flat columns, plain and not compressed, in one row group.

The columns are texts or whole numbers; a text may be missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.oracle.readers import Unsure

_MAGIC = b"PAR1"
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
_INT64, _BYTES = 2, 6
Values = Sequence[object]


def write_parquet(columns: Mapping[str, Values]) -> bytes:
    """A file with these columns; a column with None may have missing values."""
    content, chunks, size = bytearray(_MAGIC), [], len(next(iter(columns.values())))
    for name, values in columns.items():
        kind = _INT64 if all(isinstance(value, int) for value in values) else _BYTES
        page = _levels(values) + b"".join(map(_plain, (v for v in values if v is not None)))
        inner = [(1, _I32, size), (2, _I32, 0), (3, _I32, 3), (4, _I32, 3)]
        head = _struct(
            [(1, _I32, 0), (2, _I32, len(page)), (3, _I32, len(page)), (5, _STRUCT, inner)]
        )
        chunks.append((name, kind, len(content), len(head) + len(page)))
        content += head + page
    foot = _foot(columns, chunks, size)
    return bytes(content) + foot + len(foot).to_bytes(4, "little") + _MAGIC


def _levels(values: Values) -> bytes:
    """Which values are there, if some are not: runs of one bit."""
    if None not in values:
        return b""
    runs = b"".join(bytes([2, value is not None]) for value in values)
    return len(runs).to_bytes(4, "little") + runs


def _plain(value: object) -> bytes:
    if isinstance(value, int):
        return value.to_bytes(8, "little", signed=True)
    text = str(value).encode()
    return len(text).to_bytes(4, "little") + text


def _foot(columns: Mapping[str, Values], chunks: list[Any], size: int) -> bytes:
    schema: list[Any] = [[(4, _BINARY, b"schema"), (5, _I32, len(columns))]]
    parts: list[Any] = []
    for name, kind, place, length in chunks:
        needs = int(None in columns[name])
        element = [(1, _I32, kind), (3, _I32, needs), (4, _BINARY, name.encode())]
        schema.append(element + ([(6, _I32, 0)] if kind == _BYTES else []))
        about = [
            (1, _I32, kind), (2, _LIST, (_I32, [0, 3])), (3, _LIST, (_BINARY, [name.encode()])),
            (4, _I32, 0), (5, _I64, size), (6, _I64, length), (7, _I64, length), (9, _I64, place),
        ]  # fmt: skip
        parts.append([(2, _I64, place), (3, _STRUCT, about)])
    group = [(1, _LIST, (_STRUCT, parts)), (2, _I64, sum(c[3] for c in chunks)), (3, _I64, size)]
    return _struct(
        [(1, _I32, 1), (2, _LIST, (_STRUCT, schema)), (3, _I64, size),
         (4, _LIST, (_STRUCT, [group]))]
    )  # fmt: skip


def _struct(fields: Sequence[tuple[int, int, Any]]) -> bytes:
    out, last = bytearray(), 0
    for number, kind, value in fields:
        out.append((number - last) << 4 | kind)
        out += _value(kind, value)
        last = number
    return bytes(out) + b"\0"


def _value(kind: int, value: Any) -> bytes:
    if kind in (_I32, _I64):
        return _varint(value << 1)
    if kind == _BINARY:
        return _varint(len(value)) + value
    if kind == _LIST:
        inner, values = value
        return bytes([len(values) << 4 | inner]) + b"".join(_value(inner, one) for one in values)
    return _struct(value)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def read_parquet(content: bytes) -> dict[str, list[Any]]:
    """The columns of a file as `write_parquet` writes it, perhaps with other values."""
    size = int.from_bytes(content[-8:-4], "little")
    start = len(content) - 8 - size
    if content[:4] != _MAGIC or content[-4:] != _MAGIC or start < 4:
        raise ValueError("not a Parquet file")
    try:
        foot, end = _Reader(content[start:-8]).struct()
        group = foot[4][0]
        if end != size or len(foot[4]) != 1 or group[3] != foot[3] or set(foot) != {1, 2, 3, 4}:
            raise Unsure("another layout")
        elements = foot[2][1:]
        if foot[2][0][5] != len(elements) or len(group[1]) != len(elements):
            raise Unsure("other columns")
        place, columns = 4, {}
        for element, chunk in zip(elements, group[1], strict=True):
            values, place = _column(content, place, element, chunk, foot[3])
            columns[element[4].decode()] = values
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise Unsure(f"another layout: {error}") from None
    if place != start or len(columns) < len(elements):
        raise Unsure("another layout")
    return columns


def _column(content: bytes, place: int, element: Any, chunk: Any, rows: int) -> Any:
    about, kind = chunk[3], element[1]
    head, size = _Reader(content[place:]).struct()
    wanted = {1: kind, 2: [0, 3], 3: [element[4]], 4: 0, 5: rows, 9: place}
    length = size + head[2]
    wanted |= {6: length, 7: length}
    page = {1: 0, 2: head[2], 3: head[2], 5: {1: rows, 2: 0, 3: 3, 4: 3}}
    known = {1: kind, 3: element[3], 4: element[4]} | ({6: 0} if kind == _BYTES else {})
    if about != wanted or head != page or element != known or chunk[2] != place:
        raise Unsure("another layout of a column")
    if element[3] not in (0, 1) or kind not in (_INT64, _BYTES) or head[2] < 0:
        raise Unsure("another kind of column")
    data = content[place + size : place + length]
    values = _values(data, rows, kind, optional=element[3] == 1)
    return values, place + length


def _values(data: bytes, rows: int, kind: int, *, optional: bool) -> list[Any]:
    there, at = [True] * rows, 0
    if optional:
        at = 4 + int.from_bytes(data[:4], "little")
        runs = data[4:at]
        if len(runs) != 2 * rows or any(run != 2 for run in runs[::2]):
            raise Unsure("other runs")
        if any(bit > 1 for bit in runs[1::2]):
            raise Unsure("another level")
        there = [bit == 1 for bit in runs[1::2]]
    found: list[Any] = []
    for is_there in there:
        if not is_there:
            found.append(None)
            continue
        size = 8 if kind == _INT64 else int.from_bytes(data[at : at + 4], "little")
        at += 0 if kind == _INT64 else 4
        piece = data[at : at + size]
        at += size
        if kind == _BYTES and len(piece) == size - 1:
            raise Unsure("DuckDB reads one byte beyond a page")
        if len(piece) < size:
            raise ValueError("a value is cut off")
        found.append(
            int.from_bytes(piece, "little", signed=True) if kind == _INT64 else piece.decode()
        )
    if at != len(data):
        raise Unsure("more in a page than its values")
    return found


class _Reader:
    """Reads the compact form of Thrift."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def struct(self) -> tuple[dict[int, Any], int]:
        found: dict[int, Any] = {}
        last = 0
        while (head := self.content[self.at]) != 0:
            self.at += 1
            step = head >> 4
            if not step:
                raise Unsure("a long field")
            last += step
            found[last] = self._value(head & 15)
        self.at += 1
        return found, self.at

    def _value(self, kind: int) -> Any:
        if kind in (_I32, _I64):
            number = self._varint()
            return (number >> 1) ^ -(number & 1)
        if kind == _BINARY:
            size = self._varint()
            self.at += size
            if self.at > len(self.content):
                raise Unsure("cut off")
            return self.content[self.at - size : self.at]
        if kind == _LIST:
            head = self.content[self.at]
            self.at += 1
            if head >> 4 == 15:
                raise Unsure("a long list")
            return [self._value(head & 15) for _ in range(head >> 4)]
        if kind == _STRUCT:
            return self.struct()[0]
        raise Unsure("another type")

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self.content[self.at]
            self.at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 70:
                raise Unsure("a long number")
