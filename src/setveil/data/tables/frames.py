"""Tables of pandas, polars and Arrow behind one narrow door; none of them is imported before a user hands over or asks for one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from setveil.data.tables.columns import COUNT_NAMES, Wanted, plain_name
from setveil.errors import DataError, MissingExtraError

Library = Literal["pandas", "polars", "pyarrow"]
Numbers = npt.NDArray[np.int64]

_LIST_TYPES = (list, tuple, set, frozenset, dict, np.ndarray)
_LISTS = re.compile(r"((large_|fixed_size_)?list|map)\b", re.ASCII)
_BOOLEANS = re.compile(r"(sparse\[)?bool", re.ASCII)
_NUMBERS = re.compile(r"(sparse\[)?(bool|u?int\d|(half)?float|double)", re.ASCII)
"""How the types of columns begin, in the words of the libraries; `interval` is no `int`."""


@dataclass(frozen=True)
class Frame:
    """A table: its columns by position, as Python values with None for what is missing."""

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
        values = column.to_pylist()
        return (
            [dict(row) if row else row for row in values]
            if str(column.type).startswith("map")
            else list(values)
        )

    def factorized(self, name: str) -> tuple[Numbers, list[Any]]:
        """Each value of a column as its place among the distinct ones, which are in order of appearance; -1 where it is missing."""
        column = self._series(self.names.index(name))
        try:
            codes, values = _FACTORIZE[self.library](column)
        except TypeError:
            raise DataError(
                f"the column {name!r} holds lists or the like in some rows and single values in others"
            ) from None
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
        """The levels of the index that have names which no column has; only pandas has such."""
        names = self.table.index.names if self.library == "pandas" else ()
        return [str(name) for name in names if name is not None and str(name) not in self.names]

    def with_index(self, only: str | None = None) -> Frame:
        """The table with the levels of its index that have names, or one of them, as columns."""
        chosen = [name for name in self.index_names() if only in (None, name)]
        levels = (
            [place for place, name in enumerate(self.table.index.names) if str(name) in chosen]
            if chosen
            else []
        )
        return Frame("pandas", self.table.reset_index(level=levels)) if levels else self

    def repeats(self, name: str) -> bool:
        """Whether a value of a column stands in several rows."""
        codes, values = self.factorized(name)
        return int((codes >= 0).sum()) > len(values)

    def list_columns(self) -> list[str]:
        """The columns that hold lists (or mappings to counts), by their type or by the first value that is there."""
        kinds = enumerate(zip(self.names, self._types(), strict=True))
        return [
            name
            for place, (name, kind) in kinds
            if _LISTS.match(kind) or (not _NUMBERS.match(kind) and self._starts_with_list(place))
        ]

    def counts_beside(self, wanted: Wanted) -> str | None:
        """The list column that says how often each element of another one stands."""
        lists = self.list_columns()
        return next(
            (name for name in lists if plain_name(name) in COUNT_NAMES or name == wanted.count),
            None,
        )

    def is_boolean(self) -> bool:
        """Whether every column holds true and false."""
        return bool(self.names) and all(map(_BOOLEANS.match, self._types()))

    def is_numeric(self) -> bool:
        """Whether every column holds numbers or true and false."""
        return all(map(_NUMBERS.match, self._types()))

    def entries(self) -> tuple[Numbers, Numbers, npt.NDArray[np.float64]]:
        """The row, the column and the value of every cell of a numeric table that is not 0; a missing value is not a number."""
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

    def _numbers(self, position: int) -> npt.NDArray[np.float64]:
        column = self._series(position)
        if self.library == "pandas":
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        kind = needed(self.library, "a table")
        return np.asarray(
            column.cast(kind.Float64 if self.library == "polars" else kind.float64()).to_numpy()
        )

    def _series(self, position: int) -> Any:
        if self.library == "pandas":
            return self.table.iloc[:, position]
        return (
            self.table.to_series(position)
            if self.library == "polars"
            else self.table.column(position)
        )

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


def _of_pandas(column: Any) -> tuple[Any, list[Any]]:
    codes, values = needed("pandas", "a table").factorize(column)
    return codes, values.tolist()


def _of_polars(column: Any) -> tuple[Any, list[Any]]:
    polars = needed("polars", "a table")
    if column.dtype in (polars.Categorical, polars.Enum):
        column = column.cast(polars.String)
    values = column.fill_nan(None) if column.dtype.is_float() else column
    distinct = values.unique(maintain_order=True).drop_nulls()
    places = polars.Series(np.arange(len(distinct)), dtype=polars.Int64)
    return values.replace_strict(
        distinct, places, default=-1, return_dtype=polars.Int64
    ).to_numpy(), distinct.to_list()


def _of_arrow(column: Any) -> tuple[Any, list[Any]]:
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


_FACTORIZE = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}


def frame_of(thing: Any) -> Frame | None:
    """The frame behind an object, or None when it is none; a single series is a frame of one column."""
    library, kind = type(thing).__module__.split(".")[0], type(thing).__name__
    if library == "pandas" and kind in ("DataFrame", "Series"):
        return Frame("pandas", thing) if kind == "DataFrame" else _of_pandas_series(thing)
    if library == "polars" and kind in ("DataFrame", "LazyFrame", "Series"):
        return Frame(
            "polars",
            thing.collect()
            if kind == "LazyFrame"
            else thing.to_frame()
            if kind == "Series"
            else thing,
        )
    if library == "pyarrow":
        return Frame("pyarrow", _arrow_table(thing, kind))
    if library in ("pandas", "polars"):
        raise DataError(f"a {library} {kind} cannot be taken as records: give a table")
    if hasattr(thing, "__arrow_c_stream__") and not isinstance(thing, type):
        return Frame("pyarrow", needed("pyarrow", f"records from a {kind}").table(thing))
    return None


def _of_pandas_series(series: Any) -> Frame:
    """A series of lists; or one of items (or counts) whose index tells whose they are."""
    frame = Frame("pandas", series.to_frame(series.name if series.name is not None else "items"))
    if frame.list_columns() or not len(series):
        return frame
    if all(name is None for name in series.index.names):
        raise DataError(
            "a pandas Series of single values cannot be taken as records: give a table, or a Series of lists"
        )
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
    raise DataError(f"a pyarrow {kind} cannot be taken as records: give a table")


def make_table(library: Library, columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]]) -> Any:
    """A table of one of the libraries from columns."""
    module = needed(library, f"a {library} table")
    if library == "pyarrow":
        return module.table({name: module.array(values) for name, values in columns.items()})
    return module.DataFrame(dict(columns))


def needed(library: str, purpose: str) -> Any:
    """An optional library, or the error that says how to get it."""
    try:
        return import_module(library)
    except ImportError:
        raise MissingExtraError(library.split(".")[0], purpose) from None
