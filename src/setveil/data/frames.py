"""Tables of pandas, polars and Arrow behind one narrow door; none of them is imported before a user hands over or asks for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from setveil.data.columns import COUNT_NAMES, Wanted, plain_name
from setveil.errors import DataError, MissingExtraError

Library = Literal["pandas", "polars", "pyarrow"]

_LIST_TYPES = (list, tuple, set, frozenset, dict, np.ndarray)


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
        position = self.names.index(name)
        if self.library == "pandas":
            series = self.table.iloc[:, position]
            return [None if missing else value for value, missing in zip(series.tolist(), series.isna().tolist(), strict=True)]
        if self.library == "polars":
            return list(self.table.to_series(position).to_list())
        return list(self.table.column(position).to_pylist())

    def list_columns(self) -> list[str]:
        """The columns whose first value that is there is a list (or a mapping to counts)."""
        return [name for position, name in enumerate(self.names) if isinstance(self._first(position), _LIST_TYPES)]

    def counts_beside(self, wanted: Wanted) -> str | None:
        """The list column that says how often each element of another one stands."""
        lists = self.list_columns()
        return next((name for name in lists if plain_name(name) in COUNT_NAMES or name == wanted.count), None)

    def _first(self, position: int) -> object:
        if self.library == "pandas":
            values = self.table.iloc[:, position].dropna().head(1).tolist()
        elif self.library == "polars":
            values = self.table.to_series(position).drop_nulls().head(1).to_list()
        else:
            values = self.table.column(position).drop_null().slice(0, 1).to_pylist()
        return values[0] if values else None

    def is_boolean(self) -> bool:
        """Whether every column holds true and false."""
        return bool(self.names) and all(kind.startswith("bool") for kind in self._types())

    def is_numeric(self) -> bool:
        """Whether every column holds numbers or true and false."""
        return all(kind.startswith(("bool", "int", "uint", "float", "double", "halffloat", "sparse")) for kind in self._types())

    def _types(self) -> list[str]:
        kinds = self.table.schema.types if self.library == "pyarrow" else self.table.dtypes
        return [str(kind).lower() for kind in kinds]

    def matrix(self) -> npt.NDArray[np.float64]:
        """All columns side by side as numbers; a missing one is not a number."""
        columns = [np.array(self.column(name), dtype=np.float64) for name in self.names]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self), 0))


def frame_of(thing: Any) -> Frame | None:
    """The frame behind an object, or None when it is none; a single series is a frame of one column."""
    library, kind = type(thing).__module__.split(".")[0], type(thing).__name__
    if library == "pandas" and kind in ("DataFrame", "Series"):
        return Frame("pandas", thing if kind == "DataFrame" else thing.to_frame(thing.name or "items"))
    if library == "polars" and kind in ("DataFrame", "LazyFrame", "Series"):
        return Frame("polars", thing.collect() if kind == "LazyFrame" else thing.to_frame() if kind == "Series" else thing)
    if library == "pyarrow" and kind in ("Table", "RecordBatch"):
        return Frame("pyarrow", thing)
    if library in ("pandas", "polars", "pyarrow"):
        raise DataError(f"a {library} {kind} cannot be taken as records: give a table")
    return None


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
