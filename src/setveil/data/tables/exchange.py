"""From and to what people have in Python: lists, sets, sparse matrices, tables.

Tables (pandas, polars, Arrow) may be long (a row for each record and item), hold a list of items in each row, or be one-hot (a column
for each item, 0/1 or true/false). A row of a long table whose item is missing says that its record exists, so that empty records are
not lost on the way. Items become text; what is missing (None, NaN) is no item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from setveil.data.tables.columns import Wanted, listed, looks_long
from setveil.data.tables.frames import frame_of
from setveil.data.tables.kinds import counted_as, is_sparse, kind_named, kind_of, make
from setveil.data.tables.layouts import of_frame
from setveil.data.tables.matrices import of_matrix, of_sparse
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, ParameterError

_MOST_COLUMNS = 50
"""A mapping with more keys holds records and no columns."""


def as_transactions(
    thing: object,
    *,
    record: object = None,
    item: object = None,
    count: object = None,
    bags: bool | None = None,
    labels: Iterable[object] | None = None,
) -> Transactions:
    """The records that an object holds.

    Args:
        thing: Transactions; a published form; an iterable of records (each an iterable of items, or `{item: count}`); a mapping to
            records; a scipy sparse matrix or a 2-D array (a row for each record); a pandas, polars or Arrow table.
        record: The column of a long table that says whose row it is; guessed when obvious. Of a one-hot table the column that is no item.
        item: The column of its item, or the list column; guessed when obvious.
        count: The column that says how often the item stands.
        bags: Whether repeats count. By default they do when counts are given, and collapse otherwise.
        labels: The items of the columns of a matrix; their numbers when not given.

    Raises:
        DataError: when the object holds no records, or cannot be understood without more being said.

    Example:
        >>> list(as_transactions([{"wine", "beer"}, []]))
        [('beer', 'wine'), ()]
    """
    if bags not in (None, True, False):
        raise ParameterError("bags", bags, "it is True, False or None")
    wanted = Wanted(_name(record), _name(item), _name(count), None if bags is None else bool(bags))
    if isinstance(thing, Transactions):
        return counted_as(thing, bags)
    if is_sparse(thing):
        return of_sparse(thing, labels, wanted)
    if isinstance(thing, np.ndarray) and thing.ndim == 2 and _holds_numbers(thing):
        return of_matrix(thing, labels, wanted)
    if labels is not None:
        raise ParameterError(
            "labels", type(labels).__name__, "only the columns of a matrix need labels"
        )
    frame = frame_of(thing)
    if frame is not None:
        return of_frame(frame, wanted)
    if callable(getattr(thing, "records", None)):
        return counted_as(thing.records(), bags)  # type: ignore[attr-defined]
    return _of_iterable(thing, wanted)


def convert(data: object, to: object) -> Any:
    """Records as another kind of object.

    Args:
        data: Whatever `as_transactions` takes; of a published form its records, in random order.
        to: One of `setveil.data.tables.kinds.KINDS`, or an object whose kind, shape and column names are wanted.

    In a long table records are numbered from 1. The columns of `numpy` and `scipy` are the items in the order of the vocabulary.

    Example:
        >>> convert([["wine", "beer"], ["wine"]], "sets") == [{"wine", "beer"}, {"wine"}]
        True
        >>> convert(Transactions.of([["a", "b"], []]), [["any", "lists"]])
        [['a', 'b'], []]
    """
    if isinstance(to, Transactions):
        return as_transactions(data, bags=isinstance(to, Bags))
    return make(as_transactions(data), kind_named(to) if isinstance(to, str) else kind_of(to))


def _name(column: object) -> str | None:
    return None if column is None else str(column)


def _holds_numbers(matrix: np.ndarray[Any, Any]) -> bool:
    """Whether the cells of an array are numbers; if not, each of its rows is a record of items."""
    return matrix.dtype.kind in "biuf" or (
        matrix.dtype.kind == "O" and all(isinstance(cell, int | float) for cell in matrix.flat)
    )


def _of_iterable(thing: object, wanted: Wanted) -> Transactions:
    if wanted.names_columns or wanted.count is not None:
        raise DataError(
            "columns can only be named for a table; this object is a plain iterable of records"
        )
    if isinstance(thing, str | bytes | PathLike):
        raise DataError(
            "records must be an iterable of records, not one text; read files with setveil.read"
        )
    if getattr(thing, "form", None) == "disassociated":
        raise DataError(
            "a disassociated release does not tell its records: setveil.reconstruct(release) makes possible ones"
        )
    if not isinstance(thing, Iterable) or (isinstance(thing, np.ndarray) and not thing.ndim):
        kind = type(thing).__name__
        raise DataError(
            f"an object of type {kind} cannot be taken as records: give an iterable of records, a matrix or a table"
        )
    rows = _values(thing) if isinstance(thing, Mapping) else list(thing)
    counted = any(isinstance(row, Mapping) for row in rows)
    if wanted.bags or (counted and wanted.bags is None):
        return Bags.of(rows)
    return Transactions.of(rows)


def _values(records: Mapping[Any, Any]) -> list[Any]:
    keys = [str(key) for key in records] if len(records) <= _MOST_COLUMNS else []
    if looks_long(keys):
        raise DataError(
            f"a mapping with the keys {listed(keys)} may be the columns of a table: make one of it first"
        )
    return list(records.values())
