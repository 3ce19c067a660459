"""One interface to tables of pandas, polars and Arrow, which are imported only when needed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Floats, Int64s
from setveil.data.tables.columns import COUNT_NAMES, Wanted, plain_name
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


def needed(library: str, purpose: str) -> Any:
    """An optional library; raises an error that says how to install it if it is missing."""
    try:
        return import_module(library)
    except ImportError:
        raise MissingExtraError(library.split(".")[0], purpose) from None


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
