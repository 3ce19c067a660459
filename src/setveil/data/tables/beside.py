"""Columns beside the sets of a table: which kind each has, and one value for each record."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from setveil.data.account import Account, bounded
from setveil.data.arrays import Int64s
from setveil.data.columns import MISSING, Column, Kind, Table, number_of
from setveil.data.people import People, Whose
from setveil.data.tables.columns import Fail, Wanted, named_column, named_person
from setveil.data.tables.frames import Frame, frame_of, owners_of
from setveil.data.tags import Tags
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import is_missing
from setveil.errors import DataError, ParameterError, brief
from setveil.words import plural

GONE = "missing"
"""The word of a row that has none."""
_BLANKS = {"", "na", "n/a", "nan", "nat", "null", "none", "?"}
"""Cells of columns of numbers and dates that say nothing."""
_NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})", re.ASCII)
_PADDED = re.compile(r"[+-]?0\d", re.ASCII)
"""How a code begins that a number would not."""
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)([T ].*)?", re.ASCII)


def column_of(name: str, cells: Sequence[object]) -> Column:
    """A column of cells of any type: of numbers if all are, of dates if all begin with one such as
    1931-02-28, and else of words.

    Numbers that begin with a zero, such as postal codes, are words. A cell that is empty is
    missing; in columns of numbers and dates also one such as `NA`.

    Example:
        >>> column_of("born", ["1931", 1940.0, None]).values
        ('1931', '1940', '')
        >>> column_of("place", ["01067", ""]).values
        ('01067', 'missing')
    """
    texts = [MISSING if is_missing(cell) else str(cell).strip() for cell in cells]
    kind = kind_of(texts)
    return _of_texts(name, kind, [_plain(text, kind) for text in texts])


def kind_of(texts: Sequence[str]) -> Kind:
    """The kind that all cells have that are not missing."""
    told = {text for text in texts if text.casefold() not in _BLANKS}
    for kind in ("number", "date"):
        if told and all(is_of(text, kind) for text in told):
            return kind
    return "word"


def is_of(text: str, kind: Kind) -> bool:
    """Whether a cell is a number, or a date."""
    if kind == "number":
        return _NUMBER.fullmatch(text) is not None and _PADDED.match(text) is None
    found = _DATE.fullmatch(text)
    try:
        return found is not None and date.fromisoformat(found[1]).year > 1
    except ValueError:
        return False


def as_words(column: Column) -> Column:
    """The same values as words."""
    if column.kind == "word":
        return column
    return _of_texts(column.name, "word", [text or GONE for text in column.texts])


def _plain(text: str, kind: Kind) -> str:
    """A cell as it is compared with others: 1931 for 1931.0, the date alone, `missing` for none."""
    if kind == "word":
        return text or GONE
    if text.casefold() in _BLANKS:
        return MISSING
    return text[:10] if kind == "date" else f"{Decimal(text).normalize() + 0:f}"


def _of_texts(name: str, kind: Kind, texts: Sequence[str]) -> Column:
    distinct = set(texts) - {MISSING}
    known = (
        sorted(distinct) if kind == "word" else sorted(distinct, key=lambda t: number_of(t, kind))
    )
    values = (*known, *((MISSING,) if MISSING in texts else ()))
    place = {value: number for number, value in enumerate(values)}
    return Column(name, kind, values, np.array([place[text] for text in texts], dtype=np.int32))


def of_records(
    name: str, cells: Sequence[object], owners: Int64s | None, fail: Fail = DataError
) -> Column:
    """A column of the records, from the cells of all rows and the record of each (-1 if the row was
    left out); without records, each row is one.

    Raises:
        DataError: if the rows of a record have several values.
    """
    column = column_of(name, cells)
    if owners is None:
        return column
    kept = np.flatnonzero(owners >= 0)
    rows, codes = owners[kept], column.codes[kept]
    first = np.empty(int(rows.max(initial=-1)) + 1, dtype=np.int32)
    first[rows[::-1]] = codes[::-1]
    wrong = len(np.unique(rows[first[rows] != codes]))
    if wrong:
        problem = f"the column {brief(name)} has several values for {plural(wrong, 'record')}"
        remedy = "only what is the same in all rows of a person can be published beside the items"
        raise fail(problem, remedy=remedy)
    return replace(column, codes=first)


def names_of(given: object) -> tuple[str, ...]:
    """The columns that a user named, one or several."""
    if given is None:
        return ()
    named = given if isinstance(given, list | tuple) else [given]
    if not named or not all(isinstance(one, str | int) for one in named):
        raise ParameterError("columns", given, "it must be a list of names of columns")
    return tuple(dict.fromkeys(map(str, named)))


def table_of_frame(thing: object, names: Sequence[str], record: object, **options: Any) -> Table:
    """The records of a table of pandas, polars or Arrow, with some of its columns beside them."""
    from setveil.data.tables.exchange import as_transactions

    if frame_of(thing) is None:
        allowed = "only tables have columns, and this object is none"
        raise ParameterError("columns", list(names), allowed)
    frame = frame_of(thing)
    assert frame is not None
    rest = frame
    for name in names:
        if name not in frame.names:
            raise ParameterError("columns", name, f"the table has no such column: {frame.names}")
        rest = rest.without(name)
    records = as_transactions(rest.table, record=record, **options)
    owners = _owners(rest, record, records)
    return Table.beside(records, [of_records(name, frame.column(name), owners) for name in names])


def table_with_people(
    thing: object, person: object, record: object, limit: tuple[int | None, str], **options: Any
) -> tuple[Transactions, Account]:
    """The records of a table of pandas, polars or Arrow, and an account that knows whose they are;
    at most some of each person, by a limit and a secret, if that is asked for."""
    from setveil.data.tables.exchange import as_transactions

    frame, account = frame_of(thing), Account()
    if frame is None:
        raise ParameterError("person", person, "only tables have columns, and this object is none")
    if record is None:
        records = as_transactions(thing, person=person, **options)
        account.people = People.alone(len(records))
        return records, account
    whole = frame.with_index()
    wanted = Wanted(record=str(record), person=str(person))
    name = named_person(whole.names, wanted)
    records = as_transactions(whole.without(name).table, record=record, **options)
    own = named_column(whole.names, "record", str(record))
    cells = (
        ("" if is_missing(cell) else str(cell) for cell in whole.column(n)) for n in (own, name)
    )
    whose = Whose.of_rows(zip(*cells, strict=True), name)
    account.columns = {"record": own, "person": name}
    return bounded(records, whose, account, *limit), account


def tag_people_of(thing: object, column: str, tags: Tags) -> None:
    """Collect the people of a table of pandas, polars or Arrow: the values of a column."""
    frame = frame_of(thing)
    if frame is None:
        raise ParameterError("person", column, "only tables have columns, and this object is none")
    whole = frame.with_index()
    cells = whole.column(named_column(whole.names, "person", column))
    tags.add(str(cell) for cell in cells if not is_missing(cell))


def _owners(frame: Frame, record: object, records: Transactions) -> Int64s | None:
    """The record of each row; None if each is one."""
    if record is None and len(frame) == len(records):
        return None
    from setveil.data.tables.columns import Wanted, find_columns

    name = str(record) if record is not None else find_columns(frame.names, Wanted()).record
    return owners_of(frame.with_index(name), name)
