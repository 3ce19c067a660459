"""Whose a record is: a column nested in another, such as the baskets of customers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations
from pathlib import Path
from typing import Any, NamedTuple

from setveil.data.account import Account
from setveil.data.people import PER_PERSON, dropped
from setveil.data.tables.columns import ATTRIBUTE_NAMES, RECORD_NAMES, plain_name
from setveil.data.tables.frames import record_choice
from setveil.errors import DataError, Note, SetveilError, brief
from setveil.io.files import read_with_account
from setveil.words import plural

MOST_TRIED = 3  # columns, each of which is read
MOST_EACH = 20
"""So many records of each are several of a person; of a column that is not called like one, more
are rather the records of a shop or a year."""
_HOW = ("format", "header", "sheet", "encoding", "memory")
_PERSONS = (
    "customer",
    "client",
    "patient",
    "user",
    "member",
    "person",
    "household",
    "mail",
    "name",
)
_ENDS = ("id", "no", "nr", "key", "number")


class Nested(NamedTuple):
    """Each value of the column `inner` belongs to one of the column `outer`."""

    inner: str
    outer: str
    many: int
    few: int

    @property
    def sentence(self) -> str:
        """What was found, with numbers."""
        inner, outer = brief(self.inner), brief(self.outer)
        sizes = f"{outer} has {self.few:,} different values and {inner} has {self.many:,}"
        return f"{sizes}, and each {inner} belongs to just one {outer}"

    @property
    def ways(self) -> str:
        """What can be done about it."""
        inner, outer = brief(self.inner), brief(self.outer)
        one = f"protect each {outer} as one record with {record_choice(self.outer, 'person')}, or"
        both = f"to publish each {inner} and protect each {outer}, give both and {{{PER_PERSON}}}"
        return f"{one} each {inner} alone with {record_choice(self.inner)}; {both}"


def nested_note(data: object, reading: Mapping[str, Any], account: Account | None) -> list[str]:
    """A note if a person may have several records, by another column of the file."""
    if account is None or not isinstance(data, str | Path) or str(data) == "-":
        return []
    if account.holdings:
        return _several_note(account.holdings)
    inner, others = account.columns.get("record"), [*filter(_may_own, account.ignored)]
    others.sort(key=lambda name: plain_name(name) not in RECORD_NAMES)
    pairs = ((inner, outer) for outer in others) if inner else _pairs(others)
    found = _first(data, reading, pairs)
    if found is None:
        return []
    text = f"The column {found.sentence}, so a person may have several records."
    return [Note(f"{text} Whom to protect is your choice: {found.ways}.")]


def _several_note(holdings: Mapping[int, int]) -> list[str]:
    """A note on how many records a person has, and what it costs to publish fewer."""
    if max(holdings) == 1:
        return []
    people, most = sum(holdings.values()), max(holdings)
    text = f"{plural(people, 'person', 'people')}, with up to {plural(most, 'record')} each. "
    text += f"{{{PER_PERSON}}} says how many of each may be published, and people are protected: "
    return [Note(f"{text}{', '.join(map(str, dropped(holdings)))}.")]


def explained(error: DataError, data: object, reading: Mapping[str, Any]) -> DataError:
    """The same error; if several columns could be the record, with how they are related."""
    found = _first(data, reading, _pairs(error.owners)) if str(data) != "-" else None
    if found is not None:
        error.problem, error.remedy = f"{error.problem}: {found.sentence}", found.ways
    return error


def _pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    return permutations(
        [name for name in names if plain_name(name) in RECORD_NAMES][:MOST_TRIED], 2
    )


def _may_own(name: str) -> bool:
    """Whether a column may say who somebody is, by its name."""
    plain = plain_name(name)
    if plain in ATTRIBUTE_NAMES:
        return False
    return plain in RECORD_NAMES or plain.endswith(_ENDS) or any(map(plain.__contains__, _PERSONS))


def _first(
    data: object, reading: Mapping[str, Any], pairs: Iterator[tuple[str, str]]
) -> Nested | None:
    found = (_nested(data, reading, *pair) for pair in islice(pairs, 2 * MOST_TRIED))
    return next(filter(None, found), None)


def _nested(data: Any, reading: Mapping[str, Any], inner: str, outer: str) -> Nested | None:
    """The relation of two columns: read as a table of owners and what they own."""
    how = {name: reading[name] for name in _HOW if name in reading}
    how |= {"record": outer, "item": inner, "split": "none", "bags": False, "onehot": False}
    try:
        owned, _ = read_with_account(data, **how, drop_record="")
    except SetveilError:
        return None
    many, few = len(owned.vocabulary), len(owned)
    is_person = plain_name(outer) in RECORD_NAMES or many <= MOST_EACH * few
    is_nested = few < many and bool((owned.supports() == 1).all())
    return Nested(inner, outer, many, few) if is_nested and is_person else None
