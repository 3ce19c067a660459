"""One interface to tables of pandas, polars and Arrow, and which record each of their rows is of.

The libraries are imported only when needed. A wrong guess of the record would split one person's
rows into several records, so ambiguous tables are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Floats, Int64s
from setveil.data.tables.columns import (
    ATTRIBUTE_NAMES,
    COUNT_NAMES,
    ITEM_NAMES,
    RECORD_NAMES,
    Columns,
    Fail,
    Wanted,
    choose_column,
    plain_name,
)
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, MissingExtraError, brief

Library = Literal["pandas", "polars", "pyarrow"]

_LIST_TYPES = (list, tuple, set, frozenset, dict, np.ndarray)
_LISTS = re.compile(r"((large_|fixed_size_)?list|map)\b", re.ASCII)
_BOOLEANS = re.compile(r"(sparse\[)?bool", re.ASCII)
_NUMBERS = re.compile(r"(sparse\[)?(bool|u?int\d|(half)?float|double)", re.ASCII)
"""How the libraries' names of column types begin; `interval` must not match `int`."""


@dataclass(frozen=True)
class Frame:
    """A table; its values are given as Python values, with None if missing."""

    library: Library
    table: Any

    @property
    def names(self) -> list[str]:
        columns = self.table.column_names if self.library == "pyarrow" else self.table.columns
        return [str(name) for name in columns]

    def __len__(self) -> int:
        return int(self.table.num_rows) if self.library == "pyarrow" else len(self.table)

    def column(self, name: str) -> list[Any]:
        """The values of a column."""
        column = self._series(self.names.index(name))
        if self.library == "pandas":
            return [
                None if missing else value
                for value, missing in zip(column.tolist(), column.isna().tolist(), strict=True)
            ]
        if self.library == "polars":
            return list(column.to_list())
        values = list(column.to_pylist())
        is_map = str(column.type).startswith("map")
        return [dict(row) if row else row for row in values] if is_map else values

    def factorized(self, name: str) -> tuple[Int64s, list[Any]]:
        """The distinct values of a column in order of appearance, and which one each row has.

        Returns:
            For each row the position of its value, -1 if it is missing; and the distinct values."""
        column = self._series(self.names.index(name))
        try:
            codes, values = _FACTORIZE[self.library](column)
        except TypeError:
            problem = f"the column {brief(name)} has lists in some rows and single values in others"
            raise DataError(problem) from None
        return np.asarray(codes, dtype=np.int64), values

    def without(self, name: str) -> Frame:
        """The table without a column."""
        place = self.names.index(name)
        if self.library == "polars":
            return Frame("polars", self.table.drop(name))
        kept = [other for other in range(len(self.names)) if other != place]
        return Frame(
            self.library,
            self.table.iloc[:, kept] if self.library == "pandas" else self.table.select(kept),
        )

    def index_names(self) -> list[str]:
        """The named levels of a pandas index, except those that share a column's name."""
        names = self.table.index.names if self.library == "pandas" else ()
        return [str(name) for name in names if name is not None and str(name) not in self.names]

    def with_index(self, only: str | None = None) -> Frame:
        """The table with the named levels of its index, or only one of them, as columns."""
        chosen = [name for name in self.index_names() if only in (None, name)]
        if not chosen:
            return self
        names = enumerate(self.table.index.names)
        levels = [place for place, name in names if str(name) in chosen]
        return Frame("pandas", self.table.reset_index(level=levels))

    def repeats(self, name: str) -> bool:
        """Whether some value of a column is in several rows."""
        codes, values = self.factorized(name)
        return int((codes >= 0).sum()) > len(values)

    def list_columns(self) -> list[str]:
        """The columns of lists (or mappings to counts), by their type or their first value."""
        kinds = enumerate(zip(self.names, self._types(), strict=True))
        return [
            name
            for place, (name, kind) in kinds
            if _LISTS.match(kind) or (not _NUMBERS.match(kind) and self._starts_with_list(place))
        ]

    def list_counts(self, wanted: Wanted) -> str | None:
        """The list column with the counts of the items in the other list column."""
        for name in self.list_columns():
            if plain_name(name) in COUNT_NAMES or name == wanted.count:
                return name
        return None

    def is_boolean(self) -> bool:
        """Whether every column holds true and false."""
        return bool(self.names) and all(map(_BOOLEANS.match, self._types()))

    def is_numeric(self) -> bool:
        """Whether every column holds numbers or true and false."""
        return all(map(_NUMBERS.match, self._types()))

    def entries(self) -> tuple[Int64s, Int64s, Floats]:
        """The row, column and value of every non-zero cell of a numeric table (missing is NaN)."""
        rows, columns, values = [], [], []
        for position in range(len(self.names)):
            numbers = self._numbers(position)
            there = np.flatnonzero(numbers)
            rows.append(there)
            columns.append(np.full(len(there), position))
            values.append(numbers[there])
        none = np.zeros(0, dtype=np.int64)
        return (
            np.concatenate([none, *rows]),
            np.concatenate([none, *columns]),
            np.concatenate([none.astype(np.float64), *values]),
        )

    def _numbers(self, position: int) -> Floats:
        column = self._series(position)
        if self.library == "pandas":
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        types = needed(self.library, "a table")
        number = types.Float64 if self.library == "polars" else types.float64()
        return np.asarray(column.cast(number).to_numpy())

    def _series(self, position: int) -> Any:
        if self.library == "pandas":
            return self.table.iloc[:, position]
        if self.library == "polars":
            return self.table.to_series(position)
        return self.table.column(position)

    def _starts_with_list(self, position: int) -> bool:
        column = self._series(position)
        if self.library == "pandas":
            values = column.dropna().head(1).tolist()
        elif self.library == "polars":
            values = column.drop_nulls().head(1).to_list()
        else:
            values = column.drop_null().slice(0, 1).to_pylist()
        return bool(values) and isinstance(values[0], _LIST_TYPES)

    def _types(self) -> list[str]:
        kinds = self.table.schema.types if self.library == "pyarrow" else self.table.dtypes
        return [str(kind).lower() for kind in kinds]


