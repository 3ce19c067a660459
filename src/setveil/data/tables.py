"""Records from tables: long ones, those with a list of items in each row, and one-hot ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from setveil.data.columns import COUNT_NAMES, ITEM_NAMES, RECORD_NAMES, Columns, Wanted, find_columns, find_list_column, plain_name
from setveil.data.frames import Frame
from setveil.data.items import is_missing, short, text_of
from setveil.data.kinds import counted_as, is_one_hot
from setveil.data.matrices import of_entries, whole_counts
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError


def of_frame(frame: Frame, wanted: Wanted) -> Transactions:
    """The records of a table."""
    if len(frame) == 0:
        return counted_as(Transactions.of([]), wanted.bags)
    holder = find_list_column(frame.list_columns(), wanted)
    if holder is not None:
        return _of_lists(frame, holder, wanted)
    if not wanted.names_columns and is_one_hot(frame) and not _is_long_by_its_index(frame):
        return _of_one_hot(frame, None, wanted)
    if wanted.record is not None and wanted.item is None and (owner := _beside_one_hot(frame, wanted.record)):
        return _of_one_hot(frame.without(owner), frame.factorized(owner)[0], wanted)
    frame = _with_records(frame, wanted)
    return _of_long(frame, find_columns(frame.names, wanted), wanted)


def _of_lists(frame: Frame, holder: str, wanted: Wanted) -> Transactions:
    rows = [_as_row(row) for row in frame.column(holder)]
    beside = frame.counts_beside(wanted)
    if beside is not None and wanted.bags is not False:
        return Bags.of([_paired(row, counts) for row, counts in zip(rows, frame.column(beside), strict=True)])
    counted = any(isinstance(row, Mapping) for row in rows)
    return (Bags if wanted.bags or (counted and wanted.bags is None) else Transactions).of(rows)


def _as_row(row: Any) -> Iterable[object]:
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        if is_missing(row):
            return ()
        raise DataError(f"a row of the table holds {short(row)} where others hold a list of items")
    return row


def _paired(row: Iterable[object], counts: Iterable[object] | None) -> dict[str, int]:
    """The items of a list with the counts of the list beside it; repeats add up."""
    items, numbers = list(row), [] if counts is None else list(counts)
    if len(items) != len(numbers):
        raise DataError(f"a row of the table has {len(items)} items and {len(numbers)} counts: each item needs one")
    there = [place for place, item in enumerate(items) if not is_missing(item)]
    held: dict[str, int] = {}
    for place, count in zip(there, whole_counts([numbers[place] for place in there]).tolist(), strict=True):
        label = text_of(items[place])
        held[label] = held.get(label, 0) + count
    return held


def _beside_one_hot(frame: Frame, record: str) -> str | None:
    """The column that tells whose row it is in a table that is one-hot apart from it."""
    owner = next((name for name in frame.names if name == record), None)
    if owner is None or any(plain_name(name) in ITEM_NAMES for name in frame.names if name != owner):
        return None
    rest = frame.without(owner)
    return owner if rest.is_boolean() or (rest.is_numeric() and len(rest.names) > 1) else None


def _of_one_hot(frame: Frame, owners: npt.NDArray[np.int64] | None, wanted: Wanted) -> Transactions:
    if owners is None and (name := frame.repeating_index()) is not None and plain_name(name) in RECORD_NAMES:
        raise DataError(f"the index {name!r} repeats, as if a record had several rows: join them, or reset_index() and say record={name!r}")
    if owners is not None and owners.min(initial=0) < 0:
        raise DataError(f"the column {wanted.record!r} has a row without a record: every row must say whose it is")
    rows, columns, values = frame.entries()
    size = len(frame) if owners is None else int(owners.max(initial=-1)) + 1
    return of_entries(rows if owners is None else owners[rows], columns, values, size, frame.names, wanted)


def _is_long_by_its_index(frame: Frame) -> bool:
    """Whether the columns are an item and perhaps its count, or nothing at all, and the index has the rest."""
    return frame.with_index() is not frame and all(plain_name(name) in ITEM_NAMES | COUNT_NAMES for name in frame.names)


def _with_records(frame: Frame, wanted: Wanted) -> Frame:
    """The table, with its index as columns when its columns do not tell whose row it is."""
    names = [plain_name(name) for name in frame.names]
    known = plain_name(wanted.record) in names if wanted.record is not None else bool(RECORD_NAMES.intersection(names))
    return frame if known else frame.with_index()


def _of_long(frame: Frame, columns: Columns, wanted: Wanted) -> Transactions:
    owners, people = frame.factorized(columns.record)
    if owners.min(initial=0) < 0:
        raise DataError(f"the column {columns.record!r} has a row without a record: every row must say whose it is")
    codes, values = frame.factorized(columns.item)
    texts = _labels(values)
    vocabulary = Vocabulary.of(texts)
    there = codes >= 0
    items = vocabulary.encode(texts)[codes[there]] if texts else np.zeros(0, dtype=np.int32)
    if columns.count is None:
        kind = Bags if wanted.bags else Transactions
        return kind.from_pairs(owners[there], items, vocabulary, size=len(people))
    counts = whole_counts([count for count, kept in zip(frame.column(columns.count), there.tolist(), strict=True) if kept])
    return Bags.from_pairs(owners[there], items, vocabulary, size=len(people), counts=counts)


def _labels(values: list[Any]) -> list[str]:
    """The texts of items; whole numbers that a library holds as floats, for want of others beside missing ones, are whole numbers."""
    if values and all(isinstance(value, float) and value.is_integer() for value in values):
        return [str(int(value)) for value in values]
    return [text_of(value) for value in values]
