"""Parquet: a long table, or one row per record with a list column; DuckDB reads and writes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from setveil.data.account import LISTS
from setveil.data.tables.columns import (
    COUNT_NAMES,
    RECORD_NAMES,
    choose_column,
    find_columns,
    find_list_column,
    plain_name,
)
from setveil.data.tables.frames import several_rows
from setveil.data.tables.shapes import Glimpse, with_names
from setveil.data.transactions import Bags, Transactions
from setveil.disk import private_folder
from setveil.errors import FileFormatError
from setveil.io.formats.guess import CERTAIN, NO, Sample
from setveil.io.formats.jsonl import write_jsonl
from setveil.io.formats.longform import read_columns, read_long
from setveil.io.formats.reading import Reading
from setveil.io.formats.rowwise import Row, Table, read_rowwise
from setveil.io.source.database import (
    column_types,
    copy_to_parquet,
    csv_table,
    database,
    is_small,
    named,
    quoted,
    translated,
)
from setveil.io.source.source import Source
from setveil.io.writing import write_lines

MAGIC = b"PAR1"
START = MAGIC + b"\x15"
"""Every Parquet file begins like this: with the first field of a page or of its description."""
_SOME_ROWS = 500
_ROWS_AT_ONCE = 10_000


def recognize_parquet(sample: Sample) -> int:
    """Certain by its first five bytes."""
    return CERTAIN if sample.head.startswith(START) else NO


def check_magic(source: Source, name: str) -> None:
    """Refuse a file that is not Parquet."""
    if not source.head.startswith(MAGIC):
        raise FileFormatError(name, "this is not a Parquet file")


def read_parquet(source: Source, reading: Reading) -> Transactions:
    """Read a Parquet file: one row per record if it has a list of items, else a long table."""
    check_magic(source, source.name)
    file = quoted(source.plain())
    with database(source.work, small=source.is_small) as connection, translated(source.name):
        types = column_types(connection, f"read_parquet({file})")
    reading = with_names(reading, list(types))
    table = f"read_parquet({file}, file_row_number=true)"
    lists = [name for name, kind in types.items() if kind.endswith("[]")]
    holder = None if reading.items else find_list_column(lists, reading, source.fault)
    if holder is None:
        flat = Table(source, _glimpse(source, table, list(types)), partial(_rows, source, table))
        found = read_rowwise(flat, reading)
        if found is not None:
            return found
        columns = find_columns(list(types), reading, source.fault)
        texts = [
            f"CAST({named(name)} AS VARCHAR) AS {role}" for role, name in columns.roles.items()
        ]
        select = f"SELECT {', '.join(texts)} FROM {table}"
        return read_columns(source, select, reading, columns, list(types))
    single = [name for name in types if name not in lists]
    owner = choose_column(single, reading.role, reading.record, RECORD_NAMES, source.fault)
    if owner is not None and reading.record is None:
        _refuse_several_rows(source, table, owner)
        owner = None
    numbers = (name for name in lists if plain_name(name) in COUNT_NAMES or name == reading.count)
    counts = None if reading.bags is False else next(numbers, None)
    chosen = {"record": owner, "item": holder, "count": counts}
    reading.account.note_columns(LISTS, chosen, types)
    select = _list_rows(table, holder, owner, counts)
    reading = reading if owner is not None else replace(reading, drop_record=())
    return read_long(source, select, reading, counted=counts is not None)


def table_of(source: Source, reading: Reading) -> Table:
    """A file as a table."""
    file = quoted(source.plain())
    with database(source.work, small=source.is_small) as connection, translated(source.name):
        names = list(column_types(connection, f"read_parquet({file})"))
    table = f"read_parquet({file})"
    return Table(source, _glimpse(source, table, names), partial(_rows, source, table))


def write_parquet(data: Transactions, target: Path) -> None:
    """Write a file with the list column `items`, for bags also `counts`, by way of JSON lines."""
    counted = isinstance(data, Bags)
    kind = "MAP(VARCHAR, BIGINT)" if counted else "VARCHAR[]"
    chosen = "map_keys(items) AS items, map_values(items) AS counts" if counted else "items"
    with private_folder() as work:
        write_lines(write_jsonl(data), work / "lines")
        options = f"format='newline_delimited', columns={{items: '{kind}'}}"
        table = f"read_json({quoted(work / 'lines')}, {options}, compression='uncompressed')"
        with database(work, threads=1, small=is_small(work / "lines")) as connection:
            copy_to_parquet(connection, f"SELECT {chosen} FROM {table}", target)


def write_parquet_rows(lines: Path, target: Path, work: Path, *, counted: bool) -> None:
    """Turn the CSV of a release into a Parquet file with the same columns."""
    columns = ("record", "item", "count") if counted else ("record", "item")
    types = {"record": "BIGINT", "item": "VARCHAR", "count": "BIGINT"}
    chosen = ", ".join(f"CAST({column} AS {types[column]}) AS {column}" for column in columns)
    with database(work, threads=1, small=is_small(lines)) as connection:
        copy_to_parquet(connection, f"SELECT {chosen} FROM {csv_table(lines, columns)}", target)


def _glimpse(source: Source, table: str, names: list[str]) -> Glimpse:
    """Some rows of a table without lists."""
    chosen = ", ".join(map(named, names))
    with database(source.work, small=source.is_small) as connection, translated(source.name):
        some = connection.execute(f"SELECT {chosen} FROM {table} LIMIT {_SOME_ROWS}").fetchall()
    return Glimpse(names, some)


def _rows(source: Source, table: str, names: Sequence[str]) -> Iterator[Row]:
    """The cells of some columns in each row, a block at a time."""
    chosen = ", ".join(map(named, names))
    with database(source.work, small=source.is_small) as connection, translated(source.name):
        found = connection.execute(f"SELECT {chosen} FROM {table}")
        while block := found.fetchmany(_ROWS_AT_ONCE):
            yield from block


def _refuse_several_rows(source: Source, table: str, owner: str) -> None:
    """Refuse to make each row a record if a column says that several rows belong together."""
    counted = f"SELECT count({named(owner)}), count(DISTINCT {named(owner)}) FROM {table}"
    with database(source.work, small=source.is_small) as connection, translated(source.name):
        ((rows, owners),) = connection.execute(counted).fetchall()
    if owners < rows:
        raise several_rows("column", owner, source.fault)


def _list_rows(table: str, holder: str, owner: str | None, counts: str | None) -> str:
    """SQL for one row per element, and one without an item for an empty list."""
    whose = "file_row_number" if owner is None else f"CAST({named(owner)} AS VARCHAR)"
    count = f", {_elements(counts)} AS count" if counts else ""
    return f"SELECT {whose} AS record, {_elements(holder)} AS item{count} FROM {table}"


def _elements(column: str) -> str:
    """SQL for the elements of a list as texts, one in each row."""
    name = named(column)
    filled = f"CASE WHEN coalesce(len({name}), 0) = 0 THEN [NULL] ELSE {name} END"
    return f"CAST(unnest({filled}) AS VARCHAR)"
