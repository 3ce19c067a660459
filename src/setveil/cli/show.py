"""What a command shows: its report on standard output, its progress on standard error.

A command that publishes or verifies a release shows on standard output only what may be shared.
What is about the original goes to standard error, so that `> public.txt` leaks nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, cast

from click.exceptions import Exit

from setveil.cli import drop
from setveil.errors import OutputError

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from setveil.pipeline import Progress
    from setveil.report import Report

Found = TypeVar("Found")


def show(report: Report, as_json: bool, stream: TextIO | None = None) -> None:
    """Print a report for people, or as one JSON object, to standard output or another stream."""
    stream = stream or sys.stdout
    try:
        if as_json:
            stream.write(_json(report, stream) + "\n")
        else:
            from setveil.report.terminal import print_report

            print_report(report, stream)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError("the report", error.strerror or str(error)) from None


def show_apart(report: Report, as_json: bool) -> None:
    """Print what may be shared to standard output, and what is private to standard error.

    One JSON object cannot be divided: all of it goes to standard output, because it was asked for.
    """
    if as_json:
        show(report, as_json)
        return
    show(report.part(private=False), as_json)
    private = report.part(private=True)
    if private.sections:
        try:
            if sys.stdout.isatty() and sys.stderr.isatty():  # both in one place
                sys.stderr.write("\n")
            show(private, as_json, sys.stderr)
        except OSError:  # a closed terminal: the release is there, and nobody reads this
            drop(sys.stderr)


def exit_unless(holds: bool) -> None:
    """End with exit code 1 if a promise does not hold."""
    if not holds:
        raise Exit(1)


def _json(report: Report, stream: TextIO) -> str:
    """One line of JSON, in ASCII if the stream cannot encode some letter."""
    text = report.to_json()
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return report.to_json(ascii=True)
    return text


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A progress bar if standard error is a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    share = TextColumn("{task.fields[share]:>5}")
    columns = (TextColumn("{task.description}"), BarColumn(), share, TimeElapsedColumn())
    console = Console(file=cast(TextIO, _Terminal(sys.stderr)))
    bar = Progress(*columns, console=console, transient=True)
    try:
        bar.start()
        yield _Stages(bar)
    finally:
        with suppress(Exception):  # rich cannot stop a bar that an interruption half started
            bar.stop()
        console.show_cursor(True)


def worked(verb: Callable[..., Found], *given: Any, **words: Any) -> Found:
    """What a verb finds, with a progress bar while it works."""
    with progress_bar() as progress:
        return verb(*given, progress=progress, **words)


class _Terminal:
    """A terminal that may close at any moment: what can no longer be written is dropped.

    Otherwise the error of a write would replace the interruption that a closing terminal sends."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Stages:
    """One line of the bar that follows the stage of the work."""

    def __init__(self, bar: Bar) -> None:
        self.bar, self.stage = bar, ""
        self.task = bar.add_task("", total=None, share="")

    def __call__(self, done: int, total: int, stage: str) -> None:
        name, _, detail = stage.partition(":")  # what follows the name may change as it goes on
        if name != self.stage:
            self.stage = name
            self.bar.reset(self.task, description=name, total=None)
        if detail:
            self.bar.update(self.task, description=f"{name},{detail}")
        share = f"{100 * done / total:.0f} %" if total else ""
        self.bar.update(self.task, completed=done, total=total or None, share=share)
