"""The parts of the page for approval: facts, sentences and tables, as HTML and as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from markupsafe import Markup

from setveil.audit.attack.draws import Estimate
from setveil.report.attack import percent, shown
from setveil.report.markup import code, paragraph, table, text, yes_or_no

Kind = Literal["text", "share", "number", "holds", "code", "line"]
NOT_STATED = "not stated"
SHORT = 1_500
"""Characters of a table that is kept on one page in print."""
MOST_LISTED = 40
"""How many items of a list the page shows; the twin has all."""


class Column(NamedTuple):
    """One column of a table: its heading, and what its cells are."""

    heading: str
    kind: Kind = "text"


@dataclass(frozen=True)
class Grid:
    """A table, whose rows are values by column."""

    title: str
    columns: Mapping[str, Column]
    rows: Sequence[Mapping[str, Any]]

    def html(self) -> str:
        """The table with its title; nothing if it has no rows."""
        if not self.rows:
            return ""
        head = [column.heading for column in self.columns.values()]
        numbers = [
            at for at, each in enumerate(self.columns.values()) if each.kind in ("share", "number")
        ]
        rows = (
            [_cell(row[key], each.kind) for key, each in self.columns.items()] for row in self.rows
        )
        title = f"<h3>{text(self.title)}</h3>" if self.title else ""
        return title + table(head, rows, numbers=numbers)


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one section says."""

    said: Sequence[str] = ()
    """Sentences."""
    facts: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    """By key: a name, and a value; None if nobody has stated it."""
    grids: Mapping[str, Grid] = field(default_factory=dict)
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By key: a name, and a command."""
    measured: Sequence[str] = ()
    assumed: Sequence[str] = ()
    to_judge: Sequence[str] = ()
    """What people must judge."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "said": list(self.said),
            **{key: _plain(value) for key, (_, value) in self.facts.items()},
            **{
                key: [{name: _plain(row[name]) for name in grid.columns} for row in grid.rows]
                for key, grid in self.grids.items()
            },
            **{key: command for key, (_, command) in self.commands.items()},
            "measured": list(self.measured),
            "assumed": list(self.assumed),
            "to_judge": list(self.to_judge),
        }

    def html(self) -> list[str]:
        """The same as pieces of HTML."""
        facts = [[name, _cell(value, "text")] for name, value in self.facts.values()]
        judged = {
            "Measured": self.measured,
            "Assumed": self.assumed,
            "For people to judge": self.to_judge,
        }
        kinds = [[name, " ".join(lines)] for name, lines in judged.items() if lines]
        return [
            "".join(map(paragraph, self.said)),
            _narrow(facts),
            *(grid.html() for grid in self.grids.values()),
            *(
                f"<h3>{text(name)}</h3><pre><code>{text(command)}</code></pre>"
                for name, command in self.commands.values()
                if command
            ),
            _narrow(kinds),
        ]


def _narrow(rows: Sequence[Sequence[str]]) -> str:
    """A table of names and values, which is not torn apart in print if it is short."""
    kind = "facts short" if sum(map(len, (value for _, value in rows))) < SHORT else "facts"
    return f'<div class="{kind}">{table([], rows)}</div>' if rows else ""


def _cell(value: Any, kind: Kind) -> str:
    """A value as the page shows it."""
    if kind == "line":
        return Markup('<div class="line"></div>')
    if value is None or value == []:
        return NOT_STATED if kind == "text" else "-"
    if isinstance(value, Estimate):
        return shown(value)
    if kind == "share":
        return percent(float(value))
    if kind == "holds":
        return yes_or_no(bool(value))
    if kind == "code":
        return code(str(value), "hash")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        first = "; ".join(map(str, value[:MOST_LISTED]))
        return first if len(value) <= MOST_LISTED else f"{first} ... {len(value):,} in all"
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return value.to_dict()
    return list(value) if isinstance(value, tuple) else value


def stated_facts(stated: Any, names: Mapping[str, Any], *keys: str) -> dict[str, tuple[str, Any]]:
    """What was stated under some keys."""
    return {key: (names[key].name, stated.get(key)) for key in keys}
