"""ARFF, the format of Weka: a row per record, dense or sparse; nominal attributes are its items.

An attribute whose values say yes or no (`{t}`, `{t, f}`, `{0, 1}`) is an item; any other nominal
one gives items such as `colour=red`. Numbers, texts and dates are never made items by a guess."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import TextIOWrapper

from setveil.data.account import SETS
from setveil.data.records import Numbering
from setveil.data.tables.cells import PRESENCE, unquoted
from setveil.data.tables.columns import RECORD_NAMES, looks_long, named_column, plain_name
from setveil.data.tables.shapes import chosen_columns, without_record
from setveil.data.transactions import Bags, Transactions
from setveil.disk import whole_lines
from setveil.disk.texts import is_arff
from setveil.errors import DataError, FileFormatError, brief, brief_list
from setveil.io.formats.delimited import read_csv
from setveil.io.formats.fimi import used_labels
from setveil.io.formats.guess import CERTAIN, NO, Sample
from setveil.io.formats.reading import Reading, RecordBuilder, by_owner, no_record
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
    values = _split_cells(braces[1].strip(), _CELL) if braces else None
    if not name or not values or MISSING in values or len(set(values)) < len(values):
        problem = "the attribute must have a name and be {a, b, ...}, numeric, string or date"
        raise FileFormatError(source.name, problem, line=number)
    return Attribute(name, tuple(values))


def _bare(text: str) -> str:
    return unquoted(text) if text[0] in "'\"" else text.strip()


def _split_cells(text: str, cell: re.Pattern[str]) -> list[str] | None:
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
    values = _split_cells(line, _CELL if _COMMA.match(line) or width == 1 else _WORD)
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


Items = Mapping[int, Mapping[str, str | None]]
"""The item of each value of each attribute that is one; None if the value says no."""

_MANY = 20
"""A nominal attribute with more values, and more than a tenth of the records, may be an id."""


def recognize_arff(sample: Sample) -> int:
    """Certain if the first line that is no comment names a relation."""
    return CERTAIN if is_arff(sample.head) else NO


def read_arff(source: Source, reading: Reading) -> Transactions:
    """Read a relation: by its nominal attributes, or as the table that the options describe."""
    relation = read_head(source)
    reading.account.used |= {"onehot"}
    described = reading.item or reading.split or reading.count or (reading.onehot and reading.bags)
    # A long table if its attributes are called as its columns, and say more than yes.
    names = [each.name for each in relation.attributes if not each.says_yes_or_no]
    if described or (len(names) == len(relation.attributes) and looks_long(names)):
        return read_csv(_as_csv(relation), reading)
    return _read_nominal(relation, reading)


def write_arff(data: Transactions) -> Iterator[str]:
    """The lines of a sparse relation with an attribute for each item."""
    if isinstance(data, Bags):
        remedy = "choose a format with counts, such as csv"
        raise DataError("an ARFF file has no counts", remedy=remedy)
    places = {label: place for place, label in enumerate(sorted(used_labels(data)))}
    if "" in places:
        raise DataError("an attribute of an ARFF file needs a name", remedy="choose another format")
    yield "@relation setveil"
    yield from (f"@attribute {_quoted(label)} {{0,1}}" for label in places or ["none"])
    yield "@data"
    for record in data:
        numbers = sorted(map(places.__getitem__, record))
        yield "{" + ",".join(f"{number} 1" for number in numbers) + "}"


def _quoted(label: str) -> str:
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    text = "".join(escapes.get(letter, letter) for letter in label)
    ends = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
    return "'" + "".join(f"\\u{ord(each):04x}" if each in ends else each for each in text) + "'"


def _as_csv(relation: Relation) -> Source:
    """The same table as a CSV file; what is missing is empty."""
    target = relation.source.work / "relation"
    with target.open("w", encoding="utf-8", newline="") as stream:
        lines = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
        lines.writerow(relation.names)
        for row in relation.rows():
            cells = (
                row.values.get(at, each.default) for at, each in enumerate(relation.attributes)
            )
            lines.writerow("" if cell == MISSING else cell for cell in cells)
    return replace(relation.source, path=target, compression=None, suffix=".csv")


def _read_nominal(relation: Relation, reading: Reading) -> Transactions:
    source, names, owner = relation.source, relation.names, reading.record
    if owner is not None:
        owner = named_column(names, reading.role, owner, source.fault)
    chosen = _item_names(relation, reading, owner)
    used = [at for at, name in enumerate(names) if name in chosen]
    items = {at: relation.attributes[at].labels() for at in used}
    if not items:
        raise source.fault("no attribute has a list of values, so there are no items")
    found = _collected(relation, reading, items, None if owner is None else names.index(owner))
    layout = f"{SETS}, and its items are in {plural(len(items), 'attribute')}"
    kept = {names[at] for at in items}
    reading.account.note_columns(layout, {"record": owner}, [n for n in names if n not in kept])
    return found


def _item_names(relation: Relation, reading: Reading, owner: str | None) -> set[str]:
    """The attributes that are items: those that were named, or all that cannot identify people."""
    source, names = relation.source, relation.names
    if reading.items:
        reading.account.used |= {"item"}
        named, _ = chosen_columns(names, reading.items, source.fault)
        return _listed(relation, without_record(named, owner, source.fault))
    others = {each.name for each in _others(relation)} - {owner}
    if others and not reading.onehot:
        raise _question(source, [name for name in names if name in others])
    return set(names) - others - {owner}


def _listed(relation: Relation, chosen: Sequence[str]) -> set[str]:
    """The chosen attributes, if each has a list of values."""
    free = [each.name for each in relation.attributes if each.values is None]
    wrong = [name for name in free if name in chosen]
    if wrong:
        problem = f"{brief_list(wrong)} {'have' if len(wrong) > 1 else 'has'} no list of values"
        remedy = "name attributes that have one with {item}"
        raise relation.source.fault(problem, remedy=remedy)
    return set(chosen)


def _others(relation: Relation) -> Iterator[Attribute]:
    """The attributes that may identify people: they are no items by a guess."""
    most = _MANY
    if any(each.values is not None and len(each.values) > most for each in relation.attributes):
        most = max(_MANY, sum(1 for _ in relation.rows()) // 10)
    for each in relation.attributes:
        if _may_identify(each) or len(each.values or ()) > most:
            yield each


def _may_identify(attribute: Attribute) -> bool:
    """Whether it is a number, a text or a date, or called as the column of a record."""
    if attribute.values is None:
        return True
    return not attribute.says_yes_or_no and plain_name(attribute.name) in RECORD_NAMES


def _question(source: Source, names: Sequence[str]) -> DataError:
    several = len(names) > 1
    problem = f"{brief_list(names)} may identify people, so {'they are' if several else 'it is'}"
    remedy = "name the one that says whose row it is with {record}, or those that are items with "
    remedy += "{item}; {onehot=True} leaves others out"
    return source.fault(f"{problem} not read as items", remedy=remedy)


def _collected(
    relation: Relation, reading: Reading, items: Items, owner: int | None
) -> Transactions:
    """A record for each row, or for each value of the record attribute."""
    records, owners, numbers = RecordBuilder(reading), list[int](), Numbering[str]()
    dropped, left_out, rows = set(reading.drop_record), 0, 0
    given = {at: labels[relation.attributes[at].default] for at, labels in items.items()}
    defaults = [at for at, label in given.items() if label is not None]
    for row in relation.rows():
        rows += 1
        if owner is not None:
            value = row.values.get(owner, relation.attributes[owner].default)
            if value in dropped:
                left_out += 1
                continue
            if value in ("", MISSING):
                raise no_record(relation.source, rows)
            owners.append(numbers[value])
        if row.is_sparse:
            _refuse_yes(relation, defaults, row)
            for at in set(defaults).difference(row.values):
                row.values[at] = relation.attributes[at].default
        records.add(_items(relation, row, items))
    if owner is not None and dropped:
        reading.account.dropped(left_out, reading.drop_record)
    found = records.finish(bags=bool(reading.bags))
    return by_owner(found, owners, reading, relation.source, reading.record)


def _items(relation: Relation, row: Row, items: Items) -> Iterator[str]:
    for at, value in sorted(row.values.items()):
        if value == MISSING or at not in items:
            continue
        if value not in items[at]:
            name = brief(relation.attributes[at].name)
            raise relation.fault(f"{brief(value)} is not a declared value of {name}", row.line)
        label = items[at][value]
        if label is not None:
            yield label


def _refuse_yes(relation: Relation, defaults: Sequence[int], row: Row) -> None:
    """Refuse a sparse row that leaves out what says yes by default: few people mean that."""
    for at in defaults:
        attribute = relation.attributes[at]
        if attribute.says_yes_or_no and at not in row.values:
            problem = f"this row leaves out {brief(attribute.name)}, which means its first value"
            remedy = "if that is not meant, declare the value for no first"
            raise relation.fault(f"{problem}, and that says yes", row.line, remedy=remedy)
