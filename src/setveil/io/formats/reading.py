"""What all readers share: the options, and how rows of texts become transactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from setveil.data import records
from setveil.data.account import Account
from setveil.data.arrays import Int32s, Int64s, offsets
from setveil.data.openings import opening_of
from setveil.data.records import compress
from setveil.data.tables.columns import Wanted
from setveil.data.tables.frames import joined, several_rows
from setveil.data.tags import Tags
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.io.source.source import Source
from setveil.threads import on_threads

Held = TypeVar("Held")
Cell = TypeVar("Cell")
Number = TypeVar("Number", bound=np.signedinteger)
LAST = -1
"""The last position of a line."""


class Sink(Protocol):
    """Takes records block by block, where all of them may not fit in memory; repeats of an item in
    a record are not counted."""

    def begin(self) -> None:
        """Start with no records: reading may have to begin again."""

    def add(self, lengths: Int64s, items: Int32s) -> None:
        """Take some records: how many items each has, and their numbers, in any order."""

    def finish(self, labels: list[str]) -> Transactions:
        """Item i is `labels[i]`. Returns no records, over their vocabulary."""


@dataclass(frozen=True)
class Reading(Wanted):
    """The options of `setveil.read` that a format may need."""

    memory: str | None = None
    header: bool | int | str | None = None
    drop_record: tuple[str, ...] = ()
    drop_column: tuple[int, ...] = ()
    """Positions in lines and lists to leave out, from 1 on, or -1."""
    records_per_person: int | None = None
    """At most so many records of each person are kept."""
    key: str = ""
    """The secret by which they are drawn."""
    named: bool = False
    """Whether the account is to keep the names of the records."""
    sink: Sink | None = None
    """Where the records go; if not given, the reader returns them."""
    tags: Tags | None = None
    """Where the people of a table go, if somebody asks who they are."""
    account: Account = field(default_factory=Account, compare=False)
    """Where the reader says what it did."""

    def without_dropped(self, cells: Sequence[Cell]) -> Sequence[Cell]:
        """The cells of a line or a list, without those at the positions to leave out."""
        self.account.used.add("drop_column")
        if not self.drop_column:
            return cells
        left_out = {place - 1 if place != LAST else len(cells) - 1 for place in self.drop_column}
        return [cell for place, cell in enumerate(cells) if place not in left_out]


class RecordBuilder(records.RecordBuilder):
    """Collects records that come one after the other, as numbers, or hands them to a sink."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self._sink, self._account = reading.sink, reading.account

    def add(self, items: Iterable[str], counts: Iterable[int] | None = None) -> None:
        super().add(items, None if self._sink is not None else counts)
        if self._sink is not None and len(self._items) > _AT_ONCE:
            self._sink.add(*self._noted(*self.taken()))

    def finish(self, *, bags: bool) -> Transactions:
        """All records; in bags repeated items are counted, otherwise merged."""
        if self._sink is not None:
            self._sink.add(*self._noted(*self.taken()))
            return self._sink.finish(list(self._numbers))
        self._noted(np.asarray(self._lengths, np.int64), np.asarray(self._items, np.int32))
        numbers, items, vocabulary, size, counts = self.pairs()
        if bags:
            return Bags.from_pairs(numbers, items, vocabulary, size=size, counts=counts)
        return Transactions.from_pairs(numbers, items, vocabulary, size=size)

    def _noted(self, lengths: Int64s, items: Int32s) -> tuple[Int64s, Int32s]:
        """The same records, after the account knows how the first of them begin."""
        if self._account.opening is None and "drop_column" in self._account.used:
            self._account.opening = opening_of(lengths, items, self._numbers)
        return lengths, items


_AT_ONCE = 1 << 20
"""So many items are handed to a sink at once."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of a record and an item by number, in any order."""

    records: npt.NDArray[np.integer]
    items: npt.NDArray[np.integer]
    counts: npt.NDArray[np.integer] | None = None

    def assembled(self, labels: list[str], size: int, *, bags: bool) -> Transactions:
        """The `size` records, as transactions or as bags; item i is `labels[i]`."""
        vocabulary = Vocabulary.of(labels)
        numbers = vocabulary.encode(labels)[self.items] if labels else self.items
        if bags:
            return Bags.from_pairs(self.records, numbers, vocabulary, size=size, counts=self.counts)
        return Transactions.from_pairs(self.records, numbers, vocabulary, size=size)


@dataclass(frozen=True)
class Pieces:
    """Records by the thousand: how many items each has, and their numbers, in any order."""

    held: list[tuple[Int64s, Int32s]]

    def assembled(self, labels: list[str], *, bags: bool) -> Transactions:
        """The same as `Pairs.assembled`, on all cores; empties the list."""
        vocabulary = Vocabulary.of(labels)
        numbers, lengths, items, counts = vocabulary.encode(labels), [], [], []
        for some, found, times in on_threads(
            partial(_merge, numbers=numbers, bags=bags), _emptied(self.held)
        ):
            lengths.append(some)
            items.append(found)
            counts.append(times)
        indptr = offsets(_joined(lengths))
        if bags:
            return Bags(indptr, _joined(items), vocabulary, _joined(counts))
        return Transactions.trusted(indptr, _joined(items), vocabulary)


def _emptied(held: list[Held]) -> Iterator[Held]:
    held.reverse()
    while held:
        yield held.pop()


def _merge(
    piece: tuple[Int64s, Int32s], *, numbers: Int32s, bags: bool
) -> tuple[Int64s, Int32s, Int64s]:
    lengths, found = piece
    times = np.ones(len(found) if bags else 0, dtype=np.int64)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    indptr, items, counts = compress(
        rows, numbers[found], times if bags else None, len(numbers), len(lengths)
    )
    return np.diff(indptr), items, times if counts is None else counts


def _joined(parts: list[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    """The parts one after the other; empties the list, to save memory."""
    whole = np.empty(sum(map(len, parts)), dtype=parts[0].dtype)
    at = 0
    for part in _emptied(parts):
        whole[at : at + len(part)] = part
        at += len(part)
    return whole


def no_record(source: Source, row: int) -> DataError:
    """The error for a row whose record is empty."""
    problem = f"data row {row} has no record: every row must belong to one"
    return source.fault(problem, remedy="leave such rows out with {drop_record=}")


def by_owner(
    found: Transactions, owners: list[int], reading: Reading, source: Source, column: str | None
) -> Transactions:
    """The rows of each owner as one record, if the user named their column and some have several;
    not if records are handed on as they come."""
    if max(owners, default=-1) + 1 == len(owners):
        return found
    if reading.record is None:
        raise several_rows("column", column or "", source.fault)
    if reading.sink is not None:
        problem = "several rows with sets of items belong to one record"
        remedy = "convert it to one row per record and item, or use {engine=local}"
        raise source.fault(problem, remedy=remedy)
    return joined(found, np.asarray(owners, dtype=np.int64))
