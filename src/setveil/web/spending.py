"""What private releases of the same data have spent together, by the ledgers of the releases; a
budget that was promised counts as spent, even if some of it was not needed.

Data is the same if its file is, however it was read, in whichever project of the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from setveil.promises import PROMISES
from setveil.web.context import adds_noise, data_of
from setveil.web.store import Project, Store, StoredJob
from setveil.web.tasks import RELEASE
from setveil.words import plural

MOST_SHOWN = 6
"""How many parts of a sum are shown."""


class Cost(NamedTuple):
    """What one release has spent."""

    project: str
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Spending:
    """The private releases of a page, by their data."""

    costs: Mapping[str, Sequence[Cost]]

    @classmethod
    def of(cls, store: Store) -> Spending:
        """What all releases of the page have spent, the oldest first."""
        costs: dict[str, list[Cost]] = {}
        for job in reversed(store.jobs(None, "anonymize")):
            if (cost := _cost(job)) is not None:
                about = job.task["files"].get(job.task["data"], {})
                costs.setdefault(_same(about), []).append(cost)
        return cls(costs)

    def total(self, project: Project) -> str:
        """The sum for the data of a project, in a few words; empty if nothing was spent."""
        own = self._own(project)
        return _sums(own, short=True) if own else ""

    def lines(self, project: Project) -> list[str]:
        """What was spent on the data of a project, and apart from that on its other files."""
        data, own = data_of(project), self._own(project)
        found = [_said("This data", own, project)] if own else []
        for same, costs in self.costs.items():
            others = [cost for cost in costs if cost.project == project.id]
            if others and (data is None or same != _same(data[1])):
                counted = f"Another file of this project was used by {_releases(others)}"
                apart = "This is a sum of its own; if the files share people, the sums add up."
                found.append(f"{counted}: {_sums(others)}. {apart}")
        return found

    def _own(self, project: Project) -> Sequence[Cost]:
        data = data_of(project)
        return () if data is None else self.costs.get(_same(data[1]), ())


def _said(what: str, costs: Sequence[Cost], project: Project) -> str:
    away = sum(cost.project != project.id for cost in costs)
    where = f" ({away} of them in other projects)" if away else ""
    more = "more than one adds up" if len(costs) > 1 else "another one adds to it"
    return (
        f"{what} was used by {_releases(costs)}{where}: {_sums(costs)}. Handing over {more}. "
        "Releases that were deleted here or made elsewhere are not counted."
    )


def _releases(costs: Sequence[Cost]) -> str:
    return f"{plural(len(costs), 'release')} with differential privacy"


def _sums(costs: Sequence[Cost], *, short: bool = False) -> str:
    """Such as `epsilon 0.5 + 1 = 1.5, delta 1e-06 in all`."""
    epsilon = _sum("epsilon", [cost.epsilon for cost in costs], short)
    delta = _sum("delta", [cost.delta for cost in costs if cost.delta], short)
    return f"{epsilon}{delta and f', {delta}'}{' in all' if len(costs) > 1 else ''}"


def _sum(name: str, values: Sequence[Fraction], short: bool) -> str:
    if not values:
        return ""
    total = f"{float(sum(values)):g}"
    if short or not 1 < len(values) <= MOST_SHOWN:
        return f"{name} {total}"
    return f"{name} {' + '.join(f'{float(value):g}' for value in values)} = {total}"


def _cost(job: StoredJob) -> Cost | None:
    """What a private release promises, or what its ledger adds up to if that is more; None for
    other runs."""
    kind = PROMISES.get(str(job.task["options"].get("promise")))
    place = job.folder / RELEASE / "release.json"
    if job.status != "done" or kind is None or not adds_noise(kind) or not place.is_file():
        return None
    about = json.loads(place.read_text(encoding="utf-8"))
    spent = (
        max(sum(_all(about["ledger"], name), Fraction()), *_all([about["promise"]], name))
        for name in ("epsilon", "delta")
    )
    return Cost(job.project, *spent)


def _all(values: Sequence[Mapping[str, Any]], name: str) -> list[Fraction]:
    return [Fraction(str(one.get(name, 0))) for one in values]


def _same(about: Mapping[str, Any] | str) -> str:
    """A name for the file that data came from."""
    if isinstance(about, str):  # as older versions kept it
        return about
    return str(about.get("log") or about.get("sha256") or about.get("path"))
