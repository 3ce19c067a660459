"""The options of the methods, taken from the fields of the methods themselves."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import fields
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from setveil.cli.options import Command
from setveil.methods import METHODS, Method
from setveil.parameters import parameters

_PREFIX = "method_"


def method_options(command: Command) -> Command:
    """An option for each field of each method."""
    for name, (kind, owners) in reversed(_fields().items()):
        command = _option(name, kind, owners)(command)
    return command


def method_of(options: dict[str, Any]) -> Method[Any]:
    """The method that the options name, with its parameters.

    Raises:
        UsageError: when an option belongs to another method.
    """
    kind, known = METHODS[options["method"]], _fields()
    given = {name: options[_PREFIX + name] for name in known if options[_PREFIX + name] is not None}
    for name, value in given.items():
        if kind.name not in known[name][1]:
            owners = " and ".join(known[name][1])
            raise click.UsageError(
                f"{_spelled(name, value)} is an option of the method {owners}, not of {kind.name}"
            )
    return kind(**given)


def _fields() -> dict[str, tuple[Any, list[str]]]:
    """The name of each parameter -> its type, and the methods that have it."""
    found: dict[str, tuple[Any, list[str]]] = {}
    for name, kind in METHODS.items():
        hints = get_type_hints(kind)
        for field in fields(kind):
            found.setdefault(field.name, (_plain(hints[field.name]), []))[1].append(name)
    return found


def _plain(hint: Any) -> Any:
    """The type of a parameter, when it is given."""
    if isinstance(hint, UnionType) or get_origin(hint) is Union:
        return next(kind for kind in get_args(hint) if kind is not type(None))
    return hint


def _option(name: str, kind: Any, owners: list[str]) -> Any:
    flag, help = (
        f"--{name.replace('_', '-')}",
        f"{_documented(METHODS[owners[0]], name)}  [{', '.join(owners)}{_default(name, owners)}]",
    )
    if kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", _PREFIX + name, default=None, help=help)
    chosen = click.Choice(get_args(kind)) if get_origin(kind) is Literal else kind
    metavar = None if get_origin(kind) is Literal else "N" if kind is int else None
    return click.option(flag, _PREFIX + name, type=chosen, metavar=metavar, help=help)


def _default(name: str, owners: list[str]) -> str:
    """What holds when the option is not given, if that is one plain value for all methods that have it."""
    values = {
        field.default for owner in owners for field in fields(METHODS[owner]) if field.name == name
    }
    value = values.pop() if len(values) == 1 else None
    if isinstance(value, bool):
        return f"; default: {'on' if value else 'off'}"
    return (
        f"; default: {value:g}"
        if isinstance(value, float)
        else f"; default: {value}"
        if isinstance(value, str | int)
        else ""
    )


def _spelled(name: str, value: object) -> str:
    return f"--{'no-' * (value is False)}{name.replace('_', '-')}"


def _documented(kind: type[Method[Any]], name: str) -> str:
    """What stands right under a field in the source of a method, or of the class it comes from; written once, there."""
    if help := parameters(kind)[name].about.help:
        return help.replace("`", "")
    owner = next(base for base in kind.__mro__ if name in vars(base).get("__annotations__", {}))
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(tree, ast.ClassDef)
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and field.target.id == name
        ):
            text = (
                below.value.value
                if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
                else ""
            )
            return " ".join(str(text).replace("`", "").split())
    return ""
