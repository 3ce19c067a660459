"""Whose row of a table it is. A wrong guess would part a person's rows into several records, so what is in doubt is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from setveil.data.tables.columns import (
    COUNT_NAMES,
    ITEM_NAMES,
    RECORD_NAMES,
    TIME_NAMES,
    Columns,
    Wanted,
    choose_column,
    plain_name,
)
from setveil.data.tables.frames import Frame, Numbers
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError


def owners_of(frame: Frame, record: str) -> Numbers:
    """The number of the record of each row, by a column that may be spelled loosely."""
    name = choose_column(frame.names, "record", record, RECORD_NAMES)
    owners, _ = frame.factorized(name or record)
    if owners.min(initial=0) < 0:
        raise DataError(
            f"the column {name!r} has a row without a record: every row must say whose it is"
        )
    return owners


def with_records(frame: Frame, wanted: Wanted) -> Frame:
    """A long table, with its index as columns when that, and no column, tells whose row it is.

    An index that has another value in every row may be nothing but a number of the rows; it is taken only when it was named, or when
    there is no other column that could tell.
    """
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


def owner_beside_items(frame: Frame, wanted: Wanted) -> str | None:
    """The column that tells whose row it is in a table that is one-hot apart from it."""
    if not any(plain_name(name) == plain_name(wanted.record or "") for name in frame.names):
        return None
    owner = choose_column(frame.names, "record", wanted.record, RECORD_NAMES)
    rest = frame.without(owner) if owner is not None else frame
    if rest.is_boolean():
        return owner
    long = any(plain_name(name) in ITEM_NAMES | COUNT_NAMES for name in rest.names)
    return owner if not long and rest.is_numeric() and len(rest.names) > 1 else None


def refuse_several_rows(frame: Frame, names: Iterable[str]) -> None:
    """Refuse to take each row as a record when a column or an index says that several rows have the same owner."""
    for name in names:
        if plain_name(name) in RECORD_NAMES and frame.with_index(name).repeats(name):
            kind = "index" if name in frame.index_names() else "column"
            raise DataError(several_rows(kind, name))


def refuse_single_rows(frame: Frame, columns: Columns, owners: Numbers) -> None:
    """Refuse a guessed column of records when it merely numbers the rows and others may tell whose they are."""
    others = other_owners(frame.names, columns)
    if others and len(owners) > 1 and int(owners.max()) + 1 == len(owners):
        raise DataError(single_rows(columns.record, others[0]))


def other_owners(names: Sequence[str], columns: Columns) -> list[str]:
    """The columns that may tell whose row it is if the one that was guessed does not."""
    chosen = (columns.record, columns.item, columns.count)
    return [
        name
        for name in names
        if name not in chosen and plain_name(name) not in TIME_NAMES | COUNT_NAMES
    ]


def several_rows(kind: str, name: str) -> str:
    """What is wrong when rows are records, but a column or an index says that some have the same owner."""
    return (
        f"the {kind} {name!r} repeats, as if a record had several rows: say record={name!r} to join them, "
        "or leave it out when each row is a record of its own"
    )


def single_rows(record: str, other: str) -> str:
    """What is wrong when the column that was guessed to be the record merely numbers the rows."""
    return (
        f"every row has its own {record!r}, as if it numbered the rows: say record={record!r} when each is a record of one item, "
        f"or name the column that tells whose row it is, such as {other!r}"
    )


def joined(rows: Transactions, owners: Numbers) -> Transactions:
    """The rows of each owner as one record."""
    size, whose = int(owners.max(initial=-1)) + 1, owners[rows.rows]
    if isinstance(rows, Bags):
        return Bags.from_pairs(whose, rows.items, rows.vocabulary, size=size, counts=rows.counts)
    return Transactions.from_pairs(whose, rows.items, rows.vocabulary, size=size)
