"""FIMI files: one record per line, items separated by blanks.

A blank line is an empty record, except for wholly empty lines at the end of the file. A line of one
blank is a record even there, and that is how `write_fimi` writes empty records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np

from setveil.data.account import LINES
from setveil.data.arrays import Int32s, Int64s
from setveil.data.records import Numbering
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, brief
from setveil.io.formats.guess import NO, POSSIBLE, Sample
from setveil.io.formats.numbers import SMALL_NUMBER, Parsed, parse, parse_compiled
from setveil.io.formats.reading import Pairs, Pieces, Reading
from setveil.io.source.database import not_utf8
from setveil.io.source.source import Source
from setveil.threads import on_threads

BYTE_ORDER_MARK = "\ufeff"
"""Readers drop one at the start of a file, so an item that begins with it gets a second one."""

MOST_REPEATS = 10_000_000
"""How many occurrences a line may have in a file without counts."""

_BLOCK = 1 << 22
_LONGEST_ITEM = 1 << 22
_BLANKS = (b" ", b"\t", b"\n", b"\r", b"\v", b"\f")

_ALL_NUMBERS = re.compile(r"\s*[0-9][0-9\s]*\Z", re.ASCII)

LARGE = 1 << 24
"""Files of at least so many bytes are read by compiled loops."""

Piece = tuple[Int64s, Int32s]
"""How many items each of some records has, and their numbers."""


def recognize_fimi(sample: Sample) -> int:
    """Possible by its suffix, or if the suffix is unknown and the file holds only numbers."""
    numbers = sample.named is None and _ALL_NUMBERS.match(sample.text)
    return POSSIBLE if numbers or sample.named == "fimi" else NO


def read_fimi(source: Source, reading: Reading) -> Transactions:
    """Read a FIMI file; whole numbers are parsed as arrays, blocks of other text are split.

    Large files are read by compiled loops; for small ones they would take longer to compile."""
    reading.account.layout = LINES
    numbers: Numbering[bytes] = Numbering()
    is_large = source.plain().stat().st_size >= LARGE
    pieces = _pieces(source, numbers, parse_compiled if is_large else parse)
    if reading.sink is not None:
        for piece in pieces:
            reading.sink.add(*piece)
        return reading.sink.finish(_decoded(source, numbers))
    held = list(pieces)
    labels = _decoded(source, numbers)
    if is_large:
        return Pieces(held).assembled(labels, bags=bool(reading.bags))
    per_record = np.concatenate([lengths for lengths, _ in held])
    owners = np.repeat(np.arange(len(per_record), dtype=np.int32), per_record)
    pairs = Pairs(owners, np.concatenate([items for _, items in held]))
    return pairs.assembled(labels, len(per_record), bags=bool(reading.bags))


def _pieces(
    source: Source, numbers: Numbering[bytes], parser: Callable[[bytes], Parsed]
) -> Iterator[Piece]:
    """The records of each block: how many items each has, and their numbers.

    The last line of a block may go on in the next one. Empty lines are kept back until another line
    follows that is not, since those at the end of the file are no records."""
    lengths, items = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    lines = size = given = 0  # of these lines so far, the last has not ended
    with source.stream() as stream:
        for block in on_threads(parser, _blocks(stream, source)):
            block.per_line[:1] += lengths[-1]
            lengths = np.concatenate((lengths[:-1], block.per_line))
            items = np.concatenate((items, _numbered(block, numbers)))
            size = lines + block.last + 1 if block.last >= 0 else size
            lines += len(block.per_line) - 1
            ready = min(size, lines) - given
            if ready > 0:
                held = int(lengths[:ready].sum())
                yield lengths[:ready], items[:held]
                lengths, items, given = lengths[ready:], items[held:], given + ready
    yield lengths[: size - given], items


def write_fimi(data: Transactions) -> Iterator[str]:
    """The lines of a FIMI file; an item with a blank cannot be written."""
    for label in used_labels(data):
        text = label.encode("utf-8", "surrogatepass")
        if text.split() != [text]:
            problem = f"the item {brief(label)} does not fit in a FIMI file"
            reason = "where blanks separate items"
            raise DataError(f"{problem}, {reason}", remedy="choose a format such as csv")
    for number, record in enumerate(occurrences(data)):
        line = " ".join(record) or " "
        yield BYTE_ORDER_MARK + line if number == 0 and line.startswith(BYTE_ORDER_MARK) else line


def used_labels(data: Transactions) -> list[str]:
    """The items that occur in some record."""
    return [data.vocabulary[number] for number in np.flatnonzero(data.supports()).tolist()]


def occurrences(data: Transactions) -> Iterator[tuple[str, ...] | list[str]]:
    """The items of each record; in bags each is repeated as often as it occurs."""
    if not isinstance(data, Bags):
        yield from data
        return
    longest = int(data.totals.max(initial=0))
    if longest > MOST_REPEATS:
        problem = f"a record has {longest:,} items with repeats, too many to write one by one"
        raise DataError(problem, remedy="choose a format with counts, such as csv")
    labels, bounds = np.array(data.vocabulary.labels, dtype=object), data.indptr.tolist()
    for start, stop in zip(bounds, bounds[1:], strict=False):
        yield np.repeat(labels[data.items[start:stop]], data.counts[start:stop]).tolist()


def _blocks(stream: BinaryIO, source: Source) -> Iterator[bytes]:
    """The file in blocks of whole items; every line end becomes a newline.

    A line may go on in the next block. So a line of any length takes no more memory than others,
    and no byte is copied twice. A Windows line end is never cut in two.
    """
    rest = b""
    while piece := stream.read(_BLOCK):
        piece = rest + piece
        cut = max(piece.rfind(blank, 0, -1) for blank in _BLANKS) + 1
        cut += piece[max(0, cut - 1) :] == b"\r\n"
        rest = piece[cut:]
        if cut:
            yield _with_newlines(piece[:cut])
        elif len(rest) > _LONGEST_ITEM:
            raise source.fault(f"an item is longer than {_LONGEST_ITEM >> 20} megabytes")
    if rest:
        yield _with_newlines(rest)


def _with_newlines(block: bytes) -> bytes:
    return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block


def _numbered(block: Parsed, numbers: Numbering[bytes]) -> Int32s:
    """The number of each token; new tokens get the next ones."""
    values, distinct = block.values, block.distinct
    if values is None:
        tokens = block.text.split()
        return np.fromiter(map(numbers.__getitem__, tokens), dtype=np.int32, count=len(tokens))
    spelled = (numbers[b"%d" % value] for value in distinct.tolist())
    known = np.fromiter(spelled, dtype=np.int32, count=len(distinct))
    if len(distinct) and distinct[-1] >= SMALL_NUMBER:
        return known[np.searchsorted(distinct, values)]
    place = np.zeros(int(distinct[-1]) + 1 if len(distinct) else 0, dtype=np.int32)
    place[distinct] = known
    return place[values]


def _decoded(source: Source, numbers: Numbering[bytes]) -> list[str]:
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
