"""How a file was read: which columns were used, and what the user should check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from setveil.data.arrays import Flags, Int64s
from setveil.data.openings import Opening
from setveil.data.people import People, Whose
from setveil.data.transactions import Transactions
from setveil.errors import Note, brief
from setveil.words import plural

LONG = "one row per record and item"
SETS = "one row per record"
LISTS = "one row per record, with a list of items"
LINES = "one record per line"


@dataclass
class Account:
    """What a reader did. It begins empty, and the reader fills it in."""

    format: str = ""
    encoding: str = ""
    """How the text is encoded; empty if that was not looked at."""
    layout: str = ""
    """What a row or a line is."""
    columns: dict[str, str] = field(default_factory=dict)
    """The column of each role: `record`, `item`, `count`."""
    ignored: tuple[str, ...] = ()
    header_row: int = 0
    """The row that names the columns, if others are above it."""
    identifiers: int = 0
    """How many records of a long table have an identifier that is not just their number."""
    blank_lines: int = 0
    """How many blank lines were skipped."""
    notes: list[str] = field(default_factory=list)
    """What the user should check."""
    used: set[str] = field(default_factory=set)
    """The options that this file had a use for."""
    people: People | None = field(default=None, init=False, repr=False)
    """The person of each record, if the file says it. It is never stored."""
    holdings: dict[int, int] = field(default_factory=dict, init=False, repr=False)
    """How many people have 1, 2, ... records in the file; empty if their records are joined, or
    people are not known."""
    kept: Flags | None = field(default=None, init=False, repr=False)
    """Which of all records were kept, if at most some of each person are. It is never stored."""
    names: list[str] | None = field(default=None, init=False, repr=False)
    """The records as the file names them, if that was asked for. It is never stored."""
    opening: Opening | None = field(default=None, init=False, repr=False)
    """How the lines of a file begin; None if its items have no order. It is never stored."""

    def note_columns(
        self, layout: str, columns: Mapping[str, str | None], names: Iterable[str]
    ) -> None:
        """Say what the rows are, and which columns were used for what."""
        self.layout = layout
        self.columns = {role: name for role, name in columns.items() if name is not None}
        chosen = set(self.columns.values())
        self.ignored = tuple(name for name in names if name and name not in chosen)

    def dropped(self, rows: int, values: Iterable[str]) -> None:
        """Say how many rows were left out because of their record."""
        self.used.add("drop_record")
        shown = " or ".join(brief(value) for value in values)
        self.notes.append(f"Left out: {plural(rows, 'row')} whose record is {shown}.")

    def begin_at(self, row: int, *, is_guess: bool) -> None:
        """Say which row names the columns, if it is not the first."""
        if row < 2:
            return
        self.header_row = row
        if is_guess:
            more = "If another row does, {header} says which."
            self.notes.insert(0, Note(f"{self.left_out[0]} {more}"))

    def skip_blanks(self, lines: int) -> None:
        """Say how many blank lines between records were skipped."""
        self.blank_lines = lines
        self.notes += self.skipped

    @property
    def left_out(self) -> list[str]:
        """What is in the file but not in the data, in sentences that are notes too."""
        row = self.header_row
        above = "row above it was" if row == 2 else f"{row - 1} rows above it were"
        titles = [f"Row {row} names the columns; the {above} left out."] if row else []
        return [*titles, *self.skipped]

    @property
    def skipped(self) -> list[str]:
        """The part of it that might have been taken for records."""
        lines = self.blank_lines
        said = "1 blank line was" if lines == 1 else f"{lines:,} blank lines were"
        return [f"{said} skipped: they only separate the records."] if lines else []

    def to_dict(self) -> dict[str, object]:
        """The account as JSON shows it."""
        return {
            "format": self.format,
            "encoding": self.encoding or None,
            "layout": self.layout or None,
            "header_row": self.header_row or None,
            **{role: self.columns.get(role) for role in ("record", "item", "count", "person")},
            "ignored": list(self.ignored),
        }


def bounded(
    data: Transactions, whose: Whose, account: Account, most: int | None, key: str
) -> Transactions:
    """At most so many records of each person, or all; the account says whose they are."""
    account.holdings, persons = whose.holdings, np.asarray(whose.persons, dtype=object)
    if most is not None:
        account.kept = whose.kept(most, key)
        data, persons = data.take(np.flatnonzero(account.kept)), persons[account.kept]
        data = data.keeping(data.supports() > 0)
    account.people = People.of(persons, most)
    return data


MANY, TIMES = 1_000, 100  # a record so long, and so many times longer than most, is doubtful
_MOST = 3  # how many of them are named
_SOME, _SOME_TIMES = 100, 20  # the same for a record that is called like a placeholder
_PLACEHOLDER = re.compile(
    r"-?[01](\.0+)?|(-?9{3,}|0{2,}|1{4,})(\.0+)?|n[./]?a\.?|#n/a|nan|nat|null|none|nil|unknown|"
    r"undefined|missing|anonymous|anon|guest|visitor|test|dummy|default|other|unbekannt|inconnu|"
    r"desconocido|x+|-+|\?+|\.+",
    re.IGNORECASE,
)


TOTALS = frozenset(
    {"total", "totals", "grandtotal", "subtotal", "sum", "summe", "gesamt", "somme", "totale"}
)
"""The letters of a record that is a line of sums rather than a person."""


def total_note(value: str) -> str:
    """What to do about a line of sums or a remark."""
    text = f"The record {brief(value)} seems to be a line of sums or a remark, not a person."
    return Note(f"{text} Leave it out with {{drop_record={value}}}.")


def far_too_long(lengths: Int64s) -> list[int]:
    """The records that are far longer than most, the longest first, a few at most."""
    if not len(lengths) or lengths.max() < MANY:
        return []
    least = max(MANY, TIMES * max(float(np.median(lengths)), 1.0))
    found = np.flatnonzero(lengths >= least)
    longest: list[int] = found[np.argsort(-lengths[found], kind="stable")][:_MOST].tolist()
    return longest


def perhaps_placeholder(lengths: Int64s) -> int | None:
    """The longest record if it is longer than most by enough to look at its name."""
    if not len(lengths) or lengths.max() < _SOME:
        return None
    is_long = lengths.max() >= _SOME_TIMES * max(float(np.median(lengths)), 1.0)
    return int(lengths.argmax()) if is_long else None


def is_placeholder(value: str) -> bool:
    """Whether a name is hardly ever one person's; 1 often is the first of many."""
    return bool(_PLACEHOLDER.fullmatch(value)) and value not in ("1", "1.0")


def long_record_note(lengths: Int64s, place: int, known: tuple[str, str] | None = None) -> str:
    """What to check about a long record; `known` is its column and what that says.

    The value is shown only if it looks like a placeholder: otherwise it may name a person."""
    most, median = int(lengths[place]), max(float(np.median(lengths)), 1.0)
    times = f"{most / median:,.0f} times the median"
    if known is None:
        text = f"One record has {most:,} items, {times}."
        return f"{text} Is it a placeholder, such as an unknown customer? Then leave its rows out."
    column, value = known
    text = f"One record has {most:,} rows, {times}."
    if _PLACEHOLDER.fullmatch(value):
        text += f" Its {column} is {brief(value)}, perhaps a placeholder for many people."
        return Note(f"{text} Leave its rows out with {{drop_record={value}}}.")
    text += " Is it a placeholder, such as an unknown customer?"
    return Note(f"{text} Then leave its rows out with {{drop_record}} and its {column}.")
