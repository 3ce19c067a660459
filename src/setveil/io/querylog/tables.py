"""Query logs as rows: AOL-style lines, or CSV, TSV or Parquet with user, text and time columns.

`load_log` makes two tables: `log` with the `user`, `text` and `time` (microseconds since 1970) of
every usable row, and `bad` with the `line` of every other row and what is wrong with it. It reads a
copy of the log without the bytes that would stop a reader; every line keeps its number."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from setveil.data.logterms import BadLine
from setveil.data.tables.headers import guess_delimiter
from setveil.errors import FileFormatError, ParameterError
from setveil.io.formats import parquet
from setveil.io.formats.delimited import header
from setveil.io.querylog.logcolumns import (
    AOL,
    ROLES,
    Layout,
    LogColumns,
    by_name,
    find_layout,
    looks_like_log,
)
from setveil.io.querylog.times import TimeFormat, find_format, named_format
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
from setveil.io.source.source import BOM, Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SHOWN = 5
_MOST_COLUMNS = 1_000
_SAMPLE = 1_000
_REASONS = {
    "unreadable": "the line is not UTF-8, or longer than a megabyte",
    "columns": "the number of columns is wrong",
    "user": "the user is empty",
    "time": "the time is not in a known form such as 2006-03-01 07:17:12",
}


class Understood(NamedTuple):
    """How a log was read."""

    columns: dict[str, str]
    """The name or position of the column of each role."""
    has_header: bool
    time_format: str
    """The form of the times; empty if there are none, or it does not matter."""


class _Rows(NamedTuple):
    """The rows of a log as SQL, with the columns `user`, `text`, `time` and `fault`."""

    select: str
    layout: Layout
    first_line: int


class CleanText(NamedTuple):
    """A log as clean text, and how it begins."""

    path: Path
    start: str

    @property
    def lines(self) -> list[str]:
        """The first lines that can be read; the last one of the start may be cut off, and is there
        only if there is no other."""
        lines = self.start.split("\n")
        readable = [line for line in lines if line.strip() and not line.startswith(MARK)]
        is_last = len(readable) > 1 and readable[-1] == lines[-1]
        return readable[: -1 if is_last else None][:_SAMPLE]


def load_log(connection: DuckDBPyConnection, source: Source, wanted: LogColumns) -> Understood:
    """Make the tables `log` and `bad` from a file of any of these kinds."""
    if source.compression is None and source.head.startswith(parquet.MAGIC):
        return _load_parquet(connection, source, wanted)
    source.refuse_utf16()
    path = clean_lines(source)
    start = first_text(path)
    if not start.strip():
        raise source.fault("the log is empty")
    text = CleanText(path, start.lstrip(f"\n{MARK}"))
    if not text.lines:
        raise source.fault("this is not text, or its lines are not UTF-8 or exceed a megabyte")
    delimiter = log_delimiter(text.lines)
    if delimiter == "\t":
        return _load_lines(connection, source, text, wanted)
    return _load_csv(connection, source, text, delimiter, wanted)


def log_delimiter(lines: Sequence[str]) -> str:
    """What separates the columns: a tab if nearly all lines have one, else what is most frequent in
    the first line."""
    if 10 * sum("\t" in line for line in lines) >= 9 * len(lines):
        return "\t"
    return guess_delimiter(lines[0], "\t,;|")


def sample_rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The cells of some lines."""
    rows: Iterator[list[str]] = (line.split("\t") for line in lines)
    if delimiter != "\t":
        rows = csv.reader(StringIO("\n".join(lines), newline=""), delimiter=delimiter)
    found = list[list[str]]()
    with suppress(csv.Error):  # a cell that is far too long for one of a query log
        found.extend([cell.strip() for cell in row] for row in rows if row)
    return found


def refuse_log(source: Source, text: str) -> None:
    """Refuse a text file that is beyond doubt a query log, where records are expected."""
    lines = CleanText(source.path, text).lines
    if lines and looks_like_log(sample_rows(lines, log_delimiter(lines))):
        remedy = "make records of it first: setveil querylog"
        raise source.fault("this is a query log: users, texts and times", remedy=remedy)


def bad_lines(
    connection: DuckDBPyConnection, time_format: str | None = None
) -> tuple[int, tuple[BadLine, ...]]:
    """How many rows cannot be used, and the first of them; the time format is that which the user
    named."""
    first = f"SELECT line, fault FROM bad ORDER BY line LIMIT {_SHOWN}"
    found = connection.execute(first).fetchall()
    reasons = _REASONS | ({"time": f"the time is not {time_format}"} if time_format else {})
    lines = tuple(BadLine(int(line), reasons[fault]) for line, fault in found)
    return number(connection, "SELECT count(*) FROM bad"), lines


