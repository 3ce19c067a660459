"""Query logs as tables of rows: AOL-style lines, and any CSV, TSV or Parquet file with user, text and time columns.

`load_log` makes two tables: `log` with the columns `user`, `text` and `time` (microseconds since 1970) of every row that can be used, and
`bad` with the `line` of every other one and what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.data.querylog.findings import BadLine
from setveil.data.tables.columns import RECORD_NAMES, choose_column, not_obvious, plain_name
from setveil.errors import FileFormatError
from setveil.io.formats import parquet
from setveil.io.formats.delimited import guess_delimiter, header
from setveil.io.querylog.lines import LONGEST, MARK, clean_lines, first_text
from setveil.io.source.database import named, quoted
from setveil.io.source.source import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

USER_NAMES = RECORD_NAMES - frozenset(
    [
        "session",
        "sessionid",
        "record",
        "recordid",
        "order",
        "orderid",
        "orderno",
        "basket",
        "basketid",
    ]
)
TEXT_NAMES = frozenset(
    [
        "query",
        "querytext",
        "querystring",
        "q",
        "text",
        "search",
        "searchterm",
        "searchterms",
        "keyword",
        "keywords",
    ]
)
TIME_NAMES = frozenset(
    [
        "querytime",
        "time",
        "timestamp",
        "datetime",
        "date",
        "ts",
        "when",
        "searchtime",
        "eventtime",
        "createdat",
    ]
)

_AOL = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
_SHOWN = 5
_DATE = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}"
_CLOCK = r"[ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
_LOOKS_TIMED = re.compile(rf"{_DATE}|\d{{9,19}}\Z", re.ASCII)
_REASONS = {
    "unreadable": "the line is not UTF-8, or longer than a megabyte",
    "columns": "the number of columns is wrong",
    "user": "the user is empty",
    "time": "the time is in no known form, such as 2006-03-01 07:17:12",
}


@dataclass(frozen=True)
class LogColumns:
    """What the user said about the columns of a log."""

    user: str | None = None
    text: str | None = None
    time: str | None = None

    @property
    def are_named(self) -> bool:
        return not self.user is self.text is self.time is None


def load_log(connection: DuckDBPyConnection, source: Source, wanted: LogColumns) -> None:
    """Make the tables `log` and `bad` from a file of any of these kinds."""
    if source.compression is None and source.head.startswith(parquet.MAGIC):
        _load_parquet(connection, source, wanted)
        return
    if source.head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise source.fault(
            "the text is UTF-16, not UTF-8: convert it, for example with iconv -f utf-16 -t utf-8"
        )
    lines = clean_lines(source)
    start = first_text(lines)
    if not start.strip():
        raise source.fault("the log is empty")
    start = start.lstrip(f"\n{MARK}")
    if not start:
        raise source.fault("this is no text, or its lines are not UTF-8 or longer than a megabyte")
    delimiter = guess_delimiter(start.split("\n", 1)[0], "\t,;|")
    if delimiter == "\t":
        _load_lines(connection, source, lines, start, wanted)
    else:
        _load_csv(connection, source, lines, start, delimiter, wanted)


def bad_lines(connection: DuckDBPyConnection) -> tuple[int, tuple[BadLine, ...]]:
    """How many rows cannot be used, and the first of them."""
    (count,) = connection.execute("SELECT count(*) FROM bad").fetchall()[0]
    found = connection.execute(
        f"SELECT line, fault FROM bad ORDER BY line LIMIT {_SHOWN}"
    ).fetchall()
    return int(count), tuple(BadLine(int(line), _REASONS[fault]) for line, fault in found)


def _load_lines(
    connection: DuckDBPyConnection, source: Source, lines: Path, start: str, wanted: LogColumns
) -> None:
    """Tabs between the columns, and quotes that mean nothing; a header may stand anywhere, as in logs put together from several."""
    first = start.split("\n", 1)[0]
    cells = [cell.strip() for cell in first.split("\t")]
    names = list(_AOL) if not wanted.are_named and _is_headless(start) else cells
    columns = _find(source, names, wanted)
    places = [names.index(column) + 1 for column in columns]
    user, text, time = (f"cells[{place}]" for place in places)
    options = "columns={line: 'VARCHAR'}, header=false, auto_detect=false, delim='\x01\x02\x03\x04', quote='', escape='', compression='none'"
    table = f"read_csv({quoted(lines)}, {options}, max_line_size={16 * LONGEST})"
    rows = f"SELECT line, string_split(line, chr(9)) AS cells FROM {table}"
    head = first if names is cells else "\t".join(_AOL)
    fault = f"""CASE WHEN line IS NULL OR trim(line) = '' THEN 'blank' WHEN line = {quoted(head)} THEN 'header'
        WHEN starts_with(line, {quoted(MARK)}) THEN 'unreadable'
        WHEN len(cells) < {max(places)} OR len(cells) > {len(names)} THEN 'columns' END"""
    _make_tables(
        connection,
        f"SELECT {user} AS user, {text} AS text, {time} AS time, {fault} AS fault FROM ({rows})",
        first_line=1,
    )


def _is_headless(start: str) -> bool:
    """Whether the first line is no header, and some line has a time where AOL logs have it."""
    lines = [line.split("\t") for line in start.split("\n")[:50]]
    names = {plain_name(cell) for cell in lines[0]}
    if len(lines[0]) > 1 and names & USER_NAMES and names & TEXT_NAMES:
        return False
    return any(
        3 <= len(cells) <= len(_AOL) and _LOOKS_TIMED.match(cells[2].strip()) for cells in lines
    )


def _load_csv(
    connection: DuckDBPyConnection,
    source: Source,
    lines: Path,
    start: str,
    delimiter: str,
    wanted: LogColumns,
) -> None:
    """A header, and quotes that hold cells together."""
    names = header(start, delimiter)
    columns = [f"c{names.index(name)}" for name in _find(source, names, wanted)]
    types = ", ".join(f"c{number}: 'VARCHAR'" for number in range(len(names)))
    options = f"columns={{{types}}}, header=true, auto_detect=false, delim={quoted(delimiter)}, quote='\"', escape='\"', compression='none'"
    table = f"read_csv({quoted(lines)}, {options}, ignore_errors=true, store_rejects=true, max_line_size={16 * LONGEST})"
    user, text, time = columns
    _make_tables(
        connection,
        f"SELECT {user} AS user, {text} AS text, {time} AS time, NULL AS fault FROM {table}",
        first_line=2,
    )
    _refuse_open_quote(connection, source)
    unreadable = (
        f"CASE WHEN starts_with(csv_line, {quoted(MARK)}) THEN 'unreadable' ELSE 'columns' END"
    )
    connection.execute(
        f"INSERT INTO bad SELECT line, any_value({unreadable}) FROM reject_errors GROUP BY line"
    ).fetchall()


def _refuse_open_quote(connection: DuckDBPyConnection, source: Source) -> None:
    """A quote that is never closed swallows all rows behind it, so that nobody could say how many are lost."""
    swallowed = "error_type IN ('UNQUOTED VALUE', 'LINE SIZE OVER MAXIMUM') AND contains(trim(csv_line, chr(10)), chr(10))"
    found = connection.execute(f"SELECT min(line) FROM reject_errors WHERE {swallowed}").fetchall()
    if found[0][0] is not None:
        raise FileFormatError(
            source.name, "a quote is opened and never closed", line=int(found[0][0])
        )


def _load_parquet(connection: DuckDBPyConnection, source: Source, wanted: LogColumns) -> None:
    table = f"read_parquet({quoted(source.path)})"
    names = [
        str(row[0]) for row in connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
    ]
    user, text, time = (f"CAST({named(name)} AS VARCHAR)" for name in _find(source, names, wanted))
    _make_tables(
        connection,
        f"SELECT {user} AS user, {text} AS text, {time} AS time, NULL AS fault FROM {table}",
        first_line=1,
    )


def _find(source: Source, names: Sequence[str], wanted: LogColumns) -> tuple[str, str, str]:
    """The columns of user, text and time by their names in the file."""
    user = choose_column(names, "user", wanted.user, USER_NAMES, source.fault)
    text = choose_column(names, "text", wanted.text, TEXT_NAMES, source.fault)
    time = choose_column(names, "time", wanted.time, TIME_NAMES, source.fault)
    for role, found in (("user", user), ("text", text), ("time", time)):
        if found is None:
            raise not_obvious(role, names, source.fault)
    assert user is not None and text is not None and time is not None
    if len({user, text, time}) < 3:
        raise source.fault("user, text and time must be three different columns")
    return user, text, time


def _make_tables(connection: DuckDBPyConnection, rows: str, *, first_line: int) -> None:
    """Both tables from rows in the order of the file."""
    checked = f"""SELECT trim(user) AS user, trim(coalesce(text, '')) AS text, {_moment("trim(time)")} AS time,
        CASE WHEN fault IS NOT NULL THEN fault WHEN coalesce(trim(user), '') = '' THEN 'user' END AS fault FROM ({rows})"""
    connection.execute(f"""CREATE TABLE log AS SELECT user, text, CASE WHEN fault IS NULL THEN time END AS time,
        coalesce(fault, CASE WHEN time IS NULL THEN 'time' END) AS fault FROM ({checked})""").fetchall()
    kinds = ", ".join(map(quoted, _REASONS))
    connection.execute(
        f"CREATE TABLE bad AS SELECT rowid + {first_line} AS line, fault FROM log WHERE fault IN ({kinds})"
    ).fetchall()


def _moment(time: str) -> str:
    """SQL for microseconds since 1970 of a text; NULL when it is no time.

    Fourteen digits are a date and a clock, for as milliseconds they would lie in a far future. Twelve digits are refused: nobody can tell
    milliseconds of the last century from a date and a clock with a short year or without seconds.
    """
    plain, zoned = (
        quoted(f"{_DATE}({_CLOCK})?"),
        quoted(f"{_DATE}{_CLOCK} ?(Z|UTC|[+-]\\d{{2}}(:?\\d{{2}})?)"),
    )
    closed_up = f"regexp_replace(replace({time}, 'UTC', 'Z'), ' (Z|[+-][0-9:]+)$', '\\1')"
    return f"""CASE WHEN regexp_full_match({time}, {plain}) THEN epoch_us(TRY_CAST({time} AS TIMESTAMP))
        WHEN regexp_full_match({time}, {zoned}) THEN epoch_us(TRY_CAST({closed_up} AS TIMESTAMPTZ))
        WHEN regexp_full_match({time}, '\\d{{8}}') THEN epoch_us(try_strptime({time}, '%Y%m%d'))
        WHEN regexp_full_match({time}, '\\d{{14}}') THEN epoch_us(try_strptime({time}, '%Y%m%d%H%M%S'))
        WHEN regexp_full_match({time}, '\\d{{9,11}}(\\.\\d+)?') THEN CAST(round(1000000 * TRY_CAST({time} AS DOUBLE)) AS BIGINT)
        WHEN regexp_full_match({time}, '\\d{{13}}') THEN 1000 * TRY_CAST({time} AS BIGINT)
        WHEN regexp_full_match({time}, '\\d{{15,16}}') THEN TRY_CAST({time} AS BIGINT)
        WHEN regexp_full_match({time}, '\\d{{18,19}}') THEN TRY_CAST({time} AS BIGINT) // 1000 END"""
