"""Transactions: records of items as one compressed sparse row structure; bags add how often each item stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError

Offsets = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Transactions:
    """Records of distinct items; record i holds `items[indptr[i]:indptr[i + 1]]`, ascending.

    Empty records are kept. The arrays are read-only. No identifier of a person ever enters this type.

    Example:
        >>> data = Transactions.of([["wine", "beer"], [], ["beer", "beer"]])
        >>> len(data), data.occurrences, list(data)
        (3, 3, [('beer', 'wine'), (), ('beer',)])
    """

    indptr: Offsets
    items: Items
    vocabulary: Vocabulary

    def __post_init__(self) -> None:
        object.__setattr__(self, "indptr", _frozen(self.indptr, np.int64))
        object.__setattr__(self, "items", _frozen(self.items, np.int32))
        self._check()

    @classmethod
    def of(cls, records: Iterable[Iterable[object]]) -> Self:
        """From any iterable of records of items; what repeats in a record collapses (in `Bags` it counts)."""
        if isinstance(records, str | bytes):
            raise DataError("records must be an iterable of records, not one text; read files with setveil.read")
        rows = [_texts(record) for record in records]
        vocabulary = Vocabulary.of(item for row in rows for item in row)
        numbers = vocabulary.numbers
        lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
        items = np.fromiter((numbers[item] for row in rows for item in row), dtype=np.int32, count=int(lengths.sum()))
        return cls.from_pairs(np.repeat(np.arange(len(rows)), lengths), items, vocabulary, size=len(rows))

    @classmethod
    def from_pairs(
        cls, records: npt.NDArray[np.integer], items: npt.NDArray[np.integer], vocabulary: Vocabulary, *, size: int | None = None
    ) -> Self:
        """From pairs (record number, item number) in any order; `size` records, so that empty ones can be kept."""
        size = int(records.max(initial=-1)) + 1 if size is None else size
        indptr, numbers, _ = _compress(records, items, None, len(vocabulary), size)
        return cls(indptr, numbers, vocabulary)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        labels, items = self.vocabulary.labels, self.items.tolist()
        bounds = self.indptr.tolist()
        for start, end in zip(bounds, bounds[1:], strict=False):
            yield tuple(labels[item] for item in items[start:end])

    def __eq__(self, other: object) -> bool:
        """Equal records in equal order over equal vocabularies."""
        return (
            type(other) is type(self)
            and self.vocabulary == other.vocabulary
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.items, other.items)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} records, {len(self.vocabulary)} items, {self.occurrences} occurrences)"

    @property
    def lengths(self) -> Counts:
        """The number of distinct items of each record."""
        return np.diff(self.indptr)

    @property
    def occurrences(self) -> int:
        """The number of item occurrences in all records (of a bag: with their counts)."""
        return len(self.items)

    @property
    def rows(self) -> Offsets:
        """The record number of every entry of `items`."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    def supports(self) -> Counts:
        """The number of records that hold each item."""
        return np.bincount(self.items, minlength=len(self.vocabulary)).astype(np.int64, copy=False)

    def record(self, number: int) -> tuple[str, ...]:
        """The items of one record."""
        labels = self.vocabulary.labels
        return tuple(labels[item] for item in self.items[self.indptr[number] : self.indptr[number + 1]])

    def take(self, numbers: npt.ArrayLike) -> Self:
        """The records of these numbers, in this order, repeats allowed."""
        entries, indptr = self._entries(np.asarray(numbers, dtype=np.int64))
        return self._with(indptr, entries)

    def _entries(self, numbers: Offsets) -> tuple[Offsets, Offsets]:
        lengths = self.lengths[numbers]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        entries = np.arange(indptr[-1]) - np.repeat(indptr[:-1] - self.indptr[numbers], lengths)
        return entries, indptr

    def _with(self, indptr: Offsets, entries: Offsets) -> Self:
        return type(self)(indptr, self.items[entries], self.vocabulary)

    def _check(self) -> None:
        lengths, items = np.diff(self.indptr), self.items
        if len(self.indptr) == 0 or self.indptr[0] != 0 or self.indptr[-1] != len(items) or (lengths < 0).any():
            raise DataError("indptr must start at 0, never fall, and end at the number of entries")
        if len(items) and (items.min() < 0 or items.max() >= len(self.vocabulary)):
            raise DataError(f"items must be numbers of the vocabulary, 0 to {len(self.vocabulary) - 1}")
        falls = items[1:] <= items[:-1]
        inner = self.indptr[(self.indptr > 0) & (self.indptr < len(items))]
        falls[inner - 1] = False
        if falls.any():
            raise DataError("the items of a record must be ascending and distinct")


