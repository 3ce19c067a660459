"""Long tables, one row per record and item, numbered inside DuckDB so that they may exceed memory.

The rows are loaded into a private database that remembers their order. Records are numbered by
first appearance, items in any order; only numbers come out, two for each row. A row without an item
says that its record exists; a record without other rows is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from setveil.data.account import (
    LONG,
    TOTALS,
    far_too_long,
    is_placeholder,
    long_record_note,
    perhaps_placeholder,
    total_note,
)
from setveil.data.arrays import Int64s
from setveil.data.people import People, of_several
from setveil.data.tables.columns import Columns
from setveil.data.tables.frames import other_owners, repeated_names, several_sums, single_rows
from setveil.data.transactions import Transactions
from setveil.errors import DataError, brief
from setveil.io.formats.reading import Pairs, Reading, Sink, no_record
from setveil.io.source.database import database, number, quoted, run, translated
from setveil.io.source.source import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_WHOLE = r"^\s*\+?[0-9]{1,18}(\.0*)?\s*$"
_WHOLE_COUNT = "CAST(split_part(trim(long.count), '.', 1) AS BIGINT)"
_DECIMAL_COMMA = r"^(\s*\+?[0-9]{1,18}),00?\s*$"
_NUMBER_RECORDS = """
    CREATE TABLE records AS
    SELECT record, CAST(row_number() OVER (ORDER BY min(rowid)) - 1 AS INTEGER) AS number
    FROM long GROUP BY record
"""
_OWNERS = """
    CREATE TABLE owners AS
    SELECT record, min(person) AS person,
           count(DISTINCT person) != 1 OR count(person) < count(*) AS wrong
    FROM long GROUP BY record
"""
_HOLDINGS = """
    SELECT records, count(*)
    FROM (SELECT count(*) AS records FROM owners GROUP BY person) GROUP BY records
"""
_HASH = "sha256('{key}' || sha256('{key}' || person || chr(10) || record))"
"""As `Whose.kept` draws."""
_DRAW = """
    CREATE TABLE drawn AS SELECT record FROM (
        SELECT record, row_number() OVER (PARTITION BY person ORDER BY {hash}) AS place FROM owners)
    WHERE place <= {most}
"""
_KEPT = "SELECT number FROM records JOIN drawn USING (record) ORDER BY number"
_PEOPLE = """
    SELECT dense_rank() OVER (ORDER BY person) - 1 AS person
    FROM records JOIN owners USING (record) ORDER BY number
"""
_NUMBER_ITEMS = """
    CREATE TABLE items AS
    SELECT item, CAST(row_number() OVER () - 1 AS INTEGER) AS number
    FROM (SELECT DISTINCT item FROM long WHERE item IS NOT NULL)
"""
_SORT_PAIRS = """
    CREATE TABLE pairs AS
    SELECT records.number AS record, items.number AS item
    FROM long JOIN records USING (record) JOIN items USING (item) ORDER BY record
"""
_REMARK = """
    WITH texts AS (SELECT rowid AS row, CAST(record AS VARCHAR) AS record, item FROM long)
    SELECT record FROM texts WHERE row = (SELECT max(row) FROM texts) AND item IS NULL
    AND contains(trim(record), ' ') AND 1 = (SELECT count(*) FROM texts WHERE contains(record, ' '))
"""
_RECORDS_AT_ONCE = 200_000
_ONLY_SETS = "the data has counts, and this engine works on sets"
_AS_SETS = "ignore the counts with {bags=False}, or use {engine=local}"

_IDENTIFIERS = """
    SELECT count(*) FROM records
    WHERE NOT coalesce(TRY_CAST(record AS BIGINT) BETWEEN 0 AND {size}, false)
