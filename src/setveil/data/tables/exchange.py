"""Converts records from and to the objects of Python libraries: lists, sets, matrices, tables.

Tables (pandas, polars, Arrow) may be long (a row for each record and item), have a list of items in
each row, or be one-hot (a column for each item, 0/1 or true/false). In a long table a row without
an item keeps its record, which may be empty. Items become text; missing ones (None, NaN) are
dropped."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.records import RecordBuilder, refuse_text
from setveil.data.tables.cells import WHOLE, check_split, splitter
from setveil.data.tables.columns import (
    COUNT_NAMES,
    ITEM_NAMES,
    RECORD_NAMES,
    Columns,
    Wanted,
    choose_column,
    find_columns,
    find_list_column,
    looks_long,
    not_obvious,
    of_person,
    plain_name,
)
from setveil.data.tables.frames import (
    Frame,
    frame_of,
    joined,
    owners_of,
    record_column,
    refuse_several_rows,
    refuse_single_rows,
    with_records,
)
from setveil.data.tables.kinds import (
    Cells,
    counted_as,
    is_one_hot,
    is_sparse,
    kind_named,
    kind_of,
    make,
    of_cells,
    of_matrix,
    of_sparse,
    whole_counts,
)
from setveil.data.tables.shapes import (
    chosen_columns,
    find_ticks,
    item_words,
    with_names,
    without_record,
)
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary, is_missing, text_of, texts_of
from setveil.errors import DataError, ParameterError, brief, brief_list
from setveil.words import plural

_MOST_COLUMNS = 50  # a mapping with more keys than this holds records, not columns


def as_transactions(
    thing: object,
    *,
    record: object = None,
    item: object = None,
    count: object = None,
    person: object = None,
    bags: bool | None = None,
    split: str | None = None,
    labels: Iterable[object] | None = None,
    columns: Sequence[str] | str | None = None,
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
        person: The column of the person; without a record, the rows of each person are one.
        bags: Whether repeats count. By default they count only if counts are given.
        split: What separates the items within a cell of a table, such as `|`; `list` for texts
            that are lists in brackets.
        labels: The item of each column of a matrix; by default its number.
        columns: Columns of a table to keep beside the items; the result is a `Table`.

    Raises:
        DataError: if the object does not hold records, or is ambiguous without these arguments.

    Example:
        >>> list(as_transactions([{"wine", "beer"}, []]))
        [('beer', 'wine'), ()]
    """
    if columns is not None and not isinstance(thing, Transactions):
        from setveil.data.tables.beside import names_of, table_of_frame

        words = {"item": item, "count": count, "bags": bags, "split": split}
        return table_of_frame(thing, names_of(columns), record, **words)
    if bags not in (None, True, False):
        raise ParameterError("bags", bags, "it must be True, False or None")
    check_split(split)
    counted = None if bags is None else bool(bags)
    roles = {**of_person(_name(record), _name(person)), **item_words(item)}
    wanted = Wanted(**roles, count=_name(count), bags=counted, split=split)
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


def of_frame(frame: Frame, wanted: Wanted) -> Transactions:
    """The records of a table."""
    if len(frame) == 0:
        return counted_as(Transactions.of([]), wanted.bags)
    wanted = with_names(wanted, frame.names)
    if wanted.items:
        return _of_options(frame, wanted)
    if wanted.split not in (None, WHOLE):
        return _of_texts(frame, wanted.split or "", wanted)
    lists = frame.list_columns()
    holder = find_list_column(lists, wanted)
    if holder is not None:
        return _of_lists(frame, holder, lists, wanted)
    if not wanted.names_columns and is_one_hot(frame) and not _is_long_by_its_index(frame):
        refuse_several_rows(frame, frame.index_names())
        return _of_one_hot(frame, None, wanted)
    if wanted.record is not None and wanted.item is None:
        whole = frame.with_index(wanted.record)
        owner = record_column(whole, wanted)
        if owner is not None:
            return _of_one_hot(whole.without(owner), owners_of(whole, owner, wanted.role), wanted)
    whole = with_records(frame, wanted)
    return _of_long(whole, find_columns(whole.names, wanted), wanted)


def _of_options(frame: Frame, wanted: Wanted) -> Transactions:
    """The records of several columns: a tick or an option in each cell, or items to split."""
    columns, alone = chosen_columns(frame.names, wanted.items)
    record = plain_name(wanted.record or "")
    own = next((name for name in frame.names if record and plain_name(name) == record), None)
    columns = without_record(columns, own)
    if wanted.split is None:
        held = [frame.column(name) for name in columns]
        ticks = find_ticks(columns, alone, zip(*held, strict=True))
        if not ticks.columns:
            raise ticks.refusal()
        chosen = [frame.column(name) for name in ticks.columns]
        rows = [list(ticks.items(row)) for row in zip(*chosen, strict=True)]
    else:
        split, chosen = splitter(wanted.split), [frame.column(name) for name in columns]
        cells = zip(*chosen, strict=True)
        rows = [
            [item for cell in row if cell is not None for item in split(str(cell))] for row in cells
        ]
    found = (Bags if wanted.bags else Transactions).of(rows)
    return _by_record(frame, found, frame.names, wanted)


