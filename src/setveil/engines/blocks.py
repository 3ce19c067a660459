"""The engine for data larger than memory: private blocks on disk, and parts that fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from setveil.children import Death, run_apart
from setveil.data.arrays import Int32s, Int64s, offsets
from setveil.data.identifiers import Some
from setveil.data.summary import Tally
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.engines.base import Made, PartsSource, Progress, Read, Reader, Shares, Source, Where
from setveil.engines.local import Local
from setveil.engines.parts import (
    NOWHERE,
    USUAL_PART,
    Answer,
    Block,
    Distinct,
    Merge,
    Parts,
    Record,
    Work,
    block_of,
    check_room,
    copies_of,
    distinct_of,
    joined,
    renumbered,
    some_of_block,
)
from setveil.errors import EngineError, FileFormatError
from setveil.words import plural

RECORDS_AT_ONCE = 1 << 17
ITEMS_AT_ONCE = 1 << 22
"""About how many records and items a block has, unless one record has more."""


WORKER = 250_000_000
"""The bytes that a worker process takes before it has any records."""
FEW = 100_000
"""Fewer records than these are not worth the start of processes."""
_REMEDY = "allow more {memory}, or use fewer {threads} or a smaller {max_part}"


@contextmanager
def open_blocks(where: Where, work: Path, progress: Progress | None) -> Iterator[Source]:
    """Keeps the records in the folder."""
    yield BlocksSource(where, work)


class BlocksSource(PartsSource):
    """Records in files that only the user can read; shares in processes of this machine."""

    def __init__(self, where: Where, work: Path) -> None:
        self.where, self.work, self.engine = where, work, Local(where.threads)
        self.parts = self.shelf = Shelf(work, self.engine)
        _ = where.room

    def read(self, data: object, reading: Mapping[str, Any], reader: Reader) -> Read:
        sink, shelf = _ShelfSink(self.shelf), self.shelf
        found, account = reader(data, reading, sink)
        if not isinstance(data, str | Path):
            sink.put(found)
        elif not shelf.sizes.get(0):
            raise FileFormatError(str(data), "the file has no records")
        if 0 not in shelf.sizes:
            shelf.append(0, block_of(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)))
        supports = renumber(shelf, sink.numbers, len(sink.vocabulary))
        return Read(Tally.of_supports(sink.vocabulary, supports), shelf.sizes[0], account)

    def some(self, read: Read) -> Some:
        work = partial(some_of_block, read.records, read.data.occurrences)
        block = joined([block for _, block in self.shelf.fold({0: work})])
        return Some(*block, read.data.vocabulary, read.data.supports(), read.records)

    def recode(self, numbers: Int32s, size: int) -> None:
        if not np.array_equal(numbers, np.arange(len(numbers))):
            renumber(self.shelf, numbers, size)

    def gathered(self) -> Block:
        return read_part(self.shelf.folder, 0)

    def distinct(self) -> Distinct:
        return distinct_on_shelf(self.shelf, self.where.room, self.where.allowed)

    def most(self, cost: int, length: float) -> int:
        room = (self.where.room - 2 * WORKER) / 2 / cost
        return int(np.clip(room / length, 10_000, USUAL_PART))

    def publish(self, work: Shares[Made]) -> Iterator[Made]:
        make, number = partial(_made, work, self.shelf.folder), len(work.parts)
        width = self._width(work)
        records = sum(self.shelf.sizes.get(part, 0) for parts in work.parts for part in parts)
        if records <= FEW or number == 1:
            yield from map(make, range(number))
            return
        for _, answer, _ in run_apart(make, number, width, self.work):
            if isinstance(answer, Death):
                raise _died(answer)
            if isinstance(answer, Exception):
                raise answer
            yield answer

    def _width(self, work: Shares[Any]) -> int:
        """How many shares fit in memory at once; at least one must."""
        room = self.where.room
        largest = max(
            sum(self.shelf.occurrences.get(at, 0) for at in parts) for parts in work.parts
        )
        need = WORKER + work.cost * largest
        if need + WORKER > room:
            problem = (
                f"the largest part has {plural(largest, 'occurrence')} and takes about "
                f"{(need + WORKER) / 1e9:,.1f} GB, more than the memory of {self.where.allowed}"
            )
            raise EngineError(problem, remedy="allow more {memory} or a smaller {max_part}")
        return max(1, min(self.engine.width, int((room - WORKER) // need)))


def _made(work: Shares[Made], shelf: Path, number: int) -> Made:
    """One share, in any process."""
    blocks = [read_part(shelf, part) for part in work.parts[number]]
    return work.make(number, blocks, work.folder)


def _died(death: Death) -> EngineError:
    if death.signal:
        problem = f"a worker process was killed ({death.signal}), perhaps for lack of memory"
        return EngineError(problem, remedy=_REMEDY)
    if "MemoryError" in death.said:
        return EngineError("a worker process ran out of memory", remedy=_REMEDY)
    return EngineError(f"a worker process ended early: {death.said or 'no reason given'}")


def renumber(shelf: Shelf, numbers: Int32s, size: int) -> Int64s:
    """Give each item another number, or -1 to leave it out, and count the records that have it."""
    shelf.replace(0, partial(renumbered, numbers))
    supports = np.zeros(size, dtype=np.int64)
    for _, found in shelf.fold({0: partial(_supports, size)}):
        supports += found
    return supports


def _supports(size: int, block: Block) -> Int64s:
    return np.bincount(block.items, minlength=size).astype(np.int64, copy=False)


class _ShelfSink:
    """Takes records as they are read, numbered in the order in which items first occur."""

    vocabulary: Vocabulary
    numbers: Int32s

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def begin(self) -> None:
        self.shelf.clear()

    def add(self, lengths: Int64s, items: Int32s) -> None:
        self.shelf.append(0, block_of(lengths, items))

    def finish(self, labels: list[str]) -> Transactions:
        self.vocabulary = Vocabulary.of(labels)
        self.numbers = self.vocabulary.encode(labels)
        return Transactions(np.zeros(1, dtype=np.int64), self.numbers[:0], self.vocabulary)

    def put(self, data: Transactions) -> None:
        """Take data that is in memory, without items that do not occur."""
        self.begin()
        used = np.flatnonzero(data.supports() > 0)
        place = np.full(len(data.vocabulary), -1, dtype=np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        self.add(data.lengths, place[data.items])
        self.finish([data.vocabulary[number] for number in used.tolist()])


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


def distinct_on_shelf(shelf: Shelf, room: int, memory: str) -> Distinct:
    """The distinct records of part 0, which becomes empty.

    They are dealt to heaps by a hash, so that equal records are in one heap, and the heaps are
    counted in turn.

    Raises:
        EngineError: if they do not fit in the memory.
    """
    heaps = shelf.occurrences.get(0, 0) // ITEMS_AT_ONCE + 1
    shelf.scatter({0: partial(_heap, heaps)})
    found, records, occurrences = list[Distinct](), 0, 0
    for number in range(1, heaps + 1):
        some = distinct_of(read_part(shelf.folder, number))
        shelf.remove(number)
        records += len(some.sizes)
        occurrences += len(some.block.items)
        check_room(records, occurrences, room, memory)
        found.append(some)
    lengths = np.concatenate([each.block.lengths for each in found])
    items = np.concatenate([each.block.items for each in found])
    return Distinct(block_of(lengths, items), np.concatenate([each.sizes for each in found]))


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


def _heap(heaps: int, block: Block) -> Int64s:
    """The heap of each record, from 1 on, by a hash of its items."""
    mixed = (block.items.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    totals = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)))
    sums = totals[block.indptr[1:]] - totals[block.indptr[:-1]]
    sums ^= sums >> np.uint64(32)
    return (sums % np.uint64(heaps)).astype(np.int64) + 1
