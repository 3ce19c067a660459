"""Long tables, one row for each record and item, turned into numbers inside DuckDB so that they may be larger than memory.

The rows are loaded once into a private database, where their order stays known; records are numbered by first appearance and items in any
order. Only whole numbers come out, two for each row. A row without an item says that its record exists; a record that has no other
rows is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from setveil.data.tables.columns import Columns
from setveil.data.tables.owners import other_owners, single_rows
from setveil.data.transactions import Transactions
from setveil.errors import DataError, FileFormatError
from setveil.io.formats.reading import Reading, assembled
from setveil.io.source.database import database, translated
from setveil.io.source.source import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_WHOLE = r"^\s*\+?[0-9]{1,18}(\.0*)?\s*$"
_NUMBER_RECORDS = """
    CREATE TABLE records AS
    SELECT record, CAST(row_number() OVER (ORDER BY min(rowid)) - 1 AS INTEGER) AS number FROM long GROUP BY record
"""
NUMBER_ITEMS = """
    CREATE TABLE items AS
    SELECT item, CAST(row_number() OVER () - 1 AS INTEGER) AS number FROM (SELECT DISTINCT item FROM long WHERE item IS NOT NULL)
"""
_PAIRS = """
    SELECT records.number AS record, items.number AS item {count} FROM long JOIN records USING (record) JOIN items USING (item)
"""


def read_columns(
    source: Source, select: str, reading: Reading, columns: Columns, names: Sequence[str]
) -> Transactions:
    """As `read_long`, of a table with these columns; one that was guessed to be the record must not merely number the rows."""
    others = other_owners(names, columns) if reading.record is None else []
    doubt = single_rows(columns.record, others[0], source.fault) if others else None
    return read_long(source, select, reading, counted=columns.count is not None, doubt=doubt)


def read_long(
    source: Source, select: str, reading: Reading, *, counted: bool, doubt: DataError | None = None
) -> Transactions:
    """Read what an SQL query gives as the columns `record`, `item` (texts) and, when `counted`, `count` (a text).

    Where there is a `doubt`, that is what is wrong with a table in which no record has two rows.
    """
    with database(source.work, reading.memory_limit) as connection, translated(source.name):
        connection.execute(f"CREATE TABLE long AS {select}").fetchall()
        _check_records(connection, source)
        if counted:
            _check_counts(connection, source)
        connection.execute(_NUMBER_RECORDS).fetchall()
        connection.execute(NUMBER_ITEMS).fetchall()
        size = _one_number(connection, "SELECT count(*) FROM records")
        if doubt is not None and 1 < size == _one_number(connection, "SELECT count(*) FROM long"):
            raise doubt
        labels = [
            label
            for (label,) in connection.execute("SELECT item FROM items ORDER BY number").fetchall()
        ]
        whole = ", CAST(split_part(trim(long.count), '.', 1) AS BIGINT) AS count" if counted else ""
        pairs = connection.execute(_PAIRS.format(count=whole)).fetchnumpy()
    counts = np.asarray(pairs.pop("count")) if counted else None
    records, items = _plain(pairs.pop("record")), _plain(pairs.pop("item"))
    return assembled(records, items, labels, size, counts, bags=counted or bool(reading.bags))


def _plain(values: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    return np.asarray(values, dtype=np.int32)


def _one_number(connection: DuckDBPyConnection, query: str) -> int:
    row = connection.execute(query).fetchall()[0]
    return int(row[0])


def _check_records(connection: DuckDBPyConnection, source: Source) -> None:
    rows = connection.execute(
        "SELECT rowid FROM long WHERE record IS NULL ORDER BY rowid LIMIT 1"
    ).fetchall()
    if rows:
        raise FileFormatError(
            source.name,
            f"the record of data row {rows[0][0] + 1} is empty: every row must say whose it is",
        )


def _check_counts(connection: DuckDBPyConnection, source: Source) -> None:
    bad = f"NOT coalesce(regexp_matches(count, '{_WHOLE}'), false) OR CAST(split_part(trim(count), '.', 1) AS BIGINT) < 1"
    query = f"SELECT rowid, count FROM long WHERE item IS NOT NULL AND CASE WHEN {bad} THEN true ELSE false END ORDER BY rowid LIMIT 1"
    rows = connection.execute(query).fetchall()
    if rows:
        row, count = rows[0]
        shown = "is empty" if count is None else f"is {count!r}"
        raise FileFormatError(
            source.name,
            f"the count of data row {row + 1} {shown}: it must be a whole number of 1 or more",
        )
