"""A quick source of noise for tests: the same distributions, in floating point."""

from __future__ import annotations

import math

import numpy as np


class QuickNoise:
    """Discrete Laplace noise from numpy. Each test begins with the same seed (`conftest.py`), so that
    none fails by chance."""

    random = np.random.default_rng(7)

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def laplace(self, counts, scale):
        chance = -math.expm1(-1 / (scale * self.factor))
        up, down = (self.random.geometric(chance, len(counts)) for _ in range(2))
        return np.asarray(counts + up - down, dtype=np.int64)

    def passing(self, zeros, threshold, scale):
        scale *= self.factor
        chance = math.exp(-threshold / scale) / (1 + math.exp(-1 / scale))
        number = int(self.random.binomial(zeros, chance))
        more = self.random.geometric(-math.expm1(-1 / scale), number) - 1
        return (threshold + more).tolist()

    def keys(self, size):
        return self.random.integers(0, 1 << 64, size, dtype=np.uint64)

    def below(self, number):
        return int(self.random.integers(number))


class NoNoise(QuickNoise):
    """No noise at all, to see what a method counts; never private."""

    def laplace(self, counts, scale):
        return np.array(counts, dtype=np.int64)

    def passing(self, zeros, threshold, scale):
        return []
