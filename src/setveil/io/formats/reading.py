"""What all readers share: the options, and a builder that turns rows of texts into transactions."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from setveil.data.tables.columns import Wanted
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary

Key = TypeVar("Key")


@dataclass(frozen=True)
class Reading(Wanted):
    """The options of `setveil.io.read` that a format may need."""

    memory_limit: str | None = None


class Numbers(dict[Key, int]):
    """A dictionary that numbers its keys in the order in which they are first asked for."""

    def __missing__(self, key: Key) -> int:
        self[key] = number = len(self)
        return number


class Rows:
    """Records that come one after the other, collected as numbers."""

    def __init__(self) -> None:
        self._numbers: Numbers[str] = Numbers()
        self._items = array("i")
        self._counts = array("q")
        self._lengths = array("q")

    def add(self, items: Iterable[str], counts: Iterable[int] | None = None) -> None:
        """One more record, with repeats or with counts (all records alike)."""
        before = len(self._items)
        self._items.extend(map(self._numbers.__getitem__, items))
        self._lengths.append(len(self._items) - before)
        if counts is not None:
            self._counts.extend(counts)

    def add_empty(self, records: int) -> None:
        """So many more empty records."""
        self._lengths.extend([0] * records)

    def finish(self, *, bags: bool) -> Transactions:
        """All records; what repeats collapses, or counts in bags."""
        lengths = (
            np.frombuffer(self._lengths, dtype=np.int64)
            if self._lengths
            else np.zeros(0, dtype=np.int64)
        )
        items = (
            np.frombuffer(self._items, dtype=np.int32)
            if self._items
            else np.zeros(0, dtype=np.int32)
        )
        counts = np.frombuffer(self._counts, dtype=np.int64) if self._counts else None
        owners = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        return assembled(owners, items, list(self._numbers), len(lengths), counts, bags=bags)


def assembled(
    records: npt.NDArray[np.integer],
    items: npt.NDArray[np.integer],
    labels: list[str],
    size: int,
    counts: npt.NDArray[np.integer] | None,
    *,
    bags: bool,
) -> Transactions:
    """Transactions or bags from pairs of numbers whose items are numbered in any order."""
    vocabulary = Vocabulary.of(labels)
    numbers = vocabulary.encode(labels)[items] if len(labels) else np.zeros(0, dtype=np.int32)
    if bags:
        return Bags.from_pairs(records, numbers, vocabulary, size=size, counts=counts)
    return Transactions.from_pairs(records, numbers, vocabulary, size=size)
