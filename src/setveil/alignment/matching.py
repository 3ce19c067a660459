"""Gives each class as many records as it represents, among the records that fit it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.alignment.flow import UNLIMITED, Network
from setveil.data.arrays import Int64s


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
            return self._shortage(network)
        self.flow[order] = [network.flow(arc) for arc in arcs]
        used = np.bincount(self.owner, weights=self.flow, minlength=len(self.supply))
        self.left = self.supply - used.astype(np.int64)
        return None

    def _shortage(self, network: Network) -> Shortage:
        """The classes within reach have only the groups within reach (Hall's condition fails)."""
        classes = [number for number in range(len(self.demand)) if network.reached(number)]
        groups = [number for number in range(len(self.supply)) if network.reached(~number)]
        numbers = np.array(classes, dtype=np.int64)
        return Shortage(numbers, int(self.demand[numbers].sum()), int(self.supply[groups].sum()))
