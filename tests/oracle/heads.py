"""Chunks over all records for frequent items, plain: annealing, and the check that follows it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

HOT, COOLING, SWEEPS = 20.0, 0.95, 130

Record = frozenset[int]
Matrix = list[list[float]]


class Annealing:
    """Items in chunks; everything is added up anew each time."""

    def __init__(self, weights: Matrix, conflicts: list[list[bool]]) -> None:
        self.weights, self.conflicts = weights, conflicts
        self.items = range(len(weights))
        self.chunk = [-1] * len(weights)
        self.seed = 1

    def run(self, sweeps: int) -> list[int]:
        for item in self.items:
            self.chunk[item] = self.best(item, None, None)[0]
        near = [[other for other in self.items if row[other] > 0] for row in self.weights]
        count = sum(map(len, near))
        heat = sum(map(sum, self.weights)) / max(count, 1) * HOT
        best, most = list(self.chunk), self.total()
        for sweep in range(sweeps):
            for _ in range(SWEEPS * (sweep + 1) // sweeps - SWEEPS * sweep // sweeps):
                heat *= COOLING
            for item in self.items:
                if near[item]:
                    self.offer(item, self.chunk[near[item][self.draw() % len(near[item])]], heat)
            if self.total() > most:
                best, most = list(self.chunk), self.total()
        return best

    def draw(self) -> int:
        self.seed = (self.seed * 1103515245 + 12345) % 2**31
        return self.seed // 256

    def members(self, number: int) -> list[int]:
        return [item for item in self.items if self.chunk[item] == number]

    def gain(self, number: int, item: int) -> float:
        return sum(self.weights[item][other] for other in self.members(number) if other != item)

    def total(self) -> float:
        return sum(self.gain(self.chunk[item], item) for item in self.items) / 2

    def best(self, item: int, barred: int | None, left: int | None) -> tuple[int, float]:
        best, most = -1, -1.0
        for number in range(max(self.chunk) + 2):
            foes = [x for x in self.members(number) if x != left and self.conflicts[item][x]]
            if number != barred and not foes and self.gain(number, item) > most:
                best, most = number, self.gain(number, item)
        return best, most

    def offer(self, item: int, number: int, heat: float) -> None:
        current = self.chunk[item]
        if number == current:
            return
        likely = self.gain(number, item) - self.gain(current, item)
        leaving = [other for other in self.members(number) if self.conflicts[item][other]]
        for other in leaving:
            if likely <= -heat:
                return
            likely += self.best(other, number, item)[1] - self.gain(number, other)
        if likely < 0 and likely <= -heat * (self.draw() / 2**23):
            return
        for other in (item, *leaving):
            self.chunk[other] = -1
        self.chunk[item] = number
        for other in leaving:
            self.chunk[other] = self.best(other, number, None)[0]


def charges(rows: list[Record], cost: Matrix, k: int) -> Matrix:
    """For each pair of fewer than k records, what the pairs of these records cost."""
    found = [[0.0] * len(cost) for _ in cost]
    for a, b in combinations(range(len(cost)), 2):
        both = [row for row in rows if {a, b} <= row]
        if len(both) < k:
            total = sum(cost[x][y] for row in both for x, y in combinations(sorted(row), 2))
            found[a][b] = found[b][a] = total
    return found


def stayers(rows: list[Record], chunk: list[int], k: int) -> list[bool]:
    """The largest set of records in which no pair of a chunk is in 1 to k - 1 of them: all that
    have a rarer pair leave at once, again and again."""
    stays = [True] * len(rows)
    while True:
        counts = Counter(
            pair
            for row, stay in zip(rows, stays, strict=True)
            if stay
            for pair in joined(row, chunk)
        )
        rare = {pair for pair, count in counts.items() if count < k}
        after = [
            stay and rare.isdisjoint(joined(row, chunk))
            for row, stay in zip(rows, stays, strict=True)
        ]
        if after == stays:
            return stays
        stays = after


def joined(row: Record, chunk: list[int]) -> list[tuple[int, int]]:
    pairs = combinations(sorted(row), 2)
    return [(a, b) for a, b in pairs if chunk[a] == chunk[b] and chunk[a] >= 0]


def settle(rows: list[Record], wanted: list[int], k: int, m: int, longest: int) -> list[set[int]]:
    """The chunks that the items get, by the number of their first item."""
    chunks: dict[int, set[int]] = {}
    for item, number in enumerate(wanted):
        if sum(item in row for row in rows) < k:
            continue
        for place in (number, *range(len(wanted) + 1)):
            together = chunks.get(place, set()) | {item}
            if is_safe([row & together for row in rows], k, m, longest):
                chunks[place] = together
                break
    return sorted(chunks.values(), key=min)


def is_safe(parts: list[Record], k: int, m: int, longest: int) -> bool:
    """Whether a chunk is k^m-anonymous and its subrecords short enough."""
    counts: dict[tuple[int, ...], int] = {}
    for part in parts:
        for size in range(1, m + 1):
            for some in combinations(sorted(part), size):
                counts[some] = counts.get(some, 0) + 1
    return all(count >= k for count in counts.values()) and (
        longest == 0 or max(map(len, parts), default=0) <= longest
    )
