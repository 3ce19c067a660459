"""(h,k,p)-coherence, plain and slow: every public itemset of every record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

Itemset = frozenset[str]


def supports(records: Sequence[Iterable[str]], private: set[str], p: int) -> Counter[Itemset]:
    """The support of every itemset of at most p public items that occurs, even the empty one."""
    counts: Counter[Itemset] = Counter()
    for record in records:
        public = sorted(set(record) - private)
        for size in range(p + 1):
            counts.update(frozenset(chosen) for chosen in combinations(public, size))
    return counts


def breach(records: Sequence[Iterable[str]], private: set[str], itemset: Itemset) -> Fraction:
    """The greatest share of the cohort of an itemset that holds one private item."""
    cohort = [set(record) for record in records if itemset <= set(record)]
    shares = [Fraction(sum(item in record for record in cohort), len(cohort)) for item in private]
    return max(shares, default=Fraction(0))


def moles(
    records: Sequence[Iterable[str]], private: set[str], h: str, k: int, p: int
) -> dict[Itemset, str]:
    """Every mole and its kind, `rare` or `breach`; h is a text, such as `0.8`, and so exact."""
    found: dict[Itemset, str] = {}
    for itemset, count in supports(records, private, p).items():
        if count < k:
            found[itemset] = "rare"
        elif breach(records, private, itemset) > Fraction(h):
            found[itemset] = "breach"
    return found


def minimal(found: dict[Itemset, str]) -> dict[Itemset, str]:
    """The moles that hold no other one."""
    return {
        items: kind for items, kind in found.items() if not any(other < items for other in found)
    }


def greedy(
    records: Sequence[Iterable[str]],
    private: set[str],
    h: str,
    k: int,
    p: int,
    score: str = "mm/il",
) -> list[str]:
    """The suppressed items in order: moles of one item by name, then by score, support and name."""
    left = set(minimal(moles(records, private, h, k, p)))
    support = Counter(item for record in records for item in set(record))
    chosen = sorted(item for mole in left if len(mole) == 1 for item in mole)
    left = {mole for mole in left if len(mole) > 1}
    while left:
        many = Counter(item for mole in left for item in mole)
        scores = {
            "mm/il": {item: Fraction(many[item], support[item]) for item in many},
            "mm": {item: Fraction(many[item]) for item in many},
            "1/il": {item: Fraction(1, support[item]) for item in many},
        }[score]
        best = min(many, key=lambda item: (-scores[item], support[item], item))
        chosen.append(best)
        left = {mole for mole in left if best not in mole}
    return chosen


def restored(
    found: Iterable[Itemset], suppressed: Sequence[str], support: Counter[str]
) -> set[str]:
    """What stays suppressed if items are restored, the most frequent first, without a mole."""
    out, known = set(suppressed), list(found)
    for item in sorted(suppressed, key=lambda item: (-support[item], item)):
        if all(mole & (out - {item}) for mole in known):
            out.discard(item)
    return out


def optimal(found: Iterable[Itemset], support: Counter[str]) -> int:
    """The least number of occurrences whose suppression leaves no mole."""
    known = list(found)
    items = sorted(set().union(*known)) if known else []
    return min(
        sum(support[item] for item in out)
        for out in _subsets(items)
        if all(mole & out for mole in known)
    )


def _subsets(items: Sequence[str]) -> Iterator[set[str]]:
    for size in range(len(items) + 1):
        yield from (set(chosen) for chosen in combinations(items, size))
