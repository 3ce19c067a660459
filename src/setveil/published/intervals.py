"""Intervals around noisy counts that were published because they were large enough."""

from __future__ import annotations

import math
from functools import cache


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
