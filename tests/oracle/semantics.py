"""Distances between items by plain search, in a tree and in a network of hypernyms."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence


def tree_distance(parent: Mapping[str, str], one: str, other: str) -> int | None:
    """The number of edges between two nodes of a tree, by breadth-first search."""
    edges: dict[str, list[str]] = {}
    for child, upper in parent.items():
        edges.setdefault(child, []).append(upper)
        edges.setdefault(upper, []).append(child)
    return _search({one: 0}, edges).get(other)


def network_distance(
    above: Mapping[int, Sequence[int]], senses: Sequence[int], others: Sequence[int]
) -> int | None:
    """The fewest steps up from a sense and down to another; None if nothing is over both."""
    up = _search(dict.fromkeys(senses, 0), above)
    down = _search(dict.fromkeys(others, 0), above)
    both = up.keys() & down.keys()
    return min((up[node] + down[node] for node in both), default=None)


def near(distances: Sequence[Sequence[int | None]], epsilon: int) -> list[list[tuple[int, int]]]:
    """For each row the columns that are at most epsilon away, with their distances."""
    return [
        [(other, far) for other, far in enumerate(row) if far is not None and far <= epsilon]
        for row in distances
    ]


def _search(start: dict, edges: Mapping) -> dict:
    """The steps from the nearest start to each node that is reached."""
    steps, pending = dict(start), deque(start)
    while pending:
        node = pending.popleft()
        for target in edges.get(node, ()):
            if target not in steps:
                steps[target] = steps[node] + 1
                pending.append(target)
    return steps