def _of_lists(frame: Frame, holder: str, lists: Sequence[str], wanted: Wanted) -> Transactions:
    single = [name for name in frame.names if name not in lists]
    rival = next((name for name in single if plain_name(name) in ITEM_NAMES), None)
    if wanted.item is None and rival is not None and plain_name(holder) not in ITEM_NAMES:
        raise DataError(
            f"the columns {brief_list([rival, holder])} could each be the items",
            remedy="choose one with {item}",
        )
    return _by_record(frame, _rows_of_lists(frame, holder, wanted), single, wanted)


def _of_texts(frame: Frame, mark: str, wanted: Wanted) -> Transactions:
    """The records of a column whose texts are split; each row is one unless the user named it."""
    item = choose_column(frame.names, "item", wanted.item, ITEM_NAMES)
    if item is None:
        raise not_obvious("item", frame.names)
    split = splitter(mark)
    try:
        rows = ([] if text is None else split(str(text)) for text in frame.column(item))
        found = (Bags if wanted.bags else Transactions).of(rows)
    except ValueError as error:
        raise DataError(f"the column {brief(item)}: {error}") from None
    return _by_record(frame, found, frame.names, wanted)


def _by_record(
    frame: Frame, rows: Transactions, names: Sequence[str], wanted: Wanted
) -> Transactions:
    """The rows, or those of each record if the user named its column."""
    if wanted.record is None:
        refuse_several_rows(frame, [*names, *frame.index_names()])
        return rows
    return joined(rows, owners_of(frame.with_index(wanted.record), wanted.record, wanted.role))


def _rows_of_lists(frame: Frame, holder: str, wanted: Wanted) -> Transactions:
    rows = [_as_row(row) for row in frame.column(holder)]
    counts = frame.list_counts(wanted)
    if counts is not None and wanted.bags is not False:
        return _counted(rows, frame.column(counts))
    counted = any(isinstance(row, Mapping) for row in rows)
    return (Bags if wanted.bags or (counted and wanted.bags is None) else Transactions).of(rows)


def _as_row(row: Any) -> Iterable[object]:
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        if is_missing(row):
            return ()
        raise DataError(f"a row of the table has {brief(row)} where others have a list of items")
    return row


def _counted(rows: Iterable[Iterable[object]], counts: Iterable[Iterable[object] | None]) -> Bags:
    """Records of lists of items and lists of their counts; repeats add up."""
    builder, numbers = RecordBuilder(), list[object]()
    for row, given in zip(rows, counts, strict=True):
        items, held = list(row), [] if given is None else list(given)
        if len(items) != len(held):
            both = f"{plural(len(items), 'item')} but {plural(len(held), 'count')}"
            raise DataError(f"a row of the table has {both}")
        builder.add(texts_of(items))
        kept = zip(items, held, strict=True)
        numbers.extend(count for item, count in kept if not is_missing(item))
    pairs = builder.pairs()
    return Bags.from_pairs(*pairs[:3], size=pairs.size, counts=whole_counts(numbers))


def _of_one_hot(frame: Frame, owners: Int64s | None, wanted: Wanted) -> Transactions:
    rows, columns, values = frame.entries()
    for place in np.unique(columns[values != 1]).tolist() if wanted.bags else ():
        if plain_name(frame.names[place]) in RECORD_NAMES | ITEM_NAMES | COUNT_NAMES:
            raise DataError(
                f"the column {brief(frame.names[place])} may not be an item",
                remedy="name the columns with {record} and {item}; "
                "or, if all columns are items, give them as a matrix with {labels}",
            )
    if owners is None:
        return of_cells(Cells(rows, columns, values, len(frame), frame.names), wanted)
    size = int(owners.max(initial=-1)) + 1
    return of_cells(Cells(owners[rows], columns, values, size, frame.names), wanted)


def _is_long_by_its_index(frame: Frame) -> bool:
    """Whether the index has the record, and the columns only have items and counts, if any."""
    return bool(frame.index_names()) and all(
        plain_name(name) in ITEM_NAMES | COUNT_NAMES for name in frame.names
    )


def _of_long(frame: Frame, columns: Columns, wanted: Wanted) -> Transactions:
    owners = owners_of(frame, columns.record, wanted.role)
    if wanted.record is None:
        refuse_single_rows(frame, columns, owners)
    codes, values = frame.factorized(columns.item)
    texts = _labels(values)
    if columns.item in texts and columns.record in frame.column(columns.record):
        raise DataError("a row repeats the names of the columns", remedy="leave such rows out")
    vocabulary = Vocabulary.of(texts)
    there, size = codes >= 0, int(owners.max(initial=-1)) + 1
    items = vocabulary.encode(texts)[codes[there]] if texts else np.zeros(0, dtype=np.int32)
    if columns.count is None:
        kind = Bags if wanted.bags else Transactions
        return kind.from_pairs(owners[there], items, vocabulary, size=size)
    kept = zip(frame.column(columns.count), there.tolist(), strict=True)
    counts = whole_counts([count for count, has_item in kept if has_item])
    return Bags.from_pairs(owners[there], items, vocabulary, size=size, counts=counts)


def _labels(values: list[Any]) -> list[str]:
    """The texts of items; floats that are all whole (as next to missing values) become whole."""
    if values and all(isinstance(value, float) and value.is_integer() for value in values):
        return [str(int(value)) for value in values]
    return [text_of(value) for value in values]