"""


def read_columns(
    source: Source, select: str, reading: Reading, columns: Columns, names: Sequence[str]
) -> Transactions:
    """As `read_long`, from a table with these columns.

    A guessed record column must not merely number the rows.
    """
    reading.account.note_columns(LONG, columns.roles, names)
    others = other_owners(names, columns) if reading.record is None else []
    doubt = single_rows(columns.record, others[0], source.fault) if others else None
    return read_long(source, select, reading, counted=columns.count is not None, doubt=doubt)


def read_long(
    source: Source, select: str, reading: Reading, *, counted: bool, doubt: DataError | None = None
) -> Transactions:
    """The records of an SQL query with the texts `record`, `item` and, if `counted`, `count`.

    A `doubt` is the error to raise if no record has two rows.
    """
    with (
        database(source.work, reading.memory, small=source.is_small) as connection,
        translated(source.name),
    ):
        run(connection, f"CREATE TABLE long AS {select}")
        _drop_records(connection, reading)
        _check_records(connection, source)
        _refuse_names(connection, reading, source)
        if counted:
            _drop_decimal_commas(connection)
            _check_counts(connection, source)
        run(connection, _NUMBER_RECORDS)
        if "person" in reading.account.columns:
            _find_people(connection, source, reading)
        labels = numbered_items(connection)
        size = number(connection, "SELECT count(*) FROM records")
        if reading.account.columns.get("record") is not None:
            reading.account.identifiers = number(connection, _IDENTIFIERS.format(size=size))
        _note_totals(connection, reading, source)
        if doubt is not None and 1 < size == number(connection, "SELECT count(*) FROM long"):
            raise doubt
        if reading.sink is not None:
            if counted and reading.bags is not False:
                raise DataError(_ONLY_SETS, remedy=_AS_SETS)
            return _handed_on(connection, reading.sink, labels, size)
        chosen = "records.number AS record, items.number AS item"
        chosen += f", {_WHOLE_COUNT} AS count" if counted else ""
        joined = "long JOIN records USING (record) JOIN items USING (item)"
        pairs = connection.execute(f"SELECT {chosen} FROM {joined}").fetchnumpy()
        _note_long_records(connection, pairs["record"], reading)
    counts = np.asarray(pairs.pop("count")) if counted else None
    records, items = (np.asarray(pairs.pop(name), dtype=np.int32) for name in ("record", "item"))
    bags = counted or bool(reading.bags)
    return Pairs(records, items, counts).assembled(labels, size, bags=bags)


def _find_people(connection: DuckDBPyConnection, source: Source, reading: Reading) -> None:
    """Put into the account whose the records are; keep at most some of each person if asked."""
    account, most = reading.account, reading.records_per_person
    run(connection, _OWNERS)
    wrong = number(connection, "SELECT count(*) FROM owners WHERE wrong")
    if wrong:
        raise of_several(wrong, account.columns["person"], source.fault)
    account.holdings = dict(connection.execute(_HOLDINGS).fetchall())
    if most is not None:
        run(connection, _DRAW.format(hash=_HASH.format(key=reading.key), most=most))
        if reading.sink is None:
            size = number(connection, "SELECT count(*) FROM records")
            account.kept = np.isin(np.arange(size), _numbers(connection, _KEPT))
        left_out = "record NOT IN (SELECT record FROM drawn)"
        run(connection, f"DELETE FROM long WHERE {left_out}", "DROP TABLE records", _NUMBER_RECORDS)
    if reading.sink is None:
        account.people = People(_numbers(connection, _PEOPLE), most)


def _numbers(connection: DuckDBPyConnection, select: str) -> Int64s:
    """The numbers that a query answers in its one column."""
    (found,) = connection.execute(select).fetchnumpy().values()
    return np.asarray(found, dtype=np.int64)


def _handed_on(
    connection: DuckDBPyConnection, sink: Sink, labels: list[str], size: int
) -> Transactions:
    """Hand the records to a sink, some at a time; DuckDB sorts them within its memory limit."""
    run(connection, _SORT_PAIRS, "DROP TABLE long")
    for start in range(0, size, _RECORDS_AT_ONCE):
        stop = min(start + _RECORDS_AT_ONCE, size)
        some = f"SELECT record, item FROM pairs WHERE record >= {start} AND record < {stop}"
        pairs = connection.execute(f"{some} ORDER BY record").fetchnumpy()
        owners = np.asarray(pairs["record"], dtype=np.int64) - start
        lengths = np.bincount(owners, minlength=stop - start)
        sink.add(lengths, np.asarray(pairs["item"], dtype=np.int32))
    return sink.finish(labels)


def numbered_items(connection: DuckDBPyConnection) -> list[str]:
    """Make the table `items`, with a number for each item of the table `long`; gives the items."""
    run(connection, _NUMBER_ITEMS)
    found = connection.execute("SELECT item FROM items ORDER BY number").fetchall()
    return [item for (item,) in found]


def _drop_records(connection: DuckDBPyConnection, reading: Reading) -> None:
    if not reading.drop_record:
        return
    values = ", ".join(map(quoted, reading.drop_record))
    rows = number(connection, f"DELETE FROM long WHERE coalesce(record, '') IN ({values})")
    reading.account.dropped(rows, reading.drop_record)


def _note_long_records(
    connection: DuckDBPyConnection, records: npt.NDArray[np.integer], reading: Reading
) -> None:
    """A note on records with so many rows that they are perhaps not one person's."""
    column = reading.account.columns.get("record")
    if column is None:
        return
    rows = np.bincount(records)
    long, longest = far_too_long(rows), perhaps_placeholder(rows)
    for place in long or ([] if longest is None else [longest]):
        found = connection.execute(f"SELECT record FROM records WHERE number = {place}").fetchall()
        value = str(found[0][0])
        if long or is_placeholder(value):
            reading.account.notes.append(long_record_note(rows, place, (column, value)))


