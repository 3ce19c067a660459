"""Association rules of a release, with bounds on their support and confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

from setveil.errors import ParameterError, check_count
from setveil.metrics.itemsets import top_itemsets_with_bounds
from setveil.published.countable import Confidence, Support
from setveil.published.release import Release

CANDIDATES = 500
"""How many itemsets, those that most records certainly contain, are made into rules."""

Ask = Callable[[tuple[str, ...]], Support]


@dataclass(frozen=True)
class Rule:
    """Records that contain the antecedent often contain the consequent."""

    antecedent: tuple[str, ...]
    consequent: tuple[str, ...]
    support: Support
    """Of all items of the rule together."""
    confidence: Confidence

    def to_dict(self) -> dict[str, object]:
        """The values that reports have."""
        return {
            "antecedent": list(self.antecedent),
            "consequent": list(self.consequent),
            "support": self.support.to_dict(),
            "confidence": self.confidence.to_dict(),
        }


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which rules to find."""

    top: int = 20
    """How many, those that are certainly most confident first."""
    min_support: float = 0.0
    """The share of the records that certainly contain all items of a rule, at least."""
    min_confidence: float = 0.0
    """The confidence that is certain, at least."""
    most_size: int = 3
    """How many items a rule has at most."""

    def __post_init__(self) -> None:
        check_count("top", self.top, 1)
        check_count("most_size", self.most_size, 2)
        _check_share("min_support", self.min_support)
        _check_share("min_confidence", self.min_confidence)


def association_rules(release: Release, wanted: Wanted) -> list[Rule]:
    """The rules with the largest lower bound of their confidence, from the release alone.

    The candidates are the itemsets that most records certainly contain
    (`top_itemsets_with_bounds`), each split in every way.

    Example:
        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> cluster = SimpleCluster(4, [{("a", "b"): 3}, {("c",): 2}])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
        >>> for rule in association_rules(release, Wanted(top=3, most_size=2)):
        ...     sure = rule.confidence
        ...     print(rule.antecedent, rule.consequent, sure.lower, sure.upper)
        ('a',) ('b',) 1.0 1.0
        ('b',) ('a',) 1.0 1.0
        ('c',) ('a',) 0.5 1.0
    """
    least = wanted.min_support * len(release)
    ask: Ask = cache(release.support)
    found = [
        rule
        for itemset, support in top_itemsets_with_bounds(release, CANDIDATES, least_size=2)
        if len(itemset) <= wanted.most_size and support.upper and support.lower >= least
        for rule in _rules_of(itemset, support, ask)
        if rule.confidence.lower >= wanted.min_confidence
    ]
    return sorted(found, key=_rank)[: wanted.top]


def confidence(both: Support, antecedent: Support) -> Confidence:
    """The confidence of a rule, from the support of all its items and of its antecedent.

    If `s` records have both and `a` the antecedent, it is `s / a`. So it is at least
    `lower(s) / upper(a)`, and at most `upper(s) / lower(a)`, or 1 because `s <= a`.

    Example:
        >>> confidence(Support(3, 6, 4.0), Support(8, 10, 8.0))
        Confidence(lower=0.3, upper=0.75, expected=0.5, accuracy='within 50 %')
    """
    lower = both.lower / antecedent.upper if antecedent.upper else 0.0
    upper = min(1.0, both.upper / antecedent.lower) if antecedent.lower else float(both.upper > 0)
    guess = both.guess / antecedent.guess if antecedent.guess else lower
    return Confidence(lower, upper, min(max(guess, lower), upper))


def _rules_of(itemset: tuple[str, ...], support: Support, ask: Ask) -> Iterator[Rule]:
    """The itemset, split in every way."""
    for size in range(1, len(itemset)):
        for antecedent in combinations(itemset, size):
            rest = tuple(item for item in itemset if item not in antecedent)
            yield Rule(antecedent, rest, support, confidence(support, ask(antecedent)))


def _rank(rule: Rule) -> tuple[Any, ...]:
    """The surest first, then those that are in the most records, then the shortest."""
    size = len(rule.antecedent) + len(rule.consequent)
    sure = -rule.confidence.lower, -rule.support.lower
    return *sure, -rule.confidence.guess, size, rule.antecedent, rule.consequent


def _check_share(name: str, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        raise ParameterError(name, value, "it must be a share from 0 to 1, such as 0.05")
