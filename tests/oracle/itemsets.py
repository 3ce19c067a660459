"""The supports of all itemsets, plain and slow: every subset of every record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

Record = Iterable[str]
Itemset = tuple[str, ...]


def supports(
    records: Sequence[Record], weights: Sequence[int] | None = None, least_size: int = 1
) -> Counter[Itemset]:
    """How many records (by weight) hold each itemset of at least `least_size` items."""
    found: Counter[Itemset] = Counter()
    for record, weight in zip(records, weights or [1] * len(records), strict=True):
        items = sorted(record)
        for size in range(least_size, len(items) + 1):
            for itemset in combinations(items, size):
                found[itemset] += weight
    return found


def top(found: Counter[Itemset], count: int) -> tuple[set[Itemset], set[Itemset]]:
    """The itemsets among the `count` of greatest support, and those that tie for the last."""
    least = sorted(found.values(), reverse=True)[:count][-1:] or [0]
    enough = {itemset for itemset in found if found[itemset] >= least[0]}
    if len(enough) <= count:
        return enough, set()
    return {itemset for itemset in enough if found[itemset] > least[0]}, {
        itemset for itemset in enough if found[itemset] == least[0]
    }


def closed(
    records: Sequence[Record], weights: Sequence[int] | None = None, least_size: int = 1
) -> Counter[Itemset]:
    """The closed itemsets: those that have no larger one of the same support."""
    found = supports(records, weights)
    as_sets = [(set(itemset), support) for itemset, support in found.items()]
    return Counter(
        {
            itemset: support
            for itemset, support in found.items()
            if len(itemset) >= least_size
            and not any(support == other and larger > set(itemset) for larger, other in as_sets)
        }
    )
