"""Noise for differential privacy: exact discrete distributions, from the randomness of the system.

Floating point noise can reveal what it should hide [Mironov2012], and a seed would let anyone
subtract it. So counts get discrete Laplace noise from OpenDP, which samples it exactly
[Canonne2020], and what OpenDP does not offer is built here from exact arithmetic over random bits.
Nothing in this file takes a seed. Tests pass another `Noise` to `anonymize`; the command line
cannot."""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int64s
from setveil.errors import MissingExtraError

Keys = npt.NDArray[np.uint64]
_BITS = 128  # of a random number, to begin with
_DIGITS = 50


class Noise(Protocol):
    """What a private method draws at random while it looks at the data."""

    def laplace(self, counts: Int64s, scale: float) -> Int64s:
        """The counts, each with its own discrete Laplace noise of this scale."""

    def passing(self, zeros: int, threshold: int, scale: float) -> list[int]:
        """Of `zeros` counts of 0, the noisy ones that are at least `threshold` (1 or more)."""

    def keys(self, size: int) -> Keys:
        """Random numbers of 64 bits, to put things into a random order."""

    def below(self, number: int) -> int:
        """A random whole number from 0 to less than `number`."""


class SystemNoise:
    """Exact noise from the randomness of the system.

    Raises:
        MissingExtraError: if OpenDP is not installed.
    """

    def __init__(self) -> None:
        try:
            import opendp.prelude as opendp
        except ImportError:
            raise MissingExtraError("opendp", "differential privacy", extra="dp") from None
        opendp.enable_features("contrib")
        self._opendp: Any = opendp
        self._space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")

    def laplace(self, counts: Int64s, scale: float) -> Int64s:
        if not len(counts):
            return np.zeros(0, dtype=np.int64)
        add_noise = self._opendp.m.make_laplace(*self._space, scale=scale)
        return np.asarray(add_noise(counts.tolist()), dtype=np.int64)

    def passing(self, zeros: int, threshold: int, scale: float) -> list[int]:
        """Without drawing the others: the gaps between those that pass are geometric, and so is
        what each has above the threshold, because a geometric distribution has no memory.

        Discrete Laplace noise X of scale b has P[X >= t] = exp(-t / b) / (1 + exp(-1 / b)) for
        t >= 1, and P[X >= t + g | X >= t] = exp(-g / b).
        """
        found: list[int] = []
        at = gap_before(zeros, threshold, scale)
        while at < zeros:
            found.append(threshold + geometric(lambda digits: _one_over(scale, digits)))
            at += 1 + gap_before(zeros - at - 1, threshold, scale)
        return found

    def keys(self, size: int) -> Keys:
        return np.frombuffer(os.urandom(8 * size), dtype=np.uint64)

    def below(self, number: int) -> int:
        return secrets.randbelow(number)


def gap_before(zeros: int, threshold: int, scale: float) -> int:
    """How many counts of 0 stay below a threshold before the first that reaches it.

    Exactly geometric: P[gap >= g] = (1 - q)^g with q = P[X >= threshold]; a gap of `zeros` or more
    is `zeros`. The quick way out is exact too: 1 - (1 - q)^zeros <= zeros q, and `most` is a bound
    on that, so a U above it means that no count passes.
    """
    most = zeros * (math.exp(-threshold / scale) * (1 + 1e-9) + 1e-300)
    uniform = Uniform()
    if uniform.lower > most:
        return zeros
    return min(zeros, geometric(lambda digits: _rate(threshold, scale, digits), uniform))


Interval = tuple[Decimal, Decimal]


class Uniform:
    """A random number U between 0 and 1 of which more and more bits become known."""

    def __init__(self) -> None:
        self.bits, self.value = _BITS, secrets.randbits(_BITS)

    @property
    def lower(self) -> float:
        """A floating point number that is not above U."""
        return math.nextafter(self.value / (1 << self.bits), 0)

    def minus_log(self, digits: int) -> Interval:
        """Bounds of -ln(1 - U), with more bits if these digits show more."""
        while self.bits < 4 * digits:
            self.bits, self.value = self.bits + _BITS, self.value << _BITS | secrets.randbits(_BITS)
        whole = 1 << self.bits
        # The logarithm of Decimal is correctly rounded; one unit more makes the bounds certain.
        with localcontext(prec=digits + 5):
            low = -(Decimal(whole - self.value) / whole).ln()
            high = (
                -(Decimal(whole - self.value - 1) / whole).ln() if self.value + 1 < whole else low
            )
            slack = Decimal(10) ** -digits
            return low * (1 - slack), high * (1 + slack)


def geometric(rate: Callable[[int], Interval], uniform: Uniform | None = None) -> int:
    """A whole number G with P[G >= g] = exp(-rate g), exactly.

    -ln(1 - U) has the exponential distribution, and G is the whole part of it divided by the rate.
    Both are known as intervals. If these leave a doubt about the whole part, more bits and digits
    are drawn, until none is left: so G is what infinitely many bits would give.

    Args:
        rate: Bounds of the rate, from a number of digits that they should agree in.
        uniform: The U to use; a new one by default.
    """
    drawn, digits = uniform or Uniform(), _DIGITS
    while True:
        (least, most), (low, high) = drawn.minus_log(digits), rate(digits)
        if low > 0 and drawn.value + 1 < 1 << drawn.bits:
            with localcontext(prec=2 * digits + 20):
                first, last = least / high, most / low
                if int(first) == int(last):
                    return int(first)
        digits *= 2


def _one_over(scale: float, digits: int) -> Interval:
    with localcontext(prec=digits + 5):
        value, slack = 1 / Decimal(scale), Decimal(10) ** -digits
        return value * (1 - slack), value * (1 + slack)


def _rate(threshold: int, scale: float, digits: int) -> Interval:
    """Bounds of -ln(1 - q) with q = exp(-threshold / scale) / (1 + exp(-1 / scale)).

    A small q costs 1 - q as many digits as q has zeros, so that many more are used."""
    zeros = int(threshold / scale / math.log(10)) + 1
    with localcontext(prec=digits + 2 * zeros + 20):
        one, exact = Decimal(1), Decimal(scale)
        q = (-threshold / exact).exp() / (one + (-one / exact).exp())
        value, slack = -(one - q).ln(), Decimal(10) ** -digits
        return value * (1 - slack), value * (1 + slack)
