"""Records of items as a compressed sparse row structure; bags add how often each item occurs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Flags, Int32s, Int64s, gathered, offsets, ranges
from setveil.data.records import (
    MOST,
    RecordBuilder,
    checked_records,
    compress,
    counted,
    frozen,
    pair_columns,
    whole,
)
from setveil.data.vocabulary import Vocabulary, texts_of
from setveil.errors import DataError, ParameterError
from setveil.showing import Shown
from setveil.words import plural

Value = TypeVar("Value")
Offsets = Int64s
Counts = Int64s

_AT_ONCE, _RECORDS_AT_ONCE = 1 << 22, 1 << 14


@dataclass(frozen=True, eq=False, repr=False)
class Transactions(Shown):
    """Records of distinct items; record i holds `items[indptr[i]:indptr[i + 1]]`, ascending.

    Empty records are kept. The arrays are read-only. Identifiers of people never enter this type.

    Example:
        >>> data = Transactions.of([["wine", "beer"], [], ["beer", "beer"]])
        >>> len(data), data.occurrences, list(data)
        (3, 3, [('beer', 'wine'), (), ('beer',)])
    """

    indptr: Int64s
    items: Int32s
    vocabulary: Vocabulary

    def __post_init__(self) -> None:
        object.__setattr__(self, "indptr", frozen("indptr", self.indptr, np.int64))
        object.__setattr__(self, "items", frozen("items", self.items, np.int32))
        self._check()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arrays; they are checked and made read-only again when loaded."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def of(cls, records: Iterable[Iterable[object]]) -> Self:
        """From any iterable of records of items, without repeats and missing values (None, NaN)."""
        rows = RecordBuilder()
        for record in checked_records(records):
            rows.add(texts_of(record))
        pairs = rows.pairs()
        return cls.from_pairs(*pairs[:3], size=pairs.size)

    @classmethod
    def from_pairs(
        cls,
        records: npt.ArrayLike,
        items: npt.ArrayLike,
        vocabulary: Vocabulary,
        *,
        size: int | None = None,
    ) -> Self:
        """From pairs (record number, item number) in any order; `size` counts empty records too."""
        owners, entries = pair_columns(records, items)
        size = int(owners.max(initial=-1)) + 1 if size is None else size
        indptr, numbers, _ = compress(owners, entries, None, len(vocabulary), size)
        return cls(indptr, numbers, vocabulary)

    @classmethod
    def trusted(cls, indptr: Int64s, items: Int32s, vocabulary: Vocabulary) -> Self:
        """Sets that cannot but be ascending and distinct, since they are made of others; they are
        not checked, which takes as long as to copy them."""
        made = object.__new__(cls)
        for name, array in (("indptr", indptr), ("items", items)):
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(made, name, view)
        object.__setattr__(made, "vocabulary", vocabulary)
        return made

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        for start in range(0, len(self), _RECORDS_AT_ONCE):
            bounds = self.indptr[start : start + _RECORDS_AT_ONCE + 1]
            items = self.items[bounds[0] : bounds[-1]].tolist()
            labels = tuple(map(self.vocabulary.labels.__getitem__, items))
            for low, high in pairwise((bounds - bounds[0]).tolist()):
                yield labels[low:high]

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
        if isinstance(number, int | np.integer) and not isinstance(number, bool):
            return self.record(number)
        return self.take(number)

    def __eq__(self, other: object) -> bool:
        """Whether both hold equal records in the same order over equal vocabularies."""
        return (
            type(other) is type(self)
            and self.vocabulary == other.vocabulary
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.items, other.items)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        items, name = len(self.vocabulary), type(self).__name__
        return f"{name}({len(self)} records, {items} items, {self.occurrences} occurrences)"

    @property
    def lengths(self) -> Int64s:
        """The number of distinct items of each record."""
        return np.diff(self.indptr)

    @property
    def occurrences(self) -> int:
        """The number of item occurrences in all records (in bags: the sum of the counts)."""
        return len(self.items)

    @property
    def rows(self) -> Int64s:
        """The record number of every entry of `items`."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    @property
    def times(self) -> Int64s:
        """How often each entry of `items` occurs in its record: 1, except in bags."""
        return np.ones(len(self.items), dtype=np.int64)

    def entries(self, number: int) -> slice:
        """The place of a record in `items`."""
        return slice(self.indptr[number], self.indptr[number + 1])

    def parted(self, values: Sequence[Value]) -> Iterator[Sequence[Value]]:
        """The values of each record, given one for each entry of `items`."""
        bounds = self.indptr.tolist()
        return (values[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False))

    def supports(self) -> Int64s:
        """The number of records that contain each item; counted once."""
        known: Int64s | None = self.__dict__.get("_supports")
        if known is None:
            known = np.zeros(len(self.vocabulary), dtype=np.int64)
            for start in range(0, len(self.items), _AT_ONCE):  # `bincount` copies what it counts
                some = self.items[start : start + _AT_ONCE]
                known += np.bincount(some, minlength=len(known))
            self.__dict__["_supports"] = known
        return known.copy()

    def record(self, number: int) -> tuple[str, ...]:
        """The items of one record; -1 is the last one."""
        known = type(number) is int and 0 <= number < len(self)
        place = number if known else int(self._numbers([number])[0])
        return tuple(self.vocabulary.labels[item] for item in self.items[self.entries(place)])

    def shown(self, number: int) -> tuple[str, ...]:
        """The items of one record as people read them; of bags with counts above 1: `tea x2`."""
        return self.record(number)

    def take(self, numbers: npt.ArrayLike) -> Self:
        """The records with these numbers, in this order, repeats allowed; or those of a mask."""
        chosen = self._numbers(numbers)
        lengths, starts = self.lengths[chosen], self.indptr[chosen]
        if type(self) is Transactions:
            return self.trusted(
                offsets(lengths), gathered(self.items, starts, lengths), self.vocabulary
            )
        return self._with(offsets(lengths), ranges(starts, lengths))

    def without_rare(self, people: int) -> Self:
        """The same records without the items that fewer than `people` records have.

        Example:
            >>> list(Transactions.of([["a", "b"], ["a"], ["c"]]).without_rare(2))
            [('a',), ('a',), ()]
        """
        return self.keeping(self.supports() >= people)

    def keeping(self, kept: Flags) -> Self:
        """The same records with only those items of the vocabulary that are marked."""
        if kept.all():
            return self
        entries = np.flatnonzero(kept[self.items])
        lengths = np.bincount(self.rows[entries], minlength=len(self))
        less = self._with(offsets(lengths), entries)
        labels = [self.vocabulary[number] for number in np.flatnonzero(kept).tolist()]
        numbers = (np.cumsum(kept) - 1)[less.items]
        return replace(less, items=numbers, vocabulary=Vocabulary(labels))

    def support(self, itemset: Iterable[object]) -> int:
        """The number of records that contain all these items."""
        wanted, known = set(texts_of(itemset)), self.vocabulary.numbers
        if not all(item in known for item in wanted):
            return 0
        asked = np.isin(self.items, [known[item] for item in wanted])
        return int((np.bincount(self.rows[asked], minlength=len(self)) == len(wanted)).sum())

    def to_pandas(self) -> Any:
        """A long pandas table: a row for each record (numbered from 1) and item, with the count in
        bags."""
        return self._as("pandas")

    def to_polars(self) -> Any:
        """The same as `to_pandas`, as a polars table."""
        return self._as("polars")

    def to_onehot(self) -> Any:
        """A pandas table with a row for each record and a true/false column for each item, as
        mlxtend needs it; counts of bags are ignored.

        Example:
            >>> Transactions.of([["wine", "beer"], ["wine"]]).to_onehot()
                beer  wine
            0   True  True
            1  False  True
        """
        return self._as("onehot")

    def _as(self, name: str) -> Any:
        from setveil.data.tables.kinds import counted_as, kind_named, make

        return make(counted_as(self, False if name == "onehot" else None), kind_named(name))

    def _numbers(self, numbers: npt.ArrayLike) -> Int64s:
        """Record numbers from 0 on; negative ones count from the end, and a mask is allowed too."""
        given = np.asarray(numbers)
        if given.dtype == bool and given.shape == (len(self),):
            return np.flatnonzero(given)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            allowed = f"give record numbers, or true or false for each of {self._size}"
            raise ParameterError("numbers", numbers, allowed)
        wrong = given[(given >= len(self)) | (given < -len(self))]
        if len(wrong):
            allowed = f"there are {self._size}, numbered from 0"
            raise ParameterError("record", int(wrong[0]), allowed)
        places = given.astype(np.int64)
        return np.where(places < 0, places + len(self), places)

    @property
    def _size(self) -> str:
        return plural(len(self), "record")

    def _with(self, indptr: Int64s, entries: Int64s) -> Self:
        return type(self)(indptr, self.items[entries], self.vocabulary)

    def _check(self) -> None:
        if not isinstance(self.vocabulary, Vocabulary):
            problem = f"the vocabulary must be a Vocabulary, not a {type(self.vocabulary).__name__}"
            raise DataError(problem, remedy="make one with Vocabulary(labels)")
        lengths, items = np.diff(self.indptr), self.items
        if (
            len(self.indptr) == 0
            or self.indptr[0] != 0
            or self.indptr[-1] != len(items)
            or (lengths < 0).any()
        ):
            raise DataError(
                "indptr must start at 0, never decrease, and end at the number of entries"
            )
        if len(items) and (items.min() < 0 or items.max() >= len(self.vocabulary)):
            most = len(self.vocabulary) - 1
            raise DataError(f"items must be numbers of the vocabulary, 0 to {most}")
        falls = items[1:] <= items[:-1]
        inner = self.indptr[(self.indptr > 0) & (self.indptr < len(items))]
        falls[inner - 1] = False
        if falls.any():
            raise DataError("the items of a record must be ascending and distinct")


