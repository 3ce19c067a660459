"""The largest flow through a small network, and a limit on the work for such questions."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

UNLIMITED = 1 << 60


class TooLargeError(Exception):
    """The allowed work is used up; the audit catches this and answers `not proved`."""


class Budget:
    """The work that is left; a unit is about one arc examined."""

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int) -> None:
        """Subtract units.

        Raises:
            TooLargeError: if none are left.
        """
        self.left -= units
        if self.left < 0:
            raise TooLargeError


class Network:
    """Nodes of any kind, joined by arcs of limited capacity, from `source` to `sink`."""

    source = "source"
    sink = "sink"

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._numbers: dict[Hashable, int] = {self.source: 0, self.sink: 1}
        self._arcs: list[list[int]] = [[], []]
        """The arcs of each node; arc a leads to `_heads[a]`, and a ^ 1 leads back."""
        self._heads: list[int] = []
        self._room: list[int] = []

    def join(self, tail: Hashable, head: Hashable, capacity: int) -> None:
        """Add an arc."""
        start, end = self._number(tail), self._number(head)
        self._arcs[start].append(len(self._heads))
        self._arcs[end].append(len(self._heads) + 1)
        self._heads += [end, start]
        self._room += [capacity, 0]

    def largest_flow(self) -> int:
        """The most that can go from source to sink (Dinic: shortest paths first, many at once)."""
        total = 0
        while (level := self._levels())[1] >= 0:
            following = [iter(arcs) for arcs in self._arcs]
            current = [next(one, -1) for one in following]
            while pushed := self._push(level, current, following):
                total += pushed
        return total

    def _number(self, node: Hashable) -> int:
        number = self._numbers.setdefault(node, len(self._numbers))
        if number == len(self._arcs):
            self._arcs.append([])
        return number

    def _levels(self) -> list[int]:
        """The distance of each node from the source; -1 if nothing more can reach it."""
        self._budget.spend(len(self._heads) + 1)
        level = [-1] * len(self._arcs)
        level[0] = 0
        queue = [0]
        for node in queue:
            for arc in self._arcs[node]:
                head = self._heads[arc]
                if self._room[arc] and level[head] < 0:
                    level[head] = level[node] + 1
                    queue.append(head)
        return level

    def _push(self, level: list[int], current: list[int], following: list[Iterator[int]]) -> int:
        """Send as much as possible along one shortest path."""
        path: list[int] = []
        node = 0
        while node != 1:
            arc = current[node]
            if arc < 0:
                if not path:
                    return 0
                node = self._heads[path.pop() ^ 1]
                current[node] = next(following[node], -1)
            elif self._room[arc] and level[self._heads[arc]] == level[node] + 1:
                path.append(arc)
                node = self._heads[arc]
            else:
                current[node] = next(following[node], -1)
        amount = min(self._room[arc] for arc in path)
        for arc in path:
            self._room[arc] -= amount
            self._room[arc ^ 1] += amount
        return amount
