"""Why so much is lost: the moles, the items that paid for them, and what a weaker promise saves."""

from dataclasses import asdict, dataclass, replace
from fractions import Fraction

import numpy as np

from setveil.data.arrays import Flags
from setveil.data.transactions import Transactions
from setveil.engines.base import Engine
from setveil.engines.local import LOCAL
from setveil.methods.suppression.method import Suppression
from setveil.methods.suppression.moles import Moles, Setting, find_moles
from setveil.promises.promise import Promise
from setveil.words import plural, share

STEP = Fraction(1, 10)  # by how much h is relaxed; k and p by 1


@dataclass(frozen=True)
class MoleCount:
    """How many minimal moles of one size there are."""

    size: int
    rare: int  # those in fewer than k records
    breach: int  # those with which a private item is too frequent


@dataclass(frozen=True)
class Cost:
    """An item that is suppressed."""

    item: str
    occurrences: int
    moles: int  # the minimal moles that hold it


@dataclass(frozen=True)
class Saving:
    """What one change would save."""

    change: str
    distortion: float
    saved: int
    """How many more occurrences would be published; below 0 if the greedy choice does worse."""


@dataclass(frozen=True)
class Driver:
    """A private item that causes breaches."""

    item: str
    moles: int
    """The minimal moles with which it is the most frequent private item, and too frequent."""
    distortion: float  # what would be lost if it were not private
    saved: int


@dataclass(frozen=True)
class LossExplanation:
    """Private: it names items that are not published."""

    distortion: float
    suppressed: int  # occurrences that are not published
    moles: tuple[MoleCount, ...]
    costs: tuple[Cost, ...]  # the suppressed items with most occurrences
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
        """The explanation, one sentence each."""
        lost = plural(self.suppressed, "occurrence")
        lines = [f"{share(self.distortion)} of the data is suppressed ({lost})"]
        for group in self.moles:
            size = plural(group.size, "item")
            lines.append(f"minimal moles of {size}: {group.rare:,} rare, {group.breach:,} breach")
        for cost in self.costs:
            times = plural(cost.occurrences, "occurrence")
            moles = plural(cost.moles, "minimal mole")
            lines.append(f"suppressed {cost.item}: {times}, in {moles}")
        lines += [f"with {one.change}: {_saved(one)}" for one in self.savings]
        for one in self.drivers:
            breaches = plural(one.moles, "breach", "breaches")
            lines.append(f"private {one.item}: causes {breaches}; without it {_saved(one)}")
        return lines


def explain(
    data: object,
    promise: Promise,
    method: Suppression | None = None,
    *,
    most: int = 10,
    drivers: int = 3,
    engine: Engine = LOCAL,
) -> LossExplanation:
    """What keeping a promise on some data costs, and why.

    Cost: one search for moles, and one more for each number of the promise that can be relaxed and
    for each driver.

    `most` is how many of the suppressed items are named, and `drivers` for how many private items
    to find out what would be saved without them.

    Example:
        >>> from setveil.promises.coherence import Coherence
        >>> records = ["a c d f g Diabetes", "a b c f Hepatitis", "b d f x Hepatitis",
        ...     "b c g y z HIV", "a c f g HIV"]
        >>> promise = Coherence(h=0.8, k=2, p=2, private=["Diabetes", "Hepatitis", "HIV"])
        >>> print(explain([record.split() for record in records], promise, most=2).text)
        private: 29.63 % of the data is suppressed (8 occurrences)
          minimal moles of 1 item: 3 rare, 0 breach
          minimal moles of 2 items: 6 rare, 1 breach
          suppressed b: 3 occurrences, in 4 minimal moles
          suppressed d: 2 occurrences, in 4 minimal moles
          with h = 0.9: 29.63 % is suppressed, 0 occurrences saved
          with p = 1: 11.11 % is suppressed, 5 occurrences saved
          private Hepatitis: causes 1 breach; without it 29.63 % is suppressed, 0 occurrences saved
    """
    method = method or Suppression()
    records = method.admit(data)
    method.check(len(records), promise, None, engine)
    setting = Setting.of(records, promise)
    gone = method.suppressed(setting, engine)
    moles = find_moles(setting.without(method.rare(records)), engine)
    lost = _occurrences(records, gone)
    return LossExplanation(
        _share(records, lost),
        lost,
        tuple(_mole_counts(moles)),
        tuple(_costs(records, gone, moles, most)),
        tuple(_savings(setting, method, lost, engine)),
        tuple(_drivers(setting, method, lost, _breaches(setting, moles)[:drivers], engine)),
    )


def _saved(one: Saving | Driver) -> str:
    saved = plural(one.saved, "occurrence")
    return f"{share(one.distortion)} is suppressed, {saved} saved"


def _occurrences(data: Transactions, gone: Flags) -> int:
    return int(data.supports()[gone].sum())


def _share(data: Transactions, lost: int) -> float:
    return lost / max(data.occurrences, 1)


def _mole_counts(moles: Moles) -> list[MoleCount]:
    counts = []
    for size in np.unique(moles.sizes).tolist():
        breach = moles.private[moles.sizes == size] >= 0
        counts.append(MoleCount(size, int((~breach).sum()), int(breach.sum())))
    return counts


def _costs(data: Transactions, gone: Flags, moles: Moles, most: int) -> list[Cost]:
    supports = data.supports()
    held = np.bincount(moles.items, minlength=len(supports))
    items = np.flatnonzero(gone & (supports > 0))
    items = items[np.lexsort((items, -supports[items]))][:most]
    return [
        Cost(data.vocabulary[item], int(supports[item]), int(held[item])) for item in items.tolist()
    ]


def _savings(setting: Setting, method: Suppression, lost: int, engine: Engine) -> list[Saving]:
    """What each number of the promise, relaxed by one step, would save."""
    easier = []
    if setting.k > 2:
        easier.append((f"k = {setting.k - 1}", replace(setting, k=setting.k - 1)))
    if setting.private.any() and setting.h < 1:
        h = min(setting.h + STEP, Fraction(1))
        easier.append((f"h = {float(h):g}", replace(setting, h=h)))
    if setting.p > 1:
        easier.append((f"p = {setting.p - 1}", replace(setting, p=setting.p - 1)))
    savings = []
    for change, other in easier:
        left = _occurrences(setting.data, method.suppressed(other, engine))
        savings.append(Saving(change, _share(setting.data, left), lost - left))
    return savings


def _breaches(setting: Setting, moles: Moles) -> list[tuple[int, int]]:
    """The private items that cause breaches, and how many; those with most first."""
    counts = np.bincount(moles.private[moles.private >= 0], minlength=len(setting.private))
    items = np.flatnonzero(counts)
    items = items[np.lexsort((items, -counts[items]))]
    return list(zip(items.tolist(), counts[items].tolist(), strict=True))


def _drivers(
    setting: Setting,
    method: Suppression,
    lost: int,
    breaches: list[tuple[int, int]],
    engine: Engine,
) -> list[Driver]:
    """What would be lost if each of these items were not private."""
    data, drivers = setting.data, []
    for item, count in breaches:
        private = setting.private.copy()
        private[item] = False
        left = _occurrences(data, method.suppressed(replace(setting, private=private), engine))
        drivers.append(Driver(data.vocabulary[item], count, _share(data, left), lost - left))
    return drivers
