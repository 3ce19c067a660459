"""Tables with one row per record: a set of items in one column, or a column for each item.

The rows are read one after the other, and only numbers are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from setveil.data.account import SETS
from setveil.data.records import MOST, Numbering
from setveil.data.tables.cells import LIST, PRESENCE, WHOLE, splitter
from setveil.data.tables.columns import RECORD_NAMES, choose_column, looks_long
from setveil.data.tables.frames import repeated_names
from setveil.data.tables.shapes import (
    Glimpse,
    SetColumn,
    Ticks,
    chosen_columns,
    find_sets,
    find_ticks,
    is_counted,
    is_one_hot,
    item_columns,
    record_of,
    without_record,
)
from setveil.data.transactions import Transactions
from setveil.errors import Note, ParameterError, brief
from setveil.io.formats.reading import Reading, RecordBuilder, by_owner, no_record
from setveil.io.source.source import Source
from setveil.words import are, plural

MANY = 100
"""A table with so many columns of ticks, and half as many rows, may be turned."""
Row = Sequence[object]
Counted = tuple[Iterable[str], Iterable[int] | None]
"""The items of a row, and how often each occurs if they are counted."""


@dataclass(frozen=True)
class Table:
    """A table whose rows can be read one after the other."""

    source: Source
    glimpse: Glimpse
    rows: Callable[[Sequence[str]], Iterator[Row]]
    """The cells of these columns in each row."""


def read_rowwise(table: Table, reading: Reading) -> Transactions | None:
    """The records of a table with one row per record; None if it is a long table.

    Raises:
        FileFormatError: if it is probably one but not surely; it says how to settle it.
    """
    _check_options(reading)
    reading.account.used.add("item")
    if reading.items and not reading.onehot:
        return _read_options(table, reading)
    if is_one_hot(table.glimpse, reading):
        return _read_one_hot(table, reading)
    _refuse_some_ticks(table, reading)
    sets = find_sets(table.glimpse, reading, table.source.fault)
    reading.account.used |= {"split", "onehot"}
    if sets is None:
        return None
    if sets.certainty == "ask":
        raise sets.question(table.source.fault)
    if sets.certainty == "sure":
        return _read_sets(table, sets, reading)
    note = f"Many cells of {brief(sets.item)} contain {brief(sets.mark)}."
    way = f"If such a cell holds several items, split it with {{split={sets.mark}}}."
    reading.account.notes.append(Note(f"{note} {way}"))
    return None


def _check_options(reading: Reading) -> None:
    if reading.onehot and reading.item is not None:
        allowed = "a one-hot table has a column for each item; name several with {item}, or none"
        raise ParameterError("onehot", True, allowed)
    if reading.items and reading.count is not None:
        allowed = "several columns of items have no count; leave it out"
        raise ParameterError("count", reading.count, allowed)
    if reading.onehot and reading.split not in (None, WHOLE):
        allowed = "a one-hot table has nothing to split; leave out {split}"
        raise ParameterError("onehot", True, allowed)


def _read_sets(table: Table, sets: SetColumn, reading: Reading) -> Transactions:
    names, split = table.glimpse.names, splitter(sets.mark)
    others = [name for name in names if name != sets.item]
    owner = choose_column(others, reading.role, reading.record, RECORD_NAMES, table.source.fault)
    how = "as lists" if sets.mark == LIST else f"at {brief(sets.mark)}"
    layout = f"{SETS}, its items split {how}"
    reading.account.note_columns(layout, {"record": owner, "item": sets.item}, names)
    if reading.split is None:
        text = f"Each cell of {brief(sets.item)} was split {how} into several items"
        reading.account.notes.append(Note(f"{text}; {{split={WHOLE}}} keeps it whole."))

    def items(number: int, row: Row) -> Counted:
        try:
            return reading.without_dropped(split("" if row[0] is None else str(row[0]))), None
        except ValueError as error:
            problem = f"data row {number}, column {brief(sets.item)}: {error}"
            raise table.source.fault(problem) from None

    return _collected(table, reading, _Columns([sets.item], owner), items)


def _read_one_hot(table: Table, reading: Reading) -> Transactions:
    reading.account.used |= {"onehot"}
    names = table.glimpse.names
    owner = choose_column(names, reading.role, reading.record, RECORD_NAMES, table.source.fault)
    labels = item_columns(table.glimpse, reading)
    if reading.items:
        labels, _ = chosen_columns(names, reading.items, table.source.fault)
        labels = without_record(labels, owner, table.source.fault)
    if not labels:
        problem = "no column says yes or no in every row (1 and 0, true and false, x and nothing)"
        counts = "" if reading.bags else ", or keep counts with {bags=True}"
        raise table.source.fault(problem, remedy=f"name the columns of items with {{item}}{counts}")
    labels = [name for name in labels if name != owner]
    _refuse_counts(table, reading, {*labels, owner})
    if not reading.bags and _has_own_names(table.glimpse, labels):
        ticks = find_ticks(labels, (), table.rows(labels), only_own=True)
        _note_guess(reading, ticks.columns)
        return _read_ticks(table, reading, ticks)
    layout = f"one-hot: {SETS}, and {are(len(labels), 'column')} items"
    reading.account.note_columns(layout, {"record": owner}, set(names).difference(labels))
    reading.account.ignored = tuple(name for name in names if name in reading.account.ignored)
    _note_guess(reading, labels)

    rows = 0

    def items(number: int, row: Row) -> Counted:
        nonlocal rows
        rows = number
        if reading.bags:
            counts = [_said(table, number, each) for each in zip(labels, row, strict=True)]
            return compress(labels, counts), [count for count in counts if count]
        try:
            return compress(labels, list(map(PRESENCE.__getitem__, row))), None
        except KeyError:  # blanks around a cell, or something else
            cells = zip(labels, row, strict=True)
            return compress(labels, [_said(table, number, each, most=1) for each in cells]), None

    found = _collected(table, reading, _Columns(labels, owner), items)
    if reading.onehot is None and len(labels) >= MANY and 2 * rows < len(labels):
        problem = f"the table has {len(labels):,} columns of ticks and only {rows:,} rows"
        remedy = "if each column is a person, turn it; if each is an item, add {onehot=True}"
        raise table.source.fault(problem, remedy=remedy)
    return found


def _refuse_counts(table: Table, reading: Reading, known: set[str | None]) -> None:
    """Ask about columns of counts among guessed ones that say yes or no: they would be left out."""
    if reading.onehot is not None:
        return
    others = [name for name in table.glimpse.names if name and name not in known]
    counts = [name for name in others if is_counted(table.glimpse, name)]
    if len(counts) > 1:
        problem = f"{len(counts):,} columns hold counts, and others only say yes or no"
        remedy = "{onehot=True} leaves them out, and with {bags=True} too they are read"
        raise table.source.fault(problem, remedy=remedy)


def _note_guess(reading: Reading, columns: Sequence[str]) -> None:
    """Say which columns were taken as items, if the user did not."""
    if reading.onehot is None:
        read = "1 column was" if len(columns) == 1 else f"{len(columns):,} columns were"
        text = f"{read} read as items, one row as one record"
        reading.account.notes.append(Note(f"{text}; {{onehot=False}} reads it in another way."))


def _has_own_names(glimpse: Glimpse, names: Sequence[str]) -> bool:
    """Whether chosen options are marked by their own names."""
    return any(
        isinstance(cell, str) and cell.strip() not in PRESENCE
        for name in names
        for cell in glimpse.column(name)
    )


def _read_options(table: Table, reading: Reading) -> Transactions:
    """Read the columns that the user named: of options, or with a split of items."""
    names = table.glimpse.names
    columns, alone = chosen_columns(names, reading.items, table.source.fault)
    owner = record_of(names, reading, table.source.fault)
    columns = without_record(columns, owner, table.source.fault)
    if reading.split is None:
        return _read_ticks(table, reading, find_ticks(columns, alone, table.rows(columns)))
    reading.account.used.add("split")
    split = splitter(reading.split)

    def items(number: int, row: Row) -> Counted:
        try:
            cells = ("" if cell is None else str(cell).strip() for cell in row)
            return [item for cell in cells for item in split(cell)], None
        except ValueError as error:
            raise table.source.fault(f"data row {number}: {error}") from None

    return _of_options(table, reading, columns, items)


def _read_ticks(table: Table, reading: Reading, ticks: Ticks) -> Transactions:
    if not ticks.columns:
        raise ticks.refusal(table.source.fault)
    reading.account.notes.extend(ticks.notes)
    return _of_options(table, reading, ticks.columns, lambda _, row: (ticks.items(row), None))


def _of_options(
    table: Table, reading: Reading, columns: Sequence[str], items: Callable[[int, Row], Counted]
) -> Transactions:
    """A record for each row, of the items in these columns."""
    names = table.glimpse.names
    owner = record_of(names, reading, table.source.fault)
    layout = f"{SETS}, and its items are in {plural(len(columns), 'column')}"
    reading.account.note_columns(layout, {"record": owner}, set(names).difference(columns))
    reading.account.ignored = tuple(name for name in names if name in reading.account.ignored)
    return _collected(table, reading, _Columns(columns, owner), items)


def _refuse_some_ticks(table: Table, reading: Reading) -> None:
    """Ask which columns are items if some hold ticks, and it is not obvious what the others are."""
    asked = reading.names_columns or reading.split or reading.onehot is False or reading.count
    if asked or looks_long(table.glimpse.names):
        return
    glimpse = table.glimpse
    found = [
        place
        for place, name in enumerate(glimpse.names, start=1)
        if name in item_columns(glimpse, reading) and any(glimpse.column(name))
    ]
    if len(found) > 1:
        problem = f"{len(found)} columns hold ticks (yes and no, or the name of an option)"
        remedy = f"if they are the items, name them with {{item}}: {{item={found[0]}-{found[-1]}}}"
        raise table.source.fault(f"{problem}, and others hold something else", remedy=remedy)


@dataclass(frozen=True)
class _Columns:
    """The columns with items, and the one that names the record."""

    items: Sequence[str]
    owner: str | None


def _collected(
    table: Table, reading: Reading, columns: _Columns, items: Callable[[int, Row], Counted]
) -> Transactions:
    """A record for each row, or for each value of the record column if the user named it."""
    records, owners, numbers = RecordBuilder(reading), list[int](), Numbering[object]()
    owner, dropped, left_out = columns.owner, set(reading.drop_record), 0
    chosen = [*columns.items, *([] if owner is None else [owner])]
    for number, row in enumerate(table.rows(chosen), start=1):
        if owner is not None:
            value = "" if row[-1] is None else str(row[-1])
            if value in dropped:
                left_out += 1
                continue
            if reading.record is not None and not value:
                raise no_record(table.source, number)
            if value == owner and not owner.isdecimal():
                raise repeated_names(1, owner, table.source.fault)
            owners.append(numbers[value or number])
        records.add(*items(number, row if owner is None else row[:-1]))
    if owner is not None and dropped:
        reading.account.dropped(left_out, reading.drop_record)
    found = records.finish(bags=bool(reading.bags))
    return by_owner(found, owners, reading, table.source, owner)


def _said(table: Table, number: int, cell: tuple[str, object], *, most: int = MOST) -> int:
    """How often an item occurs by its cell; `most` is 1 if the cell must be yes or no."""
    label, value = cell
    text = str(value).strip()
    for known in (value, text):
        if known in PRESENCE:
            return int(PRESENCE[known])
    if most > 1 and text.isdecimal() and int(text) <= most:
        return int(text)
    problem = f"data row {number}, column {brief(label)}: the cell is"
    allowed = "neither yes nor no" if most == 1 else "not a count"
    remedy = "write 1 or 0, name the columns of items with {item}, or keep counts with {bags=True}"
    raise table.source.fault(f"{problem} {allowed}", remedy=remedy if most == 1 else "")