def _load_lines(
    connection: DuckDBPyConnection, source: Source, text: CleanText, wanted: LogColumns
) -> Understood:
    """Load columns between tabs, without quoting; in joined logs a header may be anywhere."""
    layout = find_layout(sample_rows(text.lines, "\t"), wanted, source.fault)
    places = layout.places
    lines = f"SELECT line, string_split(line, chr(9)) AS cells FROM {lines_table(text.path)}"
    head = text.lines[0] if layout.has_header else "\t".join(AOL)
    fault = f"""CASE WHEN line IS NULL OR trim(line) = '' THEN 'blank'
        WHEN line = {quoted(head)} THEN 'header'
        WHEN starts_with(line, {quoted(MARK)}) THEN 'unreadable'
        WHEN len(cells) <= {max(places.values())} OR len(cells) > {len(layout.names)}
        THEN 'columns' END"""
    cells = {role: f"cells[{place + 1}]" for role, place in places.items()}
    rows = _Rows(_select(cells, f"({lines})", fault), layout, first_line=1)
    return _make_tables(connection, source, rows, wanted)


def _load_csv(
    connection: DuckDBPyConnection,
    source: Source,
    text: CleanText,
    delimiter: str,
    wanted: LogColumns,
) -> Understood:
    """Load a table with quoted cells."""
    first = header(source, text.start, delimiter, _MOST_COLUMNS)
    sample = [first, *_quoted_rows(text, delimiter)]
    layout = find_layout(sample, wanted, source.fault)
    path = narrow_lines(text.path, delimiter, len(layout.names), source.work / "narrow")
    table = csv_table(
        path,
        [f"c{place}" for place in range(len(layout.names))],
        delimiter=delimiter,
        header=layout.has_header,
        more=f", ignore_errors=true, store_rejects=true, max_line_size={LONGEST_LINE}",
    )
    cells = {role: f"c{place}" for role, place in layout.places.items()}
    rows = _Rows(_select(cells, table), layout, first_line=1 + layout.has_header)
    understood = _make_tables(connection, source, rows, wanted)
    # A quote that is never closed hides an unknown number of rows.
    swallowed = """error_type IN ('UNQUOTED VALUE', 'LINE SIZE OVER MAXIMUM')
        AND contains(trim(csv_line, chr(10)), chr(10))"""
    line = number(connection, f"SELECT min(line) FROM reject_errors WHERE {swallowed}")
    if line:
        raise FileFormatError(source.name, "a quote is opened and never closed", line=line)
    marked = f"rtrim(csv_line, chr(10)) = {quoted(MARK)}"
    fault = f"any_value(CASE WHEN {marked} THEN 'unreadable' ELSE 'columns' END)"
    run(connection, f"INSERT INTO bad SELECT line, {fault} FROM reject_errors GROUP BY line")
    return understood


def _quoted_rows(text: CleanText, delimiter: str) -> Iterator[list[str]]:
    """Some rows after the first."""
    whole = text.start.rpartition("\n")[0] or text.start
    rows = csv.reader(StringIO(whole, newline=""), delimiter=delimiter)
    try:
        for row in islice(rows, 1, _SAMPLE):
            if row and MARK not in row[0]:
                yield [cell.strip() for cell in row]
    except csv.Error:
        return


def _load_parquet(connection: DuckDBPyConnection, source: Source, wanted: LogColumns) -> Understood:
    if wanted.no_header:
        allowed = "a Parquet file names its columns; leave this out"
        raise ParameterError("no_header", True, allowed)
    table = f"read_parquet({quoted(source.path)})"
    names = list(column_types(connection, table))
    texts = [f"coalesce(CAST({named(name)} AS VARCHAR), '')" for name in names]
    found = connection.execute(f"SELECT {', '.join(texts)} FROM {table} LIMIT {_SAMPLE}").fetchall()
    layout = by_name([names, *map(list, found)], wanted, source.fault)
    cells = {role: f"CAST({named(names[n])} AS VARCHAR)" for role, n in layout.places.items()}
    rows = _Rows(_select(cells, table), layout, first_line=1)
    return _make_tables(connection, source, rows, wanted)


def _select(cells: Mapping[str, str], table: str, fault: str = "NULL") -> str:
    chosen = ", ".join(f"{cells.get(role, 'NULL')} AS {role}" for role in ROLES)
    return f"SELECT {chosen}, {fault} AS fault FROM {table}"


