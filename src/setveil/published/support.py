"""The answer to a question about the original: bounds, an estimate, and how exact that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

EXACT, OPEN = "exact", "not determined"
NARROW, NEAR = 1.2, 0.05
"""A number is determined if its upper bound is at most so many times the lower one, or the standard
error of its estimate at most such a share of it."""


@dataclass(frozen=True, repr=False)
class Estimate:
    """A number of the original that is between `lower` and `upper`, as the release shows.

    Example:
        >>> found = Support(80, 110, 100.0)
        >>> found.expected, found.accuracy
        (100.0, 'within 20 %')
        >>> Support(0, 110, 30.0)
        Support(lower=0, upper=110, expected=None, accuracy='not determined')
    """

    lower: float
    upper: float
    guess: float
    """What a model of the form makes of the release, between the bounds; for comparing releases.
    Its error is a bias: neither more records nor an average over reconstructions removes it."""
    error: float = math.inf
    """The standard error of `guess`, if the form has a rule for it; else the bounds say all."""

    @property
    def within(self) -> float | None:
        """How far off `guess` can be, as a share of it, given the bounds; None if by all of it or
        more."""
        if self.lower == self.upper:
            return 0.0
        error = max(self.guess - self.lower, self.upper - self.guess)
        return error / self.guess if error < self.guess else None

    @property
    def standard_error(self) -> float | None:
        """The standard error as a share of `guess`; None if it is not known, or above `NEAR`."""
        if self.lower == self.upper:
            return 0.0
        return self.error / self.guess if self.error <= NEAR * self.guess else None

    @property
    def is_determined(self) -> bool:
        """Whether the bounds are narrow, or the standard error small."""
        return self.upper <= NARROW * self.lower or self.standard_error is not None

    @property
    def expected(self) -> float | None:
        """The estimate; None if the release does not determine the number."""
        return None if self.accuracy == OPEN else self.guess

    @property
    def accuracy(self) -> str:
        """`exact`; `within x %` (of the estimate, as sure as the bounds); `standard error x %`, if
        these are not narrow but the form has a rule; or `not determined`."""
        sure, error = self.within, self.standard_error
        if sure == 0:
            return EXACT
        if error is not None and self.upper > NARROW * self.lower:
            return f"standard error {_rounded_up(error, 3) * 100:.3g} %"
        return OPEN if sure is None else f"within {_rounded_up(sure, 3) * 100:.3g} %"

    def to_dict(self) -> dict[str, object]:
        """The values that reports have."""
        expected, sure, error = self.expected, self.within, self.standard_error
        return {
            "lower": self.lower,
            "upper": self.upper,
            "expected": None if expected is None else round(expected, 6),
            "accuracy": self.accuracy,
            "within": None if sure is None else _rounded_up(sure, 6),
            "standard_error": None if error is None else _rounded_up(error, 6),
            "determined": self.is_determined,
        }

    def __repr__(self) -> str:
        parts = {name: getattr(self, name) for name in ("lower", "upper", "expected", "accuracy")}
        shown = ", ".join(f"{name}={value!r}" for name, value in parts.items())
        return f"{type(self).__name__}({shown})"


@dataclass(frozen=True, repr=False)
class Support(Estimate):
    """How many original records contain an itemset."""

    lower: int
    upper: int


@dataclass(frozen=True, repr=False)
class Confidence(Estimate):
    """The share of the records with some items that have others too."""


def _rounded_up(share: float, digits: int) -> float:
    """A share that is not less, with so many digits; errors of floating point do not count."""
    scale = float(10**digits)
    return math.ceil(round(share * scale, 6)) / scale
