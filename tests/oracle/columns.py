"""Columns beside sets, plainly: all cuts of a tree, what a cell covers, and errors of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any


def all_cuts(parent: Sequence[int], node: int = 0) -> Iterator[list[int]]:
    """Every set of nodes with one on each path from `node` down to a leaf."""
    yield [node]
    children = [child for child, above in enumerate(parent) if above == node]
    if children:
        for parts in product(*(list(all_cuts(parent, child)) for child in children)):
            yield [each for part in parts for each in part]


def least_loss(parent: Sequence[int], losses: Sequence[float]) -> float:
    """The loss of the best of all cuts."""
    return min(sum(losses[node] for node in cut) for cut in all_cuts(parent))


def covers(low: float | None, high: float | None, or_missing: bool, value: float | None) -> bool:
    """Whether an interval covers a number; None is the missing one."""
    if value is None:
        return or_missing or (low is None and high is None)
    return (low is None or low <= value) and (high is None or value < high)


def pair_errors(
    clusters: Sequence[Sequence[dict[str, Any]]], wanted: dict[tuple[int, int], int]
) -> dict[int, float]:
    """The errors of one group, by the number of the pair: each record of a cluster is a dict of
    items and their chunks (-1 if in the term chunk); `wanted` has pairs and their supports in all
    records."""
    found = {}
    for number, ((one, other), support) in enumerate(wanted.items()):
        error = 0.0
        for cluster in clusters:
            true = sum(one in record and other in record for record in cluster)
            chunk = {item: number for record in cluster for item, number in record.items()}
            if one not in chunk or other not in chunk:
                continue
            if chunk[one] == chunk[other] != -1:
                continue
            held = [
                sum(item in record for record in cluster) if chunk[item] >= 0 else 1
                for item in (one, other)
            ]
            error += held[0] * held[1] / len(cluster) - true
        if abs(error) > 1e-9:
            found[number] = error / support
    return found


def joint_loss(
    cut: Sequence[int], own: Sequence[float], errors: Sequence[dict[int, float]], many: int
) -> float:
    """The own losses of the groups of a cut, and the mean size of their joint errors."""
    totals = [sum(errors[node].get(pair, 0.0) for node in cut) for pair in range(many)]
    return sum(own[node] for node in cut) + sum(map(abs, totals)) / many


def pairs_of(items: Sequence[int]) -> list[tuple[int, int]]:
    """All pairs of some items."""
    return list(combinations(sorted(items), 2))
