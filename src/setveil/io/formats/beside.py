"""Columns beside the sets of a file: read after its records, and matched with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setveil.data.columns import Table
from setveil.data.records import Numbering
from setveil.data.tables.beside import of_records
from setveil.data.tables.columns import named_column
from setveil.data.transactions import Transactions
from setveil.errors import FileFormatError, ParameterError, brief
from setveil.io.formats.reading import Reading
from setveil.io.source.source import Source
from setveil.words import plural


def with_columns(
    source: Source, format: str, reading: Reading, data: Transactions, named: Sequence[str]
) -> Table:
    """The records of a file with these columns beside them; the account says so."""
    if reading.sink is not None:
        allowed = "only the engine local compares or counts columns; use {engine=local}"
        raise ParameterError("columns", list(named), allowed)
    from setveil.io.formats import delimited, parquet

    openers = {"csv": delimited.table_of, "tsv": delimited.table_of, "parquet": parquet.table_of}
    if format not in openers:
        allowed = f"only {', '.join(openers)} and spreadsheets have columns, and this is {format}"
        raise ParameterError("columns", list(named), allowed)
    table, account = openers[format](source, reading), reading.account
    names = [named_column(table.glimpse.names, "column", name, source.fault) for name in named]
    for name in names:
        role = next((role for role, used in account.columns.items() if used == name), None)
        if role is not None:
            problem = f"the column {name} cannot be both the {role} and beside the items"
            raise source.fault(problem)
    key = account.columns.get("record") or account.columns.get("person")
    chosen = names if key is None else [*names, key]
    rows = list(table.rows(chosen))
    owners = None
    if key is not None:
        dropped, numbers = set(reading.drop_record), Numbering[object]()
        values = ("" if row[-1] is None else str(row[-1]) for row in rows)
        found = [
            -1 if value in dropped else numbers[value or number]
            for number, value in enumerate(values)
        ]
        owners = np.array(found, dtype=np.int64)
    cells = list(zip(*rows, strict=True)) or [()] * len(chosen)
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
    return Table.beside(data, columns)


def _tell(reading: Reading, names: Sequence[str]) -> None:
    """Say in the account which columns are kept, and which are dropped."""
    account = reading.account
    account.ignored = tuple(name for name in account.ignored if name not in names)
    used = (name for role, name in account.columns.items() if role in ("record", "person"))
    gone = [*used, *account.ignored]
    if gone:
        account.notes.append(f"Dropped, so not published: {', '.join(map(brief, gone))}.")
    account.columns |= {f"column {place}": name for place, name in enumerate(names, start=1)}
