"""Columns beside the sets of a file: read after its records, and matched with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setveil.data.account import bounded
from setveil.data.arrays import Int64s
from setveil.data.columns import Table as Beside
from setveil.data.people import People, Whose
from setveil.data.records import Numbering
from setveil.data.tables.beside import of_records
from setveil.data.tables.columns import named_column
from setveil.data.tags import Tags
from setveil.data.transactions import Transactions
from setveil.errors import FileFormatError, ParameterError, brief
from setveil.io.formats.reading import Reading
from setveil.io.formats.rowwise import Table
from setveil.io.source.source import Source
from setveil.words import plural

_TABLES = ("csv", "tsv", "parquet")
"""Formats with columns; a spreadsheet is read as CSV."""


class _Beside(NamedTuple):
    """What is beside the items in the rows of a file."""

    names: Sequence[str]
    """The columns as the file spells them."""
    cells: Sequence[Sequence[object]]
    """The cells of each of these columns."""
    keys: Sequence[str] | None
    """The record of each row as the file names it, or how many its row is; None if each is one."""
    owners: Int64s | None
    """The number of the record of each row, -1 if it was left out."""


def _beside(
    source: Source, format: str, reading: Reading, role: str, named: Sequence[str]
) -> _Beside:
    if reading.sink is not None:
        allowed = "only the engine local reads it beside sets of items; use {engine=local}"
        raise ParameterError(role, list(named), allowed)
    table, account = _table(source, format, reading, (role, list(named))), reading.account
    names = [named_column(table.glimpse.names, "column", name, source.fault) for name in named]
    for name in names:
        used = next((each for each, one in account.columns.items() if one == name), None)
        if used is not None:
            other = "the person" if role == "person" else "beside the items"
            problem = f"the column {brief(name)} cannot be both the {used} and {other}"
            raise source.fault(problem)
    key = account.columns.get("record") or account.columns.get("person")
    chosen = names if key is None else [*names, key]
    rows = list(table.rows(chosen))
    cells = list(zip(*rows, strict=True)) or [()] * len(chosen)
    if key is None:
        return _Beside(names, cells, None, None)
    dropped, numbers = set(reading.drop_record), Numbering[object]()
    values = ["" if value is None else str(value) for value in cells[-1]]
    found = [
        -1 if value in dropped else numbers[value or number] for number, value in enumerate(values)
    ]
    return _Beside(names, cells, values, np.array(found, dtype=np.int64))


def record_names(source: Source, format: str, reading: Reading) -> list[str] | None:
    """The records of a file as it names them, in the order in which they are read; None if it has
    no names for them."""
    found = _beside(source, format, reading, "record", [])
    if found.keys is None or found.owners is None:
        return None
    names: dict[int, str] = {}
    for key, owner in zip(found.keys, found.owners.tolist(), strict=True):
        if owner >= 0:
            names.setdefault(owner, key)
    return [names[number] for number in range(len(names))]


def _table(source: Source, format: str, reading: Reading, asked: tuple[str, object]) -> Table:
    """A file as a table, for the parameter and its value that need one."""
    from setveil.io.formats import delimited, parquet

    openers = dict(
        zip(_TABLES, (delimited.table_of, delimited.table_of, parquet.table_of), strict=True)
    )
    if format not in openers:
        allowed = f"only {', '.join(openers)} and spreadsheets have columns, and this is {format}"
        raise ParameterError(*asked, allowed)
    return openers[format](source, reading)


def tag_people(source: Source, format: str, reading: Reading, tags: Tags) -> None:
    """Collect the people of a file: the values of the column of the person, or of the record if
    each is a person."""
    columns = reading.account.columns
    record, person = columns.get("record"), columns.get("person")
    name = person or record
    if not tags.needed and (name is None or format not in _TABLES):
        return
    if name is None:
        raise ParameterError("person", None, "the file has no column that names people")
    table, dropped = _table(source, format, reading, ("person", name)), set(reading.drop_record)
    rows = table.rows([name, record or name])
    cells = (row for row in rows if not dropped or str(row[1]) not in dropped)
    tags.add(str(row[0]) for row in cells if row[0] not in (None, ""))


def with_people(source: Source, format: str, reading: Reading, data: Transactions) -> Transactions:
    """The records of a file, after the account knows whose they are; at most some of each person if
    that is asked for."""
    account = reading.account
    if reading.role == "person":
        if reading.sink is None:
            account.people = People.alone(len(data))
        return data
    if "person" in account.columns:
        return data
    found = _beside(source, format, reading, "person", [reading.person or ""])
    if found.keys is None or found.owners is None:
        problem = f"there is no column {brief(reading.record)} for the record"
        raise source.fault(problem)
    persons = ("" if cell is None else str(cell) for cell in found.cells[0])
    rows = (
        (key, person)
        for key, person, owner in zip(found.keys, persons, found.owners.tolist(), strict=True)
        if owner >= 0
    )
    whose = Whose.of_rows(rows, found.names[0], source.fault)
    account.columns["person"] = found.names[0]
    account.ignored = tuple(name for name in account.ignored if name != found.names[0])
    return bounded(data, whose, account, reading.records_per_person, reading.key)


def with_columns(
    source: Source, format: str, reading: Reading, data: Transactions, named: Sequence[str]
) -> Beside:
    """The records of a file with these columns beside them; the account says so."""
    names, cells, _, owners = _beside(source, format, reading, "columns", named)
    columns = [
        of_records(name, cells[place], owners, source.fault) for place, name in enumerate(names)
    ]
    if any(len(column) != len(data) for column in columns):
        problem = (
            f"the rows do not match its {plural(len(data), 'record')}, so they have no columns"
        )
        raise FileFormatError(
            source.name, problem, remedy="name the person of each row with {record}"
        )
    _tell(reading, names)
    return Beside.beside(data, columns)


def _tell(reading: Reading, names: Sequence[str]) -> None:
    """Say in the account which columns are kept, and which are dropped."""
    account = reading.account
    account.ignored = tuple(name for name in account.ignored if name not in names)
    used = (name for role, name in account.columns.items() if role in ("record", "person"))
    gone = [*used, *account.ignored]
    if gone:
        account.notes.append(f"Dropped, so not published: {', '.join(map(brief, gone))}.")
    account.columns |= {f"column {place}": name for place, name in enumerate(names, start=1)}
