"""Which columns of a long table are the record, the item and the count: by option, or guessed."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from setveil.errors import DataError, brief, brief_list


def numbered(words: str) -> frozenset[str]:
    """These words alone, and with what says that they are numbered, as in `MemberNo`."""
    ends = ("", "id", "no", "nr", "number")
    return frozenset(word + end for word in words.split() for end in ends)


_OWNERS = """
    record customer cust user person patient member visitor transaction trans basket order invoice
    session case stay admission encounter episode
"""
_ITEMS = """
    item itemid itemname items product productid productname products term terms code codes
    diagnosis diagnosiscode article articleid sku stockcode word tag url page label
"""
RECORD_NAMES = numbered(_OWNERS) | {"id", "rid", "tid", "uid", "anonid"}
ITEM_NAMES = frozenset(_ITEMS.split())
COUNT_NAMES = frozenset({"count", "counts", "quantity", "qty", "frequency", "freq"})
TIME_NAMES = frozenset({"time", "date", "datetime", "timestamp", "day"})
_ATTRIBUTES = """
    age birthday birthdate birthyear yearofbirth sex gender country region state city town zip
    zipcode postcode postalcode year month week hour price fee amount total cost discount weight
    height income salary status type category
"""
ATTRIBUTE_NAMES = TIME_NAMES | COUNT_NAMES | frozenset(_ATTRIBUTES.split())
"""Columns that say something about a person or a row, and never who the person is."""

_NUMBERED = re.compile(r" \(column \d+\)\Z")


class Fail(Protocol):
    """Makes the error for a problem; a reader of files adds the name of the file."""

    def __call__(self, problem: str, *, remedy: str = "") -> DataError: ...


@dataclass(frozen=True)
class Columns:
    """Columns by the names they have in the table."""

    record: str
    item: str
    count: str | None = None
    person: str | None = None
    """Which person a record belongs to; it is counted by, and never published."""

    @property
    def roles(self) -> dict[str, str]:
        """The column of each role that has one."""
        found = {"record": self.record, "item": self.item}
        others = {"count": self.count, "person": self.person}
        return found | {role: name for role, name in others.items() if name is not None}


@dataclass(frozen=True)
class Wanted:
    """What the user said about the columns."""

    record: str | None = None
    item: str | None = None
    count: str | None = None
    person: str | None = None
    """Of records that stay apart; see `of_person`."""
    role: str = "record"
    """What the column of the record was called: the person, if each is one record."""
    bags: bool | None = None
    split: str | None = None
    """What separates the items within a cell; see `setveil.data.tables.cells`."""
    onehot: bool | None = None
    items: tuple[str, ...] = ()
    """Words that name several columns of items, each an option; see `data.tables.shapes`."""

    @property
    def names_columns(self) -> bool:
        return self.record is not None or self.names_items

    @property
    def names_items(self) -> bool:
        return self.item is not None or bool(self.items)


Chosen = TypeVar("Chosen", bound=Wanted)


def of_person(record: str | None, person: str | None) -> dict[str, str]:
    """What is wanted of the columns of the record and the person: without a record, each person is
    one.

    Example:
        >>> of_person(None, "customer")
        {'record': 'customer', 'role': 'person'}
    """
    if record is None and person is not None:
        return {"record": person, "role": "person"}
    given = {"record": record, "person": person}
    return {role: name for role, name in given.items() if name is not None}


def plain_name(name: str) -> str:
    """A column name without case, blanks and punctuation, as in the tables above; columns of the
    same name are alike."""
    return re.sub(r"[\W_]+", "", _NUMBERED.sub("", name).casefold())


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names of columns, with the number of the column where several have the same name.

    Example:
        >>> distinct_names(["id", "Other", "R", "Other", "", ""])
        ['id', 'Other (column 2)', 'R', 'Other (column 4)', '', '']
    """
    often = Counter(names)
    return [
        f"{name} (column {place})" if name and often[name] > 1 else name
        for place, name in enumerate(names, start=1)
    ]


def looks_long(names: Sequence[str]) -> bool:
    """Whether these are clearly the columns of a long table."""
    plain = [plain_name(name) for name in names]
    found = sum(bool(table.intersection(plain)) for table in (RECORD_NAMES, ITEM_NAMES))
    return len(names) >= 2 and (found == 2 or (found == 1 and len(names) == 2))


