"""Query logs as rows: AOL-style lines, or CSV, TSV or Parquet with user, text and time columns.

`load_log` makes two tables: `log` with the `user`, `text` and `time` (microseconds since 1970) of
every usable row, and `bad` with the `line` of every other row and what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from setveil.data.querylog.findings import BadLine
from setveil.data.tables.columns import (
    ITEM_NAMES,
    RECORD_NAMES,
    choose_column,
    not_obvious,
    plain_name,
)
from setveil.errors import FileFormatError
from setveil.io.formats import parquet
from setveil.io.formats.delimited import guess_delimiter, header
from setveil.io.querylog.lines import MARK, clean_lines, first_text, narrow_lines
from setveil.io.source.database import (
    LONGEST_LINE,
    column_types,
    csv_table,
    lines_table,
    named,
    number,
    quoted,
    run,
)
from setveil.io.source.source import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NOT_USERS = "session sessionid record recordid order orderid orderno basket basketid"
_TEXTS = "query querytext querystring q text search searchterm searchterms keyword keywords"
_TIMES = "querytime time timestamp datetime date ts when searchtime eventtime createdat"
USER_NAMES = RECORD_NAMES - frozenset(_NOT_USERS.split())
TEXT_NAMES = frozenset(_TEXTS.split())
TIME_NAMES = frozenset(_TIMES.split())
_KNOWN = RECORD_NAMES | ITEM_NAMES | TEXT_NAMES | TIME_NAMES

_AOL = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
_SHOWN = 5
_MOST_COLUMNS = 1_000
_DATE = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}"
_CLOCK = r"[ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
_LOOKS_TIMED = re.compile(rf"{_DATE}|\d{{9,19}}\Z", re.ASCII)
_REASONS = {
    "unreadable": "the line is not UTF-8, or longer than a megabyte",
    "columns": "the number of columns is wrong",
    "user": "the user is empty",
    "time": "the time is not in a known form such as 2006-03-01 07:17:12",
}


@dataclass(frozen=True)
class LogColumns:
    """The columns that the user named."""

    user: str | None = None
    text: str | None = None
    time: str | None = None

    @property
    def are_named(self) -> bool:
        return not self.user is self.text is self.time is None


class CleanText(NamedTuple):
    """A log as clean text, and how it begins."""

    path: Path
    start: str

    @property
    def first(self) -> str:
        """The first line."""
        return self.start.split("\n", 1)[0]


def load_log(connection: DuckDBPyConnection, source: Source, wanted: LogColumns) -> None:
    """Make the tables `log` and `bad` from a file of any of these kinds."""
    if source.compression is None and source.head.startswith(parquet.MAGIC):
        _load_parquet(connection, source, wanted)
        return
    source.refuse_utf16()
    path = clean_lines(source)
    start = first_text(path)
    if not start.strip():
        raise source.fault("the log is empty")
    text = CleanText(path, start.lstrip(f"\n{MARK}"))
    if not text.start:
        raise source.fault("this is not text, or its lines are not UTF-8 or exceed a megabyte")
    delimiter = guess_delimiter(text.first, "\t,;|")
    if delimiter == "\t":
        _load_lines(connection, source, text, wanted)
    else:
        _load_csv(connection, source, text, delimiter, wanted)


def bad_lines(connection: DuckDBPyConnection) -> tuple[int, tuple[BadLine, ...]]:
    """How many rows cannot be used, and the first of them."""
    first = f"SELECT line, fault FROM bad ORDER BY line LIMIT {_SHOWN}"
    found = connection.execute(first).fetchall()
    lines = tuple(BadLine(int(line), _REASONS[fault]) for line, fault in found)
    return number(connection, "SELECT count(*) FROM bad"), lines


def _load_lines(
    connection: DuckDBPyConnection, source: Source, text: CleanText, wanted: LogColumns
) -> None:
    """Load columns between tabs, without quoting; in joined logs a header may be anywhere."""
    cells = [cell.strip() for cell in text.first.split("\t")]
    names = list(_AOL) if not wanted.are_named and _is_headless(text.start) else cells
    places = [names.index(column) + 1 for column in _find(source, names, wanted)]
    user, query, time = (f"cells[{place}]" for place in places)
    rows = f"SELECT line, string_split(line, chr(9)) AS cells FROM {lines_table(text.path)}"
    head = text.first if names is cells else "\t".join(_AOL)
    fault = f"""CASE WHEN line IS NULL OR trim(line) = '' THEN 'blank'
        WHEN line = {quoted(head)} THEN 'header'
        WHEN starts_with(line, {quoted(MARK)}) THEN 'unreadable'
        WHEN len(cells) < {max(places)} OR len(cells) > {len(names)} THEN 'columns' END"""
    chosen = f"{user} AS user, {query} AS text, {time} AS time, {fault} AS fault"
    _make_tables(connection, f"SELECT {chosen} FROM ({rows})", first_line=1)


def _is_headless(start: str) -> bool:
    """Whether the first line is not a header, and some line has a time where AOL logs have it."""
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
    text: CleanText,
    delimiter: str,
    wanted: LogColumns,
) -> None:
    """Load a table with a header and quoted cells."""
    names = header(source, text.start, delimiter, _MOST_COLUMNS)
    columns = [f"c{names.index(name)}" for name in _find(source, names, wanted)]
    path = narrow_lines(text.path, delimiter, len(names), source.work / "narrow")
    table = csv_table(
        path,
        [f"c{place}" for place in range(len(names))],
        delimiter=delimiter,
        more=f", ignore_errors=true, store_rejects=true, max_line_size={LONGEST_LINE}",
    )
    _make_tables(connection, _rows(table, columns), first_line=2)
    _refuse_open_quote(connection, source)
    marked = f"rtrim(csv_line, chr(10)) = {quoted(MARK)}"
    fault = f"any_value(CASE WHEN {marked} THEN 'unreadable' ELSE 'columns' END)"
    run(connection, f"INSERT INTO bad SELECT line, {fault} FROM reject_errors GROUP BY line")


def _refuse_open_quote(connection: DuckDBPyConnection, source: Source) -> None:
    """Refuse a quote that is never closed: it hides an unknown number of rows."""
    swallowed = """error_type IN ('UNQUOTED VALUE', 'LINE SIZE OVER MAXIMUM')
        AND contains(trim(csv_line, chr(10)), chr(10))"""
    line = number(connection, f"SELECT min(line) FROM reject_errors WHERE {swallowed}")
    if line:
        raise FileFormatError(source.name, "a quote is opened and never closed", line=line)


def _load_parquet(connection: DuckDBPyConnection, source: Source, wanted: LogColumns) -> None:
    table = f"read_parquet({quoted(source.path)})"
    names = list(column_types(connection, table))
    texts = [f"CAST({named(name)} AS VARCHAR)" for name in _find(source, names, wanted)]
    _make_tables(connection, _rows(table, texts), first_line=1)


def _rows(table: str, columns: Sequence[str]) -> str:
    user, text, time = columns
    return f"SELECT {user} AS user, {text} AS text, {time} AS time, NULL AS fault FROM {table}"


def _find(source: Source, names: Sequence[str], wanted: LogColumns) -> tuple[str, str, str]:
    """The columns of user, text and time by their names in the file.

    A first line without any known name may be a row of the log, which no message may quote.
    """
    if not {plain_name(name) for name in names} & _KNOWN and not _has_all(names, wanted):
        problem = "its first line does not name the columns of a log: none has a known name"
        raise source.fault(problem, remedy="name them with {user}, {text} and {time}")
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


def _has_all(names: Sequence[str], wanted: LogColumns) -> bool:
    """Whether the columns that the user named, one or more, are all there."""
    plain = {plain_name(name) for name in names}
    given = [name for name in (wanted.user, wanted.text, wanted.time) if name is not None]
    return bool(given) and all(plain_name(name) in plain for name in given)


def _make_tables(connection: DuckDBPyConnection, rows: str, *, first_line: int) -> None:
    """Make both tables from rows in the order of the file."""
    checked = f"""SELECT trim(user) AS user, trim(coalesce(text, '')) AS text,
        {_moment("trim(time)")} AS time, CASE WHEN fault IS NOT NULL THEN fault
        WHEN contains(concat(user, text), {quoted(MARK)}) THEN 'unreadable'
        WHEN coalesce(trim(user), '') = '' THEN 'user' END AS fault FROM ({rows})"""
    kinds = ", ".join(map(quoted, _REASONS))
    run(
        connection,
        f"""CREATE TABLE log AS SELECT user, text, CASE WHEN fault IS NULL THEN time END AS time,
            coalesce(fault, CASE WHEN time IS NULL THEN 'time' END) AS fault FROM ({checked})""",
        f"""CREATE TABLE bad AS
            SELECT rowid + {first_line} AS line, fault FROM log WHERE fault IN ({kinds})""",
    )


def _moment(time: str) -> str:
    """SQL for the microseconds since 1970 of a text; NULL if it is not a time.

    Fourteen digits are a date and a clock, since as milliseconds they would be far in the future.
    Twelve digits are refused: they may be milliseconds of the last century, or a date and a clock
    with a short year or without seconds.
    """
    plain = f"{_DATE}({_CLOCK})?"
    zoned = f"{_DATE}{_CLOCK} ?(Z|UTC|[+-]\\d{{2}}(:?\\d{{2}})?)"
    closed_up = f"regexp_replace(replace({time}, 'UTC', 'Z'), ' (Z|[+-][0-9:]+)$', '\\1')"
    number = f"TRY_CAST({time} AS BIGINT)"
    forms = {
        plain: f"epoch_us(TRY_CAST({time} AS TIMESTAMP))",
        zoned: f"epoch_us(TRY_CAST({closed_up} AS TIMESTAMPTZ))",
        r"\d{8}": f"epoch_us(try_strptime({time}, '%Y%m%d'))",
        r"\d{14}": f"epoch_us(try_strptime({time}, '%Y%m%d%H%M%S'))",
        r"\d{9,11}(\.\d+)?": f"CAST(round(1000000 * TRY_CAST({time} AS DOUBLE)) AS BIGINT)",
        r"\d{13}": f"1000 * {number}",
        r"\d{15,16}": number,
        r"\d{18,19}": f"{number} // 1000",
    }
    cases = (f"WHEN regexp_full_match({time}, {quoted(form)}) THEN {forms[form]}" for form in forms)
    return f"CASE {' '.join(cases)} END"
