"""A campaign: many random cases of one kind, each of which must end well."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path


class Dice(random.Random):
    """The random numbers of one case."""

    def __init__(self, seed: int, number: int) -> None:
        super().__init__(f"{seed}/{number}")
        self.number = number
        self.marks: list[str] = []
        """What happened, for counting: `refused`, `judged` ..."""


Case = Callable[[Dice, Path], str | None]
"""Tries one random case in a scratch folder: None if all is well, else what went wrong.

All that a case does follows from the random numbers. It may leave files in the folder and may
reuse those of earlier cases (examples that are expensive to make), but must not depend on them.
An exception counts as bad."""


@dataclass(frozen=True)
class Campaign:
    """One line of the table.

    Attributes:
        case: Tries one case.
        cases: How many `make torture` tries.
        few: How many `make test` tries (seconds at most).
        about: What is done, and what counts as bad.
        skip: Says why this machine cannot run the campaign; None if it can.
    """

    case: Case
    cases: int
    few: int
    about: str
    skip: Callable[[], str | None] = lambda: None


@dataclass
class Tally:
    """What a campaign tried and what was bad: the number of each bad case and what happened."""

    tried: int = 0
    bad: list[tuple[int, str]] = field(default_factory=list)
    seconds: float = 0.0
    marks: Counter[str] = field(default_factory=Counter)
    """How often each thing happened that cases mark."""

    def __add__(self, other: Tally) -> Tally:
        seconds = max(self.seconds, other.seconds)
        bad, marks = sorted(self.bad + other.bad), self.marks + other.marks
        return Tally(self.tried + other.tried, bad, seconds, marks)

    def add(self, number: int, wrong: str | None, marks: Iterable[str]) -> None:
        """Count one case."""
        self.tried += 1
        self.marks.update(marks)
        if wrong is not None:
            self.bad.append((number, wrong))


def attempt(campaign: Campaign, cases: range, seed: int = 0, folder: Path | None = None) -> Tally:
    """Try the cases with these numbers. Case `i` of a seed is the same in every run.

    What cases prepare for each other is in `folder`, or in a new one that is removed at the end."""
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="setveil-torture-"))
        try:
            return attempt(campaign, cases, seed, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    tally, began = Tally(), time.monotonic()
    for number in cases:
        tally.add(number, *one_case(campaign, number, seed, folder))
    tally.seconds = time.monotonic() - began
    return tally


def one_case(
    campaign: Campaign, number: int, seed: int, folder: Path
) -> tuple[str | None, list[str]]:
    """What is wrong with one case, and what it marked."""
    rng = Dice(seed, number)
    try:
        return campaign.case(rng, folder), rng.marks
    except Exception as error:
        return f"{type(error).__name__}: {error}", rng.marks
