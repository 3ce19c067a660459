"""What an adversary sees of a release: the same questions for every form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from setveil.audit.attack.draws import Items
from setveil.audit.attack.statistics import Estimate
from setveil.data.arrays import Floats, Int64s


@dataclass(frozen=True)
class Finding:
    """How far one attack that has a name leads."""

    name: str
    text: str
    """What was found, in a sentence or two."""
    figures: dict[str, Estimate]


class View(ABC):
    """A release as an adversary sees it who knows some items of a person in the data.

    Items are numbers of the vocabulary of the original."""

    candidate: str
    """What a candidate is, in words."""
    target: str = "record"
    """What is linked to a person, in one word."""
    success: str = (
        "The adversary picks one candidate at random; success is how likely it is the right one."
    )
    """What success means, in words."""

    @abstractmethod
    def candidates(self, known: Items, lacking: Items = ()) -> float:
        """How many published records could be that of a person who has the known items, and does
        not have the lacking ones (at most one is ever given); at least 1. If some are likelier than
        others, 1 divided by the chance of the likeliest."""

    @abstractmethod
    def beliefs(self, known: Items) -> Floats:
        """How likely the person has each item of the original; 1 for the known ones."""

    @abstractmethod
    def places(self, known: Items) -> Int64s:
        """The classes or clusters that a person with these items may belong to."""

    def home(self) -> Int64s | None:
        """The class or cluster of each person of the original; None if nobody can say."""
        return None

    def possible(self, known: Items, *, knowing_method: bool = False) -> int | None:
        """How many records contain the known items in the possible original with the most of these;
        `knowing_method`: of those that the method can have made the release from. None if the
        release shows its records."""
        return None

    def expected(self, known: Items) -> float | None:
        """How many records contain the known items on average, if all placements are equally
        likely; None if the release shows its records."""
        return None

    def findings(self) -> list[Finding]:
        """Attacks with a name that concern this form, measured without draws."""
        return []
