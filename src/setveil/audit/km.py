"""Does every set of up to m items that occurs, occur in at least k records?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from setveil.audit.itemsets import Rare, Search, Vertical
from setveil.audit.kanonymity import Counted
from setveil.audit.verdict import Check, Witness, show_items
from setveil.promises.kanonymity import ALL, KmAnonymity

Violation = tuple[tuple[str, ...], int]
"""An itemset and its support."""


def check_km_anonymity(counted: Counted, promise: KmAnonymity, limit: int = 1) -> Check:
    """Whether every itemset of up to m items occurs in k records or in none; the witnesses are the smallest ones that do not."""
    if not (counted.sizes < promise.k).any():
        text = f"every record stands at least {promise.k} times (k-anonymity), so every itemset of any size does"
        return Check(promise.model, True, text)
    found = find_violations(counted, promise, limit)
    if not found:
        items = "any number of" if promise.m >= ALL else f"up to {promise.m}"
        return Check(
            promise.model,
            True,
            f"every itemset of {items} items that occurs, occurs in at least {promise.k} records",
        )
    size = len(found[0][0])
    text = f"an itemset of {size} item{'s' * (size != 1)} occurs in fewer than {promise.k} records"
    return Check(
        promise.model,
        False,
        text,
        tuple(_witness(items, support, promise.k) for items, support in found),
    )


def find_violations(counted: Counted, promise: KmAnonymity, limit: int = 1) -> list[Violation]:
    """Up to `limit` minimal itemsets of at most m items with 0 < support < k, the smallest first.

    Cost: supports for one item, sorting of coded pairs for two, and so on; the number of itemsets in records that stand fewer than k times
    decides. It stops at the first size that has `limit` of them.
    """
    data, found = Vertical.of(counted), list[Violation]()
    search = Search(data, promise.k)
    for size in range(1, promise.m + 1):
        for rare in search.of_size(size):
            found.extend(_minimal(_named(data, rare), found, limit))
            if len(found) >= limit:
                return found
        if search.exhausted:
            break
    return found


def _named(data: Vertical, rare: Rare) -> Iterator[Violation]:
    order = rare.supports.argsort(kind="stable")
    for at in order.tolist():
        yield (
            tuple(sorted(data.labels[rank] for rank in rare.itemsets[at].tolist())),
            int(rare.supports[at]),
        )


def _minimal(named: Iterable[Violation], found: list[Violation], limit: int) -> list[Violation]:
    """Of these, as many as are still wanted, without those that hold one already found."""
    smaller = [set(items) for items, _ in found]
    minimal = (one for one in named if not any(known <= set(one[0]) for known in smaller))
    return list(islice(minimal, limit - len(found)))


def _witness(items: tuple[str, ...], support: int, k: int) -> Witness:
    text = f"{show_items(items)} stands in {support} record{'s' * (support != 1)}, not {k}"
    return Witness(text, items, support)
