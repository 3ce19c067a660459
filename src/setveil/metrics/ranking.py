"""Two lists of top itemsets compared, if some of their members tie for the last places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Itemset = tuple[str, ...]


@dataclass(frozen=True)
class Top:
    """The itemsets that are among the top for certain, and those that tie for the `places` left."""

    certain: frozenset[Itemset]
    ties: frozenset[Itemset]
    places: int

    @classmethod
    def of(cls, found: Mapping[Itemset, int], count: int) -> Top:
        """The top `count` of itemsets with their supports."""
        if len(found) <= count:
            return cls(frozenset(found), frozenset(), 0)
        ordered = sorted(found.values(), reverse=True)
        least = ordered[count - 1] + (ordered[count - 1] == ordered[count])
        certain = frozenset(itemset for itemset, support in found.items() if support >= least)
        ties = (
            frozenset(
                itemset for itemset, support in found.items() if support == ordered[count - 1]
            )
            - certain
        )
        return cls(certain, ties, count - len(certain))

    def __len__(self) -> int:
        return len(self.certain) + self.places


@dataclass(frozen=True)
class Deviation:
    """The share of the top itemsets that is lost, with ties broken for the best and the worst."""

    best: float
    worst: float

    @property
    def middle(self) -> float:
        return (self.best + self.worst) / 2


def deviation(original: Top, published: Top) -> Deviation:
    """1 - |FI and FI'| / |FI|, over all ways to break ties in either list; 0 if there are none.

    Example:
        >>> first = Top.of({("a",): 3, ("b",): 2, ("c",): 1}, 2)
        >>> deviation(first, Top.of({("a",): 3, ("b",): 1, ("c",): 1}, 2))
        Deviation(best=0.0, worst=0.5)
    """
    if not len(original):
        return Deviation(0.0, 0.0)
    both = len(original.certain & published.certain)
    here, there, tied = (len(found) for found in _meeting(original, published))
    gained = min(here, original.places) + min(there, published.places)
    most = (
        both
        + gained
        + min(
            tied,
            original.places - min(here, original.places),
            published.places - min(there, published.places),
        )
    )
    least = both + _forced(original, here) + _forced(published, there)
    least += max(
        0, _forced_ties(original, here, tied) + _forced_ties(published, there, tied) - tied
    )
    return Deviation(
        (len(original) - most) / len(original), (len(original) - least) / len(original)
    )


def _meeting(
    original: Top, published: Top
) -> tuple[frozenset[Itemset], frozenset[Itemset], frozenset[Itemset]]:
    """Ties of the original that are certain in the other list, the reverse, and ties in both."""
    return (
        original.ties & published.certain,
        published.ties & original.certain,
        original.ties & published.ties,
    )


def _forced(top: Top, certain: int) -> int:
    """How many of the ties that are certain in the other list must be taken at least."""
    return max(0, top.places - (len(top.ties) - certain))


def _forced_ties(top: Top, certain: int, tied: int) -> int:
    """How many ties of both lists must be taken if as few certain ones as possible are."""
    return min(tied, max(0, top.places - (len(top.ties) - certain - tied)))


def merged(lists: Iterable[Mapping[Itemset, int]]) -> dict[Itemset, int]:
    """All itemsets of several lists; one that is in several has one support."""
    return {itemset: support for found in lists for itemset, support in found.items()}
