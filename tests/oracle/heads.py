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


def charges(rows: list[Record], cost: Matrix, k: int, m: int) -> Matrix:
    """For each pair of fewer than k records, what the pairs of these records cost; with m = 3 also
    a third of that for each triple of fewer than k records, of which no pair is rare."""
    found = [[0.0] * len(cost) for _ in cost]
    items = range(len(cost))
    holders = {
        some: [row for row in rows if set(some) <= row]
        for size in (2, 3)
        for some in combinations(items, size)
    }

    def total(some: tuple[int, ...]) -> float:
        return sum(cost[x][y] for row in holders[some] for x, y in combinations(sorted(row), 2))

    for a, b in combinations(items, 2):
        if len(holders[a, b]) < k:
            found[a][b] = found[b][a] = total((a, b))
    for triple in combinations(items, 3) if m > 2 else ():
        pairs = list(combinations(triple, 2))
        if len(holders[triple]) < k and all(len(holders[pair]) >= k for pair in pairs):
            for a, b in pairs:
                found[a][b] += total(triple) / 3
                found[b][a] += total(triple) / 3
    return found


def stayers(rows: list[Record], chunk: list[int], k: int, m: int) -> list[bool]:
    """The largest set of records in which no pair of a chunk is in 1 to k - 1 of them, nor a triple
    with m = 3: all that have a rarer one leave at once, again and again."""
    stays = [True] * len(rows)
    while True:
        counts = Counter(
            some
            for row, stay in zip(rows, stays, strict=True)
            if stay
            for some in joined(row, chunk, m)
        )
        rare = {some for some, count in counts.items() if count < k}
        after = [
            stay and rare.isdisjoint(joined(row, chunk, m))
            for row, stay in zip(rows, stays, strict=True)
        ]
        if after == stays:
            return stays
        stays = after


def joined(row: Record, chunk: list[int], m: int) -> list[tuple[int, ...]]:
    """The itemsets of 2 to m items of one chunk in a record."""
    sets = (some for size in range(2, m + 1) for some in combinations(sorted(row), size))
    return [some for some in sets if chunk[some[0]] >= 0 and len({chunk[x] for x in some}) == 1]


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
