"""What an adversary knows about a person: items drawn from real records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from setveil.alignment.merging import item_supports
from setveil.audit.attack.statistics import Sample
from setveil.data.arrays import Flags, Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.published.disassociated.draws import draw_places

Items = tuple[int, ...]
"""Numbers of the vocabulary of the original, ascending."""


@dataclass(frozen=True)
class Draw:
    """A person and what is known about them."""

    record: int
    known: Items
    lacking: Items = ()


@dataclass(frozen=True)
class Draws:
    """Draws of people and of items of theirs."""

    draws: tuple[Draw, ...]
    sample: Sample
    people: int
    """How many people have as many items."""

    def first(self, most: int) -> Draws:
        """Only the first draws; all of them if they are not random."""
        if self.sample.exact or len(self.draws) <= most:
            return self
        weights = np.full(most, 1 / most)
        return Draws(self.draws[:most], Sample(weights, exact=False), self.people)


class Pool:
    """The people of an original, and the items that an adversary may know."""

    def __init__(self, data: Transactions, may_know: Flags) -> None:
        self.data, self._numbers = data, np.flatnonzero(may_know)
        self._known = data.keeping(may_know)
        self._supports = item_supports(data)

    def draws(self, items: int | None, trials: int, random: np.random.Generator) -> Draws:
        """People with at least so many items, each as likely, and so many of their items, each set
        as likely; with None, people with any items, and all their items.

        All sets of items of all people are listed if they are not more than the trials. Otherwise
        this many are drawn at random.
        """
        lengths = self._known.lengths
        able = np.flatnonzero(lengths >= (1 if items is None else items))
        sets = sum(_ways(lengths[able], items, trials))
        if sets <= trials:
            return self._all(able, items)
        people = able[random.integers(0, len(able), trials)]
        counts = lengths[people] if items is None else np.full(trials, items)
        if items is None:
            found = (self._whole(person) for person in people.tolist())
        else:
            places = draw_places(self._known.indptr[people], lengths[people], counts, random)
            chosen = self._numbers[self._known.items[places]].reshape(trials, items)
            found = (tuple(row) for row in np.sort(chosen, axis=1).tolist())
        drawn = zip(people.tolist(), found, strict=True)
        weights = np.full(trials, 1 / trials)
        return Draws(
            tuple(Draw(person, known) for person, known in drawn), Sample(weights, False), len(able)
        )

    def with_lacking(self, draws: Draws, random: np.random.Generator) -> Draws:
        """The same draws, each also with an item that the person does not have.

        The more people have an item, the likelier it is drawn. People who have every item are left
        out. What was exact is now a random draw for each set, and so no longer exact.
        """
        chances = self._supports / max(int(self._supports.sum()), 1)
        if not len(chances) or not len(draws.draws):
            return Draws((), Sample(np.zeros(0), exact=False), 0)
        picked = _repeated(draws, random) if draws.sample.exact else draws.draws
        found: list[Draw] = []
        items = iter(_endless(chances, random))
        for draw in picked:
            own = set(self.data.items[self.data.entries(draw.record)].tolist())
            if len(own) < int(np.count_nonzero(chances)):
                item = next(item for item in items if item not in own)
                found.append(Draw(draw.record, draw.known, (item,)))
        weights = np.full(len(found), 1 / max(len(found), 1))
        return Draws(tuple(found), Sample(weights, exact=False), draws.people)

    def others(self, draw: Draw) -> Int64s:
        """The further items of the person."""
        own = self.data.items[self.data.entries(draw.record)].astype(np.int64)
        return np.setdiff1d(own, np.array(draw.known, dtype=np.int64), assume_unique=True)

    def _all(self, able: Int64s, items: int | None) -> Draws:
        drawn: list[Draw] = []
        weights: list[float] = []
        for person in able.tolist():
            whole = self._numbers[self._known.items[self._known.entries(person)]].tolist()
            sets = [tuple(whole)] if items is None else list(combinations(whole, items))
            drawn += (Draw(person, known) for known in sets)
            weights += [1 / (len(able) * len(sets))] * len(sets)
        return Draws(tuple(drawn), Sample(np.array(weights), exact=True), len(able))

    def _whole(self, person: int) -> Items:
        entries = self._known.items[self._known.entries(person)]
        return tuple(self._numbers[entries].tolist())


def _ways(lengths: Int64s, items: int | None, enough: int) -> Iterator[int]:
    """How many sets each person has, until they are more than enough."""
    total = 0
    for length in lengths.tolist():
        ways = 1 if items is None else comb(length, items)
        yield ways
        total += ways
        if total > enough:
            return


def _repeated(draws: Draws, random: np.random.Generator) -> list[Draw]:
    """Draws of a list, each as likely as it says; as many as there are in it, at least 1,000."""
    count = max(len(draws.draws), 1_000)
    chosen = random.choice(len(draws.draws), size=count, p=draws.sample.weights)
    return [draws.draws[number] for number in chosen.tolist()]


def _endless(chances: Floats, random: np.random.Generator) -> Iterator[int]:
    """Items, drawn again and again by their chances."""
    bounds = np.cumsum(chances)
    while True:
        found = np.searchsorted(bounds, random.random(4096) * bounds[-1], side="right")
        yield from np.minimum(found, len(bounds) - 1).tolist()
