"""The report: titled sections for people, and the same facts as plain values for programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PRIVATE = "private, not part of the release"  # marks what is computed from the original
PROMISE_HOLDS = ("The promise holds", "The promise does NOT hold")  # the heading of a verdict


def as_flag(name: str, value: str | None) -> str:
    """A parameter as the command line spells it, where it is not known which command it is.

    Example:
        >>> as_flag("public_items", "True"), as_flag("unknown", "drop")
        ('--public-items', '--unknown drop')
    """
    option = f"--{name.replace('_', '-')}"
    return option if value in (None, "True") else f"{option} {value}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as lines: names to the left, numbers to the right.

    Example:
        >>> print(aligned([["known", "share"], ["1 item", "0.5 %"]]))
        known   share
        1 item  0.5 %
    """
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = (
        "  ".join([name.ljust(first), *map(str.rjust, cells, others)]).rstrip()
        for name, *cells in rows
    )
    return "\n".join(lines)


@dataclass(frozen=True)
class Fact:
    """One line of a section: a name, a value and a remark."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True)
class Section:
    """A titled part of a report."""

    title: str
    text: str = ""  # sentences below the title
    facts: tuple[Fact, ...] = ()
    holds: bool | None = None  # whether what the title says holds; None if that is not in question
    private: bool = False  # whether it says something about the original that a release does not

    @property
    def heading(self) -> str:
        """The title, marked if the section is private."""
        return f"{self.title} ({PRIVATE})" if self.private else self.title


@dataclass(frozen=True)
class Report:
    """What a command reports."""

    sections: tuple[Section, ...]
    values: Mapping[str, object] = field(default_factory=dict)  # the same as one JSON object

    def part(self, *, private: bool) -> "Report":
        """Only its private sections, or only the others."""
        return Report(tuple(each for each in self.sections if each.private == private), self.values)

    def to_json(self, *, ascii: bool = False) -> str:
        """One JSON object on one line, with `ascii` in ASCII only."""
        return json.dumps(dict(self.values), ensure_ascii=ascii, default=str, allow_nan=False)
