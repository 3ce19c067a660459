"""What a table with a header holds: pairs of a record and an item, sets in one column, or ticks.

Long tables have a row for each record and item. Here are the other shapes, by a look at the names
of the columns and some rows. In a table of ticks each column is an option, and a cell says whether
it was chosen: by a yes (1, true, x) or by the option's own name. Other columns among them hold free
text, which may name people. So a text that somebody wrote becomes part of an item only if the user
named its column, or if it is the only one of its column and several people have it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from re import compile, escape
from typing import Any, Literal, NamedTuple

from setveil.data.tables.cells import LIST, PRESENCE, WHOLE, Mark, are_sets, guess_mark
from setveil.data.tables.columns import (
    ATTRIBUTE_NAMES,
    ITEM_NAMES,
    RECORD_NAMES,
    Chosen,
    Fail,
    Wanted,
    choose_column,
    looks_long,
    named_column,
    not_obvious,
    plain_name,
)
from setveil.errors import DataError, Note, brief, brief_list

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
    name, mark = sure[0]
    return SetColumn(name, mark.mark, _certainty(glimpse, wanted, name, mark))


def record_of(names: Sequence[str], wanted: Wanted, fail: Fail = DataError) -> str | None:
    """The record column of a table with a row per record: named, or the only one with such a name.

    Several columns with such names (a customer and an order) decide nothing."""
    if wanted.record is not None:
        return named_column(names, wanted.role, wanted.record, fail)
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


def is_counted(glimpse: Glimpse, name: str) -> bool:
    """Whether a column seems to say how often each record has an item: most rows say nothing or 0,
    and the others small whole numbers."""
    cells = [str("" if cell is None else cell).strip() for cell in glimpse.column(name)]
    filled = [cell for cell in cells if cell not in ("", "0")]
    is_known = plain_name(name) in RECORD_NAMES | ATTRIBUTE_NAMES
    few = 0 < 2 * len(filled) <= len(cells)
    return not is_known and few and all(cell.isdecimal() and len(cell) < 3 for cell in filled)


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


def _certainty(glimpse: Glimpse, wanted: Wanted, name: str, found: Mark) -> Certainty:
    """If a record has several rows, a cell may also be one item of a long table."""
    record = record_of(glimpse.names, wanted)
    repeats = record is not None and glimpse.repeats(record)
    if repeats and found.mark != LIST and not are_sets(_texts(glimpse, name), found.mark):
        return "note"
    return "sure" if found.sure else "ask"


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


_RANGE = compile(r"([1-9]\d*)\s*-\s*([1-9]\d*)")
_LEAST = 3
"""A text that so many records have in a column, and no other, is an option."""


def item_words(item: object) -> dict[str, Any]:
    """What the user gave for `item`, as fields of `Wanted`: one column, or words for several."""
    if item is None:
        return {}
    words = tuple(map(str, item)) if isinstance(item, list | tuple | set) else (str(item),)
    if len(words) == 1 and not _RANGE.fullmatch(words[0]) and "*" not in words[0]:
        return {"item": words[0]}
    return {"items": words}


def with_names(wanted: Chosen, names: Sequence[str]) -> Chosen:
    """The same, where a word that is the name of a column means that column."""
    if len(wanted.items) == 1 and wanted.items[0] in names:
        return replace(wanted, item=wanted.items[0], items=())
    return wanted


def is_own(name: str, cell: str) -> bool:
    """Whether a cell repeats the name of its column, or the option in it.

    Example:
        >>> is_own("Which do you use? [Excel]", "Excel"), is_own("Other", "my own tool")
        (True, False)
    """
    return plain_name(cell) != "" and plain_name(cell) in plain_name(name)


@dataclass(frozen=True)
class Ticks:
    """Columns of options, and what a chosen one is called."""

    columns: tuple[str, ...]
    """The columns that are options."""
    left_out: tuple[str, ...] = ()
    """Columns that were asked for, but hold texts rather than ticks."""
    are_counts: bool = False
    """Whether whole numbers are all that these hold."""

    def items(self, row: Sequence[object]) -> Iterator[str]:
        """The items of the cells of these columns in a row."""
        for name, cell in zip(self.columns, map(_text, row), strict=True):
            if cell in PRESENCE:
                if PRESENCE[cell]:
                    yield name
            else:
                yield name if is_own(name, cell) else f"{name}: {cell}"

    def refusal(self, fail: Fail = DataError) -> DataError:
        """The error if all columns hold texts."""
        if self.are_counts:
            problem = f"the columns {brief_list(self.left_out)} hold numbers rather than ticks"
            return fail(problem, remedy="if they are counts, add {onehot=True} and {bags=True}")
        problem = f"the columns {brief_list(self.left_out)} hold texts rather than ticks"
        remedy = "{split=none} makes each cell an item; or name a column alone with {item}"
        return fail(problem, remedy=remedy)

    @property
    def notes(self) -> list[str]:
        """What was left out, for the user."""
        if not self.left_out:
            return []
        text = f"Left out, because they hold texts rather than ticks: {brief_list(self.left_out)}."
        return [Note(f"{text} To use such a column, name it alone with {{item}}.")]


def chosen_columns(
    names: Sequence[str], words: Sequence[str], fail: Fail = DataError
) -> tuple[list[str], set[str]]:
    """The columns that the words name, in the order of the table, and those that have a word of
    their own.

    A word is a name, a number from 1, a range such as `12-30`, or a name in which `*` represents
    any text. Columns without a name are in no range.

    Example:
        >>> chosen_columns(["id", "Uses R", "Uses SQL", "Age"], ["uses *", "4"])
        (['Uses R', 'Uses SQL', 'Age'], {'Age'})
    """
    found, alone = set[str](), set[str]()
    for word in words:
        several = _RANGE.fullmatch(word)
        if word not in names and several:
            first, last = int(several[1]), int(several[2])
            if not first <= last <= len(names):
                raise fail(f"there are no columns {first} to {last}: the table has {len(names):,}")
            found |= set(filter(None, names[first - 1 : last]))
        elif word not in names and "*" in word:
            # Only `*` is special: names of questions are full of `?` and brackets.
            pattern = compile("(?is:" + ".*".join(map(escape, word.split("*"))) + ")")
            matching = {name for name in names if name and pattern.fullmatch(name)}
            if not matching:
                raise fail(f"no column matches {brief(word)}: the columns are {brief_list(names)}")
            found |= matching
        else:
            alone.add(named_column(names, "item", word, fail))
    return [name for name in names if name in found | alone], alone


def without_record(columns: Sequence[str], record: str | None, fail: Fail = DataError) -> list[str]:
    """The columns of items that the user named, without the one that says whose row it is."""
    found = [name for name in columns if name != record]
    if not found:
        remedy = "name others with {item}, or say which row names the columns with {header}"
        problem = (
            "no column of items is left: those that were named have no name, or are the record"
        )
        raise fail(problem, remedy=remedy)
    return found


def find_ticks(
    columns: Sequence[str],
    alone: Iterable[str],
    rows: Iterable[Sequence[object]],
    *,
    only_own: bool = False,
) -> Ticks:
    """Which of these columns are options, by all their rows.

    Args:
        columns: The columns, in the order of the cells.
        alone: Those whose every text is an option: the user named them.
        rows: The cells of each row.
        only_own: Whether no other text than the option's own name may be an item.
    """
    texts = [Counter[str]() for _ in columns]
    for row in rows:
        for held, cell in zip(texts, map(_text, row), strict=True):
            if cell not in PRESENCE and len(held) < 2:
                held[cell] += 1
    sure = set(alone)
    kept = [
        name
        for name, held in zip(columns, texts, strict=True)
        if name in sure or _is_option(name, held, only_own)
    ]
    left_out = tuple(name for name in columns if name not in kept)
    are_counts = all(text.isdecimal() for held in texts for text in held)
    return Ticks(tuple(kept), left_out, are_counts)


def _is_option(name: str, texts: Counter[str], only_own: bool) -> bool:
    if len(texts) != 1:
        return not texts
    ((text, times),) = texts.items()
    is_word = any(map(str.isalpha, text))
    return is_own(name, text) or (times >= _LEAST and is_word and not only_own)


def _text(cell: object) -> str:
    return "" if cell is None or cell != cell else str(cell).strip()
