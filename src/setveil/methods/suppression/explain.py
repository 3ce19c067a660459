"""Why a release lost what it lost: the moles, the items that paid for them, and what a weaker promise would save."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from setveil.data.transactions import Transactions
from setveil.engines.base import Engine
from setveil.engines.local import LOCAL
from setveil.methods.suppression.method import Marks, Suppression
from setveil.methods.suppression.moles import Moles, Task, find_moles
from setveil.promises.promise import Promise

STEPS = {"k": 1, "h": 0.1, "p": 1}
"""By how much each number of a promise is relaxed."""


@dataclass(frozen=True)
class MoleCount:
    """How many minimal moles of one size there are."""

    size: int
    rare: int
    """Those that occur in fewer than k records."""
    breach: int
    """Those beside which a private item stands too often."""


@dataclass(frozen=True)
class Cost:
    """An item that is suppressed."""

    item: str
    occurrences: int
    moles: int
    """The minimal moles that hold it."""


@dataclass(frozen=True)
class Saving:
    """What one change would give."""

    change: str
    distortion: float
    saved: int
    """Occurrences that would then be published; below 0 where the greedy choice happens to end worse."""


@dataclass(frozen=True)
class Driver:
    """A private item that breaches lead to."""

    item: str
    moles: int
    """The minimal moles beside which it stands most often, and too often."""
    distortion: float
    """What would be lost if it did not have to be protected."""
    saved: int


@dataclass(frozen=True)
class Explanation:
    """Private: it names items that are not published."""

    distortion: float
    suppressed: int
    """Occurrences that are not published."""
    moles: tuple[MoleCount, ...]
    costs: tuple[Cost, ...]
    """The suppressed items, those of most occurrences first; at most as many as were asked for."""
    savings: tuple[Saving, ...]
    drivers: tuple[Driver, ...]

    def to_dict(self) -> dict[str, object]:
        """The explanation as it is written in JSON, marked private."""
        return {"private": True, **asdict(self)}

    @property
    def text(self) -> str:
        """The explanation for a reader."""
        return "\n  ".join([f"private: {self.lines()[0]}", *self.lines()[1:]])

    def lines(self) -> list[str]:
        """What it says, a sentence each."""
        lines = [
            f"{100 * self.distortion:.2f} % of all occurrences are suppressed ({self.suppressed})"
        ]
        lines += [
            f"minimal moles of {one.size} item{'s' * (one.size != 1)}: {one.rare} rare, {one.breach} breach"
            for one in self.moles
        ]
        lines += [
            f"suppressed {one.item}: {one.occurrences} occurrences, in {one.moles} minimal moles"
            for one in self.costs
        ]
        lines += [
            f"with {one.change}: {100 * one.distortion:.2f} %, {one.saved} occurrences saved"
            for one in self.savings
        ]
        lines += [
            f"private {one.item}: leads to {one.moles} of them; {100 * one.distortion:.2f} % without it, {one.saved} occurrences saved"
            for one in self.drivers
        ]
        return lines


def explain(
    data: object,
    promise: Promise,
    method: Suppression | None = None,
    *,
    most: int = 10,
    drivers: int = 3,
    engine: Engine = LOCAL,
) -> Explanation:
    """What keeping a promise on some data costs, and why.

    Cost: one search for moles, and another one for each number of the promise that can be relaxed and for each driver.

    Args:
        data: The records.
        promise: What is to be kept.
        method: How; the default way when not given.
        most: How many of the suppressed items are named.
        drivers: For how many private items it is tried out what would be saved without them.
        engine: Where the loops run.

    Example:
        >>> from setveil.promises.coherence import Coherence
        >>> records = ["a c d f g Diabetes", "a b c f Hepatitis", "b d f x Hepatitis", "b c g y z HIV", "a c f g HIV"]
        >>> promise = Coherence(h=0.8, k=2, p=2, private=["Diabetes", "Hepatitis", "HIV"])
        >>> print(explain([record.split() for record in records], promise, most=2).text)
        private: 29.63 % of all occurrences are suppressed (8)
          minimal moles of 1 item: 3 rare, 0 breach
          minimal moles of 2 items: 6 rare, 1 breach
          suppressed b: 3 occurrences, in 4 minimal moles
          suppressed d: 2 occurrences, in 4 minimal moles
          with h = 0.9: 29.63 %, 0 occurrences saved
          with p = 1: 11.11 %, 5 occurrences saved
          private Hepatitis: leads to 1 of them; 29.63 % without it, 0 occurrences saved
    """
    method = method or Suppression()
    records = method.admit(data)
    method.check(len(records), promise, None, engine)
    task = Task.of(records, promise)
    gone = method.suppressed(task, engine)
    moles = find_moles(task.without(method.rare(records)), engine)
    lost = _occurrences(records, gone)
    return Explanation(
        _share(records, lost),
        lost,
        tuple(_mole_counts(moles)),
        tuple(_costs(records, gone, moles, most)),
        tuple(_savings(task, method, lost, engine)),
        tuple(_drivers(task, method, lost, moles, drivers, engine)),
    )


def _occurrences(data: Transactions, gone: Marks) -> int:
    return int(data.supports()[gone].sum())


def _share(data: Transactions, lost: int) -> float:
    return lost / max(data.occurrences, 1)


def _mole_counts(moles: Moles) -> list[MoleCount]:
    counts = []
    for size in np.unique(moles.sizes).tolist():
        breach = moles.private[moles.sizes == size] >= 0
        counts.append(MoleCount(size, int((~breach).sum()), int(breach.sum())))
    return counts


def _costs(data: Transactions, gone: Marks, moles: Moles, most: int) -> list[Cost]:
    supports = data.supports()
    held = np.bincount(moles.items, minlength=len(supports))
    items = np.flatnonzero(gone & (supports > 0))
    items = items[np.lexsort((items, -supports[items]))][:most]
    return [
        Cost(data.vocabulary[item], int(supports[item]), int(held[item])) for item in items.tolist()
    ]


def _savings(task: Task, method: Suppression, lost: int, engine: Engine) -> list[Saving]:
    """What each number of the promise, relaxed by one step, would save."""
    easier = []
    if task.k - STEPS["k"] >= 2:
        easier.append((f"k = {task.k - 1}", replace(task, k=task.k - 1)))
    if task.private.any() and task.h < 1:
        h = min(round(task.h + STEPS["h"], 10), 1.0)
        easier.append((f"h = {h:g}", replace(task, h=h)))
    if task.p > 1:
        easier.append((f"p = {task.p - 1}", replace(task, p=task.p - 1)))
    savings = []
    for change, other in easier:
        left = _occurrences(task.data, method.suppressed(other, engine))
        savings.append(Saving(change, _share(task.data, left), lost - left))
    return savings


def _drivers(
    task: Task, method: Suppression, lost: int, moles: Moles, most: int, engine: Engine
) -> list[Driver]:
    """The private items that most breaches lead to, and what would be lost without each."""
    breaches = np.bincount(moles.private[moles.private >= 0], minlength=len(task.private))
    items = np.flatnonzero(breaches)
    items = items[np.lexsort((items, -breaches[items]))][:most]
    drivers = []
    for item in items.tolist():
        private = task.private.copy()
        private[item] = False
        left = _occurrences(task.data, method.suppressed(replace(task, private=private), engine))
        drivers.append(
            Driver(
                task.data.vocabulary[item],
                int(breaches[item]),
                _share(task.data, left),
                lost - left,
            )
        )
    return drivers
