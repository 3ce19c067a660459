"""Transactions: records of items as one compressed sparse row structure; bags add how often each item stands."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, cast, overload

import numpy as np
import numpy.typing as npt

from setveil.data.items import is_missing, text_of, texts_of
from setveil.data.tables.texts import Rows, checked_records
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, ParameterError

Offsets = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

MOST = 1 << 62
"""The greatest count of an item in a record."""
MOST_IN_ALL = 1 << 62
"""The most occurrences of all records together, so that sums of counts stay whole numbers of 64 bits."""


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
        object.__setattr__(self, "indptr", _frozen("indptr", self.indptr, np.int64))
        object.__setattr__(self, "items", _frozen("items", self.items, np.int32))
        self._check()

    def __reduce__(self) -> tuple[Any, ...]:
        """As its arrays, checked and read-only again where they arrive."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def of(cls, records: Iterable[Iterable[object]]) -> Self:
        """From any iterable of records of items; what repeats in a record collapses (in `Bags` it counts), what is missing is no item."""
        rows = Rows()
        for record in checked_records(records):
            rows.add(texts_of(record))
        owners, items, vocabulary = rows.finish()
        return cls.from_pairs(owners, items, vocabulary, size=len(rows.lengths))

    @classmethod
    def from_pairs(
        cls,
        records: npt.ArrayLike,
        items: npt.ArrayLike,
        vocabulary: Vocabulary,
        *,
        size: int | None = None,
    ) -> Self:
        """From pairs (record number, item number) in any order; `size` records, so that empty ones can be kept."""
        owners, entries = _pairs(records, items)
        size = int(owners.max(initial=-1)) + 1 if size is None else size
        indptr, numbers, _ = _compress(owners, entries, None, len(vocabulary), size)
        return cls(indptr, numbers, vocabulary)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        labels, items = self.vocabulary.labels, self.items.tolist()
        bounds = self.indptr.tolist()
        for start, end in zip(bounds, bounds[1:], strict=False):
            yield tuple(labels[item] for item in items[start:end])

    @overload
    def __getitem__(self, number: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, number: slice | Sequence[int] | npt.NDArray[Any]) -> Self: ...
    def __getitem__(
        self, number: int | slice | Sequence[int] | npt.NDArray[Any]
    ) -> tuple[str, ...] | Self:
        """The items of one record, or the records of a slice, of several numbers or of a mask."""
        if isinstance(number, slice):
            return self.take(np.arange(len(self))[number])
        return (
            self.record(number)
            if isinstance(number, int | np.integer) and not isinstance(number, bool)
            else self.take(number)
        )

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
        """The items of one record; -1 is the last one."""
        labels = self.vocabulary.labels
        place = (
            number
            if type(number) is int and 0 <= number < len(self)
            else int(self._numbers([number])[0])
        )
        return tuple(
            labels[item] for item in self.items[self.indptr[place] : self.indptr[place + 1]]
        )

    def take(self, numbers: npt.ArrayLike) -> Self:
        """The records of these numbers, in this order, repeats allowed; or, by a true or false for each record, those that are true."""
        entries, indptr = self._entries(self._numbers(numbers))
        return self._with(indptr, entries)

    def support(self, itemset: Iterable[object]) -> int:
        """The number of records that hold all these items."""
        wanted, known = set(texts_of(itemset)), self.vocabulary.numbers
        if not all(item in known for item in wanted):
            return 0
        asked = np.isin(self.items, [known[item] for item in wanted])
        return int((np.bincount(self.rows[asked], minlength=len(self)) == len(wanted)).sum())

    def _numbers(self, numbers: npt.ArrayLike) -> Offsets:
        """Numbers of records from 0 on, of what may be negative (from the end) or a mask."""
        given = np.asarray(numbers)
        if given.dtype == bool and given.shape == (len(self),):
            return np.flatnonzero(given)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise ParameterError(
                "numbers",
                numbers,
                f"give numbers of records, or a true or false for each of the {len(self)} records",
            )
        wrong = given[(given >= len(self)) | (given < -len(self))]
        if len(wrong):
            raise ParameterError(
                "record", int(wrong[0]), f"the {len(self)} records are numbered from 0"
            )
        places = given.astype(np.int64)
        return np.where(places < 0, places + len(self), places)

    def _entries(self, numbers: Offsets) -> tuple[Offsets, Offsets]:
        lengths = self.lengths[numbers]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        entries = np.arange(indptr[-1]) - np.repeat(indptr[:-1] - self.indptr[numbers], lengths)
        return entries, indptr

    def _with(self, indptr: Offsets, entries: Offsets) -> Self:
        return type(self)(indptr, self.items[entries], self.vocabulary)

    def _check(self) -> None:
        if not isinstance(self.vocabulary, Vocabulary):
            raise DataError(
                f"the vocabulary must be a Vocabulary, not a {type(self.vocabulary).__name__}: Vocabulary(labels) makes one"
            )
        lengths, items = np.diff(self.indptr), self.items
        if (
            len(self.indptr) == 0
            or self.indptr[0] != 0
            or self.indptr[-1] != len(items)
            or (lengths < 0).any()
        ):
            raise DataError("indptr must start at 0, never fall, and end at the number of entries")
        if len(items) and (items.min() < 0 or items.max() >= len(self.vocabulary)):
            raise DataError(
                f"items must be numbers of the vocabulary, 0 to {len(self.vocabulary) - 1}"
            )
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
        object.__setattr__(self, "counts", _frozen("counts", self.counts, np.int64))
        super().__post_init__()

    @classmethod
    def of(cls, records: Iterable[Iterable[object]]) -> Self:
        """From records of items with repeats, or from mappings `{item: count}`; what is missing is no item."""
        if isinstance(records, Bags):
            return cls(records.indptr, records.items, records.vocabulary, records.counts)
        rows, counts = Rows(), array("q")
        for record in checked_records(records):
            items, held = (
                _counted(record) if isinstance(record, Mapping) else (texts_of(record), None)
            )
            rows.add(items)
            counts.extend([1] * len(items) if held is None else held)
        owners, entries, vocabulary = rows.finish()
        given = np.frombuffer(counts, dtype=np.int64) if counts else np.zeros(0, dtype=np.int64)
        return cls.from_pairs(owners, entries, vocabulary, size=len(rows.lengths), counts=given)

    @classmethod
    def from_pairs(
        cls,
        records: npt.ArrayLike,
        items: npt.ArrayLike,
        vocabulary: Vocabulary,
        *,
        size: int | None = None,
        counts: npt.ArrayLike | None = None,
    ) -> Self:
        """From pairs (record number, item number) with counts (1 each when not given); repeated pairs add up."""
        owners, entries = _pairs(records, items)
        size = int(owners.max(initial=-1)) + 1 if size is None else size
        given = (
            np.ones(len(entries), dtype=np.int64)
            if counts is None
            else _whole("counts", counts).astype(np.int64, copy=False)
        )
        if len(given) != len(entries):
            raise DataError(
                f"there are {len(given)} counts for {len(entries)} pairs: each needs one"
            )
        _check_total(given)
        indptr, numbers, summed = _compress(owners, entries, given, len(vocabulary), size)
        return cls(indptr, numbers, vocabulary, given if summed is None else summed)

    def __eq__(self, other: object) -> bool:
        return (
            super().__eq__(other)
            and isinstance(other, Bags)
            and np.array_equal(self.counts, other.counts)
        )

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
        _check_total(self.counts)


