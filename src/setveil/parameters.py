"""The parameters of promises and methods: their help text, their types, and what is allowed.

Each parameter is a dataclass field that describes itself:

    k: int = field(metadata=about("Hide each person among at least this many records.", least=2))
    restarts: int = with_default(4, "How many more searches to make.", least=0)

The options of the command line, the fields of a page and the tables of the docs are derived from
it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from setveil.errors import ParameterError, check_count


@dataclass(frozen=True, kw_only=True)
class About:
    """What a field says about itself."""

    help: str
    option: str | None = None
    """How the command line spells it, if not `--its-name`."""
    metavar: str | None = None
    least: float | None = None
    """The smallest value allowed."""
    words: Mapping[str, int] = field(default_factory=dict)
    """Words that may be given for a number, such as `all`."""
    per_person: Literal["", "times", "share"] = ""
    """What becomes of a number of people if each has up to C records: C times as many records, or
    a C-th of a share of them; nothing if it does not count people."""

    def shown(self, value: Any) -> Any:
        """A value as people write it: the word, where there is one for the number."""
        return next((word for word, number in self.words.items() if number == value), value)


def about(help: str, **more: Any) -> dict[str, About | None]:
    """The metadata of a field that is a parameter; `more` are fields of `About`."""
    return {"about": About(help=help, **more)}


NO_PARAMETER: dict[str, About | None] = {"about": None}
"""The metadata of a field that is none."""


def with_default(default: Any, help: str, **more: Any) -> Any:
    """A field with a default that is a parameter; `more` as for `about`."""
    return field(default=default, metadata=about(help, **more))


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a promise or a method."""

    name: str
    kinds: tuple[Any, ...]
    """The types it may have: `int`, `float`, `bool`, a `Literal`, `frozenset`, a promise, None."""
    default: Any
    """`dataclasses.MISSING` if it must be given."""
    about: About

    @property
    def required(self) -> bool:
        return self.default is MISSING

    @property
    def holds_items(self) -> bool:
        """Whether it is a set of items, which a user may name by files and patterns."""
        return any(get_origin(kind) is frozenset for kind in self.kinds)

    @property
    def choices(self) -> tuple[str, ...]:
        """The words it may be; empty if it is not one of several words."""
        return next((get_args(kind) for kind in self.kinds if get_origin(kind) is Literal), ())

    @property
    def words(self) -> tuple[str, ...]:
        """The words it may be instead of a number."""
        return (*self.choices, *self.about.words) if int in self.kinds else ()

    @property
    def option(self) -> str:
        """How the command line spells it."""
        return self.about.option or f"--{self.name.replace('_', '-')}"


def parameters(kind: type) -> dict[str, Parameter]:
    """The parameters of a promise or a method, by name, in the order of its fields."""
    return dict(_parameters(kind))


@cache
def _parameters(kind: type) -> dict[str, Parameter]:
    hints = get_type_hints(kind)
    return {
        each.name: Parameter(
            name=each.name,
            kinds=_kinds(hints[each.name]),
            default=each.default,
            about=each.metadata.get("about", About(help="")),
        )
        for each in fields(kind)
        if each.metadata.get("about", ...) is not None
    }


def settle(thing: object) -> None:
    """Check every parameter of a promise or a method against its type and its least value.

    Python itself accepts any object for a field, and a text where True or False is meant would
    count as true. NumPy numbers become plain ones, and mappings are copied.

    Raises:
        ParameterError: with the parameter, its value and what is allowed.
    """
    for parameter in parameters(type(thing)).values():
        value = settled(parameter, getattr(thing, parameter.name))
        object.__setattr__(thing, parameter.name, value)


def settled(parameter: Parameter, value: Any) -> Any:
    """The value of a parameter, after it was checked."""
    name, least = parameter.name, parameter.about.least
    if parameter.holds_items:
        return check_items(name, value)
    value = _plain(value)
    if isinstance(value, str) and value in parameter.about.words:
        return parameter.about.words[value]
    may_be_none = value is None and NoneType in parameter.kinds
    if int in parameter.kinds and least is not None and not may_be_none:
        return check_count(name, value, int(least))
    if not any(_fits(value, kind) for kind in parameter.kinds):
        words = " or ".join(_word(kind) for kind in parameter.kinds)
        raise ParameterError(name, value, f"it must be {words}")
    return dict(value) if isinstance(value, Mapping) else value


def check_items(name: str, items: object) -> frozenset[str]:
    """A parameter that is a list or set of items, as a set of texts.

    An item that is spelled differently in the data would go unprotected in silence. So whatever has
    no certain spelling is refused: a float (5.0 may be 5 in the data) and a missing value."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise ParameterError(name, items, "it must be a list or set of items")
    given = [item.decode(errors="replace") if isinstance(item, bytes) else item for item in items]
    for item in given:
        if item is None or (isinstance(item, Real) and not isinstance(item, Integral)):
            allowed = "each item must be the text, or the whole number, that it is in the data"
            raise ParameterError(name, item, allowed)
    return frozenset(map(str, given))


def _plain(value: Any) -> Any:
    """A NumPy number as a plain one; NumPy is not imported for it."""
    numpy = sys.modules.get("numpy")
    return value.item() if numpy is not None and isinstance(value, numpy.generic) else value


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)


def _fits(value: object, kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if kind in (int, float):
        allowed = int if kind is int else (int, float)
        return isinstance(value, allowed) and not isinstance(value, bool)
    return isinstance(value, get_origin(kind) or kind)


def _word(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    words = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}
    words[NoneType] = "None"
    return words.get(kind) or f"a {(get_origin(kind) or kind).__name__.lower()}"
