"""The format of a file if the user does not name it, and the table below its title lines.

The recognizer of each format in `FORMATS` says how likely a file is of that format, by its suffix
and its content; the likeliest wins, and of equally likely ones the first in the table."""

from __future__ import annotations

import csv
import json
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO

from setveil.data.tables.columns import RECORD_NAMES, plain_name
from setveil.data.tables.headers import (
    DELIMITERS,
    SEPARATOR,
    TextRow,
    find_header,
    find_lower_header,
    guess_delimiter,
    has_second_row,
    is_surely_header,
    joined_names,
    last_of_header,
    looks_even,
    sample_rows,
    text_rows,
)
from setveil.disk.texts import is_arff
from setveil.errors import FileFormatError, ParameterError, brief_list
from setveil.io.formats import FORMATS
from setveil.io.formats.reading import Reading
from setveil.io.source.source import Source
from setveil.words import plural

_DELIMITERS = r"[,;|\t]"
_TABLES = ("csv", "tsv")
NO = 0
POSSIBLE = 1
"""The content fits, but might mean something else."""
LIKELY = 2
"""The content says so, whatever the suffix; but a suffix that decides alone wins."""
_BY_SUFFIX = 3
CERTAIN = 4
"""The content can mean nothing else."""


@dataclass(frozen=True)
class Sample:
    """What a format may recognize a file by."""

    source: Source
    named: str | None
    """The format that the suffix of the file belongs to."""
    reading: Reading

    @property
    def head(self) -> bytes:
        """The first 64 kB, decompressed."""
        return self.source.head

    @cached_property
    def text(self) -> str:
        """The same as text, from the first line that is not empty on; empty if it is not text."""
        try:
            return "" if b"\0" in self.head else self.source.head_text.lstrip("\n")
        except FileFormatError:
            return ""


def format_of(source: Source, reading: Reading, named: str | None) -> tuple[Source, str]:
    """The format of a file, and the file; only a table loses the title lines above its header."""
    if named not in (None, *_TABLES):
        return source, str(named)
    table = below_titles(source, reading.header)
    format = named or guess_format(table, reading)
    if format in _TABLES or table is source:
        return table, format
    return source, guess_format(source, reading)


def guess_format(source: Source, reading: Reading) -> str:
    """The name of the format that a file most likely has.

    Raises:
        FileFormatError: if it looks like none of them.
    """
    of_suffix = (each.name for each in FORMATS.values() if source.suffix in each.suffixes)
    sample = Sample(source, next(of_suffix, None), reading)
    scores = {name: format.recognize(sample) for name, format in FORMATS.items()}
    if sample.named is not None and FORMATS[sample.named].suffix_decides:
        scores[sample.named] = max(scores[sample.named], _BY_SUFFIX)
    best = max(scores, key=scores.__getitem__)
    if scores[best] and not FORMATS[best].is_text:
        return best
    text = checked_text(source)
    if scores[best] < LIKELY:
        from setveil.io.querylog.tables import refuse_log

        refuse_log(source, text)
    if scores[best]:
        return best
    if not text.strip():
        raise source.fault("the file is empty")
    raise _question(source, text)


def _question(source: Source, text: str) -> FileFormatError:
    """The error for a table that may be read in several ways."""
    first, _, rest = text.lstrip("\n").partition("\n")
    header = [name.strip().strip('"') for name in re.split(_DELIMITERS, first)]
    mark = next(iter(re.findall(_DELIMITERS, first)), ",")
    cells = [cell.strip().strip('"') for cell in re.split(rf"{_DELIMITERS}|\n", rest)]
    is_header = source.header_row > 0 or is_surely_header(header, cells)
    names_columns = is_header and (source.header_row or _has_numbers(rest, mark, len(header)))
    bare = " (if there is no header: {header=False}, and their numbers)"
    columns = f"name the columns with {{record}} and {{item}}{'' if is_header else bare}"
    ways = f"{columns}; or say {{onehot=True}} if each column is an item"
    if names_columns or RECORD_NAMES.intersection(map(plain_name, header)):
        listed = f" of {brief_list(header)}" if is_header else ""
        problem = f"it is not obvious which{listed or ' columns'} are the record and the item"
        return source.fault(problem, remedy=ways)
    _refuse_lower_header(source, sample_rows(text, guess_delimiter(text)))
    if problem := _may_have_titles(text):
        ways = "say which row names the columns with {header}, or {header=False} if none does"
        remedy = f"{ways}; {{input_format=baskets}} if each line is a basket"
        return source.fault(problem, remedy=remedy)
    problem = "is each line a whole basket, or one record-item pair?"
    is_spaced = " " in first.strip() and not re.search(_DELIMITERS, first)
    spaced = ", or {input_format=fimi} if spaces separate its items" if is_spaced else ""
    return source.fault(problem, remedy=f"{ways}{spaced}, or {{input_format=baskets}}")


def _may_have_titles(text: str) -> str:
    """The doubt about lines that are alike below others that are not; empty if there is none."""
    rows = sample_rows(text, guess_delimiter(text))
    widths = [sum(map(bool, row)) for row in rows if any(row)]
    if not looks_even(rows) or widths[0] >= max(widths[1:], default=0):
        return ""
    return "it may be a table below title lines, but no row clearly names the columns"


def _has_numbers(rest: str, mark: str, width: int) -> bool:
    """Whether a column has a number in each of 3 or more rows, so that its name is no item."""
    lines = rest.splitlines()[:-1] if not rest.endswith("\n") else rest.splitlines()
    rows = [line.split(mark) for line in lines if line.strip()]
    whole = len(rows) >= 3 and all(len(row) == width for row in rows)
    return whole and any(
        all(cell.strip().isdecimal() for cell in each) for each in zip(*rows, strict=True)
    )


