"""Errors as one line, in the words of the command line, with the exit code."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from setveil.cli import DEFECT
from setveil.cli.root import root
from setveil.errors import ParameterError, SetveilError, spelled
from setveil.promises.promise import Promise
from setveil.words import printable


def explain(error: Exception, args: Sequence[str]) -> tuple[str, int]:
    """What went wrong in the command that these arguments call, and the exit code."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            return f"{error.format_message()}\n", error.exit_code
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "setveil"
            return _line(
                f"{error.format_message().rstrip('.')} (`{command} --help` shows what is allowed)"
            ), 2
        case click.ClickException():
            return _line(error.format_message()), 2
        case ParameterError():
            return _line(_as_options(_parameter(error, _names(args)))), error.exit_code
        case SetveilError():
            return _line(_as_options(error.text(as_option))), error.exit_code
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            return _line(f"{place}{error.strerror or error}"), 3
        case MemoryError():
            return _line("there is not enough memory for this data"), 3
    return _line(
        f"a defect of setveil, {type(error).__name__}: {error} (--debug shows where)"
    ), DEFECT


def as_option(name: str, value: str | None) -> str:
    """A parameter of the library as the command line spells it.

    Example:
        >>> as_option("record", None), as_option("force", "True"), as_option("input_format", "csv")
        ('--record', '--force', '--input-format csv')
    """
    option = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
    return option if value in (None, "True") else f"{option} {value}"


def _line(text: str) -> str:
    return f"setveil: {printable(' '.join(text.split()))}\n"


def _names(args: Sequence[str]) -> set[str]:
    """The options and the arguments of the command that these arguments call."""
    command: click.Command = root
    for argument in args:
        found = (
            command.get_command(click.Context(command), argument)
            if isinstance(command, click.Group)
            else None
        )
        command = found or command
    return {spelling for parameter in command.params for spelling in parameter.opts}


def _parameter(error: ParameterError, names: set[str]) -> str:
    """A parameter of the library as the option or the argument that it was given by, where it was."""
    name = error.name.replace("_", "-")
    spelling = next(
        (spelling for spelling in (f"-{name}", f"--{name}", name) if spelling in names), None
    )
    if spelling is None:
        return error.text(as_option)
    allowed = spelled(error.allowed, as_option)
    if error.value is None:
        return f"{spelling} is missing: {allowed}"
    given = _value(error.value) if spelling == name else f"{spelling} {_value(error.value)}"
    return f"{given} is not allowed: {allowed}".replace("  ", " ")


def _value(value: object) -> str:
    """What was given for an option; of a flag nothing."""
    match value:
        case bool():
            return ""
        case str():
            return value or "''"
        case Promise():
            numbers = ", ".join(
                f"{name} = {number}"
                for name, number in value.to_dict().items()
                if name in ("k", "m", "p", "h", "l")
            )
            return f"{value.model} ({numbers})"
        case list() | tuple():
            return " ".join(str(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _as_options(text: str) -> str:
    """Parameters of the library, as in `user=...`, spelled as options."""
    text = re.sub(r"\bformat='(\w+)'", r"--input-format \1", text)
    text = re.sub(r"\brecord=('[^']*')", r"--record \1", text)
    return re.sub(r"\b([a-z_]+)=\.\.\.", lambda found: f"--{found[1].replace('_', '-')}", text)
