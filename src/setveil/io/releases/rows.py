"""The records of a release folder: written in the order given, and read back exactly as they were written or not at all.

A data file of a user may have more columns, repeated rows and records of any name. One of a release may not: what `verify` does not look
at, a reader of the file does. So its columns are `record`, `item` and, of bags, `count`, and no other; its records are numbered 1 to N;
no item stands twice in a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.transactions import Bags, Counts, Transactions
from setveil.disk import private_folder
from setveil.errors import DataError, FileFormatError
from setveil.io.files import read
from setveil.io.formats.delimited import write_release_rows
from setveil.io.formats.fimi import write_fimi
from setveil.io.formats.longform import NUMBER_ITEMS
from setveil.io.formats.parquet import MAGIC, write_parquet_rows
from setveil.io.formats.reading import assembled
from setveil.io.source.database import database, quoted, translated
from setveil.io.source.source import Source, open_source
from setveil.io.writing import write_lines

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_RECORDS = 10**12
"""No release has more records than this, so that sums of sizes stay whole numbers of 64 bits."""

_WHOLE = "^[1-9][0-9]{0,17}$"
_PAIRS = "SELECT CAST(record AS BIGINT) AS record, items.number AS item {count} FROM long JOIN items USING (item)"
_NUMBERS = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
)


def write_rows(records: Transactions, target: Path) -> None:
    """Write records in the format that the name of a file tells."""
    if target.suffix == ".dat":
        write_lines(write_fimi(records), target, None)
    elif target.suffix == ".csv":
        write_lines(write_release_rows(records), target, None)
    else:
        with private_folder() as work:
            write_lines(write_release_rows(records), work / "rows", None)
            write_parquet_rows(work / "rows", target, work, counted=isinstance(records, Bags))


def read_rows(path: Path, size: int, *, bags: bool) -> tuple[Transactions, Counts]:
    """The records of a file that `write_rows` made, and how many people each stands for: 1, but all empty ones are one at the end.

    Args:
        path: The file.
        size: How many records there are; those without a row are empty.
        bags: Whether the file tells how often each item stands.

    Raises:
        DataError: when the file holds anything else than the columns, numbers and rows of a release.
    """
    rows = _read_lines(path, size, bags) if path.suffix == ".dat" else _read_table(path, size, bags)
    weights = np.ones(len(rows), dtype=np.int64)
    if len(rows) == size:
        return rows, weights
    indptr = np.append(rows.indptr, rows.indptr[-1])
    counts = (rows.counts,) if isinstance(rows, Bags) else ()
    return type(rows)(indptr, rows.items, rows.vocabulary, *counts), np.append(
        weights, size - len(rows)
    )


def _read_lines(path: Path, size: int, bags: bool) -> Transactions:
    """The records of `data.dat`, in which each has a line."""
    rows = read(path, format="fimi", bags=True)
    assert isinstance(rows, Bags)
    if len(rows) != size:
        raise DataError(f"{path.name} holds {len(rows)} records, but release.json says {size}")
    if bags:
        return rows
    if rows.counts.max(initial=1) > 1:
        raise DataError(_twice(path.name))
    return rows.sets()


def _read_table(path: Path, size: int, bags: bool) -> Transactions:
    """The records of `data.csv` or `data.parquet` that have rows."""
    columns = ("record", "item", "count") if bags else ("record", "item")
    with open_source(path) as source, _loaded(source, path.name, columns) as connection:
        _check_rows(connection, path.name, columns)
        connection.execute(NUMBER_ITEMS).fetchall()
        labels = [
            label
            for (label,) in connection.execute("SELECT item FROM items ORDER BY number").fetchall()
        ]
        pairs = connection.execute(
            _PAIRS.format(count=", CAST(count AS BIGINT) AS count" * bags)
        ).fetchnumpy()
    used, records = _ranked(np.asarray(pairs["record"]))
    if len(used) > size:
        raise DataError(f"{path.name} holds {len(used)} records, but release.json says {size}")
    if len(used) and used[-1] > size:
        raise DataError(
            f"{path.name} holds a record {used[-1]}, but records are numbered 1 to {size}"
        )
    counts = np.asarray(pairs["count"]) if bags else None
    rows = assembled(records, np.asarray(pairs["item"]), labels, len(used), counts, bags=bags)
    if len(rows.items) < len(records):
        raise DataError(_twice(path.name))
    return rows


def _ranked(numbers: Counts) -> tuple[Counts, Counts]:
    """The numbers that occur, ascending, and the rank of each entry among them; in a table, without sorting, where most numbers occur."""
    most = int(numbers.max(initial=0))
    if most > 4 * len(numbers):
        return np.unique(numbers, return_inverse=True)
    occurs = np.zeros(most + 1, dtype=bool)
    occurs[numbers] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[numbers]


@contextmanager
def _loaded(source: Source, name: str, columns: tuple[str, ...]) -> Iterator[DuckDBPyConnection]:
    """A database whose table `long` has the columns of a file as texts, in the order of its rows."""
    if source.compression is not None:
        raise FileFormatError(name, "the data file of a release is not packed")
    with database(source.work) as connection, translated(name):
        table = (
            _parquet(connection, source, name, columns)
            if name.endswith(".parquet")
            else _csv(source, name, columns)
        )
        chosen = ", ".join(f"CAST({column} AS VARCHAR) AS {column}" for column in columns)
        connection.execute(f"CREATE TABLE long AS SELECT {chosen} FROM {table}").fetchall()
        yield connection


def _csv(source: Source, name: str, columns: tuple[str, ...]) -> str:
    first = source.head.split(b"\n", 1)[0].removesuffix(b"\r")
    if first != ",".join(columns).encode():
        raise FileFormatError(name, f"its first line must be {','.join(columns)}, and nothing else")
    types = ", ".join(f"{column}: 'VARCHAR'" for column in columns)
    options = f"columns={{{types}}}, header=true, auto_detect=false, delim=',', quote='\"', escape='\"', compression='none'"
    return f"read_csv({quoted(source.path)}, {options})"


def _parquet(
    connection: DuckDBPyConnection, source: Source, name: str, columns: tuple[str, ...]
) -> str:
    if not source.head.startswith(MAGIC):
        raise FileFormatError(name, "this is no Parquet file")
    table = f"read_parquet({quoted(source.path)})"
    check_columns(connection, table, name, columns)
    return table


def check_columns(
    connection: DuckDBPyConnection, table: str, name: str, columns: tuple[str, ...]
) -> None:
    """Refuse a table with other columns than these: `item` a text, all others whole numbers."""
    types = {
        str(row[0]): str(row[1])
        for row in connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
    }
    missing, more = (
        [column for column in columns if column not in types],
        [column for column in types if column not in columns],
    )
    if missing or more:
        problem = (
            f"it lacks the column {missing[0]}"
            if missing
            else f"it has a column {more[0]!r}, which no release has"
        )
        raise FileFormatError(name, problem)
    for column in columns:
        if types[column] not in ({"VARCHAR"} if column == "item" else _NUMBERS) | {'"NULL"'}:
            kind = "texts" if column == "item" else "whole numbers"
            raise FileFormatError(
                name, f"the column {column} must hold {kind}, not {types[column]}"
            )


def _check_rows(connection: DuckDBPyConnection, name: str, columns: tuple[str, ...]) -> None:
    """Refuse a row whose record or count is no whole number of 1 or more, or that has no item."""
    for column in columns:
        bad = (
            "coalesce(item, '') = ''"
            if column == "item"
            else f"NOT coalesce(regexp_matches({column}, '{_WHOLE}'), false)"
        )
        rows = connection.execute(
            f"SELECT rowid, {column} FROM long WHERE {bad} ORDER BY rowid LIMIT 1"
        ).fetchall()
        if rows:
            shown = "is empty" if not rows[0][1] else f"is {rows[0][1]!r}"
            rule = (
                "records are numbered from 1 on"
                if column == "record"
                else "it must be a whole number of 1 or more"
            )
            problem = f"the {column} of data row {rows[0][0] + 1} {shown}" + (
                f": {rule}" if column != "item" else ""
            )
            raise FileFormatError(name, problem)


def _twice(name: str) -> str:
    return f"{name} holds an item twice in one record; in a release it stands once, in bags with its count"