@dataclass(frozen=True, eq=False, repr=False)
class Bags(Transactions):
    """Records in which an item may occur several times: `counts[i]` is how often for `items[i]`.

    Example:
        >>> data = Bags.of([["wine", "beer", "wine"]])
        >>> data.occurrences, data.counts.tolist()
        (3, [1, 2])
    """

    counts: Int64s

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", frozen("counts", self.counts, np.int64))
        super().__post_init__()

    @classmethod
    def of(cls, records: Iterable[Iterable[object]]) -> Self:
        """From records of items with repeats, or from mappings `{item: count}`."""
        if isinstance(records, Bags):
            return cls(records.indptr, records.items, records.vocabulary, records.counts)
        rows = RecordBuilder()
        for record in checked_records(records):
            if isinstance(record, Mapping):
                rows.add(*counted(record))
            else:
                items = texts_of(record)
                rows.add(items, [1] * len(items))
        pairs = rows.pairs()
        return cls.from_pairs(*pairs[:3], size=pairs.size, counts=pairs.counts)

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
        """From pairs (record number, item number) with counts, or 1 each; repeated pairs add up."""
        owners, entries = pair_columns(records, items)
        size = int(owners.max(initial=-1)) + 1 if size is None else size
        if counts is None:
            given = np.ones(len(entries), dtype=np.int64)
        else:
            given = whole("counts", counts).astype(np.int64, copy=False)
        if len(given) != len(entries):
            raise DataError(f"each pair needs a count: {len(entries)} pairs, {len(given)} counts")
        _check_total(given)
        indptr, numbers, summed = compress(owners, entries, given, len(vocabulary), size)
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
    def totals(self) -> Int64s:
        """The number of occurrences in each record."""
        return np.diff(offsets(self.counts)[self.indptr])

    @property
    def times(self) -> Int64s:
        return self.counts

    def sets(self) -> Transactions:
        """The same records without the counts."""
        return Transactions(self.indptr, self.items, self.vocabulary)

    def shown(self, number: int) -> tuple[str, ...]:
        pairs = zip(self.record(number), self.counts[self.entries(number)].tolist(), strict=True)
        return tuple(f"{item} x{count}" if count > 1 else item for item, count in pairs)

    def _with(self, indptr: Int64s, entries: Int64s) -> Self:
        return type(self)(indptr, self.items[entries], self.vocabulary, self.counts[entries])

    def _check(self) -> None:
        super()._check()
        if len(self.counts) != len(self.items) or (len(self.counts) and self.counts.min() < 1):
            raise DataError("a bag needs a count of 1 or more for each item")
        _check_total(self.counts)


def _check_total(counts: Int64s) -> None:
    """Raise an error if the sum of the counts would overflow 64 bits."""
    if counts.sum(dtype=np.float64) > MOST:
        raise DataError(f"the counts add up to more than {MOST:.2g}, which is too large")
