"""Differential privacy from the outside: what many runs say about epsilon, and exact distributions.

Plain and slow; standard library only."""

from __future__ import annotations

import math

ALARM = 1e-6
"""The chance that a bound below is wrong, or that a correct sampler looks wrong."""


def laplace_cdf(value: int, scale: float) -> float:
    """P[X <= value] for discrete Laplace noise: P[X = x] is proportional to exp(-|x| / scale)."""
    ratio = math.exp(-1 / scale)
    if value < 0:
        return ratio ** (-value) / (1 + ratio)
    return 1 - ratio ** (value + 1) / (1 + ratio)


def geometric_cdf(value: int, rate: float) -> float:
    """P[G <= value] if P[G >= g] = exp(-rate g)."""
    return -math.expm1(-rate * (value + 1))


def binomial_cdf(hits: int, tries: int, chance: float) -> float:
    """P[at most so many hits], summed from the most likely end."""
    if hits >= tries:
        return 1.0
    if chance in (0.0, 1.0):
        return 1.0 - chance
    logs = (
        math.lgamma(tries + 1)
        - math.lgamma(k + 1)
        - math.lgamma(tries - k + 1)
        + k * math.log(chance)
        + (tries - k) * math.log1p(-chance)
        for k in range(hits + 1)
    )
    return min(math.fsum(map(math.exp, logs)), 1.0)


def looks_like(drawn: list[int], cdf) -> bool:
    """Whether draws may have this distribution, by the inequality of Dvoretzky, Kiefer, Wolfowitz
    and Massart: the empirical distribution is further off with a chance of at most ALARM."""
    most = math.sqrt(math.log(2 / ALARM) / (2 * len(drawn)))
    ordered = sorted(drawn)
    places = {value: at + 1 for at, value in enumerate(ordered)}
    for value, place in places.items():
        below = ordered.index(value)
        if abs(place / len(drawn) - cdf(value)) > most:
            return False
        if abs(below / len(drawn) - cdf(value - 1)) > most:
            return False
    return True


def least_chance(hits: int, tries: int) -> float:
    """A chance that the true one is below only with a chance of ALARM / 2 (Clopper, Pearson)."""
    return (
        _solve(lambda chance: 1 - binomial_cdf(hits - 1, tries, chance), ALARM / 2) if hits else 0.0
    )


def greatest_chance(hits: int, tries: int) -> float:
    """A chance that the true one is above only with a chance of ALARM / 2."""
    return _solve(lambda chance: 1 - binomial_cdf(hits, tries, chance), 1 - ALARM / 2)


def least_epsilon(hits: int, other_hits: int, tries: int, delta: float = 0.0) -> float:
    """An epsilon below which no mechanism can be that, on two neighbouring data sets, gives some
    outcome so often; wrong with a chance of at most ALARM."""
    more, less = least_chance(hits, tries) - delta, greatest_chance(other_hits, tries)
    return math.log(more / less) if more > 0 else -math.inf


def _solve(rising, wanted: float) -> float:
    """Where a rising function of a chance reaches a value."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < wanted else (low, middle)
    return low
