"""The records of a release folder: read back exactly as they were written, or not at all.

A user's data file may have more columns, repeated rows and records of any name. A release may not:
a reader of the file would see what `verify` does not check. So its columns are `record`, `item`
and, for bags, `count`; its records are numbered 1 to N; and no item occurs twice in a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.disk import private_folder
from setveil.errors import DataError, FileFormatError, brief
from setveil.io.files import read
from setveil.io.formats.csvlines import write_release_rows
from setveil.io.formats.fimi import write_fimi
from setveil.io.formats.longform import numbered_items
from setveil.io.formats.parquet import check_magic, write_parquet_rows
from setveil.io.formats.reading import Pairs
from setveil.io.releases.form import PartFile, ReleaseFolder
from setveil.io.releases.strict import check_csv, check_fimi, check_parquet
from setveil.io.source.database import column_types, csv_table, database, quoted, run, translated
from setveil.io.source.source import Source, open_source
from setveil.io.writing import write_lines
from setveil.published.rows import stacked

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_WHOLE = "^[1-9][0-9]{0,17}$"
_NUMBERS = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
)


def write_records(records: Transactions, target: Path, before: int = 0) -> None:
    """Write records in the format that the suffix of a file says; `before` others are numbered
    before them."""
    if target.suffix == ".dat":
        write_lines(write_fimi(records), target)
    elif target.suffix == ".csv":
        write_lines(write_release_rows(records, before), target)
    else:
        with private_folder() as work:
            write_lines(write_release_rows(records, before), work / "rows", for_parquet=True)
            write_parquet_rows(work / "rows", target, work, counted=isinstance(records, Bags))


def read_records(folder: ReleaseFolder, *, bags: bool) -> tuple[Transactions, Int64s]:
    """The records that `write_records` wrote, and how many people each represents.

    Each represents 1, except that all records without rows are one empty record at the end.

    Raises:
        DataError: if the file has other columns, numbers or rows than a release.
    """
    size = folder.size
    is_fimi = any(part.path.suffix == ".dat" for part in folder.parts)
    read_part = _read_lines if is_fimi else _read_table
    rows = stacked([read_part(part, bags) for part in folder.parts])
    weights = np.ones(len(rows), dtype=np.int64)
    if len(rows) == size:
        return rows, weights
    indptr = np.append(rows.indptr, rows.indptr[-1])
    counts = (rows.counts,) if isinstance(rows, Bags) else ()
    padded = type(rows)(indptr, rows.items, rows.vocabulary, *counts)
    return padded, np.append(weights, size - len(rows))


def check_columns(
    connection: DuckDBPyConnection, table: str, name: str, columns: tuple[str, ...]
) -> None:
    """Refuse a table with other columns than these: `item` a text, all others whole numbers."""
    types = column_types(connection, table)
    missing = [column for column in columns if column not in types]
    if missing:
        raise FileFormatError(name, f"it has no column {brief(missing[0])}")
    more = [column for column in types if column not in columns]
    if more:
        problem = f"it has a column {brief(more[0])}, which a release does not have"
        raise FileFormatError(name, problem)
    for column in columns:
        kind, allowed = ("texts", {"VARCHAR"}) if column == "item" else ("whole numbers", _NUMBERS)
        if types[column] not in allowed | {'"NULL"'}:
            problem = f"the column {column} must contain {kind}, not {types[column]}"
            raise FileFormatError(name, problem)


def _read_lines(part: PartFile, bags: bool) -> Transactions:
    """The records of `data.dat`, one per line."""
    path, size = part.path, part.size
    rows = read(path, format="fimi", bags=True)
    assert isinstance(rows, Bags)
    if len(rows) != size:
        raise DataError(f"{path.name} has {len(rows)} records, but release.json says {size}")
    if not bags and rows.counts.max(initial=1) > 1:
        raise _repeated(path.name)
    check_fimi(path, rows)
    return rows if bags else rows.sets()


def _read_table(part: PartFile, bags: bool) -> Transactions:
    """The records of `data.csv` or `data.parquet` that have rows."""
    path, size, last = part.path, part.size, part.before + part.size
    columns = ("record", "item", "count") if bags else ("record", "item")
    with open_source(path) as source, _loaded(source, path.name, columns) as connection:
        _check_rows(connection, path.name, columns)
        labels = numbered_items(connection)
        count = ", CAST(count AS BIGINT) AS count" if bags else ""
        chosen = f"CAST(record AS BIGINT) AS record, items.number AS item{count}"
        joined = f"SELECT {chosen} FROM long JOIN items USING (item)"
        pairs = connection.execute(joined).fetchnumpy()
    used, records = _ranked(np.asarray(pairs["record"]))
    if len(used) > size:
        raise DataError(f"{path.name} has {len(used)} records, but release.json says {size}")
    if len(used) and (used[-1] > last or used[0] <= part.before):
        wrong = used[-1] if used[-1] > last else used[0]
        numbers = f"{part.before + 1} to {last}"
        raise DataError(f"{path.name} has a record {wrong}, but records are numbered {numbers}")
    counts = np.asarray(pairs["count"]) if bags else None
    entries = Pairs(records, np.asarray(pairs["item"]), counts)
    rows = entries.assembled(labels, len(used), bags=bags)
    if len(rows.items) < len(records):
        raise _repeated(path.name)
    if path.suffix == ".csv":
        check_csv(path, rows, used)
    return rows


def _ranked(numbers: Int64s) -> tuple[Int64s, Int64s]:
    """The numbers that occur, ascending, and the rank of each entry among them."""
    most = int(numbers.max(initial=0))
    if most > 4 * len(numbers):
        return np.unique(numbers, return_inverse=True)
    occurs = np.zeros(most + 1, dtype=bool)
    occurs[numbers] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[numbers]


@contextmanager
def _loaded(source: Source, name: str, columns: tuple[str, ...]) -> Iterator[DuckDBPyConnection]:
    """A database whose table `long` has the columns of a file as texts, its rows in order."""
    if source.compression is not None:
        raise FileFormatError(name, "the data file of a release is not compressed")
    with database(source.work, small=source.is_small) as connection, translated(name):
        if name.endswith(".parquet"):
            check_magic(source, name)
            table = f"read_parquet({quoted(source.path)})"
            check_columns(connection, table, name, columns)
            check_parquet(connection, source.path, name)
        else:
            first = source.head.split(b"\n", 1)[0].removesuffix(b"\r")
            if first != ",".join(columns).encode():
                problem = f"its first line must be {','.join(columns)} and nothing else"
                raise FileFormatError(name, problem)
            table = csv_table(source.path, columns)
        chosen = ", ".join(f"CAST({column} AS VARCHAR) AS {column}" for column in columns)
        run(connection, f"CREATE TEMP TABLE long AS SELECT {chosen} FROM {table}")
        yield connection


def _check_rows(connection: DuckDBPyConnection, name: str, columns: tuple[str, ...]) -> None:
    """Refuse a row without an item, or whose record or count is not a whole number of 1 or more."""
    rules = {
        "record": ": records are numbered from 1",
        "item": "",
        "count": ": it must be a whole number of 1 or more",
    }
    for column in columns:
        whole = f"coalesce(regexp_matches({column}, '{_WHOLE}'), false)"
        bad = "coalesce(item, '') = ''" if column == "item" else f"NOT {whole}"
        first = f"SELECT rowid, {column} FROM long WHERE {bad} ORDER BY rowid LIMIT 1"
        rows = connection.execute(first).fetchall()
        if rows:
            row, value = rows[0]
            shown = f"is {brief(value)}" if value else "is empty"
            problem = f"the {column} of data row {row + 1} {shown}{rules[column]}"
            raise FileFormatError(name, problem)


def _repeated(name: str) -> DataError:
    rule = "list it once, in bags with its count"
    return DataError(f"{name} has an item twice in one record; {rule}")
