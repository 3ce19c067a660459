"""What the release folder of each published form has of its own: its formats, its files, its facts in `release.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.errors import ParameterError
from setveil.promises import Promise
from setveil.published import Published


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the user may choose for a release folder."""

    format: str | None = None
    """The format of the data; the first of the form's formats when not given."""
    seed: int | None = None
    """Makes the order of the records repeatable, where it is random."""
    public_items: bool = False
    """Whether a tree that was built from the data's own items is published whole."""


@dataclass(frozen=True)
class ReleaseForm:
    """How one published form lies in a folder."""

    name: str
    formats: Mapping[str, tuple[str, ...]]
    """The formats of its data -> the names of the data files; the first is the default."""
    has_tree: bool
    fill: Callable[[Any, Path, Choices], tuple[list[str], dict[str, object]]]
    """Write the data into a folder; gives the names of the files, and what else `release.json` says."""
    read: Callable[[Path, dict[str, Any], Promise], Published]
    """Read the data of a folder whose files are those that were written, given what `release.json` says."""

    def check(self, choices: Choices) -> None:
        """Refuse what this form does not have."""
        if choices.format is not None and choices.format not in self.formats:
            kind = "" if self.has_tree else f"{self.name} "
            raise ParameterError("format", choices.format, f"a {kind}release may have one of {', '.join(self.formats)}")
        if choices.public_items and not self.has_tree:
            raise ParameterError("public_items", True, f"it publishes a built tree whole, but a {self.name} release has no tree")

    def files(self, choices: Choices) -> tuple[str, ...]:
        """The names of the data files."""
        return self.formats[choices.format or next(iter(self.formats))]

    def written(self, about: Mapping[str, Any]) -> tuple[str, ...] | None:
        """The data files that `release.json` names; None when it names none."""
        return next((names for names in self.formats.values() if set(names) <= set(about["files"])), None)