def checked_text(source: Source) -> str:
    """The beginning of a file as text; refuses a file that is binary or not UTF-8."""
    source.refuse_utf16()
    if b"\0" in source.head or source.head.startswith(b"PK\x03\x04"):
        problem = "this is a binary file of an unknown format"
        raise source.fault(problem, remedy="export it as CSV or Parquet first")
    return source.head_text


_LINE_END = re.compile(rb"\r\n|\r|\n")
_RANGE = re.compile(r"([1-9]\d*)(?:-([1-9]\d*))?")
_WORDS = "it must be True, False, the number of the row that names the columns, or two as in 1-2"

Header = bool | int | str | None
"""Whether the first row names the columns, or which row does, or which rows do together."""


def checked_header(header: Header) -> tuple[int, int] | None:
    """The first and the last row of the header; None if it is not given, or there is none."""
    if header is None or isinstance(header, bool):
        return (1, 1) if header else None
    found = _RANGE.fullmatch(str(header).strip())
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if first > last:
        raise ParameterError("header", header, _WORDS)
    return first, last


def below_titles(source: Source, header: Header) -> Source:
    """The source from the row on that names the columns, if title lines are above it.

    Args:
        source: A text file; blank lines and the line that names the delimiter are no titles, but
            rows of empty cells are.
        header: What the user said; if nothing, the header is looked for.

    Raises:
        FileFormatError: if several rows seem to name the columns, or there is no such row.
    """
    if header is False or source.header_row or not _may_be_table(source) or is_arff(source.head):
        return source
    chosen = checked_header(header)
    if chosen is None:
        names, first = _found(source)
    else:
        rows = text_rows(source.head_text, guess_delimiter(source.head_text))
        names, first = rows[chosen[0] - 1 : chosen[1]], chosen[0]
        if chosen == (1, 1) and not rows:
            return source  # the reader says what is missing
        if chosen[1] > len(rows):
            problem = f"row {chosen[1]:,} cannot name the columns"
            has = f"the beginning of the file has {plural(len(rows), 'row')}"
            raise source.fault(f"{problem}: {has}", remedy="give another row with {header}")
        if len(names) == 1 and not any(row.cells for row in rows[: first - 1]):
            return source
    return _cut(source, names, first) if names else source


def _may_be_table(source: Source) -> bool:
    if source.head.startswith(b"PAR1") or b"\0" in source.head:
        return False
    with suppress(ValueError, RecursionError):
        return not isinstance(json.loads(source.head.lstrip().split(b"\n", 1)[0]), list | dict)
    return True


def _found(source: Source) -> tuple[list[TextRow], int]:
    """The header and its number, if rows with cells are above it."""
    text = source.head_text
    named = SEPARATOR.match(text.lstrip("\n"))
    best, number = list[TextRow](), 0
    doubtful = list[list[list[str]]]()
    for mark in named[1] if named else DELIMITERS:
        rows = text_rows(text, mark)
        cells = [row.cells for row in rows]
        _refuse_several(source, cells)
        place = find_header(cells)
        doubtful += [cells] if place is None else []
        if place is not None and has_second_row(cells, place):
            raise _several(source, place + 1, place + 2)
        if place is not None and (not best or len(cells[place]) > len(best[0].cells)):
            best, number = [rows[place]], place + 1
            has_titles = any(cells[:place])
    for cells in [] if best else doubtful:
        _refuse_lower_header(source, cells, known=2)
    return (best, number) if best and has_titles else ([], 0)


def _refuse_lower_header(source: Source, cells: list[list[str]], known: int = 0) -> None:
    """Ask if a row with so many known names seems to be the header below titles as wide as it."""
    place = find_lower_header(cells, known)
    if place is not None:
        problem = f"row {place + 1} seems to name the columns, below rows that are as wide"
        ways = f"{{header={place + 1}}} leaves them out, {{header=1}} takes the first row"
        baskets = "; {input_format=baskets} if each line is a basket"
        raise source.fault(problem, remedy=ways if known else ways + baskets)


def _refuse_several(source: Source, cells: list[list[str]]) -> None:
    """Ask if the rows below the first filled one seem to continue its names."""
    first = next((place for place, row in enumerate(cells) if any(row)), 0)
    if more := last_of_header(cells[first:]):
        raise _several(source, first + 1, first + more + 1)


def _several(source: Source, first: int, last: int) -> FileFormatError:
    problem = f"rows {first} to {last} together seem to name the columns"
    remedy = f"{{header={first}-{last}}} joins them, {{header={first}}} takes one alone"
    return source.fault(problem, remedy=remedy)


def _cut(source: Source, names: list[TextRow], first: int) -> Source:
    """The source from these rows on, as one header."""
    named = SEPARATOR.match(source.head_text.lstrip("\n"))
    joined = len(names) > 1
    begin = names[-1].last if joined else names[0].first
    end, target = _LINE_END.search(source.head), source.work / "below-titles"
    newline = end[0] if end else b"\n"  # of one kind in the whole file
    with source.stream() as stream, target.open("wb") as table:
        if named:
            table.write(named[0].rstrip("\n").encode() + newline)
        if joined:
            mark, line = named[1] if named else guess_delimiter(source.head_text), StringIO()
            cells = joined_names([row.cells for row in names])
            csv.writer(line, delimiter=mark, lineterminator="").writerow(cells)
            table.write(line.getvalue().encode() + newline)
        starts = [0, *(end.end() for end in _LINE_END.finditer(source.head))]
        stream.seek(stream.tell() + starts[begin])
        shutil.copyfileobj(stream, table, 1 << 20)
    above = begin - bool(named) - joined
    return replace(source, path=target, compression=None, header_row=first, lines_above=above)
