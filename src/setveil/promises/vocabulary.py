"""Vocabulary k-anonymity: k-anonymity of bags, which tell how often each item stands. [Liu2010b]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from setveil.errors import check_count
from setveil.promises.promise import Promise, check_enough


@dataclass(frozen=True, repr=False)
class VocabularyKAnonymity(Promise):
    """Every published bag stands at least k times, alike in all its items and in how often each stands. [Liu2010b] section II

    A vocabulary is the paper's word for the bag of terms in the queries of one person.

    Definition: for every published bag t, |{ t' : t' = t }| >= k, where equal bags hold the same items with the same counts.
    Of sets, where no item stands twice, this is k-anonymity.

    Example:
        >>> VocabularyKAnonymity(k=5).to_dict()["model"]
        'vocabulary-k-anonymity'
    """

    model: ClassVar[str] = "vocabulary-k-anonymity"

    k: int
    """How many equal bags there are at least; 2 or more."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_count("k", self.k, 2))

    def describe(self) -> str:
        return (
            f"Every published bag stands at least {self.k} times, alike in every item and in how often each item stands. Whoever knows "
            f"any number of items of a person, and how often the person used each, finds at least {self.k} bags that may be that "
            "person's, or none."
        )

    def limits(self) -> str:
        return (
            f"The {self.k} bags may agree in what an adversary wants to learn: a person is hidden among them, but what all of them show "
            "is shown of that person, or of people close to that person in meaning. An item that one person alone has may be published, "
            "where it stands for what the others of a group have: names and addresses must be removed before. Several releases of the "
            "same people can be compared with each other; each keeps the promise alone."
        )

    def check_feasible(self, records: int) -> None:
        check_enough(records, self.k)
