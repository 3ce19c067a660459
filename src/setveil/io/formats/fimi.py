"""FIMI files: one record per line, items separated by blanks.

A blank line is an empty record, but wholly empty lines at the end of the file are not; a record that is written as one blank is kept even
there, and that is how `write_fimi` writes empty records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError
from setveil.io.formats.reading import Numbers, Reading, assembled
from setveil.io.source.database import not_utf8
from setveil.io.source.source import Source

BYTE_ORDER_MARK = "\ufeff"
"""Readers drop one at the start of a file; an item that begins with it there is kept by a second one."""

MOST_REPEATS = 10_000_000
"""How many occurrences a line of a file without counts may hold."""

_BLOCK = 1 << 22
_SMALL_NUMBER = 1 << 22
_LONGEST_NUMBER = 18
_BLANK = np.zeros(256, dtype=bool)
_BLANK[list(b" \t\n\r\v\f")] = True

Bytes = npt.NDArray[np.uint8]
Numbered = npt.NDArray[np.int64]
Number = TypeVar("Number", bound=np.signedinteger)


def read_fimi(source: Source, reading: Reading) -> Transactions:
    """Read a FIMI file; a block of whole numbers is parsed as arrays, any other by splitting its text."""
    numbers: Numbers[bytes] = Numbers()
    lengths: list[Numbered] = []
    items: list[npt.NDArray[np.int32]] = []
    lines = size = 0
    with source.stream() as stream:
        for block in _blocks(stream):
            text = np.frombuffer(block, dtype=np.uint8)
            ends = np.flatnonzero(text == ord("\n"))
            starts, widths = _tokens(text)
            lengths.append(
                np.diff(np.searchsorted(starts, ends), prepend=0, append=len(starts))[
                    : len(ends) + (block[-1:] != b"\n")
                ]
            )
            items.append(_numbered(block, text, starts, widths, numbers))
            size = _last_written(text, ends, lines, size)
            lines += len(ends)
    owners = np.repeat(np.arange(size, dtype=np.int32), _joined(lengths)[:size])
    return assembled(
        owners, _joined(items), _decoded(source, numbers), size, None, bags=bool(reading.bags)
    )


def write_fimi(data: Transactions) -> Iterator[str]:
    """The lines of a FIMI file; an item that holds a blank cannot be written so."""
    for label in used_labels(data):
        text = label.encode("utf-8", "surrogatepass")
        if text.split() != [text]:
            raise DataError(
                f"the item {label!r} cannot stand in a FIMI file, where blanks separate items: choose a format such as csv"
            )
    for number, record in enumerate(occurrences(data)):
        line = " ".join(record) or " "
        yield BYTE_ORDER_MARK + line if number == 0 and line.startswith(BYTE_ORDER_MARK) else line


def used_labels(data: Transactions) -> list[str]:
    """The items that stand in some record."""
    return [data.vocabulary[number] for number in np.flatnonzero(data.supports()).tolist()]


def occurrences(data: Transactions) -> Iterator[tuple[str, ...] | list[str]]:
    """The items of each record; in bags each as often as it stands."""
    if not isinstance(data, Bags):
        yield from data
        return
    longest = int(data.totals.max(initial=0))
    if longest > MOST_REPEATS:
        raise DataError(
            f"a record of {longest:,} occurrences cannot be written repeat by repeat: choose a format with counts, such as csv"
        )
    labels, bounds = np.array(data.vocabulary.labels, dtype=object), data.indptr.tolist()
    for start, stop in zip(bounds, bounds[1:], strict=False):
        yield np.repeat(labels[data.items[start:stop]], data.counts[start:stop]).tolist()


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """The file in pieces that end with a line; every line end is made a newline."""
    rest = b""
    while piece := stream.read(_BLOCK):
        piece = rest + piece
        cut = piece.rfind(b"\n") + 1
        rest = piece[cut:]
        if cut:
            yield _with_newlines(piece[:cut])
    if rest:
        yield _with_newlines(rest)


def _with_newlines(block: bytes) -> bytes:
    return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block


def _tokens(text: Bytes) -> tuple[Numbered, Numbered]:
    """Where each token starts, and how long it is."""
    solid = ~_BLANK[text]
    edges = np.flatnonzero(np.diff(solid, prepend=False, append=False))
    return edges[::2], edges[1::2] - edges[::2]


def _numbered(
    block: bytes, text: Bytes, starts: Numbered, widths: Numbered, numbers: Numbers[bytes]
) -> npt.NDArray[np.int32]:
    """The number of each token; tokens not seen before get the next ones."""
    if not _all_plain_numbers(text, starts, widths):
        return np.fromiter(
            map(numbers.__getitem__, block.split()), dtype=np.int32, count=len(starts)
        )
    values = _values(text, starts, widths)
    top = int(values.max(initial=0))
    distinct = (
        np.flatnonzero(np.bincount(values, minlength=1))
        if top < _SMALL_NUMBER
        else np.unique(values)
    )
    known = np.fromiter(
        (numbers[b"%d" % value] for value in distinct.tolist()), dtype=np.int32, count=len(distinct)
    )
    if top >= _SMALL_NUMBER:
        return known[np.searchsorted(distinct, values)]
    place = np.zeros(top + 1, dtype=np.int32)
    place[distinct] = known
    return place[values]


def _all_plain_numbers(text: Bytes, starts: Numbered, widths: Numbered) -> bool:
    """Whether the tokens are whole numbers as one would write them: no sign, no zero in front, not too long."""
    digits = (text >= ord("0")) & (text <= ord("9"))
    zero_first = (text[starts] == ord("0")) & (widths > 1)
    return bool(
        (digits | _BLANK[text]).all()
        and not zero_first.any()
        and widths.max(initial=0) <= _LONGEST_NUMBER
    )


def _values(text: Bytes, starts: Numbered, widths: Numbered) -> Numbered:
    values = np.zeros(len(starts), dtype=np.int64)
    for place in range(int(widths.max(initial=0))):
        longer = np.flatnonzero(widths > place)
        values[longer] = values[longer] * 10 + (text[starts[longer] + place] - ord("0"))
    return values


def _last_written(text: Bytes, ends: Numbered, lines: int, size: int) -> int:
    """The number of lines up to the last one that is not wholly empty."""
    written = np.flatnonzero(text != ord("\n"))
    return lines + int(np.searchsorted(ends, written[-1])) + 1 if len(written) else size


def _decoded(source: Source, numbers: Numbers[bytes]) -> list[str]:
    try:
        return [label.decode("utf-8") for label in numbers]
    except UnicodeDecodeError:
        raise not_utf8(source.name, _first_bad_line(source)) from None


def _first_bad_line(source: Source) -> int | None:
    with source.stream() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None


def _joined(parts: list[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
