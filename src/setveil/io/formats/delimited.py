"""CSV and TSV: tables with a header, and baskets (one record per line) without one."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO, TextIOWrapper
from itertools import islice
from operator import itemgetter

from setveil.data.account import LINES
from setveil.data.tables.columns import (
    ATTRIBUTE_NAMES,
    ITEM_NAMES,
    RECORD_NAMES,
    distinct_names,
    find_columns,
    looks_long,
    plain_name,
)
from setveil.data.tables.headers import (
    CUT_OFF,
    DELIMITERS,
    SEPARATOR,
    CsvRows,
    are_separators,
    find_header,
    guess_delimiter,
    looks_even,
    sample_rows,
)
from setveil.data.tables.shapes import Glimpse, find_sets, is_one_hot, item_columns, with_names
from setveil.data.transactions import Transactions
from setveil.disk import whole_lines
from setveil.errors import FileFormatError
from setveil.io.formats.guess import LIKELY, NO, POSSIBLE, Sample
from setveil.io.formats.longform import read_columns
from setveil.io.formats.reading import Reading, RecordBuilder
from setveil.io.formats.rowwise import Row, Table, read_rowwise
from setveil.io.source.database import RAGGED, csv_table, not_utf8
from setveil.io.source.source import Source

_LINE_END = re.compile(rb"\r\n|\r|\n")
_MOST_COLUMNS = 10_000


def recognize_csv(sample: Sample) -> int:
    """Likely if the first line is the header of a table, or the options name its columns."""
    if not sample.text.strip() and sample.named in ("csv", "tsv"):
        return POSSIBLE
    return LIKELY if _table_delimiter(sample) not in (None, "\t") else NO


def recognize_tsv(sample: Sample) -> int:
    """As `recognize_csv`, with tabs between the columns."""
    return LIKELY if _table_delimiter(sample) == "\t" else NO


def recognize_baskets(sample: Sample) -> int:
    """Possible if lines differ in their number of cells, or a table file has one cell per line.

    If nearly all have the same number, they may be a table below title lines."""
    if not sample.text.strip():
        return NO
    start = _start(sample.text)
    mark = start.delimiter or guess_delimiter(start.text)
    rows = [row for row in sample_rows(start.text, mark) if row]
    if sample.source.is_sheet:
        ends = [
            max((at for at, cell in enumerate(row, start=1) if cell), default=0) for row in rows
        ]
        rows = [row[:end] for row, end in zip(rows, ends, strict=True)]  # no empty cells at the end
        if not all(map(all, rows)):
            return NO
    widths = set(map(len, rows))
    if widths == {1}:
        return POSSIBLE if sample.named is not None else NO
    return NO if len(widths) < 2 or looks_even(rows) else POSSIBLE


def read_csv(source: Source, reading: Reading) -> Transactions:
    """Read a table with commas (or semicolons, bars or tabs) between its columns."""
    return _read_table(source, reading, DELIMITERS)


def read_tsv(source: Source, reading: Reading) -> Transactions:
    """Read a table with tabs between its columns."""
    return _read_table(source, reading, "\t")


def read_baskets(source: Source, reading: Reading) -> Transactions:
    """Read one record per line, its items as CSV cells.

    Empty cells are not items. Empty lines at the end are not records, nor are those that only
    separate records (`are_separators`); cells that are all empty are such a line too, and one of
    blanks is an empty line.
    """
    _refuse_one_hot(source, reading)
    reading.account.layout = LINES
    records, blank, skipped = RecordBuilder(reading), 0, 0
    start, tabs = _start(source.head_text), source.suffix in (".tsv", ".tab")
    delimiter = start.delimiter or ("\t" if tabs else guess_delimiter(start.text))
    sample = list[bool]()
    with suppress(FileFormatError):
        text = StringIO(start.text, newline="")
        sample.extend(map(_is_blank, _basket_rows(text, source.name, delimiter)))
    separated = source.is_sheet or are_separators(sample)
    with source.stream() as stream:
        lines = islice(_decoded(whole_lines(stream, source.name), source.name), start.named, None)
        for row in _basket_rows(lines, source.name, delimiter):
            if not row or (separated and _is_blank(row)):
                blank += 1
                continue
            skipped += blank if separated else 0
            records.add_empty(0 if separated else blank)
            cells = reading.without_dropped(row)
            records.add(filter(None, cells) if "" in cells else cells)
            blank = 0
    reading.account.skip_blanks(skipped)
    return records.finish(bags=bool(reading.bags))


def _basket_rows(lines: Iterable[str], name: str, delimiter: str) -> Iterator[list[str]]:
    """The cells of each line; none if it has nothing but blanks."""
    last = ""

    def remembered() -> Iterator[str]:
        nonlocal last
        for line in lines:
            last = line
            yield line

    for row in csv_rows(remembered(), name, delimiter):
        yield [] if len(row) == 1 and last.isspace() else row


def _is_blank(row: list[str]) -> bool:
    """Whether a line is blank, or as wide as the others without a cell; a pair of quotes is not."""
    return len(row) != 1 and not any(row)


def header(source: Source, head: str, delimiter: str, most: int = _MOST_COLUMNS) -> list[str]:
    """The names of the columns: the cells of the first line of `head`.

    Raises:
        FileFormatError: if its quotes are wrong: one that is never closed would hide all rows.
    """
    rows = CsvRows(StringIO(head, newline=""), delimiter, strict=True)
    try:
        names = [cell.strip() for cell in next(rows, [])]
    except csv.Error:
        names = ["\n"]
    if any("\n" in name for name in names):
        problem = "a quote in the first line is not closed, or in the wrong place"
        raise source.fault(problem, remedy="each column name is in a pair of quotes or has none")
    if len(names) > most:
        raise source.fault(f"the first line has {len(names):,} columns: {most:,} are allowed")
    return names


def csv_rows(lines: Iterable[str], name: str, delimiter: str = ",") -> Iterator[list[str]]:
    """The cells of each row of the file `name`.

    Raises:
        FileFormatError: if a line is not CSV or not UTF-8.
    """
    rows = CsvRows(lines, delimiter, strict=True)
    try:
        yield from rows
    except UnicodeDecodeError:
        raise not_utf8(name) from None
    except csv.Error as error:
        said = str(error).replace("\t", "\\t")  # the delimiter, if it is a tab
        problem = f"this line is not CSV ({said})"
        raise FileFormatError(name, problem, line=rows.line_num) from None


@dataclass(frozen=True)
class _Start:
    """Where a file begins after blank lines and the line that names the delimiter."""

    text: str
    skip: int
    """How many lines come before it."""
    delimiter: str | None
    """The one that the file names."""

    @property
    def named(self) -> int:
        """How many lines name the delimiter; blank lines are records of a basket file."""
        return self.skip if self.delimiter else 0


def _start(text: str) -> _Start:
    head = text.lstrip("\n")
    skip = len(text) - len(head)
    found = SEPARATOR.match(head)
    if found is None:
        return _Start(head, skip, None)
    rest = head[found.end() :]
    after = rest.lstrip("\n")
    return _Start(after, skip + 1 + len(rest) - len(after), found[1])


@dataclass(frozen=True)
class _Opening:
    """How a table begins."""

    skip: int
    delimiter: str
    has_header: bool
    glimpse: Glimpse


def _opening(source: Source, reading: Reading, delimiters: str, text: str) -> _Opening:
    """The delimiter, the names of the columns, and the rows that the first 64 kB hold whole."""
    start = _start(text)
    mark = start.delimiter or guess_delimiter(start.text.split("\n", 1)[0], delimiters)
    names = distinct_names(header(source, start.text, mark))
    rows = list[list[str]]()
    with suppress(csv.Error):
        rows.extend(CsvRows(StringIO(start.text, newline=""), mark, strict=True))
    rows = rows[:-1] if len(rows) > 2 and len(text) >= CUT_OFF else rows
    has_header = reading.header is not False
    if not has_header:
        names = [str(place) for place in range(1, len(names) + 1)]
    glimpse = Glimpse(names, [row for row in rows[has_header:] if row])
    return _Opening(start.skip, mark, has_header, glimpse)


def _table_delimiter(sample: Sample) -> str | None:
    """What separates the columns of a table; None if the file does not look like one."""
    try:
        opening = _opening(sample.source, sample.reading, DELIMITERS, sample.text)
    except FileFormatError:  # the reader will say what is wrong, if it is a table by its name
        mark = guess_delimiter(sample.text.split("\n", 1)[0])
        names = next(iter(sample_rows(sample.text, mark)), [])
        is_table = sample.reading.names_columns or looks_long([name.strip() for name in names])
        return mark if is_table else None
    return opening.delimiter if _is_table(opening, sample.reading) else None


def _is_table(opening: _Opening, reading: Reading) -> bool:
    names = opening.glimpse.names
    asked = reading.names_columns or reading.split or reading.onehot or reading.header is not None
    if asked or looks_long(names) or is_one_hot(opening.glimpse, reading):
        return True
    if len(item_columns(opening.glimpse, reading)) > 1 and _is_named(opening):
        return True
    known = RECORD_NAMES | ITEM_NAMES | ATTRIBUTE_NAMES
    if not known.intersection(map(plain_name, names)):
        return False
    return find_sets(opening.glimpse, reading) is not None


def _is_named(opening: _Opening) -> bool:
    """Whether the first row clearly names the columns, and no row is shorter."""
    names, rows = list(opening.glimpse.names), [[*map(str, row)] for row in opening.glimpse.rows]
    return all(len(row) >= len(names) for row in rows) and find_header([names, *rows]) == 0


def table_of(source: Source, reading: Reading) -> Table:
    """A file with a header as a table."""
    delimiters = DELIMITERS if reading.account.format != "tsv" else "\t"
    return _table(source, _opening(source, reading, delimiters, source.head_text))


def _table(source: Source, opening: _Opening) -> Table:
    return Table(source, opening.glimpse, lambda chosen: _chosen_rows(source, opening, chosen))


def _read_table(source: Source, reading: Reading, delimiters: str) -> Transactions:
    opening = _opening(source, reading, delimiters, source.head_text)
    _refuse_mixed_ends(source, opening.skip)
    reading.account.used.add("header")
    names = opening.glimpse.names
    reading = with_names(reading, names)
    if not any(names):
        if any(map(any, opening.glimpse.rows)):
            problem, remedy = "its first line names no columns", "say which row does with {header}"
            raise source.fault(problem, remedy=remedy)
        raise source.fault("the file is empty: its first line must name the columns")

    found = read_rowwise(_table(source, opening), reading)
    return _read_long(source, reading, opening) if found is None else found


def _read_long(source: Source, reading: Reading, opening: _Opening) -> Transactions:
    names = opening.glimpse.names
    columns = find_columns(names, reading, source.fault)
    selected = ", ".join(f"c{names.index(name)} AS {role}" for role, name in columns.roles.items())
    table = csv_table(
        source.plain(),
        [f"c{number}" for number in range(len(names))],
        delimiter=opening.delimiter,
        header=opening.has_header,
        more=f", skip={opening.skip}",
    )
    return read_columns(source, f"SELECT {selected} FROM {table}", reading, columns, names)


def _chosen_rows(source: Source, opening: _Opening, chosen: Sequence[str]) -> Iterator[Row]:
    """The cells of some columns of each row; a row must be as wide as the header."""
    names = opening.glimpse.names
    width, places = len(names), [names.index(name) for name in chosen]
    pick = itemgetter(*places) if len(places) > 1 else lambda row: (row[places[0]],)
    with source.stream() as stream:
        text = TextIOWrapper(stream, encoding="utf-8", newline="")  # any kind of line end
        lines = islice(whole_lines(text, source.name), opening.skip, None)
        rows = filter(None, csv_rows(lines, source.name, opening.delimiter))
        for number, row in enumerate(islice(rows, int(opening.has_header), None), start=1):
            if len(row) != width and (len(row) < width or any(row[width:])):
                problem = f"data row {number}: expected {width} columns, found {len(row)}"
                raise source.fault(problem, remedy=RAGGED)
            yield pick(row)


def _refuse_one_hot(source: Source, reading: Reading) -> None:
    """Refuse to make the cells 0 and 1 of a one-hot table items."""
    try:
        opening = _opening(source, reading, DELIMITERS, source.head_text)
    except FileFormatError:
        return
    if reading.header is False or not is_one_hot(opening.glimpse, reading):
        return
    problem = "this is a one-hot table, and its cells are not items"
    raise source.fault(problem, remedy="read it with {input_format=csv}")


def _refuse_mixed_ends(source: Source, skip: int) -> None:
    """Refuse lines before the header that end otherwise than it: DuckDB would skip all lines."""
    ends = _LINE_END.findall(source.head)[: skip + 1]
    if len(set(ends)) > 1:
        problem = "the file mixes Windows and Unix line ends"
        raise source.fault(problem, remedy="correct it and try again")


def _decoded(lines: Iterable[bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            raise not_utf8(name, number) from None
