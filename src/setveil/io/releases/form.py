"""What the release folder of a form has of its own: files, facts, and promises it can keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from setveil.errors import ParameterError, ReleaseError, brief
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.alignment import Links
from setveil.promises.promise import Promise
from setveil.published.release import Release

RECORD_FORMATS: Mapping[str, tuple[str, ...]] = {
    "csv": ("data.csv",),
    "fimi": ("data.dat",),
    "dat": ("data.dat",),
    "parquet": ("data.parquet",),
}
"""The data files of forms that publish records; `dat` is another word for `fimi`."""


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the user may choose for a release folder."""

    format: str | None = None
    """The format of the data; by default the first of the form's."""
    seed: int | None = None
    """Makes the order of the records repeatable, which otherwise is random."""
    public_items: bool = False
    """Whether to publish all of a tree that was built from the items of the data."""


class Fact(NamedTuple):
    """A value that `release.json` may have for a form."""

    is_allowed: Callable[[Any], bool]
    words: str
    """What it must be."""


TRUTH = Fact(lambda value: type(value) is bool, "true or false")


class PartFile(NamedTuple):
    """A data file of a release."""

    path: Path
    before: int
    """How many records are in the files before it."""
    size: int
    """How many records it has."""


@dataclass(frozen=True)
class ReleaseFolder:
    """A release folder to be read; its files are those that were written."""

    place: Path
    about: Mapping[str, Any]
    """What `release.json` says."""
    names: tuple[str, ...]
    """The data files."""
    promise: Promise
    before: int = 0
    """How many records come before those of these files."""

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.about["records"])

    @property
    def stated(self) -> int | None:
        """The version of its format, if the release states it."""
        return self.about.get("format")

    @property
    def parts(self) -> list[PartFile]:
        """The data files of a form that has one file, or one for each part."""
        sizes = self.about.get("parts", [self.size])
        before = list(accumulate(sizes, initial=self.before))
        paths = (self.place / name for name in self.names)
        return [PartFile(*each) for each in zip(paths, before, sizes, strict=False)]

    @property
    def method(self) -> dict[str, object]:
        return dict(self.about["method"])

    def has(self, name: str) -> bool:
        """Whether a file is part of the release."""
        return name in self.about["files"]

    def fault(self, problem: str) -> ReleaseError:
        """The error for something wrong with this folder."""
        return ReleaseError(self.place, problem)


@dataclass(frozen=True)
class PartForm:
    """How one part of a release is written and read, for forms that may come in parts."""

    write: Callable[[Any, PartFile, Choices], None]
    read: Callable[[ReleaseFolder, Hierarchy | None], Release]
    """Reads a part; items of a tree are over the given one, since a part has none of its own."""
    formats: tuple[str, ...]


Fill = Callable[[Any, Path, Choices], tuple[list[str], dict[str, object]]]


def part_names(name: str, parts: int) -> tuple[str, ...]:
    """The names of the files of a release in parts, such as `data-00000.csv`.

    Example:
        >>> part_names("data.csv", 2)
        ('data-00000.csv', 'data-00001.csv')
    """
    stem, _, suffix = name.partition(".")
    return tuple(f"{stem}-{part:05}.{suffix}" for part in range(parts))


@dataclass(frozen=True, kw_only=True)
class ReleaseForm:
    """How a form is written to a folder and read back."""

    name: str
    formats: Mapping[str, tuple[str, ...]]
    """The formats of its data, each with the names of its data files; the first is the default."""
    fill: Fill
    """Writes the files into a folder; gives their names and further facts for `release.json`."""
    read: Callable[[ReleaseFolder], Release]
    promises: tuple[str, ...] | None = None
    """The models that it can keep and be verified for; None for all promises of records."""
    has_tree: bool = False
    """Whether it publishes a hierarchy, so that the user may choose to publish all of it."""
    has_public_items: bool = False
    """Whether the list of items must be public for it."""
    beside: tuple[str, ...] = ()
    """Further files that it may have."""
    beside_of: Callable[[Mapping[str, Any]], Iterable[str]] = lambda about: ()
    """The same, by what `release.json` says."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """The keys of its own in `release.json`."""
    in_parts: PartForm | None = None
    """How it is written in parts, if it can be."""
    links: Links | None = None
    """How its private alignment is written and read, if it can have one."""

    def check(self, choices: Choices) -> None:
        """Refuse choices that this form does not have."""
        if choices.format is not None and choices.format not in self.formats:
            allowed = f"choose one of {', '.join(self.formats)} for a {self.name} release"
            raise ParameterError("format", choices.format, allowed)
        if choices.public_items and not (self.has_tree or self.has_public_items):
            allowed = f"a {self.name} release has no hierarchy to publish"
            raise ParameterError("public_items", True, allowed)

    def files(self, choices: Choices) -> tuple[str, ...]:
        """The names of the data files."""
        return self.formats[choices.format or next(iter(self.formats))]

    def data_files(self, place: Path, about: Mapping[str, Any]) -> tuple[str, ...]:
        """The data files that `release.json` names.

        Raises:
            ReleaseError: if it names none, or a file that this form does not have and nobody would
                check; or if a fact has a value that is not allowed.
        """
        for key, fact in self.facts.items():
            if key in about and not fact.is_allowed(about[key]):
                raise ReleaseError(place, f"in release.json, {key} must be {fact.words}")
        files = set(about["files"])
        known = list(self.formats.values())
        if "parts" in about:
            formats = self.in_parts.formats if self.in_parts is not None else ()
            parts = len(about["parts"])
            known = [part_names(self.formats[each][0], parts) for each in formats]
        names = next((names for names in known if set(names) <= files), None)
        if names is None:
            raise ReleaseError(place, "release.json names no data file")
        more = sorted(files.difference(names, self.beside, self.beside_of(about)))
        if more:
            part = f"not part of a {self.name} release with {names[0]}"
            raise ReleaseError(place, f"release.json names {brief(more[0])}, which is {part}")
        return names

    def check_promise(self, place: Path, promise: Promise) -> None:
        """Refuse a release that promises what this form cannot keep."""
        for part in promise.parts:
            kept = part.of_records if self.promises is None else part.model in self.promises
            if not kept:
                raise ReleaseError(place, f"a {self.name} release cannot keep {part.model}")
