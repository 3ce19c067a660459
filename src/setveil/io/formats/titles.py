"""Tables whose header is below title lines: the same table without them."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from itertools import islice

from setveil.data.tables.headers import (
    DELIMITERS,
    SEPARATOR,
    TextRow,
    find_header,
    guess_delimiter,
    joined_names,
    last_of_header,
    text_rows,
)
from setveil.disk.texts import is_arff
from setveil.errors import ParameterError
from setveil.io.source.source import Source
from setveil.words import plural

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
    for mark in named[1] if named else DELIMITERS:
        rows = text_rows(text, mark)
        cells = [row.cells for row in rows]
        _refuse_several(source, cells)
        place = find_header(cells)
        if place is not None and (not best or len(cells[place]) > len(best[0].cells)):
            best, number = [rows[place]], place + 1
            has_titles = any(cells[:place])
    return (best, number) if best and has_titles else ([], 0)


def _refuse_several(source: Source, cells: list[list[str]]) -> None:
    """Ask if the rows below the first filled one seem to continue its names."""
    first = next((place for place, row in enumerate(cells) if any(row)), 0)
    if more := last_of_header(cells[first:]):
        last = first + more + 1
        problem = f"rows {first + 1} to {last} together seem to name the columns"
        remedy = f"{{header={first + 1}-{last}}} joins them, {{header={first + 1}}} takes one alone"
        raise source.fault(problem, remedy=remedy)


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
        stream.seek(stream.tell() + next(islice(_line_starts(source.head), begin, None)))
        shutil.copyfileobj(stream, table, 1 << 20)
    above = begin - bool(named) - joined
    return replace(source, path=target, compression=None, header_row=first, lines_above=above)


def _line_starts(head: bytes) -> Iterator[int]:
    yield 0
    yield from (end.end() for end in _LINE_END.finditer(head))
