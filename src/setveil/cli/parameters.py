"""The options of promises and methods, made from their fields, and help in groups."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import click

from setveil.cli.options import ITEMS, PROMISE, Command, Option, Table, several
from setveil.methods import METHODS
from setveil.parameters import Parameter, parameters
from setveil.pipeline.names import OLD_METHODS, READING, Word, method_words, promise_words

_WAYS = "A file with one item per line, an item, a pattern, or the items under a node; repeatable."
_MOST_OWNERS = 3  # an option of more promises is not marked as one of these promises


class NumberOrWord(click.ParamType[Any]):
    """A whole number, or a word."""

    def __init__(self, words: Collection[str]) -> None:
        self.words, self.name = words, "|".join(["N", *words])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value).lower() in self.words:
            return str(value).lower()
        try:
            return int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number or {' or '.join(self.words)}", param, ctx)


def promise_options(command: Command) -> Command:
    """An option for each number and each set of items of each promise."""
    named = click.option(
        "--promise", type=PROMISE, help="What to promise.  [default: what the other options say]"
    )
    made = (_option(word, _owners(word)) for word in promise_words().values())
    return several(named, *made)(command)


def method_options(command: Command) -> Command:
    """`--method`, and an option for each field of each method."""
    named = click.option(
        "--method",
        type=Table("setveil.methods", "METHODS", OLD_METHODS),
        help="How the promise is kept.  [default: what suits the promise and the hierarchy]",
    )
    made = (_option(word, _default(word)) for word in method_words().values())
    former = (
        click.option("--max-cluster", type=int, hidden=True),
        click.option("--order", type=click.Choice(("default", "paper")), hidden=True),
        click.option("--safe/--no-safe", default=None, hidden=True),
    )
    return several(named, *made, *former)(command)


def anonymize_groups() -> dict[str, list[str]]:
    """The options of `anonymize` by group: what everybody needs, promises, reading, methods."""
    methods: dict[str, list[str]] = {}
    for name, word in method_words().items():
        methods.setdefault(f"Only with --method {' or '.join(word.owners)}", []).append(name)
    needed = ["output", "k", "m", "hierarchy", "method", "tune", "force"]
    return {
        "What everybody needs": needed,
        "Other promises": ["promise", *(name for name in promise_words() if name not in needed)],
        "How to read DATA": [*READING, "input_format"],
        "How to read the hierarchy": ["layout", "levels", "qualify", "unknown"],
        "What is published": ["min_people", "after", "format", "public_items", "seed"],
        "Where the work is done": ["engine", "master", "threads"],
        "What is remembered": ["register", "population", "recipient"],
        "What is shown to you alone": ["report", "alignment", "explain", "json", "as_json"],
    } | methods


def _option(word: Word, remarks: list[str]) -> Option:
    parameter = word.parameter
    help = f"{parameter.about.help} {_WAYS}" if parameter.holds_items else parameter.about.help
    help = help.replace("`", "") + (f"  [{'; '.join(remarks)}]" if remarks else "")
    flag = parameter.option
    if bool in parameter.kinds:
        return click.option(f"{flag}/--no-{flag[2:]}", parameter.name, default=None, help=help)
    return click.option(flag, parameter.name, help=help, **_type(parameter))


def _type(parameter: Parameter) -> dict[str, Any]:
    about = parameter.about
    if parameter.holds_items:
        return {"multiple": True, "metavar": about.metavar or ITEMS}
    if parameter.choices and int not in parameter.kinds:
        return {"type": click.Choice(parameter.choices)}
    if parameter.words:
        return {"type": NumberOrWord(parameter.words), "metavar": about.metavar}
    if int in parameter.kinds:
        return {"type": int, "metavar": about.metavar or "N"}
    return {"type": float, "metavar": about.metavar}


def _owners(word: Word) -> list[str]:
    return [", ".join(word.owners)] if len(word.owners) <= _MOST_OWNERS else []


def _default(word: Word) -> list[str]:
    """The default, if it is one plain value for all methods that have the parameter."""
    name = word.parameter.name
    values = {parameters(METHODS[owner])[name].default for owner in word.owners}
    value = values.pop() if len(values) == 1 else None
    if isinstance(value, bool):
        return [f"default: {'on' if value else 'off'}"]
    if isinstance(value, float):
        return [f"default: {value:g}"]
    return [f"default: {value}"] if isinstance(value, str | int) else []


Groups = Mapping[str, Sequence[str]]


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups; those in no group come in a last one."""

    def __init__(self, *args: Any, groups: Groups, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lines = {
            str(parameter.name): line
            for parameter in self.get_params(ctx)
            if (line := parameter.get_help_record(ctx)) is not None
        }
        for title, names in self.groups.items():
            chosen = [lines.pop(name) for name in names if name in lines]
            if chosen:
                with formatter.section(title):
                    formatter.write_dl(chosen)
        with formatter.section("Other options"):
            formatter.write_dl(list(lines.values()))
