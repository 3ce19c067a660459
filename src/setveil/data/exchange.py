"""From and to what people have in Python: lists, sets, sparse matrices, tables.

Tables (pandas, polars, Arrow) may be long (a row for each record and item), hold a list of items in each row, or be one-hot (a column
for each item, 0/1 or true/false). A row of a long table whose item is missing says that its record exists, so that empty records are
not lost on the way. Items become text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from setveil.data.columns import Columns, Wanted, find_columns, find_list_column
from setveil.data.frames import Frame, frame_of
from setveil.data.kinds import counted_as, is_one_hot, is_sparse, kind_named, kind_of, make
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError


def as_transactions(
    thing: object,
    *,
    record: str | None = None,
    item: str | None = None,
    count: str | None = None,
    bags: bool | None = None,
    labels: Sequence[object] | None = None,
) -> Transactions:
    """The records that an object holds.

    Args:
        thing: Transactions; a published form; an iterable of records (each an iterable of items, or `{item: count}`); a mapping to
            records; a scipy sparse matrix or a 2-D array (a row for each record); a pandas, polars or Arrow table.
        record: The column of a long table that says whose row it is; guessed when obvious.
        item: The column of its item, or the list column; guessed when obvious.
        count: The column that says how often the item stands.
        bags: Whether repeats count. By default they do when counts are given, and collapse otherwise.
        labels: The items of the columns of a matrix; their numbers when not given.

    Example:
        >>> list(as_transactions([{"wine", "beer"}, []]))
        [('beer', 'wine'), ()]
    """
    wanted = Wanted(record, item, count, bags)
    if isinstance(thing, Transactions):
        return counted_as(thing, bags)
    frame = frame_of(thing)
    if frame is not None:
        return _of_frame(frame, wanted)
    if callable(getattr(thing, "records", None)):
        return counted_as(thing.records(), bags)  # type: ignore[attr-defined]
    if is_sparse(thing):
        return _of_sparse(thing, wanted, labels)
    if isinstance(thing, np.ndarray) and thing.ndim == 2 and thing.dtype.kind in "biuf":
        return _of_matrix(thing, labels, wanted)
    return _of_iterable(thing, wanted)


def convert(data: object, to: object) -> Any:
    """Records as another kind of object.

    Args:
        data: Whatever `as_transactions` takes; of a published form its records, in random order.
        to: One of `setveil.data.kinds.KINDS`, or an object whose kind, shape and column names are wanted.

    In a long table records are numbered from 1. The columns of `numpy` and `scipy` are the items in the order of the vocabulary.

    Example:
        >>> convert([["wine", "beer"], ["wine"]], "sets") == [{"wine", "beer"}, {"wine"}]
        True
        >>> convert(Transactions.of([["a", "b"], []]), [["any", "lists"]])
        [['a', 'b'], []]
    """
    return make(as_transactions(data), kind_named(to) if isinstance(to, str) else kind_of(to))


def _of_iterable(thing: object, wanted: Wanted) -> Transactions:
    if wanted.names_columns or wanted.count is not None:
        raise DataError("columns can only be named for a table; this object is a plain iterable of records")
    if not isinstance(thing, Iterable):
        raise DataError(f"a {type(thing).__name__} cannot be taken as records: give an iterable of records, a matrix or a table")
    if isinstance(thing, str | bytes):
        raise DataError("records must be an iterable of records, not one text; read files with setveil.read")
    rows = list(thing.values() if isinstance(thing, Mapping) else thing)
    wrong = next((row for row in rows if not isinstance(row, Iterable)), None)
    if wrong is not None or None in rows:
        raise DataError(f"a record must be an iterable of items, not {wrong!r}")
    counted = any(isinstance(row, Mapping) for row in rows)
    if wanted.bags or (counted and wanted.bags is None):
        return Bags.of(rows)
    return Transactions.of(rows)


def _of_frame(frame: Frame, wanted: Wanted) -> Transactions:
    if len(frame) == 0:
        return counted_as(Transactions.of([]), wanted.bags)
    holder = find_list_column(frame.list_columns(), wanted)
    if holder is not None:
        return _of_lists(frame, holder, wanted)
    if not wanted.names_columns and is_one_hot(frame):
        return _of_matrix(frame.matrix(), frame.names, wanted)
    return _of_long(frame, find_columns(frame.names, wanted), wanted)


def _of_lists(frame: Frame, holder: str, wanted: Wanted) -> Transactions:
    rows = [[] if row is None else row for row in frame.column(holder)]
    beside = frame.counts_beside(wanted)
    if beside is None or wanted.bags is False:
        kept = [row if isinstance(row, Mapping) else [item for item in row if not _is_missing(item)] for row in rows]
        return _of_iterable(kept, Wanted(bags=wanted.bags))
    pairs = zip(rows, frame.column(beside), strict=True)
    return Bags.of([dict(zip(map(str, row), counts if counts is not None else (), strict=True)) for row, counts in pairs])


def _of_long(frame: Frame, columns: Columns, wanted: Wanted) -> Transactions:
    owners, items = frame.column(columns.record), frame.column(columns.item)
    if any(_is_missing(owner) for owner in owners):
        raise DataError(f"the column {columns.record!r} has a row without a record: every row must say whose it is")
    numbers = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    there = np.fromiter((not _is_missing(item) for item in items), dtype=bool, count=len(items))
    records = np.fromiter(map(numbers.__getitem__, owners), dtype=np.int64, count=len(owners))[there]
    texts = [str(item) for item in items if not _is_missing(item)]
    vocabulary = Vocabulary.of(texts)
    codes = vocabulary.encode(texts)
    if columns.count is None:
        kind = Bags if wanted.bags else Transactions
        return kind.from_pairs(records, codes, vocabulary, size=len(numbers))
    given = [count for count, kept in zip(frame.column(columns.count), there.tolist(), strict=True) if kept]
    return Bags.from_pairs(records, codes, vocabulary, size=len(numbers), counts=_whole(given))


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _whole(counts: Sequence[object]) -> npt.NDArray[np.int64]:
    values = np.array([np.nan if count is None else count for count in counts], dtype=np.float64)
    bad = np.flatnonzero(~(values >= 1) | (values % 1 != 0))
    if len(bad):
        raise DataError(f"the count {counts[bad[0]]!r} is not allowed: it must be a whole number of 1 or more")
    return values.astype(np.int64)


def _of_matrix(matrix: npt.NDArray[Any], labels: Sequence[object] | None, wanted: Wanted) -> Transactions:
    rows, columns = np.nonzero(matrix)
    return _of_entries(rows, columns, matrix[rows, columns], matrix.shape, labels, wanted)


def _of_sparse(thing: Any, wanted: Wanted, labels: Sequence[object] | None) -> Transactions:
    entries = thing.tocsr(copy=True)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    entries = entries.tocoo()
    return _of_entries(entries.row, entries.col, entries.data, entries.shape, labels, wanted)


def _of_entries(
    rows: npt.NDArray[Any],
    columns: npt.NDArray[Any],
    values: npt.NDArray[Any],
    shape: tuple[int, ...],
    labels: Sequence[object] | None,
    wanted: Wanted,
) -> Transactions:
    """Records from the entries of a matrix that are not 0; only items that occur are kept."""
    if labels is not None and len(labels) != shape[1]:
        raise DataError(f"{len(labels)} labels are given for {shape[1]} columns")
    used = np.unique(columns)
    texts = [str(number if labels is None else labels[number]) for number in used.tolist()]
    vocabulary = Vocabulary.of(texts)
    codes = vocabulary.encode(texts)[np.searchsorted(used, columns)] if len(used) else np.zeros(0, dtype=np.int32)
    if wanted.bags:
        return Bags.from_pairs(rows, codes, vocabulary, size=shape[0], counts=_whole(values.tolist()))
    if not (values == 1).all():
        raise DataError(f"the table holds {values[values != 1][0]!s} where only 0 and 1 are allowed: say bags=True when these are counts")
    return Transactions.from_pairs(rows, codes, vocabulary, size=shape[0])
