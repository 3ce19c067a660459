"""Options that several commands share, and choices that are taken from the library's tables when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Any, TypeVar

import click

from setveil.errors import ParameterError
from setveil.promises import PROMISES, Coherence, KAnonymity, KmAnonymity, LDiversity
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


class CountOrAll(click.ParamType[Any]):
    """A whole number, or `all`."""

    name = "N|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value).lower() == "all":
            return "all"
        try:
            return int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a whole number nor all", param, ctx)


METHOD = Table("setveil.methods", "METHODS")
FORMAT = Table("setveil.io", "FORMATS")
RELEASE_FORMAT = Table("setveil.io.releases.folder", "RELEASE_FORMATS")
METRIC = Table("setveil.metrics", "METRICS")
PROMISE = Table("setveil.promises", "PROMISES")

TREE = "FILE|balanced:5|prefix|wordnet[+unknown]"
"""The ways to name a tree."""

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object and nothing else."
)
force_option = click.option("--force", is_flag=True, help="Replace what is there already.")
layout_option = click.option(
    "--layout",
    type=click.Choice(("paths", "pairs", "levels")),
    help="How the hierarchy file is laid out, if not told.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), help="Make what is random repeatable."
)


def reading_options(command: Command) -> Command:
    """How to read a data file: all guessed where they are not given."""
    return _stacked(
        command,
        click.option(
            "--input-format",
            type=FORMAT,
            help="The format of DATA, when its name and content do not tell.",
        ),
        click.option(
            "--record",
            metavar="COLUMN",
            help="The column that says which record a row belongs to (long form).",
        ),
        click.option(
            "--item",
            metavar="COLUMN",
            help="The column of the items (long form), or of the lists of items.",
        ),
        click.option(
            "--count",
            metavar="COLUMN",
            help="The column that says how often an item stands in a record (bags).",
        ),
        click.option(
            "--bags/--sets",
            "bags",
            default=None,
            help="Keep how often an item stands in a record, or only that it does.",
        ),
        click.option(
            "--memory-limit",
            metavar="SIZE",
            help="The most memory that reading may take, as in 2GB.",
        ),
    )


def promise_options(command: Command) -> Command:
    """What is promised."""
    return _stacked(
        command,
        click.option(
            "--promise",
            "model",
            type=PROMISE,
            help="What to promise; by default what the other numbers say.",
        ),
        click.option(
            "-k", "k", type=int, help="How many people each one is hidden among, at least 2."
        ),
        click.option(
            "-m",
            "m",
            type=CountOrAll(),
            metavar="N|all",
            help="How many items of a person an adversary may know (km-anonymity).",
        ),
        click.option(
            "-p",
            "p",
            type=int,
            help="How many public items of a person an adversary may know (coherence).",
        ),
        click.option(
            "--h",
            "h",
            type=float,
            help="The greatest share of the records found that may hold one private item (coherence).",
        ),
        click.option(
            "--private",
            metavar="FILE|ITEM|PATTERN|under:NODE",
            multiple=True,
            help="The private items: a file with one on each line, an item, a pattern, or what is under a node; repeatable (coherence).",
        ),
        click.option(
            "-l",
            "l",
            type=int,
            help="Among how many records each sensitive item hides (with --sensitive).",
        ),
        click.option(
            "--sensitive", metavar="FILE", help="The sensitive items, one on each line (with -l)."
        ),
    )


def _stacked(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def reading(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `setveil.read` among those of a command."""
    names: Iterable[str] = ("record", "item", "count", "bags", "memory_limit")
    given = {name: options[name] for name in names if options.get(name) is not None}
    return (
        given
        if options.get("input_format") is None
        else {**given, "format": options["input_format"]}
    )


def promise_of(
    options: Mapping[str, Any],
    kinds: Sequence[type[Promise]] = (KAnonymity, KmAnonymity, Coherence),
) -> Promise | None:
    """The promise that the options name; None when they name none.

    Private items are left to `PrivateItems`, for most ways to name them need the data.

    Args:
        options: Those of a command.
        kinds: What may be meant when no promise is named: the first that takes every number given.

    Raises:
        ParameterError: when a number is missing, or is none of this promise's.
    """
    given: dict[str, Any] = {
        name: options[name] for name in ("k", "m", "p", "h") if options[name] is not None
    }
    diversity = _diversity(options["l"], options["sensitive"])
    if diversity is not None:
        given["diversity"] = diversity
    model = options["model"]
    if model is None and not given and not options["private"]:
        return None
    names = given.keys() | ({"private"} if options["private"] else set())
    kind = (
        PROMISES[model]
        if model
        else next((kind for kind in kinds if names <= _names(kind)), kinds[0])
    )
    if options["private"] and kind is not Coherence:
        raise ParameterError(
            "private",
            list(options["private"]),
            f"{kind.model} has no private items; coherence does (-k, -p and --h)",
        )
    if kind is LDiversity and diversity is not None:
        del given["diversity"]
        given.update(l=diversity.l, sensitive=diversity.sensitive)
    _check_numbers(kind, given)
    return kind(**given)


def _diversity(l: int | None, sensitive: str | None) -> LDiversity | None:
    if l is None and sensitive is None:
        return None
    if l is None:
        raise ParameterError(
            "l",
            None,
            "--sensitive needs -l: among how many records each sensitive item hides, as in -l 3",
        )
    if sensitive is None:
        raise ParameterError(
            "sensitive",
            None,
            "-l needs --sensitive with a file of the sensitive items, one on each line",
        )
    from setveil.io.itemlist import read_items

    return LDiversity(l=l, sensitive=frozenset(read_items(sensitive)))


def _names(kind: type[Promise]) -> set[str]:
    return {field.name for field in fields(kind)}


def _check_numbers(kind: type[Promise], given: Mapping[str, Any]) -> None:
    for field in fields(kind):
        if field.default is MISSING and field.name not in given:
            hints = {
                "sensitive": "--sensitive with a file of items",
                "h": "--h with a share, as in --h 0.6",
            }
            if field.name not in ("k", "m", "l", "p", "h", "sensitive"):
                raise ParameterError(
                    "promise",
                    kind.model,
                    f"its {field.name} cannot be given on the command line yet; use the library",
                )
            raise ParameterError(
                field.name,
                None,
                f"{kind.model} needs {hints.get(field.name, f'-{field.name} with a number')}",
            )
    for name, value in given.items():
        if name == "diversity" and name not in _names(kind):
            raise ParameterError(
                "l",
                value.l,
                f"{kind.model} promises nothing of sensitive items; km-anonymity does (-k and -m)",
            )
        if name not in _names(kind):
            taken = ", ".join(field.name for field in fields(kind) if field.default is MISSING)
            raise ParameterError(
                name, value, f"{kind.model} has no number {name}; it takes {taken}"
            )
