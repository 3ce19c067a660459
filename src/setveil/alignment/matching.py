"""A flow that gives every class as many records as it stands for, over groups of records that fit the same classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shortage:
    """Why no assignment exists: these classes need more records than fit any of them (the condition of Hall)."""

    classes: Numbers
    needed: int
    fitting: int


class Matching:
    """Groups of alike records on one side, classes on the other; `fill` gives each class its number of records.

    Dinic's algorithm after a greedy start: classes with the fewest fitting records first, each taking from the groups with the fewest
    alternatives. No recursion; levels are found with arrays, paths with an explicit stack.
    """

    def __init__(self, indptr: Numbers, classes: Numbers, supply: Numbers, demand: Numbers) -> None:
        """Group g has `supply[g]` records, which fit the classes `classes[indptr[g]:indptr[g + 1]]`; class c needs `demand[c]`."""
        self.indptr, self.classes = indptr, classes
        self.owner = np.repeat(np.arange(len(supply)), np.diff(indptr))
        self.left, self.need = supply.copy(), demand.copy()
        self.supply, self.demand = supply, demand
        self.flow = np.zeros(len(classes), dtype=np.int64)
        degree = np.diff(indptr)[self.owner]
        self._order = np.lexsort((degree, classes))
        self._starts = np.searchsorted(classes[self._order], np.arange(len(demand) + 1))

    def fill(self) -> Shortage | None:
        """Find the flow; None when every class is full, else the reason why that cannot be."""
        self._start()
        while (self.need > 0).any():
            levels, ended = self._levels()
            if not ended:
                return self._shortage(levels)
            for source in np.flatnonzero(self.need > 0).tolist():
                self._push(source, levels)
        return None

    def edges_of(self, number: int) -> Numbers:
        """The edges of one class."""
        return self._order[self._starts[number] : self._starts[number + 1]]

    def _start(self) -> None:
        candidates = np.bincount(
            self.classes, weights=self.supply[self.owner], minlength=len(self.need)
        )
        for number in np.lexsort((np.arange(len(self.need)), candidates - self.need)).tolist():
            edges = self.edges_of(number)
            free = self.left[self.owner[edges]]
            before = np.cumsum(free) - free
            given = np.clip(self.need[number] - before, 0, free)
            self.flow[edges] = given
            self.left[self.owner[edges]] -= given
            self.need[number] -= given.sum()

    def _levels(self) -> tuple[Levels, bool]:
        """Distances from the classes that need more, up to the first groups with records left; whether any was met."""
        groups = np.full(len(self.left), -1, dtype=np.int64)
        frontier = self.need > 0
        classes, level = np.where(frontier, 0, -1), 0
        while frontier.any():
            met = np.zeros(len(self.left), dtype=bool)
            met[self.owner[self._order[np.repeat(frontier, np.diff(self._starts))]]] = True
            met &= groups < 0
            groups[met] = level + 1
            if (self.left[met] > 0).any():
                return Levels(groups, classes), True
            frontier = np.zeros(len(self.need), dtype=bool)
            frontier[self.classes[met[self.owner] & (self.flow > 0)]] = True
            frontier &= classes < 0
            level += 2
            classes[frontier] = level
        return Levels(groups, classes), False

    def _shortage(self, levels: Levels) -> Shortage:
        classes = np.flatnonzero(levels.classes >= 0)
        return Shortage(
            classes, int(self.demand[classes].sum()), int(self.supply[levels.groups >= 0].sum())
        )

    def _push(self, source: int, levels: Levels) -> None:
        """Send records to one class along shortest paths, until it is full or no path of this length is left."""
        path: list[int] = []
        vertex = source
        while self.need[source] > 0:
            if vertex < 0 and self.left[~vertex] > 0:
                self._move(source, ~vertex, path)
                path, vertex = [], source
                continue
            edge = levels.next_edge(self, vertex)
            if edge is not None:
                path.append(edge)
                vertex = self._across(vertex, edge)
            elif not path:
                return
            else:
                vertex = self._across(vertex, path.pop())
                levels.drop(vertex)

    def _across(self, vertex: int, edge: int) -> int:
        """The other end of an edge; a group g is the vertex ~g, a class itself."""
        return int(self.classes[edge]) if vertex < 0 else ~int(self.owner[edge])

    def _move(self, source: int, group: int, path: list[int]) -> None:
        """Move as many records as the path allows: edges to a group gain them, edges back to a class lose them."""
        gaining, losing = path[::2], path[1::2]
        amount = min(
            int(self.need[source]),
            int(self.left[group]),
            *(int(self.flow[edge]) for edge in losing),
        )
        self.flow[gaining] += amount
        self.flow[losing] -= amount
        self.need[source] -= amount
        self.left[group] -= amount


class Levels:
    """Distances of classes and groups from the classes that need records, and the edges that lead one step on."""

    def __init__(self, groups: Numbers, classes: Numbers) -> None:
        self.groups, self.classes = groups, classes
        self._edges: dict[int, list[int]] = {}

    def next_edge(self, matching: Matching, vertex: int) -> int | None:
        """The next edge of a vertex that leads on; None when there is none left."""
        edges = self._edges.get(vertex)
        if edges is None:
            edges = self._edges[vertex] = self._onward(matching, vertex)
        while edges and vertex < 0 and matching.flow[edges[-1]] == 0:
            edges.pop()
        return edges[-1] if edges else None

    def drop(self, vertex: int) -> None:
        """Forget the last edge that `next_edge` gave for this vertex: it leads nowhere."""
        self._edges[vertex].pop()

    def _onward(self, matching: Matching, vertex: int) -> list[int]:
        if vertex >= 0:
            edges = matching.edges_of(vertex)
            onward = edges[self.groups[matching.owner[edges]] == self.classes[vertex] + 1]
        else:
            edges = np.arange(matching.indptr[~vertex], matching.indptr[~vertex + 1])
            onward = edges[self.classes[matching.classes[edges]] == self.groups[~vertex] + 1]
        found: list[int] = onward[::-1].tolist()
        return found
