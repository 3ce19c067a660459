"""Collects records of texts, one by one, as arrays of numbers."""

from array import array
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from setveil.data.arrays import Int32s, Int64s
from setveil.data.items import is_missing, text_of
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.errors import DataError, brief

Key = TypeVar("Key")
MOST = 1 << 62
"""The greatest count of an item in a record, and of all occurrences, so that sums fit 64 bits."""


class Numbering(dict[Key, int]):
    """A dictionary that numbers its keys in the order in which they are first looked up."""

    def __missing__(self, key: Key) -> int:
        self[key] = number = len(self)
        return number


class Pairs(NamedTuple):
    """A record number and an item number for every entry."""

    records: Int64s
    items: Int32s
    vocabulary: Vocabulary
    size: int  # the number of records, empty ones included
    counts: Int64s | None


class RecordBuilder:
    """Collects records; their items are numbered in the order in which they first occur."""

    def __init__(self) -> None:
        self._numbers: Numbering[str] = Numbering()
        self._items, self._counts, self._lengths = array("i"), array("q"), array("q")

    def add(self, items: Iterable[str], counts: Iterable[int] | None = None) -> None:
        """Add a record; either all records come with counts or none does."""
        before = len(self._items)
        self._items.extend(map(self._numbers.__getitem__, items))
        self._lengths.append(len(self._items) - before)
        if counts is not None:
            self._counts.extend(counts)

    def add_empty(self, records: int) -> None:
        """Add this many empty records."""
        self._lengths.extend([0] * records)

    def taken(self) -> tuple[Int64s, Int32s]:
        """How many items each record so far has, and their numbers; the builder starts again."""
        lengths = np.array(self._lengths, dtype=np.int64)
        items = np.array(self._items, dtype=np.int32)
        self._items, self._counts, self._lengths = array("i"), array("q"), array("q")
        return lengths, items

    def pairs(self) -> Pairs:
        """All entries, numbered by the sorted vocabulary."""
        vocabulary = Vocabulary(sort_labels(self._numbers))
        lengths = np.asarray(self._lengths, dtype=np.int64)
        items = np.asarray(self._items, dtype=np.int32)
        return Pairs(
            np.repeat(np.arange(len(lengths)), lengths),
            vocabulary.encode(self._numbers)[items],
            vocabulary,
            len(lengths),
            np.asarray(self._counts, dtype=np.int64) if self._counts else None,
        )


def checked_records(records: Iterable[Iterable[object]]) -> Iterable[Iterable[object]]:
    """The same iterable if it may hold records; else raise an error."""
    refuse_text(records)
    if not isinstance(records, Iterable) or isinstance(records, Mapping):
        raise DataError(
            f"an object of type {type(records).__name__} is not an iterable of records",
            remedy="setveil.as_transactions also takes tables, matrices and mappings",
        )
    return records


def refuse_text(records: object) -> None:
    """Raise an error if records are given as one text, which may be meant as a file."""
    if isinstance(records, str | bytes | PathLike):
        problem = "records must be an iterable of records, not one text"
        raise DataError(problem, remedy="read files with setveil.read")


def counted(record: Mapping[Any, object]) -> tuple[list[str], list[int]]:
    """The items of a mapping and their counts; plain texts and numbers are checked all at once."""
    items, counts = list(record), list(record.values())
    if set(map(type, items)) == {str} and set(map(type, counts)) == {int}:
        numbers = cast("list[int]", counts)
        if min(numbers) >= 1 and max(numbers) <= MOST:
            return items, numbers
    held = [(text_of(item), count) for item, count in record.items() if not is_missing(item)]
    return [item for item, _ in held], [_count(item, count) for item, count in held]


def _count(item: str, count: object) -> int:
    number = count if isinstance(count, int | float | np.integer | np.floating) else 0
    if number % 1 != 0 or not 1 <= number <= MOST:
        allowed = "it must be a whole number of 1 or more"
        raise DataError(f"the count of item {brief(item)} is {brief(count)}: {allowed}")
    return int(number)
