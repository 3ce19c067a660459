"""The report: titled sections for people, and the same facts as plain values for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fact:
    """One line of a section: a name, what it is, and a remark."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True)
class Section:
    """A titled part of a report."""

    title: str
    text: str = ""
    """Sentences under the title."""
    facts: tuple[Fact, ...] = ()
    holds: bool | None = None
    """Whether what the title asks holds; None where it asks nothing."""


@dataclass(frozen=True)
class Report:
    """What a command has to say."""

    sections: tuple[Section, ...]
    values: Mapping[str, object] = field(default_factory=dict)
    """The same as one JSON object."""

    def to_json(self, *, ascii: bool = False) -> str:
        """One JSON object on one line; whatever is no JSON type is given as text, and with `ascii` other letters are spelled out."""
        return json.dumps(dict(self.values), ensure_ascii=ascii, default=str, allow_nan=False)

    def __add__(self, other: Report) -> Report:
        """Both reports, one after the other."""
        return Report(self.sections + other.sections, {**self.values, **other.values})
