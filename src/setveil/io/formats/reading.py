"""What all readers share: the options, and how rows of texts become transactions."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from setveil.data.account import Account
from setveil.data.tables.columns import Wanted
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.io.source.source import Source

Key = TypeVar("Key")


@dataclass(frozen=True)
class Reading(Wanted):
    """The options of `setveil.read` that a format may need."""

    memory_limit: str | None = None
    header: bool | None = None
    drop_record: tuple[str, ...] = ()
    account: Account = field(default_factory=Account, compare=False)
    """Where the reader says what it did."""


class Numbering(dict[Key, int]):
    """A dictionary that numbers its keys in the order in which they are first looked up."""

    def __missing__(self, key: Key) -> int:
        self[key] = number = len(self)
        return number


class RecordBuilder:
    """Collects records that come one after the other, as numbers."""

    def __init__(self) -> None:
        self._numbers: Numbering[str] = Numbering()
        self._items = array("i")
        self._counts = array("q")
        self._lengths = array("q")

    def add(self, items: Iterable[str], counts: Iterable[int] | None = None) -> None:
        """Add a record, either with repeated items or with counts (the same for all records)."""
        before = len(self._items)
        self._items.extend(map(self._numbers.__getitem__, items))
        self._lengths.append(len(self._items) - before)
        if counts is not None:
            self._counts.extend(counts)

    def add_empty(self, records: int) -> None:
        """Add this many empty records."""
        self._lengths.extend([0] * records)

    def finish(self, *, bags: bool) -> Transactions:
        """All records; in bags repeated items are counted, otherwise merged."""
        lengths = np.asarray(self._lengths, dtype=np.int64)
        items = np.asarray(self._items, dtype=np.int32)
        pairs = Pairs(
            np.repeat(np.arange(len(lengths), dtype=np.int64), lengths),
            items,
            np.asarray(self._counts, dtype=np.int64) if self._counts else None,
        )
        return pairs.assembled(list(self._numbers), len(lengths), bags=bags)


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


def no_record(source: Source, row: int) -> DataError:
    """The error for a row whose record is empty."""
    problem = f"data row {row} has no record: every row must belong to one"
    return source.fault(problem, remedy="leave such rows out with {drop_record=}")
