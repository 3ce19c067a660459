"""How disassociation changes itemsets and pairs, by definition. Slow, standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from tests.oracle import itemsets as oracle
from tests.oracle.worlds import Cluster, leaves

Records = Sequence[Iterable[str]]


def certain_rows(clusters: Sequence[Cluster]) -> tuple[list[list[str]], list[int]]:
    """Every subrecord with its count, and every term of every term chunk with 1."""
    chunks: dict[int, Any] = {}
    rows: list[list[str]] = []
    for leaf, above in leaves(clusters):
        for chunk in [*leaf["chunks"], *(chunk for joint in above for chunk in joint["shared"])]:
            chunks[id(chunk)] = chunk
        rows += [[term] for term in leaf["terms"]]
    counts = [1] * len(rows)
    for chunk in chunks.values():
        rows += [items for items, _ in chunk]
        counts += [count for _, count in chunk]
    return rows, counts


def choices(found: Counter[oracle.Itemset], count: int) -> Iterable[set[oracle.Itemset]]:
    """Every way to break ties among the top."""
    certain, ties = oracle.top(found, count)
    places = min(count, len(certain) + len(ties)) - len(certain)
    for chosen in combinations(sorted(ties), places):
        yield certain | set(chosen)


def deviation(
    original: Counter[oracle.Itemset], published: Counter[oracle.Itemset], count: int
) -> tuple[Fraction, Fraction]:
    """The least and the greatest 1 - |FI and FI'| / |FI| over all ways to break ties."""
    values = [
        1 - Fraction(len(here & there), len(here)) if here else Fraction(0)
        for here in choices(original, count)
        for there in choices(published, count)
    ]
    return min(values), max(values)


def relative_error(
    original: Records, published: Records, weights: Sequence[int], items: Sequence[str]
) -> Fraction:
    """The average of |so - sp| / ((so + sp) / 2) over the pairs of some items that occur."""
    errors = []
    for pair in combinations(items, 2):
        before = sum(set(pair) <= set(record) for record in original)
        after = sum(
            weight
            for record, weight in zip(published, weights, strict=True)
            if set(pair) <= set(record)
        )
        if before + after:
            errors.append(Fraction(2 * abs(before - after), before + after))
    return sum(errors, Fraction(0)) / len(errors) if errors else Fraction(0)


def frequent_error(original: Records, worlds: Sequence[Records], count: int, size: int) -> Fraction:
    """The average of |so - sp| / so over the most frequent itemsets of a size, and over all ways to
    break ties; sp is the average support of the worlds."""
    found = Counter(
        {
            itemset: support
            for itemset, support in oracle.supports(original, None, size).items()
            if len(itemset) == size
        }
    )
    errors = {}
    for itemset, support in found.items():
        held = sum(set(itemset) <= set(record) for world in worlds for record in world)
        errors[itemset] = abs(support - Fraction(held, len(worlds))) / support
    ways = [
        sum((errors[itemset] for itemset in chosen), Fraction(0)) / len(chosen)
        for chosen in choices(found, count)
        if chosen
    ]
    return sum(ways, Fraction(0)) / len(ways) if ways else Fraction(0)


def tlost(clusters: Sequence[Cluster], original: Records, k: int) -> Fraction:
    supports = Counter(item for record in original for item in set(record))
    rows, _ = certain_rows([_without_terms(cluster) for cluster in clusters])
    inside = {item for row in rows for item in row}
    frequent = [item for item in supports if supports[item] >= k]
    return (
        Fraction(sum(item not in inside for item in frequent), len(frequent))
        if frequent
        else Fraction(0)
    )


def chunked(clusters: Sequence[Cluster], original: Records) -> Fraction:
    rows, counts = certain_rows([_without_terms(cluster) for cluster in clusters])
    total = sum(len(set(record)) for record in original)
    return (
        Fraction(sum(len(row) * count for row, count in zip(rows, counts, strict=True)), total)
        if total
        else Fraction(1)
    )


def _without_terms(cluster: Cluster) -> Cluster:
    if "parts" in cluster:
        return {**cluster, "parts": [_without_terms(part) for part in cluster["parts"]]}
    return {**cluster, "terms": []}
