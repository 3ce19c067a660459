"""The largest flow through a network, in whole numbers, and how much work may go into it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

UNLIMITED = 1 << 60


class TooLargeError(Exception):
    """The allowed work is used up. Caught inside the audit, whose answer is then `not proved`."""


class Budget:
    """The work that is left; one unit is about one visit to an arc."""

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int) -> None:
        """Use up some units.

        Raises:
            TooLargeError: if there are not enough."""
        self.left -= units
        if self.left < 0:
            raise TooLargeError


class Network:
    """Nodes of any hashable kind, joined by arcs of limited capacity, from `source` to `sink`.

    Example:
        >>> network = Network()
        >>> for arc in [("source", "a", 3), ("a", "b", 2), ("a", "sink", 2), ("b", "sink", 2)]:
        ...     number = network.join(*arc)
        >>> network.fill(), network.flow(number)
        (3, 1)
    """

    source = "source"
    sink = "sink"

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget
        self._numbers: dict[Hashable, int] = {self.source: 0, self.sink: 1}
        self._arcs: list[list[int]] = [[], []]
        """The arcs of each node: arc a leads to `_heads[a]`, and a ^ 1 leads back."""
        self._heads: list[int] = []
        self._room: list[int] = []
        self._level: list[int] = []

    def join(self, tail: Hashable, head: Hashable, capacity: int, flow: int = 0) -> int:
        """Add an arc, which may carry something already; its number."""
        start, end = self._number(tail), self._number(head)
        arc = len(self._heads)
        self._arcs[start].append(arc)
        self._arcs[end].append(arc + 1)
        self._heads += [end, start]
        self._room += [capacity - flow, flow]
        return arc

    def flow(self, arc: int) -> int:
        """How much an arc carries."""
        return self._room[arc ^ 1]

    def fill(self) -> int:
        """Send as much more as possible from the source to the sink; the amount.

        Dinic's algorithm: many shortest paths at a time, then again with what room is left."""
        total = 0
        while self._set_levels():
            following = [iter(arcs) for arcs in self._arcs]
            current = [next(arcs, -1) for arcs in following]
            while pushed := self._push(current, following):
                total += pushed
        return total

    def reached(self, node: Hashable) -> bool:
        """Whether more could get from the source to a node, after `fill`."""
        return node in self._numbers and self._level[self._numbers[node]] >= 0

    def _number(self, node: Hashable) -> int:
        number = self._numbers.setdefault(node, len(self._numbers))
        if number == len(self._arcs):
            self._arcs.append([])
        return number

    def _set_levels(self) -> bool:
        """Set how far each node is from the source, -1 if out of reach; whether the sink is not."""
        if self._budget is not None:
            self._budget.spend(len(self._heads) + 1)
        level, heads, room = [-1] * len(self._arcs), self._heads, self._room
        level[0] = 0
        queue = [0]
        for node in queue:
            if level[1] >= 0:
                break  # all that matters is nearer to the source than the sink
            for arc in self._arcs[node]:
                if room[arc] and level[heads[arc]] < 0:
                    level[heads[arc]] = level[node] + 1
                    queue.append(heads[arc])
        self._level = level
        return level[1] >= 0

    def _push(self, current: list[int], following: list[Iterator[int]]) -> int:
        """Send as much as possible along one shortest path; 0 if there is none left."""
        level, heads, room = self._level, self._heads, self._room
        path: list[int] = []
        node = 0
        while node != 1:
            arc = current[node]
            if arc < 0:
                if not path:
                    return 0
                node = heads[path.pop() ^ 1]
                current[node] = next(following[node], -1)
            elif room[arc] and level[heads[arc]] == level[node] + 1:
                path.append(arc)
                node = heads[arc]
            else:
                current[node] = next(following[node], -1)
        amount = min(room[arc] for arc in path)
        for arc in path:
            room[arc] -= amount
            room[arc ^ 1] += amount
        return amount


def unpaired(
    edges: Sequence[Sequence[int]], supply: Sequence[int], capacity: Sequence[int]
) -> int | None:
    """The first on the left that cannot get enough partners on the right; None if all can.

    Example:
        >>> unpaired([[0, 1], [0]], [5, 3], [3, 5]), unpaired([[0], [0]], [1, 1], [1, 1])
        (None, 1)
    """
    network = Network()
    for right, room in enumerate(capacity):
        network.join(~right, network.sink, room)
    for left, wanted in enumerate(supply):
        network.join(network.source, left, wanted)
        for right in edges[left]:
            network.join(left, ~right, wanted)
        if network.fill() < wanted:
            return left
    return None