def _make_tables(
    connection: DuckDBPyConnection, source: Source, rows: _Rows, wanted: LogColumns
) -> Understood:
    """Make both tables from rows in the order of the file."""
    has_time = "time" in rows.layout.places
    format = _format(connection, source, rows.select, wanted) if has_time else None
    # Without times each row is a query of its own: nobody can say which are further clicks.
    moment = "row_number() OVER ()" if format is None else format.moment("trim(time)")
    checked = f"""SELECT trim(user) AS user, trim(coalesce(text, '')) AS text,
        {moment} AS time, CASE WHEN fault IS NOT NULL THEN fault
        WHEN contains(concat(user, text), {quoted(MARK)}) THEN 'unreadable'
        WHEN coalesce(trim(user), '') = '' THEN 'user' END AS fault FROM ({rows.select})"""
    kinds = ", ".join(map(quoted, _REASONS))
    run(
        connection,
        f"""CREATE TABLE log AS SELECT user, text, CASE WHEN fault IS NULL THEN time END AS time,
            coalesce(fault, CASE WHEN time IS NULL THEN 'time' END) AS fault FROM ({checked})""",
        f"""CREATE TABLE bad AS
            SELECT rowid + {rows.first_line} AS line, fault FROM log WHERE fault IN ({kinds})""",
    )
    name = "" if format is None else format.name
    return Understood(rows.layout.described, rows.layout.has_header, name)


def _format(
    connection: DuckDBPyConnection, source: Source, rows: str, wanted: LogColumns
) -> TimeFormat:
    if wanted.time_format is not None:
        return named_format(connection, wanted.time_format)
    return find_format(connection, source, rows, in_order=wanted.needs_time)


MARK = "\x1a"
"""Replaces a line that cannot be read."""
LONGEST = 1 << 20
_BLOCK = 1 << 22
_MORE_CELLS = 100


def clean_lines(source: Source) -> Path:
    """The decompressed file, or a clean copy of it if it needs one.

    In the copy lines end with `\\n`, NUL bytes and lone carriage returns are blanks, and `MARK`
    replaces a line that is not UTF-8 or longer than a megabyte.
    """
    with source.stream() as stream:
        if all(map(_is_clean, _blocks(stream))):
            return source.plain()
    target = source.work / "clean"
    with source.stream() as stream, target.open("wb") as copy:
        for block in _blocks(stream):
            copy.write(block if _is_clean(block) else b"\n".join(map(_cleaned, block.split(b"\n"))))
    return target


def first_text(path: Path) -> str:
    """The beginning of a clean file."""
    with path.open("rb") as stream:
        return stream.read(1 << 16).removeprefix(BOM).decode("utf-8", errors="ignore")


def narrow_lines(path: Path, delimiter: str, columns: int, target: Path) -> Path:
    """The file, or a copy in which no row of a table has many more cells than it has columns.

    DuckDB describes a row with too many cells once per cell, with the whole row each time. In the
    copy such a row has two cells too many, all of them `MARK`, and is refused as it was before.
    """
    most, mark = columns + _MORE_CELLS, delimiter.encode()
    with path.open("rb") as stream:
        if not any(_has_long_line(block, most) for block in _blocks(stream)):
            return path
    quotes = re.compile(rb'(?:\A|%b)"[^"]*(?:""[^"]*)*("?)' % re.escape(mark))
    wide = mark.join([MARK.encode()] * (columns + 2))
    is_open = False
    with path.open("rb") as stream, target.open("wb") as copy:
        for line in stream:
            was_open, text = is_open, b'"' + line if is_open else line
            found = list(quotes.finditer(text)) if b'"' in text else []
            is_open = bool(found) and not found[-1][1]
            if text.count(mark) - sum(cell[0].count(mark, 1) for cell in found) >= most:
                line = (b'"' + mark) * was_open + wide + (mark + b'"') * is_open + b"\n"
            copy.write(line)
    return target


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Blocks of whole lines; a line longer than a block is cut, since it is too long anyway."""
    while block := stream.read(_BLOCK):
        block += stream.readline(_BLOCK)
        yield block
        while not block.endswith(b"\n") and (block := stream.readline(_BLOCK)):
            if block.endswith(b"\n"):
                yield b"\n"


def _is_clean(block: bytes) -> bool:
    if b"\r" in block or b"\0" in block or (len(block) > LONGEST and _has_long_line(block)):
        return False
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _has_long_line(block: bytes, longest: int = LONGEST) -> bool:
    """Whether a line is longer than allowed."""
    place = 0
    while place + longest < len(block):
        end = block.rfind(b"\n", place, place + longest)
        if end < 0:
            return True
        place = end + 1
    return False


def _cleaned(line: bytes) -> bytes:
    line = line.removesuffix(b"\r")
    if len(line) >= LONGEST:
        return MARK.encode()
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return MARK.encode()
    return line.replace(b"\0", b" ").replace(b"\r", b" ")
