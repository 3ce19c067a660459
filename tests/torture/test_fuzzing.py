"""How the fuzz campaigns judge a reader."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from setveil.errors import FileFormatError
from torture import trying


def refuse() -> object:
    raise FileFormatError("a.csv", "this line is empty", line=1)


def loud(say: Callable[[], object]) -> object:
    say()
    return refuse()


def test_one_clear_line_is_fine() -> None:
    assert trying.tried(Path("a.csv"), refuse) is None


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
    assert trying.tried(Path("a.csv"), lambda: loud(say)) == found


def test_what_does_not_end_is_stopped_and_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless() -> object:
        while True:
            try:
                sum(range(1000))
            except Exception:
                return refuse()

    monkeypatch.setattr(trying, "MOST_SECONDS", 0.1)
    assert trying.tried(Path("a.csv"), endless) == "it took more than 0.1 seconds"