def frame_of(thing: Any) -> Frame | None:
    """The frame of a table or a series, None for any other object."""
    library, kind = type(thing).__module__.split(".")[0], type(thing).__name__
    if library == "pandas" and getattr(getattr(thing, "columns", None), "nlevels", 1) > 1:
        problem = "each column of the table has several names, one above the other"
        raise DataError(problem, remedy="give each column one name")
    if library == "pandas" and kind in ("DataFrame", "Series"):
        return Frame("pandas", thing) if kind == "DataFrame" else _of_pandas_series(thing)
    if library == "polars" and kind in ("DataFrame", "LazyFrame", "Series"):
        table = thing.collect() if kind == "LazyFrame" else thing
        return Frame("polars", table.to_frame() if kind == "Series" else table)
    if library == "pyarrow":
        return Frame("pyarrow", _arrow_table(thing, kind))
    if library in ("pandas", "polars"):
        raise DataError(f"a {library} {kind} does not hold records", remedy="give a table")
    if hasattr(thing, "__arrow_c_stream__") and not isinstance(thing, type):
        return Frame("pyarrow", needed("pyarrow", f"records from a {kind}").table(thing))
    return None


def make_table(library: Library, columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]]) -> Any:
    """A table of one of the libraries."""
    module = needed(library, f"a {library} table")
    if library == "pyarrow":
        return module.table({name: module.array(values) for name, values in columns.items()})
    return module.DataFrame(dict(columns))


def needed(library: str, purpose: str, extra: str | None = None, package: str = "") -> Any:
    """An optional library; raises an error that says how to install it if it is missing.

    Args:
        library: The module.
        purpose: What needs it.
        extra: Of setveil, with which it is installed.
        package: What is installed, if it is not called like the module.
    """
    try:
        return import_module(library)
    except ImportError:
        package = package or library.split(".")[0]
        raise MissingExtraError(package, purpose, extra=extra) from None


def _of_pandas_series(series: Any) -> Frame:
    """A series of lists; or one of items or counts, whose index names the record."""
    frame = Frame("pandas", series.to_frame(series.name if series.name is not None else "items"))
    if frame.list_columns() or not len(series):
        return frame
    if all(name is None for name in series.index.names):
        problem = "a pandas Series of single values does not hold records"
        raise DataError(problem, remedy="give a table, or a Series of lists")
    held = "item" if series.index.nlevels == 1 else "count"
    unnamed = series.name is None or series.name in series.index.names
    return Frame("pandas", series.to_frame(held if unnamed else series.name).reset_index())


def _arrow_table(thing: Any, kind: str) -> Any:
    if kind in ("Table", "RecordBatch"):
        return thing
    if kind == "RecordBatchReader":
        return thing.read_all()
    if hasattr(thing, "to_table"):
        return thing.to_table()
    if str(getattr(thing, "type", "")).startswith(("list", "large_list", "fixed_size_list", "map")):
        return needed("pyarrow", "a table").table({"items": thing})
    raise DataError(f"a pyarrow {kind} does not hold records", remedy="give a table")


def _factorize_pandas(column: Any) -> tuple[Any, list[Any]]:
    codes, values = needed("pandas", "a table").factorize(column)
    return codes, values.tolist()


def _factorize_polars(column: Any) -> tuple[Any, list[Any]]:
    polars = needed("polars", "a table")
    if column.dtype in (polars.Categorical, polars.Enum):
        column = column.cast(polars.String)
    values = column.fill_nan(None) if column.dtype.is_float() else column
    distinct = values.unique(maintain_order=True).drop_nulls()
    places = polars.Series(np.arange(len(distinct)), dtype=polars.Int64)
    codes = values.replace_strict(distinct, places, default=-1, return_dtype=polars.Int64)
    return codes.to_numpy(), distinct.to_list()


