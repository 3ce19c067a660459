"""The kinds of Python objects that records are turned into, and records from matrices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int64s
from setveil.data.tables.columns import Columns, Wanted, find_columns, find_list_column, looks_long
from setveil.data.tables.frames import Frame, Library, frame_of, make_table, needed
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary, text_of
from setveil.errors import DataError, ParameterError, brief
from setveil.words import plural

_LIBRARIES: dict[str, Library] = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}
_LONG = Columns("record", "item", "count")
KINDS = (
    *("lists", "sets", "dicts", "numpy", "scipy", "onehot"),
    *(f"{name}{shape}" for name in _LIBRARIES for shape in ("", "-lists", "-onehot")),
)
"""The names of the kinds; `onehot` is a pandas table."""
_PYTHON: dict[str, Any] = {
    "lists": list,
    "tuples": tuple,
    "sets": set,
    "frozensets": frozenset,
    "dicts": dict,
}
MOST_BYTES = 1 << 36  # dense tables above this are refused


@dataclass(frozen=True)
class Kind:
    """A library (or plain Python) and how its objects lay out records."""

    library: str
    shape: str = "long"
    columns: Columns = _LONG
    cells: str = "bool"  # the type of the cells of a matrix or one-hot table of sets
    wrapped: str = ""  # `series` or `lazy` if the records come in a Series or a LazyFrame


def kind_named(name: str) -> Kind:
    """The kind of one of `KINDS`."""
    if name not in KINDS:
        allowed = f"choose one of {', '.join(KINDS)}, or give an object of the wanted kind"
        raise ParameterError("to", name, allowed)
    if name == "onehot":
        return Kind("pandas", "onehot")
    library, _, shape = name.partition("-")
    columns = Columns("record", "items" if shape == "lists" else "item", "count")
    return Kind(_LIBRARIES.get(library, library), shape or "long", columns)


def kind_of(thing: object) -> Kind:
    """The kind of an object that holds records."""
    if isinstance(thing, np.ndarray) and thing.ndim == 2 and thing.dtype.kind in "biuf":
        return Kind("numpy", cells=str(thing.dtype))
    if is_sparse(thing):
        return Kind("scipy", "matrix" if "matrix" in type(thing).__name__ else "array")
    frame = frame_of(thing)
    if frame is not None:
        wrapped = {"Series": "series", "LazyFrame": "lazy"}.get(type(thing).__name__, "")
        return replace(_kind_of_frame(frame), wrapped=wrapped)
    if not isinstance(thing, Iterable) or isinstance(thing, type | bytes):
        allowed = f"give an object of the wanted kind, or one of {', '.join(KINDS)}"
        raise ParameterError("to", thing, allowed)
    first = next(iter(thing), None) if not isinstance(thing, Mapping) else None
    types = {"tuples": tuple, "frozensets": frozenset, "sets": set, "dicts": Mapping}
    return Kind(next((name for name, kind in types.items() if isinstance(first, kind)), "lists"))


def _kind_of_frame(frame: Frame) -> Kind:
    holder = find_list_column(frame.list_columns(), Wanted())
    if holder is not None:
        columns = Columns("record", holder, frame.list_counts(Wanted()) or "counts")
        return Kind(frame.library, "lists", columns)
    if is_one_hot(frame):
        return Kind(frame.library, "onehot", cells="bool" if frame.is_boolean() else "int64")
    found = find_columns(frame.with_index().names, Wanted())
    return Kind(frame.library, "long", Columns(found.record, found.item, found.count or "count"))


def is_one_hot(frame: Frame) -> bool:
    """Whether each column of a table is an item: all boolean, or numbers but not a long table."""
    return frame.is_boolean() or (frame.is_numeric() and not looks_long(frame.names))


def make(records: Transactions, kind: Kind) -> Any:
    """An object of this kind that holds these records."""
    if kind.library in _PYTHON:
        return _to_python(records, kind.library)
    if kind.library == "scipy":
        return _to_sparse(records, matrix=kind.shape == "matrix")
    if kind.library == "numpy":
        return _to_matrix(records, kind.cells)
    return _wrapped(_to_table(records, kind), kind)


def counted_as(data: Transactions, bags: bool | None) -> Transactions:
    """The same records with or without counts."""
    if bags is None or bags == isinstance(data, Bags):
        return data
    if isinstance(data, Bags):
        return data.sets()
    return Bags(data.indptr, data.items, data.vocabulary, data.times)


def is_sparse(thing: object) -> bool:
    """Whether this is a scipy sparse matrix."""
    return type(thing).__module__.startswith("scipy.sparse") and hasattr(thing, "tocoo")


def _to_python(records: Transactions, kind: str) -> list[Any]:
    pairs = zip(records, records.parted(records.times.tolist()), strict=True)
    if kind == "dicts":
        return [dict(zip(row, counts, strict=True)) for row, counts in pairs]
    if kind in ("sets", "frozensets") or not isinstance(records, Bags):
        return [_PYTHON[kind](record) for record in records]
    return [_PYTHON[kind](chain.from_iterable(map(repeat, row, counts))) for row, counts in pairs]


def _to_sparse(records: Transactions, *, matrix: bool) -> Any:
    sparse = needed("scipy.sparse", "a sparse matrix")
    build = sparse.csr_matrix if matrix else sparse.csr_array
    arrays = (records.times, records.items, records.indptr)
    shape = (len(records), len(records.vocabulary))
    return build(tuple(array.copy() for array in arrays), shape=shape)


def _to_matrix(records: Transactions, cells: str) -> npt.NDArray[Any]:
    """A row for each record and a column for each item; counts do not fit boolean cells."""
    counted = isinstance(records, Bags)
    dtype = np.dtype(np.int64 if counted and np.dtype(cells).kind != "f" else cells)
    shape = (len(records), len(records.vocabulary))
    if shape[0] * shape[1] * dtype.itemsize > MOST_BYTES:
        raise DataError(
            f"a dense table of {shape[0]} records and {shape[1]} items does not fit into memory",
            remedy="use a sparse matrix (scipy) or a long table",
        )
    matrix = np.zeros(shape, dtype=dtype, order="F")
    matrix[records.rows, records.items] = records.times
    return matrix


def _to_table(records: Transactions, kind: Kind) -> Any:
    library: Library = next(known for known in _LIBRARIES.values() if known == kind.library)
    if kind.shape == "onehot":
        if len(records) and not len(records.vocabulary):
            problem = f"{len(records)} records without items cannot be a one-hot table"
            raise DataError(f"{problem}: it would have no columns")
        columns = _to_matrix(records, kind.cells).T
        return make_table(library, dict(zip(records.vocabulary, columns, strict=True)))
    if kind.shape == "lists":
        return make_table(library, _list_table(records, kind.columns))
    return make_table(library, _long_table(records, kind.columns))


def _wrapped(table: Any, kind: Kind) -> Any:
    if kind.wrapped == "lazy":
        return table.lazy()
    if kind.wrapped == "series" and len(table.columns) == 1:
        return table.iloc[:, 0] if kind.library == "pandas" else table.to_series(0)
    return table


def _list_table(records: Transactions, columns: Columns) -> dict[str, Any]:
    table: dict[str, Any] = {columns.item: [list(record) for record in records]}
    if isinstance(records, Bags):
        name = columns.count if columns.count and columns.count != "count" else "counts"
        table[name] = list(records.parted(records.counts.tolist()))
    return table


def _long_table(records: Transactions, columns: Columns) -> dict[str, Any]:
    """The rows of a long table; an empty record has one row without an item."""
    lengths = np.maximum(records.lengths, 1)
    gaps = records.indptr[:-1][records.lengths == 0]
    labels = np.array([*records.vocabulary, None], dtype=object)
    items = labels[np.insert(records.items, gaps, len(labels) - 1)]
    table: dict[str, Any] = {
        columns.record: np.repeat(np.arange(1, len(records) + 1), lengths),
        columns.item: items.tolist(),
    }
    if isinstance(records, Bags):
        counts = np.insert(records.counts, gaps, 0).tolist()
        table[columns.count or "count"] = [count or None for count in counts]
    return table


_MOST = 1 << 53
"""Counts in a table must be below this: they may be floats, which skip whole numbers above it."""


class Cells(NamedTuple):
    """The non-zero cells of a matrix or one-hot table."""

    rows: npt.NDArray[Any]
    columns: npt.NDArray[Any]
    values: npt.NDArray[Any]
    size: int  # the number of records, empty ones included
    labels: Sequence[object]  # the item of each column


def of_matrix(
    matrix: npt.NDArray[Any], labels: Iterable[object] | None, wanted: Wanted
) -> Transactions:
    """The records of a dense matrix."""
    numbers = matrix.astype(np.float64) if matrix.dtype.kind == "O" else matrix
    rows, columns = np.nonzero(numbers)
    items = _labels_of(labels, matrix.shape[1])
    return of_cells(Cells(rows, columns, numbers[rows, columns], len(matrix), items), wanted)


def of_sparse(thing: Any, labels: Iterable[object] | None, wanted: Wanted) -> Transactions:
    """The records of a scipy sparse matrix; entries for the same cell add up."""
    if len(thing.shape) != 2:
        raise DataError(
            f"a sparse array of {len(thing.shape)} dimensions does not hold records: "
            "it must have a row for each record"
        )
    entries = thing.tocsr(copy=True)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    entries = entries.tocoo()
    size, items = entries.shape[0], _labels_of(labels, entries.shape[1])
    return of_cells(Cells(entries.row, entries.col, entries.data, size, items), wanted)


def of_cells(cells: Cells, wanted: Wanted) -> Transactions:
    """The records of non-zero cells; only items that occur enter the vocabulary."""
    rows, columns, values, size, labels = cells
    used, place = np.unique(columns, return_inverse=True)
    texts = [text_of(labels[number]) for number in used.tolist()]
    vocabulary = Vocabulary.of(texts)
    codes = vocabulary.encode(texts)[place] if len(used) else np.zeros(0, dtype=np.int32)
    if wanted.bags:
        return Bags.from_pairs(rows, codes, vocabulary, size=size, counts=whole_counts(values))
    wrong = np.flatnonzero(values != 1)
    if len(wrong):
        raise _not_one(values[wrong[0]], labels[columns[wrong[0]]], len(labels) > 1)
    return Transactions.from_pairs(rows, codes, vocabulary, size=size)


def whole_counts(counts: Sequence[object] | npt.NDArray[Any]) -> Int64s:
    """Counts of any type as whole numbers of 1 or more."""
    if isinstance(counts, np.ndarray) and counts.dtype.kind in "biu":
        values = counts
    else:
        try:
            values = np.array(
                [np.nan if count is None else count for count in counts], dtype=np.float64
            )
        except (TypeError, ValueError):
            values = np.array([_number(count) for count in counts])
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~((values >= 1) & (values < _MOST)) | (values % 1 != 0))
    if len(bad):
        raise DataError(
            f"the count {_shown(counts[bad[0]])} is not allowed: "
            f"it must be a whole number of 1 or more, below {_MOST:.0e}"
        )
    return values.astype(np.int64)


def _not_one(value: Any, label: object, among_others: bool) -> DataError:
    """The error for a cell of a set that is neither 0 nor 1; its column may be the record."""
    if value != value:
        problem = f"the column {brief(label)} has an empty cell"
        return DataError(problem, remedy="fill it, with 0 if the record does not have the item")
    may_be_record = among_others and isinstance(label, str)
    return DataError(
        f"the column {brief(label)} contains {value:g}, but only 0 and 1 are allowed",
        remedy="use {bags=True} if these are counts"
        + (f", or {{record={label}}} if it is the record" if may_be_record else ""),
    )


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


def _shown(value: object) -> str:
    return brief(value.item() if isinstance(value, np.generic) else value)


def _labels_of(labels: Iterable[object] | None, width: int) -> Sequence[object]:
    if labels is None:
        return range(width)
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise ParameterError("labels", labels, "it must be a list of items, one for each column")
    given = list(labels)
    if len(given) != width:
        raise DataError(f"there are {len(given)} labels for {plural(width, 'column')}")
    return given
