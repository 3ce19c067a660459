"""The ledger of a private release: every mechanism that touched the data, and what it spent.

Shares of the budget are fractions, so that they add up exactly. The scale of the noise is a
floating point number, which is a fraction as well, rounded up: a mechanism never spends more than
its share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

PARTS = ("records", "domain", "ranking", "lengths", "items", "pairs", "partitions", "leaves")
"""What a mechanism may count."""
_LONGEST = 80
MOST_SCALE = 1e15
"""Noise of a larger scale would hide any data, and no setveil drew it."""


@dataclass(frozen=True, kw_only=True)
class Expense:
    """What one mechanism counted, and what it spent of the budget.

    Example:
        >>> spent = Expense.of("items", Fraction(1, 4), sensitivity=10)
        >>> spent.scale, spent.to_dict()["epsilon"]
        (40.0, '1/4')
    """

    counts: str
    """One of `PARTS`."""
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    sensitivity: int
    """By how much one person changes all its counts together, at most."""
    scale: float
    """Of the discrete Laplace noise: P[noise = x] is proportional to exp(-|x| / scale). For
    `partitions`, the smallest of all."""
    threshold: int = 0
    """Counts below it were not published; 0 if the data was not compared with it."""

    @classmethod
    def of(
        cls,
        counts: str,
        epsilon: Fraction,
        *,
        sensitivity: int = 1,
        delta: Fraction = Fraction(0),
        threshold: int = 0,
    ) -> Expense:
        """With the least noise that this share of the budget allows."""
        return cls(
            counts=counts,
            epsilon=epsilon,
            delta=delta,
            sensitivity=sensitivity,
            scale=scale_for(epsilon, sensitivity),
            threshold=threshold,
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Expense:
        """What `to_dict` has written; see `is_ledger`."""
        return cls(
            counts=values["counts"],
            epsilon=Fraction(values["epsilon"]),
            delta=Fraction(values.get("delta", 0)),
            sensitivity=values["sensitivity"],
            scale=float(values["scale"]),
            threshold=values.get("threshold", 0),
        )

    def to_dict(self) -> dict[str, object]:
        """The expense as it is written in `release.json`."""
        return {
            "counts": self.counts,
            "noise": "discrete Laplace",
            "epsilon": str(self.epsilon),
            **({"delta": str(self.delta)} if self.delta else {}),
            "sensitivity": self.sensitivity,
            "scale": self.scale,
            **({"threshold": self.threshold} if self.threshold else {}),
        }


def scale_for(epsilon: Fraction, sensitivity: int = 1) -> float:
    """The smallest floating point number that is at least sensitivity / epsilon.

    Example:
        >>> Fraction(scale_for(Fraction(1, 3), 10)) >= 30
        True
    """
    exact = Fraction(sensitivity) / epsilon
    scale = float(exact)
    return scale if Fraction(scale) >= exact else math.nextafter(scale, math.inf)


def exact(number: float) -> Fraction:
    """A number as people write it, as a fraction.

    Example:
        >>> exact(0.1)
        Fraction(1, 10)
    """
    return Fraction(repr(number))


def is_ledger(value: object) -> bool:
    """Whether a JSON value is, exactly, what a list of expenses is written as."""
    if type(value) is not list or not value:
        return False
    return all(type(entry) is dict and _is_expense(entry) for entry in value)


def _is_expense(entry: dict[str, Any]) -> bool:
    kinds = {"sensitivity": int, "threshold": int, "scale": float, "epsilon": str, "delta": str}
    if any(name in kinds and type(value) is not kinds[name] for name, value in entry.items()):
        return False
    if any(len(str(value)) > _LONGEST for value in entry.values()):
        return False
    try:
        expense = Expense.from_dict(entry)
    except (KeyError, ValueError, ZeroDivisionError):
        return False
    is_scale = 0 < expense.scale <= MOST_SCALE
    return expense.counts in PARTS and is_scale and expense.to_dict() == entry


def least(counted: int, threshold: int, scale: float, chance: float) -> int:
    """A number that the true count is below with at most this chance.

    A count is published only if, with its noise, it reaches a threshold. That favours counts whose
    noise is positive, so the chance is that among published counts. The noise above a threshold
    says nothing about a true count below it (it has no memory), so counts near the threshold may
    be noise alone: the answer is then 0.

    Args:
        counted: The count with Laplace noise.
        threshold: The least one that is published.
        scale: Of the noise.
        chance: At most this.

    Example:
        >>> least(1000, 50, 10.0, 0.025), least(80, 50, 10.0, 0.025)
        (970, 0)
    """
    beyond = math.exp(min(threshold - counted, 0) / scale) / chance
    if beyond >= 1:
        return 0
    return max(math.floor(counted + scale * math.log(chance * (1 + math.sqrt(1 - beyond)))), 0)


@cache
def margin(noises: int, chance: float) -> float:
    """What the sum of so many Laplace noises of scale 1 exceeds with this chance.

    Example:
        >>> round(margin(1, 0.025), 2), round(margin(2, 0.025), 2)
        (3.0, 4.11)
    """
    low, high = 0.0, 1.0
    while _tail(noises, high) > chance:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(noises, middle) > chance else (low, middle)
    return high


def _tail(noises: int, above: float) -> float:
    """P[G - H > above] for independent G and H with the gamma distribution of shape `noises`, which
    is how the sum of Laplace noises is distributed: P[G > above + H], term by term."""
    total = math.fsum(
        above ** (power - back)
        / math.factorial(power - back)
        * math.comb(noises + back - 1, back)
        / 2 ** (noises + back)
        for power in range(noises)
        for back in range(power + 1)
    )
    return math.exp(-above) * total