def _factorize_arrow(column: Any) -> tuple[Any, list[Any]]:
    types = needed("pyarrow.types", "a table")
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if types.is_floating(whole.type):
        compute = needed("pyarrow.compute", "a table")
        whole = compute.if_else(compute.is_nan(whole), None, whole)
    if types.is_null(whole.type):
        return np.full(len(whole), -1), []
    coded = whole.dictionary_encode()
    return coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), coded.dictionary.to_pylist()


_FACTORIZE = {"pandas": _factorize_pandas, "polars": _factorize_polars, "pyarrow": _factorize_arrow}


def owners_of(frame: Frame, record: str, role: str = "record") -> Int64s:
    """The record number of each row, by a column whose name may be spelled loosely."""
    name = choose_column(frame.names, role, record, RECORD_NAMES)
    owners, _ = frame.factorized(name or record)
    if owners.min(initial=0) < 0:
        problem = f"the column {brief(name)} has an empty cell: every row must name its {role}"
        raise DataError(problem)
    return owners


def with_records(frame: Frame, wanted: Wanted) -> Frame:
    """A long table, with its index as columns if only the index can say which record a row is of.

    An index whose values all differ may only number the rows, so it is used only if the user named
    it or no column other than items and counts remains."""
    names = {plain_name(name) for name in frame.names}
    known = (
        plain_name(wanted.record) in names
        if wanted.record is not None
        else bool(RECORD_NAMES & names)
    )
    if known or not frame.index_names():
        return frame
    whole = frame.with_index()
    if wanted.record is not None or names <= ITEM_NAMES | COUNT_NAMES:
        return whole
    return whole if any(whole.repeats(name) for name in frame.index_names()) else frame


def record_column(frame: Frame, wanted: Wanted) -> str | None:
    """The record column if all other columns of the table are one-hot, else None."""
    if not any(plain_name(name) == plain_name(wanted.record or "") for name in frame.names):
        return None
    owner = choose_column(frame.names, wanted.role, wanted.record, RECORD_NAMES)
    rest = frame.without(owner) if owner is not None else frame
    if rest.is_boolean():
        return owner
    long = any(plain_name(name) in ITEM_NAMES | COUNT_NAMES for name in rest.names)
    return owner if not long and rest.is_numeric() and len(rest.names) > 1 else None


def refuse_several_rows(frame: Frame, names: Iterable[str]) -> None:
    """Raise an error if each row would be a record although a record column or index repeats."""
    for name in names:
        if plain_name(name) in RECORD_NAMES and frame.with_index(name).repeats(name):
            raise several_rows("index" if name in frame.index_names() else "column", name)


def refuse_single_rows(frame: Frame, columns: Columns, owners: Int64s) -> None:
    """Raise an error if the guessed record column may only number the rows."""
    others = other_owners(frame.names, columns)
    if others and len(owners) > 1 and int(owners.max()) + 1 == len(owners):
        raise single_rows(columns.record, others[0])


def other_owners(names: Sequence[str], columns: Columns) -> list[str]:
    """The columns that may be the record if the guessed one is not."""
    chosen = columns.roles.values()
    return [
        name for name in names if name not in chosen and plain_name(name) not in ATTRIBUTE_NAMES
    ]


def several_rows(kind: str, name: str, fail: Fail = DataError) -> DataError:
    """The error for rows that look like records although a column or an index repeats."""
    return fail(
        f"the {kind} {brief(name)} repeats, so a record may span several rows",
        remedy=f"join them with {record_choice(name)}, or drop the {kind} if each row is a record",
    )


def single_rows(record: str, other: str, fail: Fail = DataError) -> DataError:
    """The error for a guessed record column that may only number the rows."""
    return fail(
        f"every row has a different {brief(record)}, so it may only number the rows",
        remedy=f"use {record_choice(record)} if each row is a record of one item, "
        f"or name the record column, for example {record_choice(other)}",
    )


def repeated_names(rows: int, name: str, fail: Fail = DataError) -> DataError:
    """The error for rows that repeat the header, as of files that were put together."""
    repeat = "row repeats" if rows == 1 else "rows repeat"
    problem = f"{rows:,} {repeat} the names of the columns"
    return fail(problem, remedy=f"leave such rows out with {{drop_record={name}}}")


def several_sums(records: int, fail: Fail = DataError) -> DataError:
    """The error for lines of sums among the people."""
    return fail(f"{records:,} records are lines of sums, not people", remedy="delete these lines")


def record_choice(record: str, role: str = "record") -> str:
    """The parameter with a column as its value, if a message can quote the name whole."""
    is_plain = len(brief(record)) == len(record) + 2 and not set("{}").intersection(record)
    return f"{{{role}={record}}}" if is_plain else f"{{{role}}}"


def joined(rows: Transactions, owners: Int64s) -> Transactions:
    """The rows of each owner as one record."""
    size, records = int(owners.max(initial=-1)) + 1, owners[rows.rows]
    if isinstance(rows, Bags):
        return Bags.from_pairs(records, rows.items, rows.vocabulary, size=size, counts=rows.counts)
    return Transactions.from_pairs(records, rows.items, rows.vocabulary, size=size)
