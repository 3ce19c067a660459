"""Errors as one line in the words of the command line, with the exit code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress

import click

from setveil.cli import DEFECT
from setveil.cli.root import root
from setveil.errors import (
    HierarchyError,
    ParameterError,
    SetveilError,
    Spelling,
    is_out_of_memory,
    spelled,
    system_problem,
)
from setveil.promises.promise import Promise
from setveil.words import printable

_PLAIN = re.compile(r"[^|;&<>*?$`\"\\!#()\[\]{}~]+")
"""What a shell leaves as it is, or what a reader sees to be one value."""


def explain(error: Exception, args: Sequence[str]) -> tuple[str, int]:
    """What went wrong in the command that these arguments call, and the exit code."""
    spell = as_option(called(args))
    match error:
        case click.exceptions.NoArgsIsHelpError():
            return f"{error.format_message()}\n", error.exit_code
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else "setveil"
            text = error.format_message().rstrip(".")
            return _line(f"{text} (`{path} --help` shows what is allowed)"), 2
        case click.ClickException():
            return _line(error.format_message()), 2
        case ParameterError():
            return _line(_parameter(error, called(args))), error.exit_code
        case HierarchyError() if len(error.faults) > 1:
            listed = "`setveil hierarchy check` lists them all"
            return _line(f"{error.text(spell)}; {listed}"), error.exit_code
        case SetveilError():
            return _line(error.text(spell)), error.exit_code
        case _ if is_out_of_memory(error):
            return _line("there is not enough memory for this data"), 3
        case OSError():
            return _line(system_problem(error)), 3
    text = f"this is a bug in setveil, {type(error).__name__}: {error} (--debug shows where)"
    return _line(text), DEFECT


def as_option(command: click.Command) -> Spelling:
    """How a command spells the parameters of the library.

    Example:
        >>> spell = as_option(root.get_command(click.Context(root), "inspect"))
        >>> given = ("record", None), ("input_format", "csv"), ("bags", "False"), ("k", "5")
        >>> tuple(spell(*each) for each in given)
        ('--record', '--input-format csv', '--sets', '-k 5')
    """

    def spell(name: str, value: str | None) -> str:
        found = _find(command, name)
        option = f"--{name.replace('_', '-')}" if found is None else _spelling(found)
        if value == "False" and (denied := _denial(command, found)):
            return denied
        if value is None or value == "True":
            return option
        return f"{option} {value if _PLAIN.fullmatch(value) else shlex.quote(value)}"

    return spell


def called(args: Sequence[str]) -> click.Command:
    """The command that these arguments call."""
    command: click.Command = root
    with suppress(ImportError, MemoryError, OSError):  # too little memory to load a command
        for argument in args:
            if isinstance(command, click.Group):
                command = command.get_command(click.Context(command), argument) or command
    return command


def _line(text: str) -> str:
    return f"setveil: {printable(' '.join(text.split()))}\n"


def _find(command: click.Command, name: str) -> click.Parameter | None:
    spellings = {f"-{name}", f"--{name.replace('_', '-')}"}
    for parameter in command.params:
        if parameter.name == name or spellings.intersection(parameter.opts):
            return parameter
    return None


def _denial(command: click.Command, option: click.Parameter | None) -> str:
    """The option that denies another; empty if there is none."""
    if option is None or option.secondary_opts:
        return option.secondary_opts[0] if option else ""
    other = _find(command, f"no_{option.name}")
    return "" if other is None else _spelling(other)


def _spelling(parameter: click.Parameter) -> str:
    """The first long option, or the metavar of an argument."""
    if isinstance(parameter, click.Argument):
        return parameter.metavar or str(parameter.name).upper()
    return next((opt for opt in parameter.opts if opt.startswith("--")), parameter.opts[0])


def _parameter(error: ParameterError, command: click.Command) -> str:
    """A parameter of the library as the option or argument that it was given by, if it was."""
    spell, found = as_option(command), _find(command, error.name)
    if found is None:
        return error.text(spell)
    allowed = spelled(error.allowed, spell)
    if error.value is None:
        return f"{_spelling(found)} is missing: {allowed}"
    value = str(error.value) if isinstance(error.value, bool) else _value(error.value)
    given = value if isinstance(found, click.Argument) else spell(error.name, value)
    return f"{given} is not allowed: {allowed}"


def _value(value: object) -> str:
    match value:
        case str():
            return value or "''"
        case Promise():
            return value.title
        case list() | tuple():
            return " ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
