"""Records in parts, wherever they are: in memory, in blocks on disk, or on a cluster.

A driver splits records level by level. It counts in each part (`fold`), chooses the split from the
counts alone, and moves the records to new parts (`scatter`), until each part fits a task. Records
that are equal need not be moved one by one: the driver counts them, leaves them out of the move,
and adds as many as it wants to each new part (`add`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from setveil.data.arrays import Int32s, Int64s, offsets, ranges
from setveil.data.identifiers import sampled
from setveil.errors import EngineError
from setveil.words import plural

Answer = TypeVar("Answer")
Record = tuple[int, ...]
"""The items of a record as numbers, ascending."""
NOWHERE = -1
"""The part of a record that is left out of a move."""
USUAL_PART = 500_000
"""The most records of a part on engines that always divide: not a matter of memory, so
that the release is the same on any machine."""
BYTES_PER_OCCURRENCE = 80
BYTES_PER_RECORD = 250
"""About how much memory it takes to look for rare itemsets in distinct records."""


class Block(NamedTuple):
    """Some records; record i holds `items[indptr[i]:indptr[i + 1]]`, ascending."""

    indptr: Int64s
    items: Int32s

    def __len__(self) -> int:
        """The number of records, not of fields."""
        return len(self.indptr) - 1

    @property
    def lengths(self) -> Int64s:
        return np.diff(self.indptr)

    def record(self, number: int) -> Record:
        """The items of one record."""
        return tuple(self.items[self.indptr[number] : self.indptr[number + 1]].tolist())

    def take(self, numbers: Int64s) -> Block:
        """The records with these numbers, in this order."""
        lengths = self.lengths[numbers]
        return Block(offsets(lengths), self.items[ranges(self.indptr[numbers], lengths)])


def block_of(lengths: Int64s, items: Int32s) -> Block:
    """Records of these lengths, whose items are in one array."""
    return Block(offsets(lengths), items)


def copies_of(record: Record, copies: int) -> Block:
    """Copies of a record."""
    items = np.tile(np.array(record, dtype=np.int32), copies)
    return Block(np.arange(copies + 1, dtype=np.int64) * len(record), items)


def joined(blocks: list[Block]) -> Block:
    """Several blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    lengths = [np.zeros(0, dtype=np.int64), *(block.lengths for block in blocks)]
    items = [np.zeros(0, dtype=np.int32), *(block.items for block in blocks)]
    return block_of(np.concatenate(lengths), np.concatenate(items))


def some_of_block(records: int, occurrences: int, block: Block) -> Block:
    """The records of a block that are in a random sample of all."""
    kept = sampled(block.lengths, records, occurrences)
    return block if kept is None else block.take(kept)


def renumbered(numbers: Int32s, block: Block) -> Block:
    """The records of a block with other numbers, ascending and without repeats."""
    items = numbers[block.items] if len(block.items) else block.items
    rows = np.repeat(np.arange(len(block), dtype=np.int64), block.lengths)
    if (items < 0).any():
        rows, items = rows[items >= 0], items[items >= 0]
    falls = (items[1:] <= items[:-1]) & (rows[1:] == rows[:-1])
    if falls.any():
        keys = np.unique(rows << 32 | items)
        rows, items = keys >> 32, (keys & 0xFFFFFFFF).astype(np.int32)
    return Block(offsets(np.bincount(rows, minlength=len(block))), items)


Work = Callable[[Block], Answer]
"""A pure function of a block; a partial of a function at the top level of a module."""
Merge = Callable[[Answer, Answer], Answer]
"""Two answers as one; it may change the first."""
Assign = Callable[[Block], Int64s]
"""Gives the new part of each record of a block, or NOWHERE."""


class Parts(ABC):
    """Records in numbered parts. Part 0 has all of them at first."""

    sizes: dict[int, int]
    """How many records each part has."""

    @abstractmethod
    def fold(
        self, works: Mapping[int, Work[Answer]], merge: Merge[Answer] | None = None
    ) -> Iterator[tuple[int, Answer]]:
        """The answers for the blocks of some parts, in any order, each with its part.

        Some answers of a part may have been merged before they come here."""

    @abstractmethod
    def scatter(self, works: Mapping[int, Assign]) -> None:
        """Move the records of some parts to the parts that `works` assign; these become empty."""

    @abstractmethod
    def add(self, part: int, record: Record, copies: int) -> None:
        """Add copies of a record that was left out of a move before."""


class InMemory(Parts):
    """Parts in memory; it remembers where each record came from."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._rows: dict[int, Int64s] = {0: np.arange(len(block))}
        self._left: dict[Record, list[int]] = {}

    @property
    def sizes(self) -> dict[int, int]:  # type: ignore[override]
        return {part: len(rows) for part, rows in self._rows.items()}

    def rows(self, part: int) -> Int64s:
        """The numbers of the records of a part, ascending."""
        return np.sort(self._rows[part])

    def fold(
        self, works: Mapping[int, Work[Answer]], merge: Merge[Answer] | None = None
    ) -> Iterator[tuple[int, Answer]]:
        for part, work in works.items():
            yield part, work(self._block.take(self._rows[part]))

    def scatter(self, works: Mapping[int, Assign]) -> None:
        for part, work in works.items():
            rows = self._rows.pop(part)
            places = work(self._block.take(rows))
            for place in np.unique(places).tolist():
                chosen = rows[places == place]
                if place != NOWHERE:
                    have = self._rows.get(place, chosen[:0])
                    self._rows[place] = np.concatenate((have, chosen))
                    continue
                for row in chosen.tolist():
                    self._left.setdefault(self._block.record(row), []).append(row)

    def add(self, part: int, record: Record, copies: int) -> None:
        pool = self._left.get(record, [])
        taken, self._left[record] = pool[:copies], pool[copies:]
        have = self._rows.get(part, np.zeros(0, dtype=np.int64))
        self._rows[part] = np.concatenate((have, np.array(taken, dtype=np.int64)))


class Distinct(NamedTuple):
    """Distinct records and how often each occurs."""

    block: Block
    sizes: Int64s


def distinct_of(block: Block) -> Distinct:
    """The distinct records of a block."""
    blob = np.ascontiguousarray(block.items, dtype=np.int32).tobytes()
    bounds = (4 * block.indptr).tolist()
    keys = (blob[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False))
    counts = Counter(keys)
    return of_keys(counts.keys(), counts.values())


def of_keys(keys: Iterable[bytes], sizes: Iterable[int]) -> Distinct:
    """Distinct records from the bytes of their items."""
    held = list(keys)
    lengths = np.fromiter((len(key) // 4 for key in held), dtype=np.int64, count=len(held))
    items = np.frombuffer(b"".join(held), dtype=np.int32)
    return Distinct(block_of(lengths, items), np.fromiter(sizes, dtype=np.int64, count=len(held)))


def check_room(records: int, occurrences: int, room: int, memory: str) -> None:
    """Refuse more distinct records than fit in the memory.

    Raises:
        EngineError: it says how much is needed, at least.
    """
    need = BYTES_PER_RECORD * records + BYTES_PER_OCCURRENCE * occurrences
    if need > room:
        problem = (
            f"there are at least {plural(records, 'distinct record')} with "
            f"{plural(occurrences, 'occurrence')}; to count them takes about "
            f"{need / 1e9:,.1f} GB, more than the memory of {memory}"
        )
        raise EngineError(problem, remedy="allow more {memory}")
