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

    @abstractmethod
    def candidates(self, known: Items, lacking: Items = ()) -> int:
        """How many published records could be that of a person who has the known items, and does
        not have the lacking ones; at least 1."""

    @abstractmethod
    def beliefs(self, known: Items) -> Floats:
        """How likely the person has each item of the original; 1 for the known ones."""

    @abstractmethod
    def places(self, known: Items) -> Int64s:
        """The classes or clusters that a person with these items may belong to."""

    def home(self) -> Int64s | None:
        """The class or cluster of each person of the original; None if nobody can say."""
        return None

    def likely(self, known: Items) -> float | None:
        """How many records contain the known items on average, at least 1, if all originals that
        fit the release are equally likely; None if that is the same as `candidates`."""
        return None

    def knowing_method(self) -> View | None:
        """The same release for an adversary who also knows how the method works; None if that
        leaves the same candidates."""
        return None

    def findings(self) -> list[Finding]:
        """Attacks with a name that concern this form, measured without draws."""
        return []
