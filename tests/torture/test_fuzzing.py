"""How the fuzz campaigns judge a reader."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from setveil.errors import FileFormatError
from torture import trying
from torture.trying import tried


def refuse() -> object:
    raise FileFormatError("a.csv", "this line is empty", line=1)


def loud(say: Callable[[], object]) -> object:
    say()
    return refuse()


def test_one_clear_line_is_fine() -> None:
    assert tried(Path("a.csv"), refuse) is None


@pytest.mark.parametrize(
    ("say", "found"),
    [
        (lambda: sys.stdout.write("odd"), "printed 'odd'"),
        (lambda: sys.stderr.write("odd"), "printed 'odd'"),
        (lambda: warnings.warn("odd", stacklevel=1), "UserWarning: odd"),
    ],
    ids=["output", "errors", "warnings"],
)
def test_what_a_refusal_prints_is_bad(say: Callable[[], object], found: str) -> None:
    assert tried(Path("a.csv"), lambda: loud(say)) == found


def endless() -> object:
    while True:
        try:
            sum(range(1000))
        except Exception:
            return refuse()


def waiting() -> object:
    return signal.pause()


@pytest.mark.parametrize(
    ("attempt", "number", "found"),
    [
        (endless, signal.SIGPROF, "it took more than 0.1 seconds of CPU time"),
        (waiting, signal.SIGALRM, "it took more than 0.1 seconds in all"),
    ],
    ids=["endless", "waiting"],
)
def test_what_does_not_end_is_stopped_and_bad(
    monkeypatch: pytest.MonkeyPatch,
    attempt: Callable[[], object],
    number: signal.Signals,
    found: str,
) -> None:
    clock, _, what = trying.LIMITS[number]
    monkeypatch.setitem(trying.LIMITS, number, (clock, 0.1, what))
    assert tried(Path("a.csv"), attempt) == found
