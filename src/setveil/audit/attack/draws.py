"""What an adversary knows about a person: items drawn from real records; and figures from draws,
with their error: exact, or estimated with a confidence interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from math import ceil, comb, exp, floor, lgamma, log, log1p, sqrt

import numpy as np

from setveil.alignment.merging import item_supports
from setveil.data.arrays import Flags, Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.published.disassociated.placing import draw_places

Items = tuple[int, ...]
"""Numbers of the vocabulary of the original, ascending."""
CONFIDENCE = 0.95
"""How sure each interval is, on its own."""


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

    def rarest(self, items: int, trials: int, random: np.random.Generator) -> Draws:
        """People with at least so many items, and those of their items that fewest people have: all
        of the people, or as many as the trials, drawn at random."""
        able = np.flatnonzero(self._known.lengths >= items)
        exact = len(able) <= trials
        people = able if exact else able[random.integers(0, len(able), trials)]
        drawn = tuple(Draw(person, self._rarest(person, items)) for person in people.tolist())
        return Draws(drawn, Sample(np.full(len(drawn), 1 / max(len(drawn), 1)), exact), len(able))

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
            found: Iterable[Items] = map(self._whole, people.tolist())
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
        picked: Iterable[Draw] = draws.draws
        if draws.sample.exact:  # as many as there are in the list, at least 1,000
            count = max(len(draws.draws), 1_000)
            chosen = random.choice(len(draws.draws), size=count, p=draws.sample.weights)
            picked = (draws.draws[number] for number in chosen.tolist())
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
            whole = self._whole(person)
            sets = [whole] if items is None else list(combinations(whole, items))
            drawn += (Draw(person, known) for known in sets)
            weights += [1 / (len(able) * len(sets))] * len(sets)
        return Draws(tuple(drawn), Sample(np.array(weights), exact=True), len(able))

    def _rarest(self, person: int, items: int) -> Items:
        whole = np.array(self._whole(person), dtype=np.int64)
        first = np.argsort(self._supports[whole], kind="stable")[:items]
        return tuple(np.sort(whole[first]).tolist())

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


def _endless(chances: Floats, random: np.random.Generator) -> Iterator[int]:
    """Items, drawn again and again by their chances."""
    bounds = np.cumsum(chances)
    while True:
        found = np.searchsorted(bounds, random.random(4096) * bounds[-1], side="right")
        yield from np.minimum(found, len(bounds) - 1).tolist()


@dataclass(frozen=True)
class Estimate:
    """A figure and the interval that contains the true one; a point if the figure is exact."""

    value: float
    low: float
    high: float

    @classmethod
    def certain(cls, value: float) -> Estimate:
        return cls(value, value, value)

    @property
    def margin(self) -> float:
        """How far the true figure may be from this one."""
        return max(self.value - self.low, self.high - self.value)

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True)
class Sample:
    """What was seen in some draws: all there are, with their weights, or random ones."""

    weights: Floats
    """How likely each draw is; they add up to 1."""
    exact: bool

    def __len__(self) -> int:
        return len(self.weights)

    def share(self, marks: Floats) -> Estimate:
        """How likely a draw is marked (1) and not 0."""
        if self.exact or not len(self):
            return Estimate.certain(float(marks @ self.weights) if len(self) else 0.0)
        hits = int(np.count_nonzero(marks))
        return Estimate(hits / len(self), *share_interval(hits, len(self)))

    def mean(self, values: Floats) -> Estimate:
        """The mean of values between 0 and 1."""
        mean = float(values @ self.weights) if len(self) else 0.0
        if self.exact or not len(self):
            return Estimate.certain(mean)
        margin = mean_margin(len(self), float(values.var()))
        return Estimate(mean, max(mean - margin, 0.0), min(mean + margin, 1.0))

    def median(self, values: Floats) -> Estimate:
        """The median of some values, between two of the values if it was sampled."""
        if not len(self):
            return Estimate.certain(0.0)
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        if self.exact:
            reached = np.cumsum(self.weights[order]) >= 0.5 - 1e-12
            return Estimate.certain(float(ordered[int(reached.argmax())]))
        low, high = median_ranks(len(self))
        middle = float(ordered[(len(self) - 1) // 2])
        return Estimate(middle, float(ordered[low]), float(ordered[high]))


def share_interval(hits: int, draws: int) -> tuple[float, float]:
    """The interval of Clopper and Pearson for a share, seen `hits` times in so many draws.

    It contains the true share with at least this confidence, whatever the share is.

    Example:
        >>> low, high = share_interval(0, 10_000)
        >>> low, round(high, 6)
        (0.0, 0.000369)
    """
    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if hits == 0 else _solve(lambda p: 1 - _at_most(hits - 1, draws, p), tail)
    high = 1.0 if hits == draws else _solve(lambda p: 1 - _at_most(hits, draws, p), 1 - tail)
    return low, high


def mean_margin(draws: int, variance: float) -> float:
    """How far the mean of values between 0 and 1 may be off: the smaller of two bounds.

    One is Hoeffding's, the other the empirical Bernstein bound, which is smaller where the values
    that were drawn vary little. Each is taken with half of the doubt that the confidence leaves, so
    that both hold together.

    Example:
        >>> round(mean_margin(10_000, 0.25), 4), round(mean_margin(10_000, 0.0001), 4)
        (0.0148, 0.0017)
    """
    doubt = (1 - CONFIDENCE) / 2
    hoeffding = sqrt(log(2 / doubt) / (2 * draws))
    bernstein = sqrt(2 * variance * log(3 / doubt) / draws) + 3 * log(3 / doubt) / draws
    return min(hoeffding, bernstein)


def median_ranks(draws: int) -> tuple[int, int]:
    """The ranks, from 0, of two of the ordered draws between which the median lies.

    Fewer than `low + 1` draws are at or below the median with a chance of at most half of what the
    confidence leaves (Hoeffding).
    """
    reach = sqrt(draws * log(2 / (1 - CONFIDENCE)) / 2)
    return max(floor(draws / 2 - reach) - 1, 0), min(ceil(draws / 2 + reach), draws - 1)


def _solve(rising: object, goal: float) -> float:
    """Where a function that rises from 0 to 1 reaches a value, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < goal:  # type: ignore[operator]
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _at_most(hits: int, draws: int, p: float) -> float:
    """How likely at most so many of the draws are hits, if each is one with probability p."""
    if p <= 0 or hits >= draws:
        return 1.0
    if p >= 1:
        return 0.0
    return 1 - _beta(p, hits + 1, draws - hits)


def _beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by its continued fraction: ours, because scipy
    adds 140 MB to 400 and takes longer to import than NumPy, and would be used here alone."""
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Lentz's method for that fraction."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    found = d
    for step in range(1, 2000):
        twice = a + 2 * step
        for term in (
            step * (b - step) * x / ((twice - 1) * twice),
            -(a + step) * (a + b + step) * x / (twice * (twice + 1)),
        ):
            d = 1 / _far(1 + term * d, tiny)
            c = _far(1 + term / c, tiny)
            found *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return found


def _far(value: float, tiny: float) -> float:
    """The value, but never 0."""
    return value if abs(value) > tiny else tiny
