"""How a file was read: which columns were used, and what the user should check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from setveil.errors import brief
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
    identifiers: int = 0
    """How many records of a long table have an identifier that is not just their number."""
    notes: list[str] = field(default_factory=list)
    """What the user should check."""
    used: set[str] = field(default_factory=set)
    """The options that this file had a use for."""

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

    def to_dict(self) -> dict[str, object]:
        """The account as JSON shows it."""
        return {
            "format": self.format,
            "encoding": self.encoding or None,
            "layout": self.layout or None,
            **{role: self.columns.get(role) for role in ("record", "item", "count")},
            "ignored": list(self.ignored),
        }
