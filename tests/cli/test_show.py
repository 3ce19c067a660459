"""The progress bar on a terminal that may close at any moment."""

from __future__ import annotations

import errno
import io
import sys

import pytest

from setveil.cli.show import progress_bar
from setveil.report import Fact, Report, Section
from setveil.report.terminal import print_report


class Closing(io.StringIO):
    """A terminal that is closed after the program asked whether it is one."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, "Input/output error")

    def flush(self) -> None:
        raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("stage", ["", "reading"])
def test_a_terminal_that_closes_does_not_replace_the_interruption(monkeypatch, stage):
    monkeypatch.setattr(sys, "stderr", Closing())
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(KeyboardInterrupt):
        interrupted_work(stage)


def interrupted_work(stage: str) -> None:
    with progress_bar() as progress:
        progress(1, 2, stage)
        raise KeyboardInterrupt


class Interrupting(Closing):
    """A terminal that closes, and interrupts, while the bar is being started."""

    def write(self, text: str) -> int:
        raise KeyboardInterrupt


def test_an_interruption_while_the_bar_starts_is_an_interruption(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Interrupting())
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(KeyboardInterrupt):
        interrupted_work("reading")


def test_work_goes_on_when_the_terminal_has_closed(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Closing())
    with progress_bar() as progress:
        progress(0, 0, "reading")
        progress(1, 2, "anonymizing")


def test_long_names_leave_room_for_the_numbers():
    name = "{" + ", ".join(f"a rather long product {number}" for number in range(8)) + "}"
    drawn = io.StringIO()
    print_report(Report((Section("Rules", "", (Fact(name, "97.4 %", "3 to 9"),)),), {}), drawn)
    text = drawn.getvalue()
    assert all(part in text for part in ("product 7}", "97.4 %", "3 to 9"))
