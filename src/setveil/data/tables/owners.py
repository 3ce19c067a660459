"""Which record each row of a table belongs to.

A wrong guess would split one person's rows into several records, so ambiguous tables are refused.
"""

from collections.abc import Iterable, Sequence

from setveil.data.arrays import Int64s
from setveil.data.tables.columns import (
    ATTRIBUTE_NAMES,
    COUNT_NAMES,
    ITEM_NAMES,
    RECORD_NAMES,
    Columns,
    Fail,
    Wanted,
    choose_column,
    plain_name,
)
from setveil.data.tables.frames import Frame
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, brief


def owners_of(frame: Frame, record: str) -> Int64s:
    """The record number of each row, by a column whose name may be spelled loosely."""
    name = choose_column(frame.names, "record", record, RECORD_NAMES)
    owners, _ = frame.factorized(name or record)
    if owners.min(initial=0) < 0:
        problem = f"the column {brief(name)} has an empty cell: every row must name its record"
        raise DataError(problem)
    return owners


def with_records(frame: Frame, wanted: Wanted) -> Frame:
    """A long table, with its index as columns if only the index can say which record a row is of.

    An index whose values all differ may only number the rows, so it is used only if the user named
    it or no column other than items and counts remains."""
    names = {plain_name(name) for name in frame.names}
    known = (
        plain_name(wanted.record) in names
        if wanted.record is not None
        else bool(RECORD_NAMES & names)
    )
    if known or not frame.index_names():
        return frame
    whole = frame.with_index()
    if wanted.record is not None or names <= ITEM_NAMES | COUNT_NAMES:
        return whole
    return whole if any(whole.repeats(name) for name in frame.index_names()) else frame


def record_column(frame: Frame, wanted: Wanted) -> str | None:
    """The record column if all other columns of the table are one-hot, else None."""
    if not any(plain_name(name) == plain_name(wanted.record or "") for name in frame.names):
        return None
    owner = choose_column(frame.names, "record", wanted.record, RECORD_NAMES)
    rest = frame.without(owner) if owner is not None else frame
    if rest.is_boolean():
        return owner
    long = any(plain_name(name) in ITEM_NAMES | COUNT_NAMES for name in rest.names)
    return owner if not long and rest.is_numeric() and len(rest.names) > 1 else None


def refuse_several_rows(frame: Frame, names: Iterable[str]) -> None:
    """Raise an error if each row would be a record although a record column or index repeats."""
    for name in names:
        if plain_name(name) in RECORD_NAMES and frame.with_index(name).repeats(name):
            raise several_rows("index" if name in frame.index_names() else "column", name)


def refuse_single_rows(frame: Frame, columns: Columns, owners: Int64s) -> None:
    """Raise an error if the guessed record column may only number the rows."""
    others = other_owners(frame.names, columns)
    if others and len(owners) > 1 and int(owners.max()) + 1 == len(owners):
        raise single_rows(columns.record, others[0])


def other_owners(names: Sequence[str], columns: Columns) -> list[str]:
    """The columns that may be the record if the guessed one is not."""
    chosen = columns.roles.values()
    return [
        name for name in names if name not in chosen and plain_name(name) not in ATTRIBUTE_NAMES
    ]


def several_rows(kind: str, name: str, fail: Fail = DataError) -> DataError:
    """The error for rows that look like records although a column or an index repeats."""
    return fail(
        f"the {kind} {brief(name)} repeats, so a record may span several rows",
        remedy=f"join them with {record_choice(name)}, or drop the {kind} if each row is a record",
    )


def single_rows(record: str, other: str, fail: Fail = DataError) -> DataError:
    """The error for a guessed record column that may only number the rows."""
    return fail(
        f"every row has a different {brief(record)}, so it may only number the rows",
        remedy=f"use {record_choice(record)} if each row is a record of one item, "
        f"or name the record column, for example {record_choice(other)}",
    )


def record_choice(record: str) -> str:
    """The parameter with a column as its value, if a message can quote the name whole."""
    is_plain = len(brief(record)) == len(record) + 2 and not set("{}").intersection(record)
    return f"{{record={record}}}" if is_plain else "{record}"


def joined(rows: Transactions, owners: Int64s) -> Transactions:
    """The rows of each owner as one record."""
    size, records = int(owners.max(initial=-1)) + 1, owners[rows.rows]
    if isinstance(rows, Bags):
        return Bags.from_pairs(records, rows.items, rows.vocabulary, size=size, counts=rows.counts)
    return Transactions.from_pairs(records, rows.items, rows.vocabulary, size=size)
