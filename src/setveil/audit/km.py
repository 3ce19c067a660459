"""Does every set of up to m items that occurs, occur in at least k records?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from setveil.audit.itemsets import Rare, Search, Vertical
from setveil.audit.records import Counted
from setveil.audit.verdict import Check, Witness, show_items
from setveil.promises.kanonymity import ALL, KmAnonymity
from setveil.words import plural

Violation = tuple[tuple[str, ...], int]
"""An itemset and its support."""


def check_km_anonymity(counted: Counted, promise: KmAnonymity, limit: int = 1) -> Check:
    """Whether each set of up to m items occurs in k records or in none; the smallest violations
    are the witnesses."""
    k = promise.k
    if not (counted.sizes < k).any():
        text = f"every record occurs at least {k} times (k-anonymity), so every set of items does"
        return Check(promise.model, True, text)
    found = find_violations(counted, promise, limit)
    if not found:
        items = "any number of" if promise.m >= ALL else f"up to {promise.m}"
        text = f"every set of {items} items that occurs, occurs in at least {k} records"
        return Check(promise.model, True, text)
    text = f"a set of {plural(len(found[0][0]), 'item')} occurs in fewer than {k} records"
    witnesses = (_witness(items, support, k) for items, support in found)
    return Check(promise.model, False, text, tuple(witnesses))


def find_violations(counted: Counted, promise: KmAnonymity, limit: int = 1) -> list[Violation]:
    """Up to `limit` minimal itemsets of at most m items with 0 < support < k, smallest first.

    Cost: supports for one item, sorting of coded pairs for two, and so on; the number of itemsets
    in records that occur fewer than k times decides. It stops at the first size with `limit`.
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
    for at in rare.supports.argsort(kind="stable").tolist():
        labels = sorted(data.labels[rank] for rank in rare.itemsets[at].tolist())
        yield tuple(labels), int(rare.supports[at])


def _minimal(named: Iterable[Violation], found: list[Violation], limit: int) -> list[Violation]:
    """The first of these that contain none already found, as many as are still wanted."""
    smaller = [set(items) for items, _ in found]
    minimal = (one for one in named if not any(known <= set(one[0]) for known in smaller))
    return list(islice(minimal, limit - len(found)))


def _witness(items: tuple[str, ...], support: int, k: int) -> Witness:
    text = f"{show_items(items)} occurs in {plural(support, 'record')}, not {k}"
    return Witness(text, items, support)
