"""What a table with a header holds: pairs of a record and an item, sets in one column, or one-hot.

Long tables have a row for each record and item. Here are the two other shapes, by a look at the
names of the columns and some rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from setveil.data.tables.cells import PRESENCE, WHOLE, guess_mark
from setveil.data.tables.columns import (
    ATTRIBUTE_NAMES,
    ITEM_NAMES,
    RECORD_NAMES,
    Fail,
    Wanted,
    choose_column,
    looks_long,
    named_column,
    not_obvious,
    plain_name,
)
from setveil.data.tables.ticks import is_own
from setveil.errors import DataError, brief

Certainty = Literal["sure", "ask", "note"]
_OURS = [["record", "item"], ["record", "item", "count"]]
_OURS += [[*each, "person"] for each in _OURS]


@dataclass(frozen=True)
class Glimpse:
    """The names of the columns of a table, and some of its rows."""

    names: Sequence[str]
    rows: Sequence[Sequence[object]]

    def column(self, name: str) -> list[object]:
        """The cells of a column in these rows; a row may be too short to have one."""
        place = self.names.index(name)
        return [row[place] for row in self.rows if len(row) > place]

    def repeats(self, name: str) -> bool:
        """Whether a value occurs twice in a column."""
        cells = [cell for cell in self.column(name) if cell not in ("", None)]
        return len(set(cells)) < len(cells)


class SetColumn(NamedTuple):
    """A column whose cells hold several items."""

    item: str
    mark: str
    certainty: Certainty
    """Whether to split at once, to ask the user, or to read a long table with a note."""

    def question(self, fail: Fail = DataError) -> DataError:
        """The error that proposes to split."""
        return fail(
            f"the cells of {brief(self.item)} seem to hold several items each",
            remedy=f"{{split={self.mark}}} splits them, {{split={WHOLE}}} keeps each as one item",
        )


def find_sets(glimpse: Glimpse, wanted: Wanted, fail: Fail = DataError) -> SetColumn | None:
    """The column with a set of items in each cell; None if there seems to be none."""
    if wanted.split == WHOLE or wanted.onehot:
        return None
    if wanted.split is not None:
        return SetColumn(
            _column_to_split(glimpse, wanted, wanted.split, fail), wanted.split, "sure"
        )
    if [plain_name(name) for name in glimpse.names] in _OURS:  # as setveil writes long tables
        return None
    marks = {name: guess_mark(_texts(glimpse, name)) for name in _candidates(glimpse, wanted, fail)}
    found = [(name, mark) for name, mark in marks.items() if mark is not None]
    sure = [(name, mark) for name, mark in found if mark.sure] or found
    if len(sure) != 1:
        return None
    name, (mark, is_sure) = sure[0]
    return SetColumn(name, mark, _certainty(glimpse, wanted, mark, is_sure))


def record_of(names: Sequence[str], wanted: Wanted, fail: Fail = DataError) -> str | None:
    """The record column of a table with a row per record: named, or the only one with such a name.

    Several columns with such names (a customer and an order) decide nothing."""
    if wanted.record is not None:
        return named_column(names, "record", wanted.record, fail)
    found = [name for name in names if plain_name(name) in RECORD_NAMES]
    return found[0] if len(found) == 1 else None


def is_one_hot(glimpse: Glimpse, wanted: Wanted) -> bool:
    """Whether a table surely has a column for each item.

    At least two columns say yes or no in every row, and no more columns say something else, apart
    from one that names the record."""
    if wanted.onehot is not None or wanted.names_items or wanted.count or wanted.split:
        return bool(wanted.onehot)
    width = len(glimpse.names)
    even = all(len(row) >= width and not any(row[width:]) for row in glimpse.rows)
    names = [name for name in glimpse.names if name]
    named = len(set(names)) == len(names) and any(map(_has_letter, names))
    if not glimpse.rows or not even or not named or looks_long(names):
        return False
    items = item_columns(glimpse, wanted)
    others = [name for name in names if name not in items and plain_name(name) not in RECORD_NAMES]
    return len(items) >= max(2, len(others)) and _says_both(glimpse, items)


def item_columns(glimpse: Glimpse, wanted: Wanted) -> list[str]:
    """The columns of a one-hot table that are items: those that say yes or no in these rows, or
    nothing but the name of their own option."""
    counted = bool(wanted.bags and wanted.onehot)
    record = record_of(glimpse.names, wanted)
    return [
        name
        for name in glimpse.names
        if name and name != record and _may_be_item(glimpse, name, counted)
    ]


def _may_be_item(glimpse: Glimpse, name: str, counted: bool) -> bool:
    if plain_name(name) in RECORD_NAMES | ATTRIBUTE_NAMES and counted:
        return False
    cells = glimpse.column(name)
    if counted:
        return all(cell in PRESENCE or str(cell).strip().isdecimal() for cell in cells)
    others = {cell for cell in map(_stripped, cells) if cell not in PRESENCE}
    return not others or (len(others) == 1 and is_own(name, str(*others)))


def _stripped(cell: object) -> object:
    return cell.strip() if isinstance(cell, str) else cell


def _says_both(glimpse: Glimpse, items: Sequence[str]) -> bool:
    """Whether some cells say yes and some say no, in more than one row if only by an x."""
    said = {cell for name in items for cell in glimpse.column(name)}
    if not said.intersection(("", None)) or len(glimpse.rows) > 1:
        return {PRESENCE.get(_stripped(cell), True) for cell in said} == {True, False}
    return False


def _has_letter(name: str) -> bool:
    return any(letter.isalpha() for letter in name) and name not in PRESENCE


def _candidates(glimpse: Glimpse, wanted: Wanted, fail: Fail) -> list[str]:
    """The columns that may hold sets of items."""
    if wanted.item is not None:
        return [named_column(glimpse.names, "item", wanted.item, fail)]
    known = [name for name in glimpse.names if plain_name(name) in ITEM_NAMES]
    return known or [
        name
        for name in glimpse.names
        if name and plain_name(name) not in RECORD_NAMES | ATTRIBUTE_NAMES
    ]


def _texts(glimpse: Glimpse, name: str) -> list[str]:
    return [cell for cell in glimpse.column(name) if isinstance(cell, str)]


def _certainty(glimpse: Glimpse, wanted: Wanted, mark: str, is_sure: bool) -> Certainty:
    """If a record has several rows, a cell may also be one item of a long table."""
    record = record_of(glimpse.names, wanted)
    if mark != "list" and record is not None and glimpse.repeats(record):
        return "note"
    return "sure" if is_sure else "ask"


def _column_to_split(glimpse: Glimpse, wanted: Wanted, split: str, fail: Fail) -> str:
    """The column to split: named, with a known name, or the only one with the mark."""
    found = choose_column(glimpse.names, "item", wanted.item, ITEM_NAMES, fail)
    if found is not None:
        return found
    marked = [
        name
        for name in _candidates(glimpse, wanted, fail)
        if any(
            split in text or split == "list" == getattr(guess_mark([text]), "mark", "")
            for text in _texts(glimpse, name)
        )
    ]
    if len(marked) != 1:
        raise not_obvious("item", glimpse.names, fail)
    return marked[0]
