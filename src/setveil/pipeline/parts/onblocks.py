"""The engine blocks: records in private files on disk, shares in processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from setveil.data.arrays import Int32s, Int64s
from setveil.data.summary import Tally
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.engines.blocks import Blocks, Shelf, read_part
from setveil.engines.distinct import Distinct, distinct_on_shelf
from setveil.engines.parts import Answer, Block, block_of, joined, renumbered, some_of_block
from setveil.errors import EngineError, FileFormatError
from setveil.io.files import read_with_account
from setveil.methods.dividing import USUAL_PART, Share
from setveil.pipeline.inputs import load, plain_reading
from setveil.pipeline.parts.loading import Loaded, Read
from setveil.pipeline.parts.sources import Where
from setveil.pipeline.parts.task import Done, Spec, collected, places_of
from setveil.pipeline.parts.workers import Shares, run_apart, run_here
from setveil.pipeline.stages import Stages
from setveil.words import plural

WORKER = 250_000_000
"""The bytes that a worker process takes before it has any records."""
FEW = 100_000
"""So many records are not worth the start of processes."""


@contextmanager
def open_blocks(where: Where, work: Path, stages: Stages) -> Iterator[BlocksSource]:
    """Keeps the records in the folder."""
    yield BlocksSource(Blocks(where.threads, where.allowed), work)


class BlocksSource:
    """Records on a shelf."""

    def __init__(self, engine: Blocks, work: Path) -> None:
        self.engine, self.work = engine, work
        self.parts = self.shelf = Shelf(work, engine)

    def read(self, data: object, reading: Mapping[str, Any]) -> Read:
        return read_to(self.shelf, data, reading)

    def map(self, work: Callable[[int], Answer], tasks: int) -> Iterator[Answer]:
        return map(work, range(tasks))

    def some(self, records: int, occurrences: int) -> Block:
        work = partial(some_of_block, records, occurrences)
        return joined([block for _, block in self.shelf.fold({0: work})])

    def gathered(self) -> Block:
        return read_part(self.shelf.folder, 0)

    def distinct(self, room: int, memory: str) -> Distinct:
        return distinct_on_shelf(self.shelf, room, memory)

    def recode(self, numbers: Int32s, size: int) -> None:
        if not np.array_equal(numbers, np.arange(len(numbers))):
            renumber(self.shelf, numbers, size)

    def most(self, loaded: Loaded) -> int:
        room = (self.engine.room - 2 * WORKER) / 2 / loaded.job.method.bytes_per_occurrence
        length = max(loaded.occurrences / max(loaded.records, 1), 1.0)
        return int(np.clip(room / length, 10_000, USUAL_PART))

    def publish(
        self, spec: Spec, shares: Sequence[Share], folder: Path, stages: Stages
    ) -> list[Done]:
        parts, sizes = [share.parts for share in shares], self.sizes(shares)
        work = Shares(spec, places_of(shares, sizes), parts, self.shelf.folder, folder)
        width = self._width(spec, parts)
        few = sum(sizes) <= FEW or len(shares) == 1
        answers = run_here(work) if few else run_apart(work, width, self.work)
        return collected(answers, sizes, stages)

    def sizes(self, shares: Sequence[Share]) -> list[int]:
        """How many records each share has."""
        return [sum(self.shelf.sizes.get(part, 0) for part in each.parts) for each in shares]

    def frame(self, spec: Spec) -> None:
        return None

    def _width(self, spec: Spec, shares: Sequence[tuple[int, ...]]) -> int:
        """How many shares fit in memory at once.

        Raises:
            EngineError: if not even one does.
        """
        cost, room = spec.method.bytes_per_occurrence, self.engine.room
        largest = max(sum(self.shelf.occurrences.get(at, 0) for at in parts) for parts in shares)
        need = WORKER + cost * largest
        if need + WORKER > room:
            problem = (
                f"the largest part has {plural(largest, 'occurrence')} and takes about "
                f"{(need + WORKER) / 1e9:,.1f} GB, more than the memory of {self.engine.memory}"
            )
            raise EngineError(problem, remedy="allow more {memory} or a smaller {max_part}")
        return max(1, min(self.engine.width, int((room - WORKER) // need)))


def read_to(shelf: Shelf, data: object, reading: Mapping[str, Any]) -> Read:
    """Read a file, or any data that is held, to a shelf; items are numbered by the vocabulary.

    Raises:
        FileFormatError: if a file has no records: it is not the one that the user meant.
    """
    sink, reading = _ShelfSink(shelf), plain_reading(reading)
    if not isinstance(data, str | Path):
        account = None
        _put(sink, load(data, reading))
    else:
        _, account = read_with_account(data, **reading, sink=sink)
        if not shelf.sizes.get(0):
            raise FileFormatError(str(data), "the file has no records")
    if 0 not in shelf.sizes:
        shelf.append(0, block_of(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)))
    supports = renumber(shelf, sink.numbers, len(sink.vocabulary))
    return Read(Tally.of_supports(sink.vocabulary, supports), shelf.sizes[0], account)


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


def _put(sink: _ShelfSink, data: Transactions) -> None:
    """Hand over data that is in memory, without items that do not occur."""
    sink.begin()
    used = np.flatnonzero(data.supports() > 0)
    place = np.full(len(data.vocabulary), -1, dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    sink.add(data.lengths, place[data.items])
    sink.finish([data.vocabulary[number] for number in used.tolist()])
