"""The engine for data larger than memory: private blocks on disk, and parts that fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from setveil.data.arrays import Int64s, offsets
from setveil.disk.limits import USUAL_MEMORY, bytes_of
from setveil.engines.local import Local
from setveil.engines.parts import (
    NOWHERE,
    Answer,
    Block,
    Merge,
    Parts,
    Record,
    Work,
    block_of,
    copies_of,
)

RECORDS_AT_ONCE = 1 << 17
ITEMS_AT_ONCE = 1 << 22
"""A block has about so many records and items, unless one record has more."""


@dataclass(frozen=True)
class Blocks(Local):
    """Keeps the encoded records in files that only the user can read, and works part by part."""

    name: ClassVar[str] = "blocks"

    memory: str = USUAL_MEMORY
    """How much memory the work may take, about."""

    def __post_init__(self) -> None:
        super().__post_init__()
        bytes_of(self.memory)

    @property
    def room(self) -> int:
        """The memory in bytes."""
        return bytes_of(self.memory)


class Shelf(Parts):
    """Parts as files in a private folder: the lengths of the records, and their items."""

    def __init__(self, folder: Path, engine: Local) -> None:
        self.folder, self.engine = folder, engine
        self.clear()

    def clear(self) -> None:
        """Remove all records."""
        for path in self.folder.glob("part-*"):
            path.unlink()
        self.sizes: dict[int, int] = {}
        self.occurrences: dict[int, int] = {}

    def append(self, part: int, block: Block) -> None:
        """Add records to a part."""
        lengths, items = _files(self.folder, part)
        with lengths.open("ab") as stream:
            stream.write(np.ascontiguousarray(block.lengths, dtype=np.int32).data)
        with items.open("ab") as stream:
            stream.write(np.ascontiguousarray(block.items, dtype=np.int32).data)
        self.sizes[part] = self.sizes.get(part, 0) + len(block)
        self.occurrences[part] = self.occurrences.get(part, 0) + len(block.items)

    def blocks(self, part: int) -> Iterator[Block]:
        """The records of a part, some at a time."""
        done = 0
        for lengths in _lengths(self.folder, part):
            yield _read(self.folder, part, lengths, done)
            done += int(lengths.sum())

    def fold(
        self, works: Mapping[int, Work[Answer]], merge: Merge[Answer] | None = None
    ) -> Iterator[tuple[int, Answer]]:
        tasks = (
            _Task(part, work, block) for part, work in works.items() for block in self.blocks(part)
        )
        return self.engine.map(_answered, tasks)

    def scatter(self, works: Mapping[int, Work[Int64s]]) -> None:
        for part, work in works.items():
            for places, bounds, block in self.engine.map(partial(_sorted, work), self.blocks(part)):
                for place, start, stop in zip(places, bounds, bounds[1:], strict=False):
                    if place != NOWHERE:
                        self.append(place, _slice(block, start, stop))
            self.remove(part)

    def replace(self, part: int, work: Callable[[Block], Block]) -> None:
        """Replace the records of a part, block by block."""
        for block in self.engine.map(work, self.blocks(part)):
            self.append(NOWHERE, block)
        self.remove(part)
        for old, new in zip(_files(self.folder, NOWHERE), _files(self.folder, part), strict=True):
            if old.exists():
                old.rename(new)
        self.sizes[part] = self.sizes.pop(NOWHERE, 0)
        self.occurrences[part] = self.occurrences.pop(NOWHERE, 0)

    def add(self, part: int, record: Record, copies: int) -> None:
        while copies:
            some = min(copies, RECORDS_AT_ONCE)
            self.append(part, copies_of(record, some))
            copies -= some

    def remove(self, part: int) -> None:
        """Remove the records of a part."""
        for file in _files(self.folder, part):
            file.unlink(missing_ok=True)
        self.sizes.pop(part, None)
        self.occurrences.pop(part, None)


def read_part(folder: Path, part: int) -> Block:
    """All records of a part on a shelf; other processes may call it too."""
    lengths, items = _files(folder, part)
    if not lengths.exists():
        return Block(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))
    return block_of(np.fromfile(lengths, np.int32).astype(np.int64), np.fromfile(items, np.int32))


class _Task(NamedTuple):
    part: int
    work: Callable[[Block], object]
    block: Block


def _answered(task: _Task) -> tuple[int, Any]:
    return task.part, task.work(task.block)


def _sorted(work: Work[Int64s], block: Block) -> tuple[list[int], list[int], Block]:
    """The records of a block sorted by their new part: the parts, where each begins, the block."""
    where = work(block)
    order = np.argsort(where, kind="stable")
    places, counts = np.unique(where, return_counts=True)
    return places.tolist(), offsets(counts).tolist(), block.take(order)


def _slice(block: Block, start: int, stop: int) -> Block:
    indptr = block.indptr[start : stop + 1]
    return Block(indptr - indptr[0], block.items[indptr[0] : indptr[-1]])


def _files(folder: Path, part: int) -> tuple[Path, Path]:
    return folder / f"part-{part}.lengths", folder / f"part-{part}.items"


def _lengths(folder: Path, part: int) -> Iterator[Int64s]:
    """The lengths of the records of each block."""
    file = _files(folder, part)[0]
    if not file.exists():
        return
    with file.open("rb") as stream:
        while read := stream.read(4 * RECORDS_AT_ONCE):
            lengths = np.frombuffer(read, dtype=np.int32).astype(np.int64)
            cuts = np.flatnonzero(np.diff(np.cumsum(lengths) // ITEMS_AT_ONCE)) + 1
            yield from np.split(lengths, cuts)


def _read(folder: Path, part: int, lengths: Int64s, start: int) -> Block:
    file, count = _files(folder, part)[1], int(lengths.sum())
    return block_of(lengths, np.fromfile(file, np.int32, count=count, offset=4 * start))
