"""What the release folder of each published form has of its own: its formats, its files, its facts in `release.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.errors import ParameterError, ReleaseError
from setveil.promises import (
    Coherence,
    KAnonymity,
    KmAnonymity,
    LDiversity,
    Promise,
    VocabularyKAnonymity,
)
from setveil.published import Release

OF_RECORDS: tuple[type[Promise], ...] = (KAnonymity, KmAnonymity, Coherence, VocabularyKAnonymity)
"""What records that stand for one person each can promise."""


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
    read: Callable[[Path, dict[str, Any], Promise], Release]
    """Read the data of a folder whose files are those that were written, given what `release.json` says."""
    beside: tuple[str, ...] = ()
    """The files that may lie beside the data."""
    keeps: tuple[type[Promise], ...] = OF_RECORDS
    """What it can promise, and be verified for."""

    def check(self, choices: Choices) -> None:
        """Refuse what this form does not have."""
        if choices.format is not None and choices.format not in self.formats:
            kind = "" if self.has_tree else f"{self.name} "
            raise ParameterError(
                "format",
                choices.format,
                f"a {kind}release may have one of {', '.join(self.formats)}",
            )
        if choices.public_items and not self.has_tree:
            raise ParameterError(
                "public_items",
                True,
                f"it publishes a built tree whole, but a {self.name} release has no tree",
            )

    def files(self, choices: Choices) -> tuple[str, ...]:
        """The names of the data files."""
        return self.formats[choices.format or next(iter(self.formats))]

    def written(self, place: Path, about: Mapping[str, Any]) -> tuple[str, ...]:
        """The data files that `release.json` names; it must name nothing but one format of them and what this form has beside.

        Raises:
            ReleaseError: when it does, for nobody would look at what such a file holds.
        """
        files = set(about["files"])
        names = next((names for names in self.formats.values() if set(names) <= files), None)
        if names is None:
            raise ReleaseError(place, "release.json names no data file")
        more = sorted(files.difference(names, self.beside))
        if more:
            raise ReleaseError(
                place,
                f"release.json names {more[0][:80]!r}, which is no part of a {self.name} release with {names[0]}",
            )
        return names

    def check_promise(self, place: Path, promise: Promise) -> None:
        """Refuse a release that promises what this form cannot keep."""
        besides = promise.diversity if isinstance(promise, KmAnonymity) else None
        if not isinstance(promise, self.keeps) or (
            besides is not None and LDiversity not in self.keeps
        ):
            raise ReleaseError(
                place,
                f"its promise {(besides or promise).model} is none that a {self.name} release can keep",
            )
