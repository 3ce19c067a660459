"""The text of an ARFF file: its attributes, and the values of its rows, dense or sparse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper

from setveil.data.tables.cells import PRESENCE, unquoted
from setveil.disk import whole_lines
from setveil.errors import DataError, FileFormatError
from setveil.io.source.database import not_utf8
from setveil.io.source.source import Source
from setveil.words import plural

MISSING = "?"
_QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_COMMENT = re.compile(rf"((?:{_QUOTED}|[^'\"%])*+)(?:%.*)?")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{}},'\"]+)\s*(.*)", re.IGNORECASE)
_BRACES = re.compile(rf"\{{((?:{_QUOTED}|[^'\"{{}}])*+)\}}")
_CELL = re.compile(rf"\s*+({_QUOTED}|[^\s,'\"{{}}][^,'\"{{}}]*)\s*(,|\Z)")
_WORD = re.compile(rf"({_QUOTED}|[^\s,'\"{{}}]+)(\s+|\Z)")
_PAIR = re.compile(rf"\s*+(\d{{1,9}})\s+({_QUOTED}|[^\s,'\"][^,'\"]*)\s*(,|\Z)")
_COMMA = re.compile(rf"(?:{_QUOTED}|[^'\",])*+,")
_OTHERS = ("numeric", "real", "integer", "string", "date")


@dataclass(frozen=True)
class Attribute:
    """A name, and the values that it may have; without them it is a number, a text or a date."""

    name: str
    values: tuple[str, ...] | None = None

    @property
    def default(self) -> str:
        """What a sparse row means that leaves it out."""
        return self.values[0] if self.values else "0"

    @property
    def says_yes_or_no(self) -> bool:
        return self.values is not None and all(value in PRESENCE for value in self.values)

    def labels(self) -> dict[str, str | None]:
        """The item of each value; None if the value says no."""
        values = self.values or ()
        if self.says_yes_or_no:
            return {value: self.name if PRESENCE[value] else None for value in values}
        return {value: f"{self.name}={value}" for value in values}


@dataclass(frozen=True)
class Row:
    """The values of a row by the number of their attribute, `?` if one is missing."""

    line: int
    values: dict[int, str]
    is_sparse: bool


@dataclass(frozen=True)
class Relation:
    """A file, what its head declares, and the line where its rows begin."""

    source: Source
    attributes: Sequence[Attribute]
    start: int

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.attributes]

    def fault(self, problem: str, line: int, *, remedy: str = "") -> FileFormatError:
        """The error for something wrong in a line."""
        return FileFormatError(self.source.name, problem, line=line, remedy=remedy)

    def rows(self) -> Iterator[Row]:
        """All rows."""
        for number, line in _lines(self.source):
            if number > self.start:
                is_sparse = line.startswith("{")
                with _in_line(self.source, number):
                    values = (_sparse if is_sparse else _dense)(self, number, line)
                yield Row(number, values, is_sparse)


def read_head(source: Source) -> Relation:
    """What the lines up to `@data` declare."""
    attributes: dict[str, Attribute] = {}
    for number, line in _lines(source):
        word = line.split(None, 1)[0].lower()
        if word == "@data":
            if not attributes:
                raise source.fault("the relation has no attributes")
            return Relation(source, tuple(attributes.values()), number)
        if word == "@attribute":
            with _in_line(source, number):
                found = _attribute(source, number, line)
            if found.name in attributes:
                problem = "an attribute above has the same name"
                raise FileFormatError(source.name, problem, line=number)
            attributes[found.name] = found
        elif word != "@relation":
            problem = "expected @attribute or @data"
            raise FileFormatError(source.name, problem, line=number)
    raise source.fault("there is no line @data", remedy="get the file again")


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Every line with something besides a comment, and its number."""
    with source.stream() as stream, TextIOWrapper(stream, encoding="utf-8") as lines:
        try:
            for number, line in enumerate(whole_lines(lines, source.name), start=1):
                text = line.strip()
                if "%" in text:
                    kept = _COMMENT.fullmatch(text)
                    text = kept[1].strip() if kept else text
                if text:
                    yield number, text
        except UnicodeDecodeError:
            raise not_utf8(source.name) from None


@contextmanager
def _in_line(source: Source, number: int) -> Iterator[None]:
    """Name the line of an escape that is no character."""
    try:
        yield
    except DataError:
        raise
    except ValueError as error:
        raise FileFormatError(source.name, str(error), line=number) from None


def _attribute(source: Source, number: int, line: str) -> Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    name, kind = (_bare(found[1]), found[2]) if found else ("", "")
    if name and kind.split(None, 1)[:1] and kind.split(None, 1)[0].lower() in _OTHERS:
        return Attribute(name)
    braces = _BRACES.fullmatch(kind)
    values = _cells(braces[1].strip(), _CELL) if braces else None
    if not name or not values or MISSING in values or len(set(values)) < len(values):
        problem = "the attribute must have a name and be {a, b, ...}, numeric, string or date"
        raise FileFormatError(source.name, problem, line=number)
    return Attribute(name, tuple(values))


def _bare(text: str) -> str:
    return unquoted(text) if text[0] in "'\"" else text.strip()


def _cells(text: str, cell: re.Pattern[str]) -> list[str] | None:
    """The values of a text; None if one is empty or a quote is in the wrong place."""
    values, place, end = list[str](), 0, ","
    while place < len(text) or end == ",":
        found = cell.match(text, place)
        if found is None:
            return None
        values.append(_bare(found[1]))
        place, end = found.end(), found[2]
    return values


def _dense(relation: Relation, number: int, line: str) -> dict[int, str]:
    width = len(relation.attributes)
    values = _cells(line, _CELL if _COMMA.match(line) or width == 1 else _WORD)
    if values is None or len(values) != width:
        found = f"found {len(values)}" if values else "and one is empty, or a quote is wrong"
        problem = f"expected {plural(width, 'value')}, {found}"
        raise relation.fault(problem, number, remedy="write ? for a missing value")
    return dict(enumerate(values))


def _sparse(relation: Relation, number: int, line: str) -> dict[int, str]:
    braces = _BRACES.fullmatch(line)
    text, place, values = braces[1].strip() if braces else "?", 0, dict[int, str]()
    end = "," if text else ""
    while place < len(text) or end == ",":
        found = _PAIR.match(text, place)
        if found is None or int(found[1]) in values:
            problem = "the row must be {number value, number value, ...}, each number once"
            raise relation.fault(problem, number)
        values[int(found[1])] = _bare(found[2])
        place, end = found.end(), found[3]
    if values and max(values) >= len(relation.attributes):
        problem = f"there is no attribute {max(values)}: they are numbered from 0 on"
        raise relation.fault(problem, number)
    return values
