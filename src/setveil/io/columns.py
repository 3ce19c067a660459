"""Which column is the record, which the item and which the count of a long table: by option, or guessed when obvious."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from setveil.errors import FileFormatError
from setveil.io.reading import Reading

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


@dataclass(frozen=True)
class Columns:
    """The columns to use, by the names they have in the file."""

    record: str
    item: str
    count: str | None = None


def plain_name(name: str) -> str:
    """A column name without case, blanks and punctuation, as the tables above have it."""
    return re.sub(r"[\W_]+", "", name.casefold())


def looks_long(names: Sequence[str]) -> bool:
    """Whether these are the columns of a long table beyond doubt."""
    plain = [plain_name(name) for name in names]
    found = sum(bool(table.intersection(plain)) for table in (RECORD_NAMES, ITEM_NAMES))
    return len(names) >= 2 and (found == 2 or (found == 1 and len(names) == 2))


def find_columns(source: str, names: Sequence[str], reading: Reading) -> Columns:
    """Choose the columns of a long table, or say why it cannot be done."""
    record = _chosen(source, names, "record", reading.record, RECORD_NAMES)
    item = _chosen(source, names, "item", reading.item, ITEM_NAMES)
    if len(names) == 2 and (record is None) != (item is None):
        other = next((name for name in names if name not in (record, item)), None)
        record, item = record or other, item or other
    if record is None or item is None:
        missing = "record" if record is None else "item"
        raise FileFormatError(source, f"no column is obviously the {missing}: name it with {missing}=..., one of {_listed(names)}")
    if record == item:
        raise FileFormatError(source, f"the column {record!r} cannot be both the record and the item")
    wanted = reading.bags is not False or reading.count is not None
    return Columns(record, item, _chosen(source, names, "count", reading.count, COUNT_NAMES) if wanted else None)


def _chosen(source: str, names: Sequence[str], role: str, given: str | None, known: frozenset[str]) -> str | None:
    if given is not None:
        return _by_option(source, names, role, given)
    found = [name for name in names if plain_name(name) in known]
    if len(found) > 1:
        raise FileFormatError(source, f"the columns {_listed(found)} may each be the {role}: choose with {role}=...")
    return found[0] if found else None


def _by_option(source: str, names: Sequence[str], role: str, given: str) -> str:
    same = [name for name in names if name == given] or [name for name in names if plain_name(name) == plain_name(given)]
    if len(same) != 1:
        problem = "there is no column" if not same else "there are several columns"
        raise FileFormatError(source, f"{problem} {given!r} for the {role}: the columns are {_listed(names)}")
    return same[0]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
