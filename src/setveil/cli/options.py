"""Options that several commands share, and choices that are taken from the library's tables when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Any, TypeVar

import click

from setveil.errors import ParameterError
from setveil.promises import PROMISES
from setveil.promises.promise import Promise

Command = TypeVar("Command", bound=Callable[..., Any])


class Table(click.ParamType[str]):
    """A name from one of the library's tables; the table is loaded on use, so that `setveil --help` stays quick."""

    name = "choice"

    def __init__(self, module: str, table: str) -> None:
        self.module, self.table = module, table

    def names(self) -> list[str]:
        names: Mapping[str, object] = getattr(import_module(self.module), self.table)
        return list(names)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(self.names())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.names():
            self.fail(f"{value!r} is not one of {', '.join(self.names())}", param, ctx)
        return str(value)


METHOD = Table("setveil.methods", "METHODS")
FORMAT = Table("setveil.io", "FORMATS")
RELEASE_FORMAT = Table("setveil.io.releases", "RELEASE_FORMATS")
METRIC = Table("setveil.metrics", "METRICS")
PROMISE = Table("setveil.promises", "PROMISES")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
force_option = click.option("--force", is_flag=True, help="Replace what is there already.")
seed_option = click.option("--seed", type=click.IntRange(min=0), help="Make what is random repeatable.")


def reading_options(command: Command) -> Command:
    """How to read a data file: all guessed where they are not given."""
    return _stacked(
        command,
        click.option("--input-format", type=FORMAT, help="The format of DATA, when its name and content do not tell."),
        click.option("--record", metavar="COLUMN", help="The column that says which record a row belongs to (long form)."),
        click.option("--item", metavar="COLUMN", help="The column of the items (long form), or of the lists of items."),
        click.option("--count", metavar="COLUMN", help="The column that says how often an item stands in a record (bags)."),
        click.option("--bags/--sets", "bags", default=None, help="Keep how often an item stands in a record, or only that it does."),
        click.option("--memory-limit", metavar="SIZE", help="The most memory that reading may take, as in 2GB."),
    )


def promise_options(command: Command) -> Command:
    """What is promised."""
    return _stacked(
        command,
        click.option("--promise", "model", type=PROMISE, help="What to promise; by default what -k and -m say."),
        click.option("-k", "k", type=int, help="How many people each one is hidden among, at least 2."),
        click.option("-m", "m", type=int, help="How many items of a person an adversary may know (km-anonymity)."),
    )


def _stacked(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def reading(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `setveil.read` among those of a command."""
    names: Iterable[str] = ("record", "item", "count", "bags", "memory_limit")
    given = {name: options[name] for name in names if options.get(name) is not None}
    return given if options.get("input_format") is None else {**given, "format": options["input_format"]}


def promise_of(model: str | None, **numbers: int | None) -> Promise | None:
    """The promise that the options name; None when they name none.

    Raises:
        ParameterError: when a number is missing, or is none of this promise's.
    """
    given = {name: number for name, number in numbers.items() if number is not None}
    if model is None and not given:
        return None
    kind = PROMISES[model or ("km-anonymity" if "m" in given else "k-anonymity")]
    wanted = [field.name for field in fields(kind) if field.default is MISSING]
    for name in wanted:
        if name not in numbers:
            raise ParameterError("promise", kind.model, f"its {name} cannot be given on the command line yet; use the library")
        if name not in given:
            raise ParameterError(name, None, f"{kind.model} needs -{name} with a number")
    for name in given:
        if name not in wanted:
            raise ParameterError(name, given[name], f"{kind.model} has no number {name}; it takes {', '.join(wanted)}")
    return kind(**given)
