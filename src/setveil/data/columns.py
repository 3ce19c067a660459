"""Columns of people beside their sets: numbers, dates and words, and the tables that have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Floats, Int32s, Int64s
from setveil.data.records import frozen
from setveil.data.transactions import Transactions
from setveil.errors import DataError, ParameterError, brief

Kind = Literal["number", "date", "word"]
MISSING = ""
"""The value of a row that has none: a value of its own, the last one."""


@dataclass(frozen=True, eq=False)
class Column:
    """One value for each row, as a number (`codes`) of the distinct `values`.

    Values are in order: numbers and dates ascending, words by code point, and the missing value ""
    last, if there is one. Dates are written as 1931-02-28.

    `tree` is the `Hierarchy` of the words, whose leaves have all of them. It travels with the
    column, although this folder knows no trees: whoever needs it checks that it is one. None means
    that any word is replaced by `any`, and it is always None for numbers and dates.

    Example:
        >>> born = Column("birth_year", "number", ("1931", "1940", ""), [1, 0, 2, 1])
        >>> born.texts, born.numbers.tolist()
        (['1940', '1931', '', '1940'], [1931.0, 1940.0, nan])
    """

    name: str
    kind: Kind
    values: tuple[str, ...]
    codes: Int32s
    tree: object | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            kind: Kind,
            values: Sequence[str],
            codes: npt.ArrayLike,
            tree: object | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            allowed = f"it must be one of {', '.join(get_args(Kind))}"
            raise ParameterError("kind", self.kind, allowed)
        object.__setattr__(self, "values", tuple(self.values))
        object.__setattr__(self, "codes", frozen("codes", self.codes, np.int32))
        self._check()

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same name, kind and values of rows; trees are not compared."""
        return (
            isinstance(other, Column)
            and (self.name, self.kind, self.values) == (other.name, other.kind, other.values)
            and np.array_equal(self.codes, other.codes)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arrays; they are checked and made read-only again when loaded."""
        return type(self), (self.name, self.kind, self.values, self.codes, self.tree)

    @property
    def texts(self) -> list[str]:
        """The value of each row."""
        return list(map(self.values.__getitem__, self.codes.tolist()))

    @cached_property
    def numbers(self) -> Floats:
        """Each of `values` as a number: of dates the days since 1970-01-01; NaN if missing."""
        if self.kind == "word":
            raise ParameterError("kind", self.kind, "only numbers and dates are numbers")
        return np.array([number_of(value, self.kind) for value in self.values], dtype=np.float64)

    @property
    def has_missing(self) -> bool:
        """Whether some row has no value."""
        return bool(self.values) and self.values[-1] == MISSING

    @property
    def counts(self) -> Int64s:
        """How many rows have each of `values`."""
        return np.bincount(self.codes, minlength=len(self.values))

    def take(self, numbers: npt.NDArray[np.integer]) -> Self:
        """The column of these rows, with the same values, whether or not they still occur."""
        return replace(self, codes=self.codes[numbers])

    def _check(self) -> None:
        codes, values = self.codes, self.values
        if len(codes) and (codes.min() < 0 or codes.max() >= len(values)):
            problem = f"the codes of the column {brief(self.name)} must be numbers of its values"
            raise DataError(f"{problem}, 0 to {len(values) - 1}")
        known = values[:-1] if self.has_missing else values
        keys: Sequence[Any] = known
        if self.kind != "word":
            keys = [number_of(value, self.kind) for value in known]
        if any(not low < high for low, high in zip(keys, keys[1:], strict=False)):
            problem = f"the values of the column {brief(self.name)} must be ascending and distinct"
            raise DataError(f"{problem}, with the missing value last")


def number_of(value: str, kind: Kind) -> float:
    """A value of a column of numbers or dates as a number; NaN if it is missing.

    Example:
        >>> number_of("1931", "number"), number_of("1970-01-03", "date")
        (1931.0, 2.0)
    """
    if value == MISSING:
        return float("nan")
    try:
        if kind == "date":
            return float(date.fromisoformat(value).toordinal() - date(1970, 1, 1).toordinal())
        number = float(value)
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise DataError(f"{brief(value)} is not a {kind}")
    return number


@dataclass(frozen=True, eq=False, repr=False)
class Table(Transactions):
    """People with columns beside their sets: row i is a person with the items of record i.

    Example:
        >>> sex = Column("sex", "word", ("F", "M"), [1, 0])
        >>> people = Table.beside(Transactions.of([["flu"], ["cold", "flu"]]), [sex])
        >>> list(people), people.columns[0].texts
        ([('flu',), ('cold', 'flu')], ['M', 'F'])
    """

    columns: tuple[Column, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        super().__post_init__()

    @classmethod
    def beside(cls, records: Transactions, columns: Sequence[Column]) -> Self:
        """The sets of some records, with columns of the same people."""
        return cls(records.indptr, records.items, records.vocabulary, tuple(columns))

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and isinstance(other, Table) and self.columns == other.columns

    __hash__ = None

    def sets(self) -> Transactions:
        """The same records without the columns."""
        return Transactions(self.indptr, self.items, self.vocabulary)

    def take(self, numbers: npt.ArrayLike) -> Self:
        chosen = self._numbers(numbers)
        columns = [column.take(chosen) for column in self.columns]
        return self.beside(self.sets().take(chosen), columns)

    def shown(self, number: int) -> tuple[str, ...]:
        """The values and the items of one person as people read them."""
        held = ((column, column.values[column.codes[number]]) for column in self.columns)
        values = (f"{column.name} {value or 'missing'}" for column, value in held)
        return (*values, *super().shown(number))

    def _with(self, indptr: Int64s, entries: Int64s) -> Self:
        return type(self)(indptr, self.items[entries], self.vocabulary, self.columns)

    def _check(self) -> None:
        super()._check()
        names = [column.name for column in self.columns]
        for column in self.columns:
            if not isinstance(column, Column):
                raise DataError(f"a column must be a Column, not a {type(column).__name__}")
            if len(column) != len(self):
                rows = f"{len(column):,} rows, but there are {len(self):,} records"
                raise DataError(f"the column {brief(column.name)} has {rows}")
            if names.count(column.name) > 1:
                raise DataError(f"two columns have the name {brief(column.name)}")