@dataclass(frozen=True, eq=False, repr=False)
class Bags(Transactions):
    """Records in which each item stands a number of times: `counts` lies beside `items`.

    Example:
        >>> data = Bags.of([["wine", "beer", "wine"]])
        >>> data.occurrences, data.counts.tolist()
        (3, [1, 2])
    """

    counts: Counts

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", _frozen(self.counts, np.int64))
        super().__post_init__()

    @classmethod
    def of(cls, records: Iterable[Iterable[object]]) -> Self:
        """From records of items with repeats, or from mappings `{item: count}`."""
        rows = [_counted(record) for record in records]
        vocabulary = Vocabulary.of(item for row in rows for item in row)
        numbers = vocabulary.numbers
        owners = np.repeat(np.arange(len(rows)), [len(row) for row in rows]).astype(np.int64)
        items = np.fromiter((numbers[item] for row in rows for item in row), dtype=np.int32)
        counts = np.fromiter((count for row in rows for count in row.values()), dtype=np.int64)
        return cls.from_pairs(owners, items, vocabulary, size=len(rows), counts=counts)

    @classmethod
    def from_pairs(
        cls,
        records: npt.NDArray[np.integer],
        items: npt.NDArray[np.integer],
        vocabulary: Vocabulary,
        *,
        size: int | None = None,
        counts: npt.NDArray[np.integer] | None = None,
    ) -> Self:
        """From pairs (record number, item number) with counts (1 each when not given); repeated pairs add up."""
        size = int(records.max(initial=-1)) + 1 if size is None else size
        given = np.ones(len(items), dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
        indptr, numbers, summed = _compress(records, items, given, len(vocabulary), size)
        return cls(indptr, numbers, vocabulary, given if summed is None else summed)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and isinstance(other, Bags) and np.array_equal(self.counts, other.counts)

    @property
    def occurrences(self) -> int:
        return int(self.counts.sum())

    @property
    def totals(self) -> Counts:
        """The number of occurrences in each record."""
        return np.diff(np.concatenate(([0], np.cumsum(self.counts)))[self.indptr])

    def sets(self) -> Transactions:
        """The same records without the counts."""
        return Transactions(self.indptr, self.items, self.vocabulary)

    def _with(self, indptr: Offsets, entries: Offsets) -> Self:
        return type(self)(indptr, self.items[entries], self.vocabulary, self.counts[entries])

    def _check(self) -> None:
        super()._check()
        if len(self.counts) != len(self.items) or (len(self.counts) and self.counts.min() < 1):
            raise DataError("a bag needs a count of 1 or more for each of its items")


def _frozen(values: npt.ArrayLike, dtype: type[np.generic]) -> npt.NDArray[np.generic]:
    array = np.ascontiguousarray(values, dtype=dtype)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def _texts(record: Iterable[object]) -> list[str]:
    if isinstance(record, str | bytes):
        raise DataError(f"a record must be an iterable of items, not the text {record!r}; write [{record!r}] for one item")
    return [str(item) for item in record]


def _counted(record: Iterable[object]) -> Mapping[str, int]:
    if not isinstance(record, Mapping):
        return Counter(_texts(record))
    counts: Counter[str] = Counter()
    for item, count in record.items():
        if not isinstance(count, int | np.integer) or count < 1:
            raise DataError(f"the count of item {item!r} is {count!r}: it must be a whole number of 1 or more")
        counts[str(item)] += int(count)
    return counts


def _compress(
    records: npt.NDArray[np.integer], items: npt.NDArray[np.integer], counts: Counts | None, width: int, size: int
) -> tuple[Offsets, Items, Counts | None]:
    """Sort pairs by record and item; equal ones become one and their counts, if any, are added up."""
    if len(items) and (items.min() < 0 or items.max() >= width or records.min() < 0 or records.max() >= size):
        raise DataError(f"pairs must have record numbers of 0 to {size - 1} and item numbers of 0 to {width - 1}")
    width = max(width, 1)
    codes = records.astype(np.int64)
    codes *= width
    codes += items
    if not (codes[1:] > codes[:-1]).all():
        codes, counts = _merged(codes, counts)
    indptr = np.searchsorted(codes, np.arange(size + 1, dtype=np.int64) * width)
    codes %= width
    return indptr, codes.astype(np.int32), counts


def _merged(codes: Offsets, counts: Counts | None) -> tuple[Offsets, Counts | None]:
    """Codes in ascending order, each once, with the sum of its counts; `codes` itself is sorted, to save memory."""
    if counts is not None:
        counts = counts[np.argsort(codes, kind="stable")]
    codes.sort()
    first = np.ones(len(codes), dtype=bool)
    np.not_equal(codes[1:], codes[:-1], out=first[1:])
    return codes[first], None if counts is None else np.add.reduceat(counts, np.flatnonzero(first))
