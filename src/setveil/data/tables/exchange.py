"""Converts records from and to the objects of Python libraries: lists, sets, matrices, tables.

Tables (pandas, polars, Arrow) may be long (a row for each record and item), have a list of items in
each row, or be one-hot (a column for each item, 0/1 or true/false). In a long table a row without
an item keeps its record, which may be empty. Items become text; missing ones (None, NaN) are
dropped."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from setveil.data.records import refuse_text
from setveil.data.tables.cells import check_split
from setveil.data.tables.columns import Wanted, looks_long
from setveil.data.tables.frames import frame_of
from setveil.data.tables.kinds import (
    counted_as,
    is_sparse,
    kind_named,
    kind_of,
    make,
    of_matrix,
    of_sparse,
)
from setveil.data.tables.layouts import of_frame
from setveil.data.tables.shapes import item_words
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, ParameterError, brief_list

_MOST_COLUMNS = 50  # a mapping with more keys than this holds records, not columns


def as_transactions(
    thing: object,
    *,
    record: object = None,
    item: object = None,
    count: object = None,
    bags: bool | None = None,
    split: str | None = None,
    labels: Iterable[object] | None = None,
) -> Transactions:
    """The records of an object.

    Args:
        thing: Transactions; a published form; an iterable of records (each an iterable of items, or
            `{item: count}`); a mapping to records; a scipy sparse matrix or a 2-D array (a row for
            each record); a pandas, polars or Arrow table.
        record: The column of a table that names the record; guessed if obvious.
        item: The column of the item or of the list of items; guessed if obvious. Or a list of
            names, patterns (`Uses *`) and ranges (`12-30`) of columns that each are an option.
        count: The column that says how often the item occurs.
        bags: Whether repeats count. By default they count only if counts are given.
        split: What separates the items within a cell of a table, such as `|`; `list` for texts
            that are lists in brackets.
        labels: The item of each column of a matrix; by default its number.

    Raises:
        DataError: if the object does not hold records, or is ambiguous without these arguments.

    Example:
        >>> list(as_transactions([{"wine", "beer"}, []]))
        [('beer', 'wine'), ()]
    """
    if bags not in (None, True, False):
        raise ParameterError("bags", bags, "it must be True, False or None")
    check_split(split)
    counted = None if bags is None else bool(bags)
    roles = {"record": _name(record), "count": _name(count), **item_words(item)}
    wanted = Wanted(**roles, bags=counted, split=split)
    if isinstance(thing, Transactions):
        return counted_as(thing, bags)
    if is_sparse(thing):
        return of_sparse(thing, labels, wanted)
    if isinstance(thing, np.ndarray) and thing.ndim == 2 and _holds_numbers(thing):
        return of_matrix(thing, labels, wanted)
    if labels is not None:
        allowed = "only the columns of a matrix need labels"
        raise ParameterError("labels", type(labels).__name__, allowed)
    frame = frame_of(thing)
    if frame is not None:
        return of_frame(frame, wanted)
    if callable(getattr(thing, "records", None)):
        return counted_as(thing.records(), bags)  # type: ignore[attr-defined]
    return _of_iterable(thing, wanted)


def convert(data: object, to: object) -> Any:
    """Records as another kind of object.

    Args:
        data: Any object that `as_transactions` takes; a published form gives its records in random
            order.
        to: One of `setveil.data.tables.kinds.KINDS`, or an object to take the kind, the shape and
            the column names from.

    In a long table records are numbered from 1. The columns of `numpy` and `scipy` matrices are the
    items in the order of the vocabulary.

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
    """Whether the cells of an array are numbers; if not, each row is a record of items."""
    return matrix.dtype.kind in "biuf" or (
        matrix.dtype.kind == "O" and all(isinstance(cell, int | float) for cell in matrix.flat)
    )


def _of_iterable(thing: object, wanted: Wanted) -> Transactions:
    if wanted.names_columns or wanted.count is not None or wanted.split is not None:
        raise DataError("only tables have columns, and this object is an iterable of records")
    refuse_text(thing)
    if getattr(thing, "form", None) == "disassociated":
        problem = "a disassociated release does not show whole records"
        raise DataError(problem, remedy="make possible ones with setveil.reconstruct(release)")
    if not isinstance(thing, Iterable) or (isinstance(thing, np.ndarray) and not thing.ndim):
        problem = f"an object of type {type(thing).__name__} does not hold records"
        raise DataError(problem, remedy="give an iterable of records, a matrix or a table")
    rows = _values(thing) if isinstance(thing, Mapping) else list(thing)
    counted = any(isinstance(row, Mapping) for row in rows)
    if wanted.bags or (counted and wanted.bags is None):
        return Bags.of(rows)
    return Transactions.of(rows)


def _values(records: Mapping[Any, Any]) -> list[Any]:
    keys = [str(key) for key in records] if len(records) <= _MOST_COLUMNS else []
    if looks_long(keys):
        problem = f"a mapping with the keys {brief_list(keys)} may be the columns of a table"
        raise DataError(problem, remedy="make a table of it first")
    return list(records.values())