def find_columns(names: Sequence[str], wanted: Wanted, fail: Fail = DataError) -> Columns:
    """Choose the columns of a long table; raise an error if they are not obvious.

    If the user did not name the column of the person, it is known only if the table is as `setveil
    querylog` writes it."""
    person = _person(names, wanted, fail)
    if person is not None:
        rest = [name for name in names if name != person]
        return replace(find_columns(rest, replace(wanted, person=None), fail), person=person)
    record = choose_column(names, wanted.role, wanted.record, RECORD_NAMES, fail)
    item = choose_column(names, "item", wanted.item, ITEM_NAMES, fail)
    if len(names) == 2 and (record is None) != (item is None):
        rest = [name for name in names if name not in (record, item)]
        other = next((name for name in rest if plain_name(name) not in ATTRIBUTE_NAMES), None)
        record, item = record or other, item or other
    if record is None or item is None:
        raise not_obvious("record" if record is None else "item", names, fail)
    if record == item:
        raise fail(f"the column {brief(record)} cannot be both the record and the item")
    if wanted.bags is False and wanted.count is None:
        return Columns(record, item)
    return Columns(record, item, choose_column(names, "count", wanted.count, COUNT_NAMES, fail))


def named_person(names: Sequence[str], wanted: Wanted, fail: Fail = DataError) -> str:
    """The column of the person that the user named, beside that of the record."""
    person = named_column(names, "person", wanted.person or "", fail)
    if person == named_column(names, "record", wanted.record or "", fail):
        remedy = "leave out {record}: then the rows of each person are one record"
        raise fail(
            f"the column {brief(person)} cannot be both the person and the record", remedy=remedy
        )
    return person


def _person(names: Sequence[str], wanted: Wanted, fail: Fail) -> str | None:
    """The person of a table with a record, an item, perhaps a count, and a person."""
    if wanted.person is not None:
        return named_person(names, wanted, fail)
    plain = [plain_name(name) for name in names]
    if sorted(plain) not in (["item", "person", "record"], ["count", "item", "person", "record"]):
        return None
    place = plain.index("person")
    asked = {plain_name(each) for each in (wanted.record, wanted.item, wanted.count) if each}
    return None if asked & {"person", str(place + 1)} else names[place]


def find_list_column(lists: Sequence[str], wanted: Wanted, fail: Fail = DataError) -> str | None:
    """Choose the column with a list of items in each row; None if the table has no such column."""
    if wanted.item is not None:
        return next((name for name in lists if plain_name(name) == plain_name(wanted.item)), None)
    likely = [name for name in lists if plain_name(name) in ITEM_NAMES] or [
        name for name in lists if plain_name(name) not in COUNT_NAMES
    ]
    if len(likely) > 1:
        problem = f"the list columns {brief_list(likely)} could each be the items"
        raise fail(problem, remedy="choose one with {item}")
    return likely[0] if likely else None


def choose_column(
    names: Sequence[str],
    role: str,
    given: str | None,
    known: frozenset[str],
    fail: Fail = DataError,
) -> str | None:
    """The column of a role: the one the user named, else the only one with a known name, or None.

    `role` is also the parameter that names the column."""
    if given is not None:
        return named_column(names, role, given, fail)
    found = [name for name in names if plain_name(name) in known]
    if len(found) > 1:
        problem = f"the columns {brief_list(found)} could each be the {role}"
        error = fail(problem, remedy=f"choose one with {{{role}}}")
        error.owners = tuple(found) if role == "record" else ()
        raise error
    return found[0] if found else None


def not_obvious(role: str, names: Sequence[str], fail: Fail = DataError) -> DataError:
    """The error for a role that no column has obviously."""
    problem = f"no column is obviously the {role} (the columns are {brief_list(names)})"
    return fail(problem, remedy=f"name it with {{{role}}}")


def named_column(names: Sequence[str], role: str, given: str, fail: Fail = DataError) -> str:
    """The column that a user named: by its name, or if none has that name by its number from 1."""
    same = [name for name in names if name == given] or [
        name for name in names if plain_name(name) == plain_name(given)
    ]
    if not same and given.isdecimal() and 1 <= int(given) <= len(names):
        return names[int(given) - 1]
    if len(same) != 1:
        problem = "there is no column" if not same else "there are several columns"
        raise fail(f"{problem} {brief(given)} for the {role}: the columns are {brief_list(names)}")
    return same[0]
