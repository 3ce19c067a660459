"""Plain twins of small kernels: what each answers, over lists and dicts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod

Rows = Sequence[Sequence[int]]


def sum_products(
    chances: Sequence[Mapping[int, float]], sizes: Sequence[int], queries: Rows
) -> list[float]:
    """For each query, the sum over records of size times the chances of all its items."""
    return [
        sum(
            size * prod(chance.get(item, 0.0) for item in query)
            for chance, size in zip(chances, sizes, strict=True)
        )
        for query in queries
    ]


def parse_numbers(text: str) -> tuple[list[list[int]], int] | None:
    """The numbers on each line and the last line that is not empty; None if there is more."""
    lines = text.split("\n")
    tokens = [re.split(r"[ \t\v\f\r]+", line) for line in lines]
    found = [[token for token in line if token] for line in tokens]
    if not all(re.fullmatch(r"0|[1-9][0-9]{0,17}", token) for line in found for token in line):
        return None
    last = max((at for at, line in enumerate(lines) if line), default=-1)
    return [list(map(int, line)) for line in found], last


def merged(rows: Rows, numbers: Sequence[int]) -> list[dict[int, int]]:
    """How often each record has each item under its new number, in ascending order."""
    renumbered = [sorted(numbers[item] for item in row) for row in rows]
    return [{item: row.count(item) for item in row} for row in renumbered]


def grouped(rows: Rows) -> tuple[list[int], list[int]]:
    """The number of each record's group, counted as they are met, and the first of each."""
    first: dict[tuple[int, ...], int] = {}
    for at, row in enumerate(rows):
        first.setdefault(tuple(row), at)
    order = list(first)
    return [order.index(tuple(row)) for row in rows], list(first.values())


def holders(rows: Rows, width: int) -> list[list[int]]:
    """The rows that hold each item."""
    return [[at for at, row in enumerate(rows) if item in row] for item in range(width)]


def supports(rows: Rows, weights: Sequence[int], itemset: Sequence[int]) -> int:
    """The weight of the rows that hold all these items."""
    return sum(w for row, w in zip(rows, weights, strict=True) if set(itemset) <= set(row))


def triples(pairs: Mapping[tuple[int, int], int], bar: int) -> list[tuple[int, int, int]]:
    """The triples whose pairs all have at least this support, in ascending order."""
    items = sorted({item for pair in pairs for item in pair})
    return [
        triple
        for triple in combinations(items, 3)
        if all(pairs.get(pair, -1) >= bar for pair in combinations(triple, 2))
    ]


def under(rows: Rows, parents: Sequence[int]) -> list[list[int]]:
    """The records under each node: those with a leaf whose path to the root has it."""

    def path(node: int) -> list[int]:
        return [] if node < 0 else [node, *path(parents[node])]

    above = [{node for leaf in row for node in path(leaf)} for row in rows]
    return holders([sorted(nodes) for nodes in above], len(parents))


def added(groups: Sequence[Mapping[int, float]], many: int) -> list[float]:
    """The sum of the errors of each pair over some groups."""
    return [sum(group.get(pair, 0) for group in groups) for pair in range(many)]


def weighed(groups: Sequence[Mapping[int, float]], weights: Sequence[float]) -> list[float]:
    """For each group the sum of its errors times the weights of their pairs."""
    return [sum(error * weights[pair] for pair, error in group.items()) for group in groups]


def rated(
    records: Sequence[Mapping[int, int]],
    bags: Sequence[Mapping[int, int]],
    near: Sequence[Mapping[int, int]],
    omega: int,
    most: int,
) -> list[list[tuple[int, int]]]:
    """For each record the least ratings, with the numbers of the bags; bags that are longer, or
    have nothing near, are left out."""
    found = []
    for record in records:
        ratings = []
        for number, bag in enumerate(bags):
            length, own = sum(record.values()), sum(bag.values())
            gains = [
                (2 * omega - near[item][other]) * min(times, bag[other])
                for item, times in record.items()
                for other in near[item].keys() & bag.keys()
            ]
            if gains and own <= length:
                ratings.append((max(omega * (length + own) - sum(gains), 0), number))
        found.append(sorted(ratings)[:most])
    return found