def _note_totals(connection: DuckDBPyConnection, reading: Reading, source: Source) -> None:
    """A note on a last row with sums or a remark, or sums without an item; several are an error."""
    if reading.account.columns.get("record") is None:
        return
    last = "item IS NULL OR rowid = (SELECT max(rowid) FROM long)"
    letters = "regexp_replace(lower(CAST(record AS VARCHAR)), '[^\\pL]', '', 'g')"
    found = f"({last}) AND {letters} IN ({', '.join(map(quoted, sorted(TOTALS)))})"
    query = f"SELECT DISTINCT CAST(record AS VARCHAR) FROM long WHERE {found}"
    values = connection.execute(query).fetchall()
    if len(values) > 1:
        raise several_sums(len(values), source.fault)
    values += connection.execute(_REMARK).fetchall()
    reading.account.notes.extend(total_note(value) for (value,) in values[:1])


def _refuse_names(connection: DuckDBPyConnection, reading: Reading, source: Source) -> None:
    """Refuse rows that repeat the names of the columns, as of files that were put together."""
    names = [reading.account.columns.get(role, "") for role in ("record", "item")]
    if not all(names) or any(map(str.isdecimal, names)):
        return
    same = " AND ".join(
        f"CAST({role} AS VARCHAR) = {quoted(name)}"
        for role, name in zip(("record", "item"), names, strict=True)
    )
    if rows := number(connection, f"SELECT count(*) FROM long WHERE {same}"):
        raise repeated_names(rows, names[0], source.fault)


def _check_records(connection: DuckDBPyConnection, source: Source) -> None:
    empty = "SELECT rowid FROM long WHERE record IS NULL ORDER BY rowid LIMIT 1"
    rows = connection.execute(empty).fetchall()
    if rows:
        raise no_record(source, rows[0][0] + 1)


def _drop_decimal_commas(connection: DuckDBPyConnection) -> None:
    """Make 2 of 2,0 and 2,00; more zeros may follow the comma of a thousand."""
    if number(connection, "SELECT count(*) FROM long WHERE contains(count, ',')"):
        whole = f"regexp_replace(count, '{_DECIMAL_COMMA}', '\\1')"
        run(connection, f"UPDATE long SET count = {whole} WHERE contains(count, ',')")


def _check_counts(connection: DuckDBPyConnection, source: Source) -> None:
    matches = f"coalesce(regexp_matches(count, '{_WHOLE}'), false)"
    bad = f"CASE WHEN NOT {matches} OR {_WHOLE_COUNT} < 1 THEN true ELSE false END"
    first = f"WHERE item IS NOT NULL AND {bad} ORDER BY rowid LIMIT 1"
    rows = connection.execute(f"SELECT rowid, count FROM long {first}").fetchall()
    if rows:
        row, count = rows[0]
        shown = "is empty" if count is None else f"is {brief(count)}"
        problem = f"the count of data row {row + 1} {shown}: it must be a whole number of 1 or more"
        raise source.fault(problem, remedy="correct it, or ignore all counts with {bags=False}")
