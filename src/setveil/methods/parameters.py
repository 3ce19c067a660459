"""The parameters of a method, held to the types that its fields declare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from setveil.errors import ParameterError

if TYPE_CHECKING:
    from setveil.methods.method import Method


def settle_parameters(method: Method) -> None:
    """Refuse a parameter that is not of its declared type; numbers of NumPy become plain ones, and mappings are the method's own.

    Python itself takes any object for a field. A text where True or False is meant would count as true, whatever it says.

    Raises:
        ParameterError: with the parameter, its value and what is allowed.
    """
    hints = get_type_hints(type(method))
    for field in fields(method):
        value = getattr(method, field.name)
        value = value.item() if isinstance(value, np.generic) else value
        kinds = _kinds(hints[field.name])
        if not any(_fits(value, kind) for kind in kinds):
            raise ParameterError(
                field.name, value, f"it must be {' or '.join(_word(kind) for kind in kinds)}"
            )
        object.__setattr__(method, field.name, dict(value) if isinstance(value, Mapping) else value)


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)


def _fits(value: object, kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if kind in (int, float):
        return isinstance(value, int if kind is int else (int, float)) and not isinstance(
            value, bool
        )
    return isinstance(value, get_origin(kind) or kind)


def _word(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    words = {bool: "True or False", int: "a whole number", float: "a number", NoneType: "None"}
    return words.get(kind) or f"a {(get_origin(kind) or kind).__name__.lower()}"
