"""Flows through a network, and the matching of records with classes that they find."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from setveil.data.arrays import Int64s

UNLIMITED = 1 << 60


class TooLargeError(Exception):
    """The allowed work is used up. Caught inside the audit, whose answer is then `not proved`."""


class Budget:
    """The work that is left; one unit is about one visit to an arc."""

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int) -> None:
        """Use up some units; `TooLargeError` if there are not enough."""
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


@dataclass(frozen=True)
class Shortage:
    """Why there is no assignment: these classes need more records than fit any of them."""

    classes: Int64s
    needed: int
    fitting: int


class Matching:
    """Groups of equal records on one side, classes on the other; `fill` gives classes records.

    A greedy start serves classes with the fewest fitting records first, each from the groups with
    the fewest alternatives. A flow then finds what is missing."""

    def __init__(self, indptr: Int64s, classes: Int64s, supply: Int64s, demand: Int64s) -> None:
        """Group g has `supply[g]` records, class c needs `demand[c]`.

        Group g fits the classes `classes[indptr[g]:indptr[g + 1]]`."""
        self.classes, self.supply, self.demand = classes, supply, demand
        self.owner = np.repeat(np.arange(len(supply)), np.diff(indptr))
        """The group of each edge, that is of each fitting pair of a group and a class."""
        self.left, self.need = supply.copy(), demand.copy()
        self.flow = np.zeros(len(classes), dtype=np.int64)
        """How many records of the group go to the class, for each edge."""
        self._order = np.lexsort((np.diff(indptr)[self.owner], classes))
        self._starts = np.searchsorted(classes[self._order], np.arange(len(demand) + 1))

    def fill(self) -> Shortage | None:
        """Find the flow; None if every class gets its records, else why that cannot be."""
        self._start()
        return self._complete() if self.need.any() else None

    def _start(self) -> None:
        weights = self.supply[self.owner]
        candidates = np.bincount(self.classes, weights=weights, minlength=len(self.need))
        for number in np.lexsort((np.arange(len(self.need)), candidates - self.need)).tolist():
            edges = self._order[self._starts[number] : self._starts[number + 1]]
            free = self.left[self.owner[edges]]
            before = np.cumsum(free) - free
            given = np.clip(self.need[number] - before, 0, free)
            self.flow[edges] = given
            self.left[self.owner[edges]] -= given
            self.need[number] -= given.sum()

    def _complete(self) -> Shortage | None:
        """From classes, numbered c, that need more, to groups, numbered ~g, with records left."""
        network, order = Network(), self._order
        for group, left in enumerate(self.left.tolist()):
            network.join(~group, network.sink, left)
        for number in np.flatnonzero(self.need).tolist():
            network.join(network.source, number, int(self.need[number]))
        edges = zip(self.classes[order], self.owner[order], self.flow[order], strict=True)
        arcs = [network.join(int(c), ~int(g), UNLIMITED, int(flow)) for c, g, flow in edges]
        if network.fill() < self.need.sum():
            # Classes within reach have only the groups within reach: Hall's condition fails.
            classes = [number for number in range(len(self.demand)) if network.reached(number)]
            groups = [number for number in range(len(self.supply)) if network.reached(~number)]
            numbers = np.array(classes, dtype=np.int64)
            needed, fitting = self.demand[numbers].sum(), self.supply[groups].sum()
            return Shortage(numbers, int(needed), int(fitting))
        self.flow[order] = [network.flow(arc) for arc in arcs]
        used = np.bincount(self.owner, weights=self.flow, minlength=len(self.supply))
        self.left = self.supply - used.astype(np.int64)
        return None
