"""Differential privacy: what is published hardly depends on any one record. [Dwork2006]"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from setveil.errors import ParameterError
from setveil.parameters import about, with_default
from setveil.promises.promise import Promise

MOST = 100
"""A larger epsilon promises nothing that anyone would notice."""
LEAST, LEAST_DELTA = 1e-6, 1e-30
"""The noise of a smaller one would be larger than any data: more than a million records."""
LARGE_EPSILON, LARGE_DELTA = 5, 1e-5


@dataclass(frozen=True, repr=False)
class DifferentialPrivacy(Promise):
    """Whether or not one record is in the data, anything can be published almost equally likely.

    Definition: for all data sets D and D' of which one is the other with one more record, and every
    set S of releases, P[M(D) in S] <= exp(epsilon) P[M(D') in S] + delta, where M is the whole
    process that makes a release, with its random noise. [Dwork2006]

    The promise is about records. It is about people only if each person has one record.

    Example:
        >>> DifferentialPrivacy(epsilon=1).title
        'differential-privacy (epsilon = 1, delta = 0)'
    """

    model: ClassVar[str] = "differential-privacy"
    of_records: ClassVar[bool] = False
    feared: ClassVar[str] = "somebody learns whether a person is in the data at all"

    epsilon: float = field(
        metadata=about(
            "How much the chances of any release may depend on one record; less is safer.",
            metavar="NUMBER",
        )
    )
    """From 0.000001 to 100."""
    delta: float = with_default(
        0,
        "With what chance the promise may fail; above 0, the list of items need not be public.",
        metavar="NUMBER",
    )
    """0, or from 1e-30 to less than 1; well below 1 / number of records."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not LEAST <= self.epsilon <= MOST:
            allowed = f"it must be from {LEAST:f} to {MOST}"
            raise ParameterError("epsilon", self.epsilon, allowed)
        if self.delta != 0 and not LEAST_DELTA <= self.delta < 1:
            allowed = f"it must be 0, or from {LEAST_DELTA:g} to less than 1"
            raise ParameterError("delta", self.delta, allowed)
        for name in ("epsilon", "delta"):  # 1.0 is written as 1
            if getattr(self, name) == int(getattr(self, name)):
                object.__setattr__(self, name, int(getattr(self, name)))

    @property
    def crowd(self) -> int:
        return 0

    @property
    def about_people(self) -> str:
        most = self.records_per_person
        if most is None:
            return ""
        if most == 1:
            return "At most 1 record of each person is counted: no two records are of one person."
        return (
            f"At most {most:,} records of each person are counted, and the noise covers all of "
            "them together: what is said here of one record is true of all records of a person."
        )

    @property
    def easing(self) -> str:
        return "a larger epsilon"

    @property
    def doubts(self) -> tuple[str, ...]:
        found = []
        if self.epsilon > LARGE_EPSILON:
            times = f"{math.exp(min(self.epsilon, 50)):,.0f}"
            found.append(
                f"epsilon = {self.epsilon:g} is large: one record may make a release up to {times} "
                "times as likely."
            )
        if self.delta > LARGE_DELTA:
            found.append(
                f"delta = {self.delta:g} is large: it should be far below 1 divided by the number "
                "of records."
            )
        return tuple(found)

    def describe(self, *, possible: bool = False) -> str:
        factor = f"{math.exp(self.epsilon):.4g}"
        text = (
            "Whether or not any one record is in the data, every possible release is almost "
            f"equally likely: the chances differ by a factor of at most {factor} (e to the power "
            f"of {self.epsilon:g})"
        )
        if self.delta:
            text += f", except with a chance of at most {self.delta:g}"
        return (
            f"{text}. So even an adversary who knows all other records and all items of a person "
            "cannot tell with confidence from the release whether that person is in the data, or "
            "what else their record contains."
        )

    def limits(self) -> str:
        return (
            "What is true of people in general is published and may be held against anyone, in the "
            "data or not. Epsilons add up: every further release of the same people weakens the "
            "promise for all of them. The list of items that may occur and the hierarchy count as "
            "public, unless the items were found privately (delta above 0). The promise is about "
            "how the release was made: it cannot be read off the release itself, and choosing "
            "settings by what was lost, or one of several releases, is not covered. Nor is whether "
            "there is a release at all: data may be refused, or its owner asked about it."
        )
