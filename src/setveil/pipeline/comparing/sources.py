"""Data of a comparison: a file, an object, or a recipe to generate some."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from setveil.data.generate import quest
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.pipeline.inputs import load

RECIPE = "quest:"


def load_source(source: object, reading: Mapping[str, Any]) -> Transactions:
    """The records of a file or an object, or generated ones.

    A recipe is `quest:records=10000,items=500`, with the parameters of `setveil generate quest`.

    Example:
        >>> len(load_source("quest:records=50,items=20", {}))
        50
    """
    if not is_generated(source):
        return load(source, reading)
    words = [part.partition("=")[::2] for part in str(source).removeprefix(RECIPE).split(",")]
    known = signature(quest).parameters
    for name, value in words:
        if name not in known or not _is_number(value):
            allowed = f"it is {RECIPE}records=10000,items=500 with {', '.join(known)}"
            raise ParameterError("data", source, allowed)
    numbers: Any = {name: _number(value) for name, value in words}
    return quest(**numbers)


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
