"""The attack itself: an adversary draws known items from real records and searches the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from setveil.audit.attack.draws import Draws, Items, Pool
from setveil.audit.attack.outcome import Attack, Inference, Kind, Row, summed_up
from setveil.audit.attack.statistics import Sample
from setveil.audit.attack.table import view_of
from setveil.audit.attack.view import Finding, View
from setveil.data.arrays import Flags, Floats
from setveil.data.seeds import random_from
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError
from setveil.published.release import Release
from setveil.words import plural, rough_share

BELIEFS = 5
"""Beliefs are computed on one of so many draws: for each, the belief in every item."""
_SURE = 1 - 1e-9

Progress = Callable[[int, int], None]


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
            for each of m, m + 1 and m + 2 if the promise covers m items, else one for all items.
        trials: How many people and sets of items are drawn, if there are more.
        private: The items whose inference is reported on its own.
        seed: The same seed gives the same draws.
        other: Another release of the same people, which the adversary has too.
        progress: Is called with how many rows are done, and of how many.
    """
    data = release.covered(original)
    data = data.sets() if isinstance(data, Bags) else data
    view = view_of(release, release.covered(original))
    job = _Job(release, data, view, trials, private, random_from(seed))
    plan = list(job.plan(sorted(set(knows)), other))
    rows = []
    for number, make in enumerate(plan):
        if progress is not None:
            progress(number, len(plan))
        rows += make()
    found = [*view.findings(), *_homogeneity(rows), *_both(rows)]
    return Attack(
        release.promise,
        release.form,
        len(data),
        view.candidate,
        tuple(rows),
        tuple(found),
        int(job.private.sum()),
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
        self.pool = Pool(data, ~data.vocabulary.marks(release.promise.assumed_unknown))
        self.private: Flags = data.vocabulary.marks(private)
        self.base = view.beliefs(())

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
            yield partial(self.known, number, within)
        usual = most if most is not None else max(knows, default=2)
        yield lambda: self.lacking(usual)
        yield lambda: self.likely(usual)
        yield lambda: self.method(usual)
        if other is not None:
            yield lambda: [self.both(usual, other)]

    def known(self, items: int | None, within: bool) -> list[Row]:
        """A row for an adversary who knows so many items of a person."""
        draws = self.pool.draws(items, self.trials, self.random)
        row = self._row("items", items, within, draws, self._counted(draws, self.view.candidates))
        return [_with_inference(row, self, draws)]

    def lacking(self, items: int) -> list[Row]:
        """One more item is known: one that the person does not have."""
        draws = self.pool.draws(items, self.trials, self.random)
        draws = self.pool.with_lacking(draws, self.random)
        count = cache(self.view.candidates)  # of little data, the same items are drawn often
        values = [float(count(d.known, d.lacking)) for d in draws.draws]
        within = self.promise.most_known is None
        return [self._row("lacking", items, within, draws, np.array(values))] if values else []

    def likely(self, items: int) -> list[Row]:
        """All originals that fit the release are taken as equally likely."""
        if self.view.likely(()) is None:
            return []
        draws = self.pool.draws(items, self.trials, self.random)
        values = self._counted(draws, lambda known: self.view.likely(known) or 1.0)
        return [self._row("likely", items, False, draws, values)]

    def method(self, items: int) -> list[Row]:
        """The adversary also knows how the method works."""
        view = self.view.knowing_method()
        if view is None:
            return []
        draws = self.pool.draws(items, self.trials, self.random)
        return [self._row("method", items, False, draws, self._counted(draws, view.candidates))]

    def both(self, items: int, other: Release) -> Row:
        """The adversary also has another release, and can link its records with those of this
        one: the people who may be meant are those who are candidates in both."""
        second = view_of(other, other.covered(self.data))
        homes = [_home(self.view, len(self.data), "release"), _home(second, len(self.data))]
        translate = second_numbers(self.data, other)

        def people(known: Items) -> float:
            marks = np.ones(len(self.data), dtype=bool)
            asked = (known, tuple(n for n in (translate[i] for i in known) if n >= 0))
            for view, home, items in zip((self.view, second), homes, asked, strict=True):
                may = np.zeros(int(home.max(initial=-1)) + 1, dtype=bool)
                places = view.places(items)
                may[places[places < len(may)]] = True
                marks &= may[home]
            return float(max(int(marks.sum()), 1))

        draws = self.pool.draws(items, self.trials, self.random)
        return self._row("both", items, False, draws, self._counted(draws, people))

    def _counted(self, draws: Draws, count: Callable[[Items], float]) -> Floats:
        """The number of candidates of each draw; the same items are searched once."""
        found: dict[Items, float] = {}
        for draw in draws.draws:
            if draw.known not in found:
                found[draw.known] = float(count(draw.known))
        return np.array([found[draw.known] for draw in draws.draws], dtype=np.float64)

    def _row(
        self, kind: Kind, items: int | None, within: bool, draws: Draws, values: Floats
    ) -> Row:
        figures: dict[str, Any] = summed_up(values, draws.sample, self.promise.crowd)
        return Row(kind, items, within, draws.people, **figures)


def second_numbers(data: Transactions, other: Release) -> list[int]:
    """The number of each item in what another release is about; -1 if that lacks it."""
    found: list[int] = other.covered(data).vocabulary.find(data.vocabulary).tolist()
    return found


def _home(view: View, people: int, parameter: str = "other") -> Any:
    home = view.home()
    if home is None or len(home) != people:
        problem = f"nobody can say which person of the original is where in this {parameter}"
        remedy = "give a release of the same original, with its alignment if it needs one"
        raise DataError(problem, remedy=remedy)
    return home


def _with_inference(row: Row, job: _Job, draws: Draws) -> Row:
    """The row with what is inferred about further items, all of them and the private ones."""
    some = draws.first(max(job.trials // BELIEFS, 1))
    found = _beliefs(job, some)
    return replace(
        row,
        further=_inferred(found.further, some.sample, len(job.base)),
        private=_inferred(found.private, some.sample, int(job.private.sum())),
    )


class _Seen:
    """For each draw: the belief without and with the known items, and whether one is certain; nan
    where there is nothing to infer."""

    def __init__(self, draws: int) -> None:
        self.further = np.full((3, draws), np.nan)
        self.private = np.full((3, draws), np.nan)


def _beliefs(job: _Job, draws: Draws) -> _Seen:
    seen, by_items = _Seen(len(draws.draws)), dict[Items, list[int]]()
    for number, draw in enumerate(draws.draws):
        by_items.setdefault(draw.known, []).append(number)
    hidden = np.flatnonzero(job.private)
    for known, numbers in by_items.items():
        beliefs = job.view.beliefs(known)
        beliefs[list(known)] = 0.0
        for number in numbers:
            others = job.pool.others(draws.draws[number])
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


def _homogeneity(rows: Iterable[Row]) -> list[Finding]:
    """How often all candidates share a further item, for the most items that the promise covers."""
    able = [row for row in rows if row.kind == "items" and row.within and row.further]
    if not able:
        return []
    row = able[-1]
    assert row.further is not None
    known = "everything" if row.items is None else plural(row.items, "item")
    text = (
        f"If {known} of a person {'is' if row.items in (None, 1) else 'are'} known, all candidates "
        f"share a further item in {rough_share(row.further.certain.value)} of the draws. It is "
        "then certain that the person has it."
    )
    figures = {"further": row.further.certain}
    if row.private is not None:
        text += f" In {rough_share(row.private.certain.value)} it is a private item."
        figures["private"] = row.private.certain
    return [Finding("homogeneity", text, figures)]


def _both(rows: Iterable[Row]) -> list[Finding]:
    """What a second release adds."""
    found = [row for row in rows if row.kind == "both"]
    if not found:
        return []
    row = found[0]
    text = (
        "An adversary who can link the records of both releases is left with one person in "
        f"{rough_share(row.alone.value)} of the draws, and with fewer than promised in "
        f"{rough_share(row.fewer.value)}."
    )
    figures = {"alone": row.alone, "fewer": row.fewer, "success": row.success}
    return [Finding("intersection", text, figures)]
