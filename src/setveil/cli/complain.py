"""Errors as one line on standard error, in the words of the command line, with the exit code."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from setveil.cli import DEFECT
from setveil.cli.root import root
from setveil.errors import ParameterError, SetveilError
from setveil.promises.promise import Promise
from setveil.words import printable


def explain(error: Exception, args: Sequence[str]) -> int:
    """Say what went wrong in the command that these arguments call."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return error.exit_code
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "setveil"
            return complain(f"{error.format_message().rstrip('.')} (`{command} --help` shows what is allowed)", 2)
        case click.ClickException():
            return complain(error.format_message(), 2)
        case ParameterError():
            return complain(_as_options(_parameter(error, _options(args))), error.exit_code)
        case SetveilError():
            return complain(_as_options(str(error)), error.exit_code)
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            return complain(f"{place}{error.strerror or error}", 3)
        case MemoryError():
            return complain("there is not enough memory for this data", 3)
    return complain(f"a defect of setveil, {type(error).__name__}: {error} (--debug shows where)", DEFECT)


def complain(line: str, code: int) -> int:
    """Print one line on standard error, and give the exit code back."""
    click.echo(f"setveil: {printable(' '.join(line.split()))}", err=True)
    return code


def _options(args: Sequence[str]) -> set[str]:
    """The options of the command that the arguments call."""
    command: click.Command = root
    for argument in args:
        found = command.get_command(click.Context(command), argument) if isinstance(command, click.Group) else None
        command = found or command
    return {spelling for parameter in command.params for spelling in parameter.opts}


def _parameter(error: ParameterError, options: set[str]) -> str:
    """A parameter of the library as the option that it was given by, where it was."""
    name = error.name.replace("_", "-")
    option = f"-{name}" if f"-{name}" in options else f"--{name}"
    if option not in options:
        return str(error)
    if error.value is None:
        return f"{option} is missing: {error.allowed}"
    return f"{option} {_value(error.value)} is not allowed: {error.allowed}".replace("  ", " ")


def _value(value: object) -> str:
    """What was given for an option; of a flag nothing."""
    match value:
        case bool():
            return ""
        case str():
            return value or "''"
        case Promise():
            numbers = ", ".join(f"{name} = {number}" for name, number in value.to_dict().items() if name in ("k", "m", "p", "h", "l"))
            return f"{value.model} ({numbers})"
        case list() | tuple():
            return " ".join(str(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _as_options(text: str) -> str:
    """Parameters of the library, as in `user=...`, spelled as options."""
    text = text.replace("overwriting (force)", "overwriting (--force)")
    text = re.sub(r"\bformat='(\w+)'", r"--input-format \1", text)
    return re.sub(r"\b([a-z_]+)=\.\.\.", lambda found: f"--{found[1].replace('_', '-')}", text)
