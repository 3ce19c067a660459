"""k^m-anonymity by enumerating all itemsets of all records. Slow, standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations

Itemset = frozenset[Hashable]


def supports(records: Sequence[Iterable[Hashable]], m: int) -> dict[Itemset, int]:
    """The support of every itemset of 1 to m items that occurs."""
    counts: Counter[Itemset] = Counter()
    for record in records:
        items = set(record)
        for size in range(1, m + 1):
            counts.update(frozenset(chosen) for chosen in combinations(items, size))
    return dict(counts)


def violations(records: Sequence[Iterable[Hashable]], k: int, m: int) -> dict[Itemset, int]:
    """The itemsets of at most m items with 0 < support < k."""
    return {items: count for items, count in supports(records, m).items() if count < k}


def minimal(found: dict[Itemset, int]) -> dict[Itemset, int]:
    """Those that hold no other one."""
    return {
        items: count for items, count in found.items() if not any(other < items for other in found)
    }


def exposed_share(records: Sequence[Iterable[Hashable]], k: int, m: int) -> float:
    """The share of records that hold an itemset of at most m items with support below k."""
    rare = violations(records, k, m)
    return (
        sum(any(items <= set(record) for items in rare) for record in records) / len(records)
        if records
        else 0.0
    )


def random_share(records: Sequence[Iterable[Hashable]], k: int, size: int) -> float:
    """How likely so many random items of a random record (all of a shorter one) occur together in
    fewer than k records."""
    held = [set(record) for record in records]
    chances = []
    for record in held:
        choices = list(combinations(record, min(size, len(record))))
        rare = sum(sum(set(items) <= other for other in held) < k for items in choices)
        chances.append(rare / len(choices))
    return sum(chances) / len(chances) if chances else 0.0
