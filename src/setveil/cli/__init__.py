"""The command line: a thin door over the library, one file per verb."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from setveil.cli.root import root
from setveil.errors import SetveilError
from setveil.report.words import printable

INTERRUPTED = 130
PIPE_CLOSED = 141
DEFECT = 70


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command and leave with its exit code."""
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(answer(sys.argv[1:] if args is None else args))


def answer(args: Sequence[str]) -> int:
    """The exit code of a command: 0 fine or the promise holds, 1 it does not hold, 2 usage, 3 data.

    130 after an interruption, 141 when the reader of the output went away, 70 for a defect of setveil itself.
    """
    try:
        code = _invoke(list(args))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return PIPE_CLOSED
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted, nothing was written", INTERRUPTED)
    except Exception as error:
        if "--debug" in args or os.environ.get("SETVEIL_DEBUG"):
            raise
        return _explain(error)


def _invoke(args: list[str]) -> int:
    if "_SETVEIL_COMPLETE" in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, "setveil", "_SETVEIL_COMPLETE", os.environ["_SETVEIL_COMPLETE"])
    try:
        with root.make_context("setveil", args) as context:
            root.invoke(context)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    return 0


def _explain(error: Exception) -> int:
    """One line on standard error, and the exit code."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return error.exit_code
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "setveil"
            return _complain(f"{error.format_message().rstrip('.')} (`{command} --help` shows what is allowed)", 2)
        case click.ClickException():
            return _complain(error.format_message(), 2)
        case SetveilError():
            return _complain(_as_options(str(error)), error.exit_code)
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            return _complain(f"{place}{error.strerror or error}", 3)
        case MemoryError():
            return _complain("there is not enough memory for this data", 3)
    return _complain(f"a defect of setveil, {type(error).__name__}: {error} (--debug shows where)", DEFECT)


def _as_options(text: str) -> str:
    """Parameters of the library, as in `user=...`, spelled as options."""
    return re.sub(r"\b([a-z_]+)=\.\.\.", lambda found: f"--{found[1].replace('_', '-')}", text)


def _complain(line: str, code: int) -> int:
    click.echo(f"setveil: {printable(' '.join(line.split()))}", err=True)
    return code


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """Turn a request to end into an interruption, so that what is half done is cleared away."""
    raise KeyboardInterrupt
