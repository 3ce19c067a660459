"""How the fuzz campaigns judge a reader."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from setveil.errors import FileFormatError
from torture import trying
from torture.campaign import Campaign, Dice
from torture.trying import Trial, commanded, tried
from torture.workers import attempt_apart


def refuse() -> object:
    raise FileFormatError("a.csv", "this line is empty", line=1)


def judge(attempt: Callable[[], object]) -> str | None:
    return tried(Trial(Path("a.csv"), attempt), [])


def loud(say: Callable[[], object]) -> object:
    say()
    return refuse()


def test_one_clear_line_is_fine() -> None:
    assert judge(refuse) is None


@pytest.mark.parametrize(
    ("say", "found"),
    [
        (lambda: sys.stdout.write("odd"), "printed 'odd'"),
        (lambda: sys.stderr.write("odd"), "printed 'odd'"),
        (lambda: warnings.warn("odd", stacklevel=1), "exit 70 (a bug): setveil: this is a bug"),
    ],
    ids=["output", "errors", "warnings"],
)
def test_what_a_refusal_prints_is_bad(say: Callable[[], object], found: str) -> None:
    assert (judge(lambda: loud(say)) or "").startswith(found)


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
    assert judge(attempt) == found


def test_an_error_without_a_place_in_the_tree_is_exit_70() -> None:
    def crash() -> object:
        raise ZeroDivisionError

    assert (judge(crash) or "").startswith("exit 70 (a bug)")


def test_a_command_is_judged_by_its_exit_code_and_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"%PDF-1.7")
    marks: list[str] = []
    trial = Trial(path, refuse, ["hierarchy", "build", path, "balanced:2"])
    assert commanded(trial, marks) is None
    assert marks == ["by command"]
    other = Trial(tmp_path / "b.csv", refuse, trial.command)
    assert (commanded(other, marks) or "").startswith("a message that does not name the file")


def ends_itself(rng: Dice, folder: Path) -> str | None:
    assert folder.is_dir()
    if rng.number % 7 == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return "odd" if rng.number % 10 == 5 else None


def test_a_case_that_ends_its_process_is_bad_and_the_next_worker_goes_on() -> None:
    campaign = Campaign(ends_itself, cases=1, few=1, about="")
    tally = attempt_apart(campaign, [range(0, 40, 2), range(1, 40, 2)], seed=0)
    assert tally.tried == 40
    crashed = [number for number, wrong in tally.bad if wrong.startswith("exit 70: the process")]
    assert crashed == [number for number in range(40) if number % 7 == 3]
    others = [number for number in range(40) if number % 10 == 5 and number % 7 != 3]
    assert [number for number, wrong in tally.bad if wrong == "odd"] == others
