"""How a file was read: which columns were used, and what the user should check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from setveil.data.identifiers import Opening
from setveil.data.people import People
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
