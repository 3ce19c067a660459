"""The attack itself: an adversary draws known items from real records and searches the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from setveil.alignment.merging import covered
from setveil.audit.attack.clusterview import view_disassociated
from setveil.audit.attack.draws import Draws, Items, Pool, Sample
from setveil.audit.attack.findings import (
    apart,
    both_releases,
    homogeneity,
    likelier,
    unique_records,
)
from setveil.audit.attack.grouped import view_grouped
from setveil.audit.attack.outcome import Attack, Finding, Inference, Kind, Row, View, summed_up
from setveil.audit.attack.rowview import view_generalized, view_suppressed, view_typical_bags
from setveil.audit.verify import gap_of
from setveil.data.arrays import Flags, Floats, random_from
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError
from setveil.published.release import Release

BELIEFS = 5
"""Beliefs are computed on one of so many draws: for each, the belief in every item."""
_SURE = 1 - 1e-9

Progress = Callable[[int, int], None]
Asked = Callable[[View, Items], float | None]
See = Callable[[int], View]
ATTACKS: dict[str, Callable[[Any, Transactions], View]] = {
    "generalized": view_generalized,
    "suppressed": view_suppressed,
    "typical-bags": view_typical_bags,
    "disassociated": view_disassociated,
    "grouped": view_grouped,
}
"""By form: what an adversary sees. `rowview.view_rows` suits any form with certain rows."""
NOT_ATTACKED = {
    "synthetic": "no record of a synthetic release belongs to a person, so there is nobody to "
    "find; its epsilon bounds what anybody can learn from it, whatever they know",
}
"""By form: why searching its records for a person says nothing."""


def attack(
    release: Release,
    original: Transactions,
    *,
    knows: Iterable[int] = (1, 2, 3),
    trials: int = 10_000,
    private: frozenset[str] = frozenset(),
    seed: int | None = None,
    other: Release | None = None,
    progress: Progress | None = None,
) -> Attack:
    """How far an adversary gets who knows some items of a person and has the release.

    Args:
        release: The release.
        original: The data it was made from.
        knows: How many items of a person the adversary knows: a row for each number. One row more
            for each of m, m + 1 and m + 2 if the promise covers m items, and one for all items. If
            the promise says that some items are private, one for a private item and one for all of
            them.
        trials: How many people and sets of items are drawn, if there are more.
        private: The items whose inference is reported on its own.
        seed: The same seed gives the same draws.
        other: Another release of the same people, which the adversary has too.
        progress: Is called with how many rows are done, and of how many.
    """
    data = covered(release, original)
    data = data.sets() if isinstance(data, Bags) else data
    view = view_of(release, covered(release, original))
    job = _Job(release, data, view, trials, private, random_from(seed))
    plan = list(job.plan(sorted(set(knows)), other))
    rows = []
    for number, make in enumerate(plan):
        if progress is not None:
            progress(number, len(plan))
        rows += make()
    found = (*view.findings(), *job.found, *homogeneity(rows), *both_releases(rows))
    gaps = gap_of(release.shown, release.tree), *(part.gap for part in release.promise.parts)
    gaps = *gaps, likelier(rows, release.promise.crowd)
    return Attack(
        release.promise,
        release.form,
        len(data),
        view.candidate,
        view.target,
        view.success,
        tuple(rows),
        (*found, *unique_records(release)),
        int(job.private.sum()),
        tuple(gap for gap in gaps if gap),
    )


class _Job:
    """What all rows need."""

    def __init__(
        self,
        release: Release,
        data: Transactions,
        view: View,
        trials: int,
        private: frozenset[str],
        random: np.random.Generator,
    ) -> None:
        self.promise, self.view, self.trials, self.random = release.promise, view, trials, random
        self.data = data
        self.found: list[Finding] = []
        self.private: Flags = data.vocabulary.marks(private)
        self.base = view.beliefs(())
        hidden = data.vocabulary.marks(release.promise.assumed_unknown)
        self.pools = {"item": Pool(data, np.ones_like(hidden))}
        self.usual = "item"
        """Which items the promise allows an adversary to know."""
        if hidden.any():
            self.usual = "public item"
            self.pools |= {"public item": Pool(data, ~hidden), "private item": Pool(data, hidden)}

    def plan(self, knows: list[int], other: Release | None) -> Iterator[Callable[[], list[Row]]]:
        """A function for each row."""
        most = self.promise.most_known
        numbers: list[int | None] = sorted(
            {*knows, *(() if most is None else (most, most + 1, most + 2))}
        )
        if most is None:
            numbers.append(None)
        for number in numbers:
            within = most is None or (number is not None and number <= most)
            yield partial(self.known, "items", number, self.usual, within)
        usual = most if most is not None else max(knows, default=2)
        if self.view.knowing_columns(0) is not None:
            more = (usual, *[usual + 1] * (most is not None), None)
            for number in (0, *more):
                within = number == 0 or most is None or (number is not None and number <= most)
                yield partial(self.known, "columns", number, self.usual, within, self.seen)
        yield lambda: self.lacking(usual)
        if self.usual == "public item":
            yield partial(self.known, "items", 1, "private item", False)
            yield partial(self.known, "items", None, "private item", False)
        if most is not None:
            yield partial(self.known, "items", None, "item", False)
        yield lambda: self.apart(usual)
        if other is not None:
            yield lambda: [self.both(usual, other)]

    def known(
        self, kind: Kind, items: int | None, sort: str, within: bool, see: See | None = None
    ) -> list[Row]:
        """A row for an adversary who knows so many items of a person, and perhaps more: then `see`
        is what is left of the release for each person."""
        draws = self.pools[sort].draws(items, self.trials, self.random)
        asked: list[Asked] = [lambda view, known: view.candidates(known)]
        if within and self.view.possible(()) is not None:
            asked.append(_possible)
        values, *rest = self._counted(draws, *asked, see=see)
        row = self._row(kind, items, draws, values, (sort, within))
        if rest and len(rest[0]):
            row = replace(row, possible=int(rest[0].min()))
        some = draws.first(max(self.trials // BELIEFS, 1))
        found, hidden = _beliefs(self, some, see), int(self.private.sum())
        further = _inferred(found.further, some.sample, len(self.base))
        private = _inferred(found.private, some.sample, hidden)
        return [replace(row, further=further, private=private)]

    def seen(self, person: int) -> View:
        """What is left for an adversary who knows the columns of a person."""
        view = self.view.knowing_columns(person)
        assert view is not None
        return view

    def lacking(self, items: int) -> list[Row]:
        """One more item is known: one that the person does not have."""
        pool = self.pools[self.usual]
        draws = pool.draws(items, self.trials, self.random)
        draws = pool.with_lacking(draws, self.random)
        count = cache(self.view.candidates)  # of little data, the same items are drawn often
        values = np.array([count(d.known, d.lacking) for d in draws.draws])
        about = self.usual, self.promise.covers_lacking
        return [self._row("lacking", items, draws, values, about)] if len(values) else []

    def apart(self, items: int) -> list[Row]:
        """No row: how many records are expected to have the known items, and how many can have
        them for somebody who knows the method."""
        if self.view.expected(()) is not None:
            draws = self.pools[self.usual].draws(items, self.trials, self.random)
            expected, capped = self._counted(
                draws,
                lambda view, known: view.expected(known),
                lambda view, known: view.possible(known, knowing_method=True),
            )
            self.found += apart(items, (expected, capped), self.promise.crowd, draws.sample)
        return []

    def both(self, items: int, other: Release) -> Row:
        """The adversary also has another release, and can link its records with those of this
        one: the people who may be meant are those who are candidates in both."""
        second = view_of(other, covered(other, self.data))
        homes = [_home(self.view, len(self.data), "release"), _home(second, len(self.data))]
        translate = covered(other, self.data).vocabulary.find(self.data.vocabulary).tolist()

        def people(_: View, known: Items) -> float:
            marks = np.ones(len(self.data), dtype=bool)
            asked = (known, tuple(n for n in (translate[i] for i in known) if n >= 0))
            for view, home, items in zip((self.view, second), homes, asked, strict=True):
                may = np.zeros(int(home.max(initial=-1)) + 1, dtype=bool)
                places = view.places(items)
                may[places[places < len(may)]] = True
                marks &= may[home]
            return float(max(int(marks.sum()), 1))

        draws = self.pools[self.usual].draws(items, self.trials, self.random)
        (values,) = self._counted(draws, people)
        return self._row("both", items, draws, values, (self.usual, False))

    def _counted(self, draws: Draws, *asked: Asked, see: See | None = None) -> Floats:
        """What is asked about the known items of each draw, a line for each question; the same
        items are searched once."""
        found: dict[tuple[int, Items], list[float]] = {}
        views = [self.view if see is None else see(draw.record) for draw in draws.draws]
        keys = [(id(view), draw.known) for view, draw in zip(views, draws.draws, strict=True)]
        for key, view in zip(keys, views, strict=True):
            if key not in found:
                found[key] = [float(ask(view, key[1]) or 0) for ask in asked]
        values = [found[key] for key in keys]
        return np.array(values, dtype=np.float64).reshape(-1, len(asked)).T

    def _row(
        self, kind: Kind, items: int | None, draws: Draws, values: Floats, about: tuple[str, bool]
    ) -> Row:
        figures: dict[str, Any] = summed_up(values, draws.sample, self.promise.crowd)
        return Row(kind, items, *about, draws.people, **figures)


def _possible(view: View, known: Items) -> float:
    """The records that can have the items in one original; those that are shown, if all are."""
    possible = view.possible(known)
    return view.candidates(known) if possible is None else possible


def _home(view: View, people: int, parameter: str = "other") -> Any:
    home = view.home()
    if home is None or len(home) != people:
        problem = f"nobody can say which person of the original is where in this {parameter}"
        remedy = "give a release of the same original, with its alignment if it needs one"
        raise DataError(problem, remedy=remedy)
    return home


class _Seen:
    """For each draw: the belief without and with the known items, and whether one is certain; nan
    where there is nothing to infer."""

    def __init__(self, draws: int) -> None:
        self.further = np.full((3, draws), np.nan)
        self.private = np.full((3, draws), np.nan)


def _beliefs(job: _Job, draws: Draws, see: See | None) -> _Seen:
    """What is inferred about further items, all of them and the private ones, from what an
    adversary sees who looks for a person."""
    seen, same = _Seen(len(draws.draws)), dict[tuple[int, Items], list[int]]()
    views = [job.view if see is None else see(draw.record) for draw in draws.draws]
    for number, (draw, view) in enumerate(zip(draws.draws, views, strict=True)):
        same.setdefault((id(view), draw.known), []).append(number)
    hidden = np.flatnonzero(job.private)
    for (_, known), numbers in same.items():
        beliefs = views[numbers[0]].beliefs(known)
        beliefs[list(known)] = 0.0
        for number in numbers:
            others = job.pools["item"].others(draws.draws[number])
            if len(others):
                means = job.base[others].mean(), beliefs[others].mean()
                seen.further[:, number] = *means, float(beliefs.max(initial=0.0) >= _SURE)
        if len(hidden):
            worst = hidden[int((beliefs - job.base)[hidden].argmax())]
            sure = float(beliefs[hidden].max() >= _SURE)
            seen.private[:, numbers] = [[job.base[worst]], [beliefs[worst]], [sure]]
    return seen


def _inferred(seen: Floats, sample: Sample, items: int) -> Inference | None:
    """The means over the draws in which there is something to infer."""
    able = ~np.isnan(seen[0])
    if not able.any():
        return None
    weights = sample.weights[able]
    part = Sample(weights / weights.sum(), sample.exact)
    base, belief, sure = seen[:, able]
    return Inference(part.mean(base), part.mean(belief), part.share(sure), int(able.sum()), items)


def view_of(release: Release, original: Transactions) -> View:
    """What an adversary sees of a release.

    Raises:
        DataError: if nobody has said how this form is attacked.
    """
    if release.form in NOT_ATTACKED:
        raise DataError(NOT_ATTACKED[release.form])
    if release.form not in ATTACKS:
        problem = f"there is no attack for the form {release.form}"
        raise DataError(problem, remedy=f"attack one of {', '.join(ATTACKS)}")
    return ATTACKS[release.form](release, original)
