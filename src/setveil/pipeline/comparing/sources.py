"""Data of a comparison: a file, an object, or a recipe to generate some."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from setveil.data.generate import quest
from setveil.data.people import People
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.pipeline.inputs import load_to_publish, people_of

RECIPE = "quest:"


def load_source(source: object, reading: Mapping[str, Any]) -> tuple[Transactions, People | None]:
    """The records of a file or an object, or generated ones; and the person of each, if known.

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
