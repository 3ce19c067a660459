"""The rows of large releases, written and read by compiled loops on all cores.

They do the same as `write_release_rows` and DuckDB, which small releases use, as compiling takes
seconds. Where a text is not plain (a quote, a fault), reading is left to these."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int32s, Int64s, offsets
from setveil.data.records import Numbering
from setveil.data.transactions import Bags, Transactions
from setveil.io.formats.csvlines import csv_cell, csv_cells
from setveil.io.formats.reading import Pieces
from setveil.io.releases.form import PartFile
from setveil.threads import on_threads

MANY = 1_000_000
"""Releases of fewer rows are written by plain Python."""
LARGE = 1 << 23
"""Files of fewer bytes are read by DuckDB."""

_HEADER = b"record,item\n"
_ROWS_AT_ONCE = 1 << 19
_BLOCK = 1 << 22
_LONGEST_RECORD = 1 << 26
_WORDS = 1 << 14
"""The distinct items for which there is room at first."""


def write_rows(records: Transactions, target: Path, before: int, many: int | None = None) -> bool:
    """Write the lines of `write_release_rows`; returns False, and writes nothing, if they are few,
    or have counts, or an item that is not Unicode text or has a NUL character."""
    if isinstance(records, Bags) or len(records.items) < (MANY if many is None else many):
        return False
    cells = _cells(records)
    if cells is None:
        return False
    wanted = np.arange(0, len(records.items), _ROWS_AT_ONCE)
    cuts = np.unique(np.append(np.searchsorted(records.indptr, wanted), len(records)))
    texts = on_threads(partial(_text, records, cells, before), pairwise(cuts.tolist()))
    with target.open("wb") as stream:
        stream.write(_HEADER)
        for text in texts:
            stream.write(text.data)
    return True


def read_rows(part: PartFile, large: int | None = None) -> Transactions | None:
    """The records of a `data.csv` without counts that have rows; None if it is small, or not quite
    as setveil writes it."""
    if part.path.stat().st_size < (LARGE if large is None else large):
        return None
    found: Numbering[bytes] = Numbering()
    held, last = list[tuple[Int64s, Int32s]](), part.before
    with part.path.open("rb") as stream:
        if stream.read(len(_HEADER)) != _HEADER:
            return None
        for block in on_threads(_parsed, _blocks(stream)):
            if block is None or block.numbers[0] <= last:
                return None
            known = map(found.__getitem__, block.words)
            place = np.fromiter(known, dtype=np.int32, count=len(block.words))
            held.append((block.lengths, place[block.items]))
            last = int(block.numbers[-1])
    labels = _labels(found)
    if labels is None or not held or last > part.before + part.size:
        return None
    count = sum(len(items) for _, items in held)
    rows = Pieces(held).assembled(labels, bags=False)
    return rows if len(rows.items) == count else None


def _cells(records: Transactions) -> Any:
    from setveil.kernels.rows import Cells

    try:
        texts = [cell.encode() for cell in csv_cells(records)]
    except UnicodeEncodeError:
        return None
    if any(b"\0" in each for each in texts):
        return None
    text = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return Cells(offsets(list(map(len, texts))), text)


def _text(
    records: Transactions, cells: Any, before: int, place: tuple[int, int]
) -> npt.NDArray[np.uint8]:
    """The lines of some records."""
    from setveil.kernels import rows

    low, high = place
    ptr = records.indptr[low : high + 1]
    text: npt.NDArray[np.uint8] = rows.write_rows(
        before + low, ptr, records.items[ptr[0] : ptr[-1]], cells
    )
    return text


class _Block(NamedTuple):
    """The rows of some records."""

    numbers: Int64s
    lengths: Int64s
    items: Int32s
    words: list[bytes]


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a file in blocks of whole records."""
    rest = b""
    while piece := stream.read(_BLOCK):
        piece = rest + piece
        cut = _last_record(piece)
        rest = piece[cut:]
        if cut:
            yield piece[:cut]
        elif len(rest) > _LONGEST_RECORD:
            yield b"\n"  # which is no row, so that DuckDB reads the file
            return
    if rest:
        yield rest


def _last_record(text: bytes) -> int:
    """Where the record of the last whole line begins."""
    end = text.rfind(b"\n")
    if end < 0:
        return 0
    cut = text.rfind(b"\n", 0, end) + 1
    number = text[cut : text.find(b",", cut) + 1]
    while cut > 0:
        line = text.rfind(b"\n", 0, cut - 1) + 1
        if not text.startswith(number, line):
            break
        cut = line
    return cut


def _parsed(block: bytes) -> _Block | None:
    from setveil.kernels import rows
    from setveil.kernels.words import FULL

    text, room = np.frombuffer(block, dtype=np.uint8), _WORDS
    found = rows.read_rows(text, room)
    while found.state == FULL:
        room *= 16
        found = rows.read_rows(text, room)
    if found.state != 0:
        return None
    count, known = int(found.words.used[0]), found.words
    places = zip(known.starts[:count].tolist(), known.lengths[:count].tolist(), strict=True)
    words = [block[start : start + length] for start, length in places]
    return _Block(found.numbers, found.lengths, found.items, words)


def _labels(found: Numbering[bytes]) -> list[str] | None:
    """The items; None if one of them may be written otherwise."""
    try:
        labels = [word.decode("utf-8") for word in found]
    except UnicodeDecodeError:
        return None
    plain = all(label and label.isprintable() and csv_cell(label) == label for label in labels)
    return labels if plain else None
