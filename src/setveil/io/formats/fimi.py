"""FIMI files: one record per line, items separated by blanks.

A wholly empty line is an empty record, except at the end of the file, or if such lines separate the
records (`setveil.data.tables.headers`). A line of one blank is a record everywhere, and that is how
`write_fimi` writes empty records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from setveil.data.account import LINES
from setveil.data.arrays import Flags, Int32s, Int64s
from setveil.data.openings import first_of, opening_of
from setveil.data.records import Numbering
from setveil.data.tables.headers import Squeezed, are_separators
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, brief
from setveil.io.formats.guess import NO, POSSIBLE, Sample
from setveil.io.formats.reading import Pieces, Reading
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

_SMALL_NUMBER = 1 << 22
"""Distinct numbers below this are found with a table, others by sorting."""
_LONGEST_NUMBER = 18
_BLANK = np.zeros(256, dtype=bool)
_BLANK[list(b" \t\n\r\v\f")] = True

Piece = tuple[Int64s, Int32s]
"""How many items each of some records has, and their numbers."""


def recognize_fimi(sample: Sample) -> int:
    """Possible by its suffix, or if the suffix is unknown and the file holds only numbers."""
    numbers = sample.named is None and _ALL_NUMBERS.match(sample.text)
    return POSSIBLE if numbers or sample.named == "fimi" else NO


def read_fimi(source: Source, reading: Reading) -> Transactions:
    """Read a FIMI file; whole numbers are parsed as arrays, blocks of other text are split."""
    reading.account.layout = LINES
    reading.account.used.add("drop_column")
    numbers: Numbering[bytes] = Numbering()
    lines = _with_newlines(source.head).split(b"\n")
    squeezed = Squeezed() if are_separators(not line for line in lines) else None
    pieces = _Opened(_pieces(source, squeezed, numbers), reading.drop_column)
    if reading.sink is not None:
        for piece in pieces:
            reading.sink.add(*piece)
    held = [] if reading.sink is not None else list(pieces)
    reading.account.skip_blanks(squeezed.removed if squeezed else 0)
    labels = pieces.kept(_decoded(source, numbers))
    reading.account.opening = opening_of(*pieces.first, labels)
    if reading.sink is not None:
        return reading.sink.finish(labels)
    return Pieces(held).assembled(labels, bags=bool(reading.bags))


class _Opened:
    """The records without some positions of their lines; keeps the first of them."""

    def __init__(self, pieces: Iterator[Piece], dropped: tuple[int, ...]) -> None:
        self.pieces, self.dropped = pieces, dropped
        self.first: Piece = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
        self.numbers: Numbering[int] = Numbering()

    def __iter__(self) -> Iterator[Piece]:
        for lengths, items in self.pieces:
            piece = self._without(lengths, items) if self.dropped else (lengths, items)
            self.first = self.first if len(self.first[0]) else first_of(*piece)
            yield piece

    def kept(self, labels: list[str]) -> list[str]:
        """The labels of those items that were not left out everywhere."""
        return [labels[number] for number in self.numbers] if self.dropped else labels

    def _without(self, lengths: Int64s, items: Int32s) -> Piece:
        """The records without the items at some positions; the others are numbered again."""
        kept, ends = np.ones(len(items), dtype=bool), np.cumsum(lengths)
        for place in self.dropped:
            long = lengths >= abs(place)
            kept[(ends if place < 0 else ends - lengths - 1)[long] + place] = False
        rows = np.repeat(np.arange(len(lengths)), lengths)
        used, places = np.unique(items[kept], return_inverse=True)
        new = np.array([self.numbers[each] for each in used.tolist()], dtype=np.int32)
        return np.bincount(rows[kept], minlength=len(lengths)), new[places]


def _pieces(
    source: Source, squeezed: Squeezed | None, numbers: Numbering[bytes]
) -> Iterator[Piece]:
    """The records of each block: how many items each has, and their numbers.

    The last line of a block may go on in the next one. Empty lines are kept back until another line
    follows that is not, since those at the end of the file are no records."""
    lengths, items = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    lines = size = given = 0  # of these lines so far, the last has not ended
    with source.stream() as stream:
        blocks = _blocks(stream, source)
        blocks = blocks if squeezed is None else filter(None, map(squeezed, blocks))
        for block in on_threads(parse, blocks):
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
    """Whole items with `\\n` line ends; a line may go on in the next block, which bounds memory."""
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


class Parsed(NamedTuple):
    """The tokens of a text."""

    text: bytes
    per_line: Int64s
    """How many tokens each line has; the last one may go on."""
    last: int
    """The last line that is not wholly empty; -1 if all are."""
    values: Int64s | None = None
    """The tokens as numbers, if all of them are whole numbers without a sign or a leading zero, and
    not too long."""
    distinct: Int64s = np.zeros(0, dtype=np.int64)
    """The numbers that occur, ascending."""


def parse(block: bytes) -> Parsed:
    """The tokens of a text whose lines end with newlines, found by array functions."""
    text = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    edges = np.flatnonzero(np.diff(~_BLANK[text], prepend=False, append=False))
    starts, widths = edges[::2], edges[1::2] - edges[::2]  # of the tokens
    per_line = np.diff(np.searchsorted(starts, ends), prepend=0, append=len(starts))
    written = np.flatnonzero(text != ord("\n"))
    last = int(np.searchsorted(ends, written[-1])) if len(written) else -1
    is_digit: Flags = (text >= ord("0")) & (text <= ord("9"))
    zero_first: Flags = (text[starts] == ord("0")) & (widths > 1)
    is_long = widths.max(initial=0) > _LONGEST_NUMBER
    if is_long or not (is_digit | _BLANK[text]).all() or zero_first.any():
        return Parsed(block, per_line, last)
    values = np.fromstring(block, dtype=np.int64, sep=" ") if len(starts) else starts
    is_small = values.max(initial=0) < _SMALL_NUMBER
    distinct = np.flatnonzero(np.bincount(values)) if is_small else np.unique(values)
    return Parsed(block, per_line, last, values, distinct)


def _numbered(block: Parsed, numbers: Numbering[bytes]) -> Int32s:
    """The number of each token; new tokens get the next ones."""
    values, distinct = block.values, block.distinct
    if values is None:
        tokens = block.text.split()
        return np.fromiter(map(numbers.__getitem__, tokens), dtype=np.int32, count=len(tokens))
    spelled = (numbers[b"%d" % value] for value in distinct.tolist())
    known = np.fromiter(spelled, dtype=np.int32, count=len(distinct))
    if len(distinct) and distinct[-1] >= _SMALL_NUMBER:
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
