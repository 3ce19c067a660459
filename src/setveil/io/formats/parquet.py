"""Parquet: a long table, or one row per record with a list column. Read and written by DuckDB."""

from __future__ import annotations

from pathlib import Path

from setveil.data.tables.columns import (
    COUNT_NAMES,
    RECORD_NAMES,
    choose_column,
    find_columns,
    find_list_column,
    plain_name,
)
from setveil.data.tables.owners import several_rows
from setveil.data.transactions import Transactions
from setveil.errors import FileFormatError
from setveil.io.formats.longform import read_columns, read_long
from setveil.io.formats.reading import Reading
from setveil.io.source.database import database, named, quoted, translated
from setveil.io.source.source import Source

MAGIC = b"PAR1"


def read_parquet(source: Source, reading: Reading) -> Transactions:
    """Read a Parquet file; the first list column that may hold the items decides that it has one row per record."""
    if not source.head.startswith(MAGIC):
        raise FileFormatError(source.name, "this is no Parquet file")
    table = f"read_parquet({quoted(source.plain())}, file_row_number=true)"
    with database(source.work) as connection, translated(source.name):
        described = connection.execute(
            f"DESCRIBE SELECT * EXCLUDE (file_row_number) FROM {table}"
        ).fetchall()
    types = {str(row[0]): str(row[1]) for row in described}
    lists = [name for name, kind in types.items() if kind.endswith("[]")]
    holder = find_list_column(lists, reading, source.fault)
    if holder is None:
        return _read_long(source, table, list(types), reading)
    single = [name for name in types if name not in lists]
    owner = choose_column(single, "record", reading.record, RECORD_NAMES, source.fault)
    if owner is not None and reading.record is None:
        _refuse_several_rows(source, table, owner)
        owner = None
    return _read_lists(source, table, holder, owner, lists, reading)


def write_parquet(lines: Path, target: Path, work: Path, *, counted: bool) -> None:
    """Turn JSON lines as `write_jsonl` makes them into a Parquet file with the list columns `items` (and `counts`)."""
    kind = "MAP(VARCHAR, BIGINT)" if counted else "VARCHAR[]"
    chosen = "map_keys(items) AS items, map_values(items) AS counts" if counted else "items"
    table = f"read_json({quoted(lines)}, format='newline_delimited', columns={{items: '{kind}'}}, compression='uncompressed')"
    _copy(f"SELECT {chosen} FROM {table}", target, work)


def write_parquet_rows(lines: Path, target: Path, work: Path, *, counted: bool) -> None:
    """Turn the CSV of a release into a Parquet file with the same columns."""
    types = "record: 'BIGINT', item: 'VARCHAR'" + (", count: 'BIGINT'" if counted else "")
    options = f"columns={{{types}}}, header=true, auto_detect=false, delim=',', quote='\"', escape='\"', compression='none'"
    _copy(f"SELECT * FROM read_csv({quoted(lines)}, {options})", target, work)


def _copy(select: str, target: Path, work: Path) -> None:
    with database(work, threads=1) as connection:
        connection.execute(
            f"COPY ({select}) TO {quoted(target)} (FORMAT parquet, COMPRESSION zstd)"
        ).fetchall()


def _read_long(source: Source, table: str, names: list[str], reading: Reading) -> Transactions:
    columns = find_columns(names, reading, source.fault)
    count = f", CAST({named(columns.count)} AS VARCHAR) AS count" if columns.count else ""
    select = f"SELECT CAST({named(columns.record)} AS VARCHAR) AS record, CAST({named(columns.item)} AS VARCHAR) AS item{count}"
    return read_columns(source, f"{select} FROM {table}", reading, columns, names)


def _refuse_several_rows(source: Source, table: str, owner: str) -> None:
    """Refuse to take each row as a record when a column says that several rows have the same owner."""
    with database(source.work) as connection, translated(source.name):
        ((rows, owners),) = connection.execute(
            f"SELECT count({named(owner)}), count(DISTINCT {named(owner)}) FROM {table}"
        ).fetchall()
    if owners < rows:
        raise several_rows("column", owner, source.fault)


def _read_lists(
    source: Source, table: str, holder: str, owner: str | None, lists: list[str], reading: Reading
) -> Transactions:
    """One row for each element, and one without an item for an empty list, so that its record is kept."""
    whose = "file_row_number" if owner is None else f"CAST({named(owner)} AS VARCHAR)"
    beside = [name for name in lists if plain_name(name) in COUNT_NAMES or name == reading.count]
    counts = beside[0] if beside and reading.bags is not False else None
    select = f"SELECT {whose} AS record, {_elements(holder)} AS item"
    select += f", {_elements(counts)} AS count" if counts else ""
    return read_long(source, f"{select} FROM {table}", reading, counted=counts is not None)


def _elements(column: str) -> str:
    """SQL for the elements of a list as texts, one in each row."""
    name = named(column)
    return f"CAST(unnest(CASE WHEN coalesce(len({name}), 0) = 0 THEN [NULL] ELSE {name} END) AS VARCHAR)"
