"""Specifications: a comparison as a TOML file, and its data: a file, an object, or a recipe.

Its keys are the words of `setveil compare`. Tables `[[runs]]` ask for several groups of cells, each
with words of its own that replace those above. Relative paths start at the folder of the file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from inspect import signature
from pathlib import Path
from typing import Any

from setveil.data.generate import quest
from setveil.data.people import People
from setveil.data.transactions import Transactions
from setveil.errors import FileFormatError, ParameterError, brief, did_you_mean
from setveil.hierarchy.layouts import TreeOptions
from setveil.pipeline.comparing.cells import axes, item_words, listed
from setveil.pipeline.inputs import load_to_publish, people_of
from setveil.pipeline.jobfile import moved_tree
from setveil.pipeline.names import OLD_ARRANGEMENTS, OLD_WORDS, READING, renewed
from setveil.pipeline.toml import toml_table

RECIPE = "quest:"


def load_source(source: object, reading: Mapping[str, Any]) -> tuple[Transactions, People | None]:
    """The records of a file or an object, or generated ones; and the person of each, if known, with
    how many records of each are kept.

    A recipe is `quest:records=10000,items=500`, with the parameters of `setveil generate quest`.

    Example:
        >>> len(load_source("quest:records=50,items=20", {})[0])
        50
    """
    if not is_generated(source):
        data, account, _ = load_to_publish(source, reading)
        return data, people_of(account)
    words = [part.partition("=")[::2] for part in str(source).removeprefix(RECIPE).split(",")]
    known = signature(quest).parameters
    for name, value in words:
        if name not in known or not _is_number(value):
            allowed = f"it is {RECIPE}records=10000,items=500 with {', '.join(known)}"
            raise ParameterError("data", source, allowed)
    numbers: Any = {name: _number(value) for name, value in words}
    return quest(**numbers), None


def is_generated(source: object) -> bool:
    """Whether this is a recipe, not a file."""
    return isinstance(source, str) and source.startswith(RECIPE)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


_PLAIN = ("title", "metrics", "seed", "workers", "input_format")
_CELLS = ("data", "methods", "hierarchy", "promise")
NO_NAME = "data"
"""What data is called that is not a file."""


@dataclass(frozen=True)
class Runs:
    """What a comparison asks for."""

    words: Mapping[str, Any]
    """What holds for all cells."""
    runs: tuple[Mapping[str, Any], ...]
    """The words of each group of cells."""
    sources: Mapping[str, object]
    """All data by name."""


def read_spec(path: Path | str | None, given: Mapping[str, Any], data: object) -> Runs:
    """What a file and other words ask for together; a word that is given replaces the file's."""
    table: dict[str, Any] = {} if path is None else toml_table(Path(path))
    groups = table.pop("runs", [{}])
    if not isinstance(groups, list) or not all(isinstance(each, dict) for each in groups):
        raise FileFormatError(str(path), "runs must be tables: [[runs]]")
    shared = _words(table, path)
    runs = [shared | _words(group, path) | dict(given) for group in groups]
    if data is not None:
        runs = [{**words, "data": data} for words in runs]
    sources: dict[str, object] = {}
    for words in runs:
        if words.get("data") is None:
            raise ParameterError("data", None, "name the data file")
        words["data"] = _sources(words["data"], sources)
    return Runs(shared | dict(given), tuple(runs), sources)


def _words(table: Mapping[str, Any], path: Path | str | None) -> dict[str, Any]:
    """The keys of a table as words, with paths from where we are."""
    words: dict[str, Any] = {}
    known = {*_PLAIN, *_CELLS, *axes(), *item_words(), *READING, *OLD_ARRANGEMENTS}
    known |= {each.name for each in fields(TreeOptions)}
    for key, value in table.items():
        name = OLD_WORDS.get(key.replace("-", "_"), key.replace("-", "_"))
        if name not in known or "_" in key:
            guess = did_you_mean(key, (one.replace("_", "-") for one in known))
            raise FileFormatError(str(path), f"a comparison has no key {brief(key)}", remedy=guess)
        words[name] = value
    words = renewed(words)
    folder = os.path.dirname(path or "")

    def move(place: str) -> str:
        return os.path.join(folder, place)

    if "data" in words:
        words["data"] = [
            one if is_generated(one) else move(str(one)) for one in listed(words["data"])
        ]
    if "hierarchy" in words:
        words["hierarchy"] = [moved_tree(one, move) for one in listed(words["hierarchy"])]
    for name in item_words():
        if name in words:
            items = [str(one) for one in listed(words[name])]
            words[name] = [move(one) if os.path.isfile(move(one)) else one for one in items]
    return words


def _sources(data: object, sources: dict[str, object]) -> list[str]:
    """The names of data, which is added to what is known."""
    several = data if isinstance(data, list | tuple) and all(map(_is_name, data)) else [data]
    several = several if len(several) else [data]
    names = [str(one) if _is_name(one) else NO_NAME for one in several]
    sources.update(zip(names, several, strict=True))
    return names


def _is_name(value: object) -> bool:
    return isinstance(value, str | Path)
