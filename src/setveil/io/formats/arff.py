"""ARFF, the format of Weka: a row per record, dense or sparse; nominal attributes are its items.

An attribute whose values say yes or no (`{t}`, `{t, f}`, `{0, 1}`) is an item; any other nominal
one gives items such as `colour=red`. Numbers, texts and dates are never made items by a guess."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from setveil.data.account import SETS
from setveil.data.records import Numbering
from setveil.data.tables.columns import RECORD_NAMES, looks_long, named_column, plain_name
from setveil.data.tables.owners import joined
from setveil.data.transactions import Bags, Transactions
from setveil.disk.kinds import is_arff
from setveil.errors import DataError, brief, brief_list
from setveil.io.formats.arfftext import MISSING, Attribute, Relation, Row, read_head
from setveil.io.formats.delimited import read_csv
from setveil.io.formats.fimi import used_labels
from setveil.io.formats.guess import CERTAIN, NO, Sample
from setveil.io.formats.reading import Reading, RecordBuilder, no_record, refuse_joining
from setveil.io.source.source import Source
from setveil.words import plural

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
    if described or _is_long(relation):
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


def _is_long(relation: Relation) -> bool:
    """Whether its attributes are called as the columns of a long table, and say more than yes."""
    names = [each.name for each in relation.attributes if not each.says_yes_or_no]
    return len(names) == len(relation.attributes) and looks_long(names)


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
        owner = named_column(names, "record", owner, source.fault)
    others = {each.name for each in relation.attributes if _may_identify(each)} - {owner}
    if others and not reading.onehot:
        raise _question(source, [name for name in names if name in others])
    items = {
        at: each.labels()
        for at, each in enumerate(relation.attributes)
        if each.name != owner and each.name not in others
    }
    if not items:
        raise source.fault("no attribute has a list of values, so there are no items")
    found = _collected(relation, reading, items, None if owner is None else names.index(owner))
    layout = f"{SETS}, and {plural(len(items), 'attribute')} are items"
    kept = {names[at] for at in items}
    reading.account.note_columns(layout, {"record": owner}, [n for n in names if n not in kept])
    return found


def _may_identify(attribute: Attribute) -> bool:
    """Whether it is a number, a text or a date, or called as the column of a record."""
    if attribute.values is None:
        return True
    return not attribute.says_yes_or_no and plain_name(attribute.name) in RECORD_NAMES


def _question(source: Source, names: Sequence[str]) -> DataError:
    several = len(names) > 1
    problem = f"{brief_list(names)} may identify people, so {'they are' if several else 'it is'}"
    remedy = "name the one that says whose row it is with {record}; {onehot=True} leaves others out"
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
    _ask_about_many(relation, reading, items, rows)
    if owner is not None and dropped:
        reading.account.dropped(left_out, reading.drop_record)
    found = records.finish(bags=bool(reading.bags))
    if owner is None or len(numbers) == len(owners):
        return found
    refuse_joining(reading, relation.source)
    return joined(found, np.asarray(owners, dtype=np.int64))


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


def _ask_about_many(relation: Relation, reading: Reading, items: Items, rows: int) -> None:
    """Ask about nominal attributes with nearly as many values as there are records."""
    attributes = [relation.attributes[at] for at in items]
    many = [each.name for each in attributes if len(each.values or ()) > max(_MANY, rows / 10)]
    if many:
        raise _question(relation.source, many)
