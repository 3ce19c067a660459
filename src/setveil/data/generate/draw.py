"""Random numbers that are the same on every machine.

Only whole numbers are drawn (`Generator.integers` over PCG64), and every distribution is a table of
whole numbers, rounded far above the last bits, in which two machines' math functions may differ."""

import math
from itertools import accumulate

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s
from setveil.errors import ParameterError

Size = int | tuple[int, int]
_UNIT = 1 << 32
_STEPS = 1_024
_EXPONENTIAL = np.array(
    [round(-math.log1p(-(step + 0.5) / _STEPS) * 65_536) for step in range(_STEPS)], dtype=np.int64
)


def source(seed: int) -> np.random.Generator:
    """The random generator of a seed."""
    return np.random.Generator(np.random.PCG64(whole("seed", seed, 0)))


def whole(name: str, value: object, least: int) -> int:
    """A parameter that must be a whole number of at least `least`."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ParameterError(name, value, f"it must be a whole number of {least} or more")
    return int(value)


def between(name: str, value: float, least: float, most: float) -> float:
    """A parameter that must be in an interval."""
    if (
        not isinstance(value, int | float | np.number)
        or isinstance(value, bool)
        or not least <= value <= most
    ):
        raise ParameterError(name, value, f"it must be a number from {least:g} to {most:g}")
    return float(value)


def poisson(random: np.random.Generator, mean: float, size: int) -> Int64s:
    """Poisson numbers, from a table of cumulative probabilities."""
    most = int(mean + 12 * math.sqrt(mean) + 20)
    chances = [
        math.exp(value * math.log(mean) - mean - math.lgamma(value + 1)) for value in range(most)
    ]
    table = np.array([round(total * _UNIT) for total in accumulate(chances)], dtype=np.int64)
    return np.searchsorted(table, random.integers(_UNIT, size=size), side="right").astype(np.int64)


def exponential(random: np.random.Generator, size: int) -> Int64s:
    """Exponential numbers of mean 65,536, in 1,024 equally likely steps."""
    return _EXPONENTIAL[random.integers(_STEPS, size=size)]


def chance(random: np.random.Generator, probability: Floats | float, size: Size) -> Flags:
    """Events of these probabilities."""
    below = np.round(np.asarray(probability) * _UNIT).astype(np.int64)
    return random.integers(_UNIT, size=size) < below


def weighted(random: np.random.Generator, weights: Int64s, size: Size) -> Int64s:
    """Positions, each as likely as its whole weight says."""
    ends = np.cumsum(weights)
    return np.searchsorted(ends, random.integers(ends[-1], size=size), side="right")
