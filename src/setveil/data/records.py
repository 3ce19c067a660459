"""Records as arrays of numbers: collected from texts one by one, or from pairs of numbers."""

from array import array
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int32s, Int64s
from setveil.data.vocabulary import Vocabulary, is_missing, sort_labels, text_of
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
    """Collects records; their items are numbered in the order in which they first occur, together
    with those of other builders that have the same `numbers`."""

    def __init__(self, numbers: Numbering[str] | None = None) -> None:
        self._numbers = Numbering[str]() if numbers is None else numbers
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


def frozen(name: str, values: npt.ArrayLike, dtype: type[np.integer]) -> npt.NDArray[np.integer]:
    """A read-only array of whole numbers of this type."""
    array = np.ascontiguousarray(whole(name, values))
    if array.dtype != dtype:
        bounds = np.iinfo(dtype)
        if array.size and (array.min() < bounds.min or array.max() > bounds.max):
            raise DataError(f"{name} must be whole numbers of at most {bounds.max}")
        array = array.astype(dtype)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def whole(name: str, values: npt.ArrayLike) -> npt.NDArray[np.integer]:
    """A one-dimensional array of whole numbers."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(f"{name} must be a one-dimensional array of whole numbers")
    return array if array.size else array.astype(np.int64)


def pair_columns(
    records: npt.ArrayLike, items: npt.ArrayLike
) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
    """Both columns of the pairs as arrays of equal length."""
    owners, entries = whole("records", records), whole("items", items)
    if len(owners) != len(entries):
        counts = f"{len(owners)} record numbers, {len(entries)} item numbers"
        raise DataError(f"pairs need one record number for each item number, not {counts}")
    return owners, entries


def compress(
    records: npt.NDArray[np.integer],
    items: npt.NDArray[np.integer],
    counts: Int64s | None,
    width: int,
    size: int,
) -> tuple[Int64s, Int32s, Int64s | None]:
    """Sort pairs by record and item, and merge equal ones, whose counts are added up."""
    if len(items) and (
        items.min() < 0 or items.max() >= width or records.min() < 0 or records.max() >= size
    ):
        allowed = f"record numbers from 0 to {size - 1} and item numbers from 0 to {width - 1}"
        raise DataError(f"pairs must have {allowed}")
    width = max(width, 1)
    codes = records.astype(np.int64)
    codes *= width
    codes += items
    if not (codes[1:] > codes[:-1]).all():
        codes, counts = _merged(codes, counts)
    indptr = np.searchsorted(codes, np.arange(size + 1, dtype=np.int64) * width)
    codes %= width
    return indptr, codes.astype(np.int32), counts


def _merged(codes: Int64s, counts: Int64s | None) -> tuple[Int64s, Int64s | None]:
    """Distinct codes, ascending, with the sum of their counts; sorts `codes` to save memory."""
    if counts is not None:
        counts = counts[np.argsort(codes, kind="stable")]
    codes.sort()
    first = np.ones(len(codes), dtype=bool)
    np.not_equal(codes[1:], codes[:-1], out=first[1:])
    return codes[first], None if counts is None else np.add.reduceat(counts, np.flatnonzero(first))
