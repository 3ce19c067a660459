"""Figures with their error: exact, or estimated from random draws with a confidence interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil, exp, floor, lgamma, log, log1p, sqrt

import numpy as np

from setveil.data.arrays import Floats

CONFIDENCE = 0.95
"""How sure each interval is, on its own."""


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


def share_interval(hits: int, draws: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of Clopper and Pearson for a share, seen `hits` times in so many draws.

    It contains the true share with at least this confidence, whatever the share is.

    Example:
        >>> low, high = share_interval(0, 10_000)
        >>> low, round(high, 6)
        (0.0, 0.000369)
    """
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _solve(lambda p: 1 - _at_most(hits - 1, draws, p), tail)
    high = 1.0 if hits == draws else _solve(lambda p: 1 - _at_most(hits, draws, p), 1 - tail)
    return low, high


def mean_margin(draws: int, variance: float, confidence: float = CONFIDENCE) -> float:
    """How far the mean of values between 0 and 1 may be off: the smaller of two bounds.

    One is Hoeffding's, the other the empirical Bernstein bound, which is smaller where the values
    that were drawn vary little. Each is taken with half of the doubt that the confidence leaves, so
    that both hold together.

    Example:
        >>> round(mean_margin(10_000, 0.25), 4), round(mean_margin(10_000, 0.0001), 4)
        (0.0148, 0.0017)
    """
    doubt = (1 - confidence) / 2
    hoeffding = sqrt(log(2 / doubt) / (2 * draws))
    bernstein = sqrt(2 * variance * log(3 / doubt) / draws) + 3 * log(3 / doubt) / draws
    return min(hoeffding, bernstein)


def median_ranks(draws: int, confidence: float = CONFIDENCE) -> tuple[int, int]:
    """The ranks, from 0, of two of the ordered draws between which the median lies.

    Fewer than `low + 1` draws are at or below the median with a chance of at most half of what the
    confidence leaves (Hoeffding).
    """
    reach = sqrt(draws * log(2 / (1 - confidence)) / 2)
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
    """The regularized incomplete beta function, by its continued fraction."""
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
