"""The rows of an attack: one for each thing that an adversary may know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from setveil.alignment.merging import covered
from setveil.audit.attack.draws import Draw, Draws, Items, Pool, Sample
from setveil.audit.attack.findings import apart, outside
from setveil.audit.attack.inference import See, beliefs_of, inferred
from setveil.audit.attack.outcome import Finding, Kind, Row, View, summed_up
from setveil.audit.attack.risk import Risks
from setveil.data.arrays import Flags, Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.errors import DataError
from setveil.published.release import Release

BELIEFS = 5
"""Beliefs are computed on one of so many draws: for each, the belief in every item."""
Asked = Callable[[View, Items], float | None]
ViewOf = Callable[[Release, Transactions], View]


@dataclass(frozen=True, eq=False)
class Source:
    """What a basket, a session, a stay or a file says about people."""

    name: str
    """In words that follow `to know`."""
    records: Transactions
    owners: Int64s
    """The person of the original whom each record is about; -1 for people who are not in it."""


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What an adversary may know besides random items of a person."""

    items: Sequence[int] = (1, 2, 3)
    """How many items of a person; a row for each number."""
    sources: Sequence[Source] = ()
    other: Release | None = None
    """Another release of the same people."""
    population: Transactions | None = None
    """All people who may be meant, those in the data among them."""


