"""Which column is the record, which the item and which the count of a long table: by option, or guessed when obvious."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from setveil.errors import DataError

_RECORDS = """
    record recordid rid id customer customerid custid user userid person personid patient patientid member memberid visitor visitorid
    transaction transactionid transid tid trans basket basketid order orderid orderno invoice invoiceid invoiceno session sessionid
    case caseid anonid uid
"""
_ITEMS = """
    item itemid itemname items product productid productname products term terms code codes diagnosis diagnosiscode article articleid
    sku stockcode word tag url page label
"""
RECORD_NAMES = frozenset(_RECORDS.split())
ITEM_NAMES = frozenset(_ITEMS.split())
COUNT_NAMES = frozenset({"count", "counts", "quantity", "qty", "frequency", "freq"})
TIME_NAMES = frozenset({"time", "date", "datetime", "timestamp", "day"})

Fail = Callable[[str], DataError]
"""Makes the error for a problem; a reader of files adds the name of the file."""


@dataclass(frozen=True)
class Columns:
    """Columns by the names they have in the table."""

    record: str
    item: str
    count: str | None = None


@dataclass(frozen=True)
class Wanted:
    """What the user said about the columns."""

    record: str | None = None
    item: str | None = None
    count: str | None = None
    bags: bool | None = None

    @property
    def names_columns(self) -> bool:
        return self.record is not None or self.item is not None


def plain_name(name: str) -> str:
    """A column name without case, blanks and punctuation, as the tables above have it."""
    return re.sub(r"[\W_]+", "", name.casefold())


def looks_long(names: Sequence[str]) -> bool:
    """Whether these are the columns of a long table beyond doubt."""
    plain = [plain_name(name) for name in names]
    found = sum(bool(table.intersection(plain)) for table in (RECORD_NAMES, ITEM_NAMES))
    return len(names) >= 2 and (found == 2 or (found == 1 and len(names) == 2))


def find_columns(names: Sequence[str], wanted: Wanted, fail: Fail = DataError) -> Columns:
    """Choose the columns of a long table, or say why it cannot be done."""
    record = choose_column(names, "record", wanted.record, RECORD_NAMES, fail)
    item = choose_column(names, "item", wanted.item, ITEM_NAMES, fail)
    if len(names) == 2 and (record is None) != (item is None):
        other = next(
            (
                name
                for name in names
                if name not in (record, item) and plain_name(name) not in COUNT_NAMES
            ),
            None,
        )
        record, item = record or other, item or other
    if record is None or item is None:
        missing = "record" if record is None else "item"
        raise fail(
            f"no column is obviously the {missing}: name it with {missing}=..., one of {listed(names)}"
        )
    if record == item:
        raise fail(f"the column {record!r} cannot be both the record and the item")
    counting = wanted.bags is not False or wanted.count is not None
    return Columns(
        record,
        item,
        choose_column(names, "count", wanted.count, COUNT_NAMES, fail) if counting else None,
    )


def find_list_column(lists: Sequence[str], wanted: Wanted, fail: Fail = DataError) -> str | None:
    """Choose the column that holds a list of items in each row; None when the table has none."""
    if wanted.item is not None:
        return next((name for name in lists if plain_name(name) == plain_name(wanted.item)), None)
    likely = [name for name in lists if plain_name(name) in ITEM_NAMES] or [
        name for name in lists if plain_name(name) not in COUNT_NAMES
    ]
    if len(likely) > 1:
        raise fail(f"the lists {listed(likely)} may each be the items: choose with item=...")
    return likely[0] if likely else None


def listed(names: Sequence[str]) -> str:
    """Names for a message; of many the first eight."""
    shown = ", ".join(repr(name) for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def choose_column(
    names: Sequence[str],
    role: str,
    given: str | None,
    known: frozenset[str],
    fail: Fail = DataError,
) -> str | None:
    """The column of a role: the one that the user named, else the only one with a known name; None when there is none."""
    if given is not None:
        return _by_option(names, role, given, fail)
    found = [name for name in names if plain_name(name) in known]
    if len(found) > 1:
        raise fail(f"the columns {listed(found)} may each be the {role}: choose with {role}=...")
    return found[0] if found else None


def _by_option(names: Sequence[str], role: str, given: str, fail: Fail) -> str:
    same = [name for name in names if name == given] or [
        name for name in names if plain_name(name) == plain_name(given)
    ]
    if len(same) != 1:
        problem = "there is no column" if not same else "there are several columns"
        raise fail(f"{problem} {given!r} for the {role}: the columns are {listed(names)}")
    return same[0]