def _check_total(counts: Counts) -> None:
    """Refuse more occurrences than 64 bits can count, for sums would start again below zero."""
    if counts.sum(dtype=np.float64) > MOST_IN_ALL:
        raise DataError(
            f"there are more than {MOST_IN_ALL:.2g} occurrences in all: their counts are too large to be added up"
        )


def _counted(record: Mapping[Any, object]) -> tuple[list[str], list[int]]:
    """The items of a mapping and their counts; most are plain texts and numbers, and then looked at all at once."""
    items, counts = list(record), list(record.values())
    if set(map(type, items)) == {str} and set(map(type, counts)) == {int}:
        numbers = cast("list[int]", counts)
        if min(numbers) >= 1 and max(numbers) <= MOST:
            return items, numbers
    held = [(text_of(item), count) for item, count in record.items() if not is_missing(item)]
    return [item for item, _ in held], [_count(item, count) for item, count in held]


def _count(item: str, count: object) -> int:
    if (
        not isinstance(count, int | float | np.integer | np.floating)
        or count % 1 != 0
        or not 1 <= count <= MOST
    ):
        raise DataError(
            f"the count of item {item!r} is {count!r}: it must be a whole number of 1 or more"
        )
    return int(count)


def _frozen(name: str, values: npt.ArrayLike, dtype: type[np.integer]) -> npt.NDArray[np.integer]:
    array = np.ascontiguousarray(_whole(name, values))
    if array.dtype != dtype:
        bounds = np.iinfo(dtype)
        if array.size and (array.min() < bounds.min or array.max() > bounds.max):
            raise DataError(f"{name} must be whole numbers of at most {bounds.max}")
        array = array.astype(dtype)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def _whole(name: str, values: npt.ArrayLike) -> npt.NDArray[np.integer]:
    """A row of whole numbers."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(f"{name} must be a row of whole numbers")
    return array if array.size else array.astype(np.int64)


def _pairs(
    records: npt.ArrayLike, items: npt.ArrayLike
) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
    owners, entries = _whole("records", records), _whole("items", items)
    if len(owners) != len(entries):
        raise DataError(
            f"there are {len(owners)} record numbers and {len(entries)} item numbers: pairs have one of each"
        )
    return owners, entries


def _compress(
    records: npt.NDArray[np.integer],
    items: npt.NDArray[np.integer],
    counts: Counts | None,
    width: int,
    size: int,
) -> tuple[Offsets, Items, Counts | None]:
    """Sort pairs by record and item; equal ones become one and their counts, if any, are added up."""
    if len(items) and (
        items.min() < 0 or items.max() >= width or records.min() < 0 or records.max() >= size
    ):
        raise DataError(
            f"pairs must have record numbers of 0 to {size - 1} and item numbers of 0 to {width - 1}"
        )
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