class Knowing:
    """What all rows need."""

    def __init__(
        self,
        release: Release,
        data: Transactions,
        view: View,
        knowledge: Knowledge,
        private: frozenset[str],
    ) -> None:
        self.promise, self.view, self.data, self.knowledge = release.promise, view, data, knowledge
        self.found: list[Finding] = []
        self.private: Flags = data.vocabulary.marks(private)
        self.base = view.beliefs(())
        self.risks = Risks(view, data, knowledge.population)
        hidden = data.vocabulary.marks(release.promise.assumed_unknown)
        self.pools = {"item": Pool(data, np.ones_like(hidden))}
        self.usual = "item"
        """Which items the promise allows an adversary to know."""
        if hidden.any():
            self.usual = "public item"
            self.pools |= {"public item": Pool(data, ~hidden), "private item": Pool(data, hidden)}

    def plan(
        self, trials: int, random: np.random.Generator, view_of: ViewOf
    ) -> Iterator[Callable[[], list[Row]]]:
        """A function for each row, in their order."""
        self.trials, self.random = trials, random
        knows, most = sorted(set(self.knowledge.items)), self.promise.most_known
        numbers: list[int | None] = sorted(
            {*knows, *(() if most is None else (most, most + 1, most + 2))}
        )
        if most is None:
            numbers.append(None)
        for number in numbers:
            yield partial(self.known, "items", number, self.usual)
        usual = most if most is not None else max(knows, default=2)
        if self.view.knowing_columns(0) is not None:
            for number in (0, usual, *[usual + 1] * (most is not None), None):
                yield partial(self.known, "columns", number, self.usual)
        yield lambda: self.lacking(usual)
        if self.usual == "public item":
            yield partial(self.known, "items", 1, "private item")
            yield partial(self.known, "items", None, "private item")
        if most is not None:
            yield partial(self.known, "items", None, "item")
        yield lambda: self.apart(usual)
        other = self.knowledge.other
        if other is not None:
            second = view_of(other, covered(other, self.data))
            yield lambda: [self.both(usual, second, covered(other, self.data))]
        for number in (usual, *[usual + 1] * (most is not None)):
            yield partial(self.known, "rarest", number, self.usual)
        for source in self.knowledge.sources:
            yield partial(self.said, source)

    def known(self, kind: Kind, items: int | None, sort: str) -> list[Row]:
        """A row for an adversary who knows so many items of a person, and perhaps more: then `see`
        is what is left of the release for each person."""
        pool, see = self.pools[sort], self.seen if kind == "columns" else None
        draw = pool.rarest if kind == "rarest" and items is not None else pool.draws
        draws = draw(items, self.trials, self.random)  # type: ignore[arg-type]
        within = self._covers(items, sort) or (items == 0 and kind == "columns")
        asked: list[Asked] = [lambda view, known: view.candidates(known)]
        if within and self.view.possible(()) is not None:
            asked.append(_possible)
        values, *rest = self._counted(draws, *asked, see=see)
        row = self._row(kind, items, draws, values, (sort, within))
        if rest and len(rest[0]):
            row = replace(row, possible=int(rest[0].min()))
        return [self._with_beliefs(row, draws, see)]

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

    def both(self, items: int, second: View, original: Transactions) -> Row:
        """The adversary also has another release, and can link its records with those of this
        one: the people who may be meant are those who are candidates in both."""
        homes = [_home(self.view, len(self.data), "release"), _home(second, len(self.data))]
        translate = original.vocabulary.find(self.data.vocabulary).tolist()

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

    def said(self, source: Source) -> list[Row]:
        """What a source says is known. It may be wrong; if it fits nobody, anybody may be meant."""
        draws, true = self._draws_of(source)

        def fitting(view: View, known: Items) -> float:
            fits = len(view.places(known))
            return view.candidates(known) if fits else float(max(len(self.data), 1))

        (values,) = self._counted(draws, fitting)
        most = max((len(draw.known) for draw in draws.draws), default=0)
        hidden = self.data.vocabulary.marks(self.promise.assumed_unknown)
        private = any(hidden[item] for draw in draws.draws for item in draw.known)
        within = bool(true.all()) and not private and self._covers(most, self.usual)
        row = self._row("source", None, draws, values, (source.name, within), true)
        self.found.append(outside(source.name, row, len(source.owners), true))
        return [self._with_beliefs(row, draws, None)]

    def _draws_of(self, source: Source) -> tuple[Draws, Flags]:
        """People of the data and one record that a source has about each, each as likely; and
        whether the person has all that it says."""
        numbers = self.data.vocabulary.find(source.records.vocabulary)
        able = np.flatnonzero((source.owners >= 0) & (source.records.lengths > 0))
        people, counts = np.unique(source.owners[able], return_counts=True)
        exact = len(able) <= self.trials
        weights = 1 / (len(people) * counts[np.searchsorted(people, source.owners[able])])
        if not exact:
            able = able[self.random.choice(len(able), self.trials, p=weights)]
            weights = np.full(self.trials, 1 / self.trials)
        drawn, true = [], []
        for record in able.tolist():
            person = int(source.owners[record])
            said = numbers[source.records.items[source.records.entries(record)]]
            known = tuple(sorted(said[said >= 0].tolist()))
            own = set(self.data.items[self.data.entries(person)].tolist())
            drawn.append(Draw(person, known))
            true.append(own.issuperset(said.tolist()))  # nobody has what is not in the data
        return Draws(tuple(drawn), Sample(weights, exact), len(people)), np.array(true, dtype=bool)

    def _covers(self, items: int | None, sort: str) -> bool:
        """Whether the promise covers an adversary who knows so many items of this sort."""
        most = self.promise.most_known
        return sort == self.usual and (most is None or (items is not None and items <= most))

    def _with_beliefs(self, row: Row, draws: Draws, see: See | None) -> Row:
        some = draws.first(max(self.trials // BELIEFS, 1))
        found, hidden = beliefs_of(self, some, see), int(self.private.sum())
        further = inferred(found.further, some.sample, len(self.base))
        private = inferred(found.private, some.sample, hidden)
        return replace(row, further=further, private=private)

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
        self,
        kind: Kind,
        items: int | None,
        draws: Draws,
        values: Floats,
        about: tuple[str, bool],
        true: Flags | None = None,
    ) -> Row:
        figures: dict[str, Any] = summed_up(values, draws.sample, self.promise.crowd)
        risk = self.risks.of(draws, values, columns=kind == "columns", true=true)
        return Row(kind, items, *about, draws.people, **figures, risk=risk)


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
