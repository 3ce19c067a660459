"""What all readers share: the options, and how rows of texts become transactions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from setveil.data import records
from setveil.data.account import Account
from setveil.data.tables.columns import Wanted
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.io.source.source import Source


@dataclass(frozen=True)
class Reading(Wanted):
    """The options of `setveil.read` that a format may need."""

    memory_limit: str | None = None
    header: bool | None = None
    drop_record: tuple[str, ...] = ()
    account: Account = field(default_factory=Account, compare=False)
    """Where the reader says what it did."""


class RecordBuilder(records.RecordBuilder):
    """Collects records that come one after the other, as numbers."""

    def finish(self, *, bags: bool) -> Transactions:
        """All records; in bags repeated items are counted, otherwise merged."""
        numbers, items, vocabulary, size, counts = self.pairs()
        if bags:
            return Bags.from_pairs(numbers, items, vocabulary, size=size, counts=counts)
        return Transactions.from_pairs(numbers, items, vocabulary, size=size)


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
