"""Recall, semantic distance and the loss of slots, plain and slow: everything is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, permutations

Itemset = frozenset[str]


def recall(here: Sequence[Itemset], there: Sequence[Itemset]) -> float:
    """The share of the items of `here` that are found together in some itemset of `there`."""
    if not here:
        return 1.0
    return sum(max((len(one & other) for other in there), default=0) for one in here) / sum(
        map(len, here)
    )


def distance(
    one: Itemset, other: Itemset, between: Callable[[str, str], int], epsilon: int, omega: float
) -> float:
    """The least cost over all ways to pair some items of the one with items of the other."""
    best = omega * (len(one) + len(other))
    for size in range(1, min(len(one), len(other)) + 1):
        for left in combinations(sorted(one), size):
            for right in permutations(sorted(other), size):
                steps = [between(a, b) for a, b in zip(left, right, strict=True)]
                if max(steps) <= epsilon:
                    best = min(best, sum(steps) + omega * (len(one) + len(other) - 2 * size))
    return best


def sdist(
    here: Sequence[Itemset],
    there: Sequence[Itemset],
    between: Callable[[str, str], int],
    epsilon: int,
    omega: float,
) -> float:
    """The distance of each itemset to the nearest of the others, for each item."""
    if not here:
        return 0.0
    nearest = [
        min(
            (distance(one, other, between, epsilon, omega) for other in there),
            default=omega * len(one),
        )
        for one in here
    ]
    return sum(nearest) / sum(map(len, here))


def edges(paths: dict[str, Sequence[str]], one: str, other: str) -> int:
    """The number of edges between two nodes, given the path of each up to the root."""
    up, down = paths[one], paths[other]
    return min(up.index(node) + down.index(node) for node in up if node in down)


def slot_loss(
    slots: Iterable[Sequence[str]],
    occurrences: int,
    paths: dict[str, Sequence[str]],
    leaves: Sequence[str],
) -> float:
    """The LM of the lowest node over each slot, for each of its members; 1 if in no slot."""
    total, published = 0.0, 0
    for members in slots:
        over = next(
            node for node in paths[members[0]] if all(node in paths[member] for member in members)
        )
        width = sum(over in paths[leaf] for leaf in leaves)
        total += len(members) * (width - 1) / (len(leaves) - 1)
        published += len(members)
    return (total + occurrences - published) / occurrences
