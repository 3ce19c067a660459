"""The search for a cut, with or without suppressed nodes: nodes are shown one by one, each only if no threat comes with it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from setveil.engines.base import Progress
from setveil.methods.recoding.frame import SUPPRESSED, Frame, Shown

Priorities = npt.NDArray[np.float64]

EFFORT = 2
"""For m above 3, a node whose safety takes longer to see than reading the data this often is taken as unsafe."""

PASSES = 4
"""How often the moves are tried over all nodes at most."""


class Search:
    """A safe state, `shown`, and the moves that lower its loss and keep it safe.

    Args:
        frame: The records and the tree.
        k: How many records every itemset of up to m shown nodes stands in.
        m: The size of the itemsets.
        suppress: Whether nodes may be left out; else every item is shown as some node.
        shown: The state to begin with, which must be safe; by default nothing is shown.
    """

    def __init__(
        self, frame: Frame, k: int, m: int, *, suppress: bool, shown: Shown | None = None
    ) -> None:
        self.frame, self.k, self.m, self.suppress = frame, k, m, suppress
        self.shown = (
            np.full(frame.leaf_count, SUPPRESSED, dtype=np.int32) if shown is None else shown.copy()
        )
        self.desk = frame.desk(m)
        self.effort = (
            EFFORT * (len(frame.leaves) + frame.records) if m > 3 else np.iinfo(np.int64).max
        )
        self.gain: Priorities = _gains(frame)

    @property
    def loss(self) -> int:
        return self.frame.loss(self.shown)

    def insert(self, node: int, budget: int) -> bool:
        """Show a node, if nodes worth no more than the budget must be suppressed for it."""
        frame = self.frame
        if frame.kernels.insert(
            frame.data, frame.tree, self.desk, self.shown, node, self.m, self.k, budget, self.effort
        ):
            return False
        for dropped in self.desk.out[: self.desk.used[0]].tolist():
            frame.hide(self.shown, dropped)
        frame.show(self.shown, node)
        return True

    def cover(self, node: int) -> None:
        """Show a suppressed node, or else what can be shown of the nodes below it; what is worth less may go for it."""
        budget = int(self.frame.worth[node]) - 1 if self.suppress else 0
        if self.frame.weight[node] == 0:
            self.frame.show(self.shown, node)
        elif not self.insert(node, budget) and self.suppress:
            for child in self._children(node):
                if self.shown[self.frame.first[child]] == SUPPRESSED:
                    self.cover(child)

    def expand(self, node: int) -> bool:
        """Show the children of a node in its place, if that lowers the loss."""
        if not self.suppress:
            return self._expand_whole(node)
        before, loss = self.shown.copy(), self.loss
        self.frame.hide(self.shown, node)
        for child in self._children(node):
            self.cover(child)
        if self.loss < loss:
            return True
        self.shown = before
        return False

    def _expand_whole(self, node: int) -> bool:
        """Show all children of a node in its place, or none; the rarest are the first to fail."""
        frame = self.frame
        frame.hide(self.shown, node)
        for child in reversed(self._children(node)):
            self.cover(child)
            if self.shown[frame.first[child]] != child:
                frame.show(self.shown, node)
                return False
        return True

    def descend(self, priorities: Priorities) -> None:
        """Expand nodes, those of high priority first, until none is left that lowers the loss."""
        frame = self.frame
        queue = [(-priorities[node], node) for node in self._inner(self.shown)]
        heapq.heapify(queue)
        while queue:
            _, node = heapq.heappop(queue)
            if self.shown[frame.first[node]] == node and self.expand(node):
                for child in self._inner(self.shown[frame.first[node] : frame.stop[node]]):
                    heapq.heappush(queue, (-priorities[child], child))

    def fill(self) -> None:
        """Try to show again what is suppressed."""
        frame = self.frame
        for node in sorted(self._suppressed(0), key=lambda node: (-frame.worth[node], node)):
            if (self.shown[frame.first[node] : frame.stop[node]] == SUPPRESSED).all():
                self.cover(node)

    def collapse(self) -> None:
        """Show a node for all that is under it, where so much of that is suppressed that this loses less."""
        frame = self.frame
        for node in range(len(frame.up) - 1, -1, -1):
            part = self.shown[frame.first[node] : frame.stop[node]]
            if (
                not frame.children[node]
                or (part != SUPPRESSED).all()
                or (part[0] >= 0 and part[0] <= node)
            ):
                continue
            costs = (
                np.where(part < 0, frame.leaf_count, frame.penalty[part])
                * frame.occurrences[frame.first[node] : frame.stop[node]]
            )
            gain = int(costs.sum() - frame.weight[node] * frame.penalty[node])
            before = part.copy()
            if gain > 0:
                frame.hide(self.shown, node)
                if not self.insert(node, gain - 1):
                    part[:] = before

    def improve(self, priorities: Priorities | None = None) -> None:
        """All moves until nothing changes."""
        for _ in range(PASSES):
            loss = self.loss
            self.descend(self.gain if priorities is None else priorities)
            if not self.suppress:
                return
            self.fill()
            self.collapse()
            if self.loss == loss:
                return

    def _children(self, node: int) -> list[int]:
        """The children, the most worth first."""
        return sorted(
            self.frame.children[node], key=lambda child: (-self.frame.worth[child], child)
        )

    def _inner(self, shown: Shown) -> Iterable[int]:
        return [
            node for node in np.unique(shown).tolist() if node >= 0 and self.frame.children[node]
        ]

    def _suppressed(self, node: int) -> Iterator[int]:
        """The highest nodes of which nothing is shown though something occurs."""
        frame = self.frame
        part = self.shown[frame.first[node] : frame.stop[node]]
        if part[0] == node or not frame.weight[node]:
            return
        if (part == SUPPRESSED).all():
            yield node
            return
        for child in frame.children[node]:
            yield from self._suppressed(child)


def from_root(
    frame: Frame, k: int, m: int, *, suppress: bool, restarts: int, progress: Progress | None = None
) -> Shown:
    """The best of several searches from the root downward; they differ in the order in which nodes are expanded.

    The first goes by the greatest gain, as [Liu2010a] does; the others by gains that are multiplied by fixed random numbers.
    """
    best: Search | None = None
    draw = np.random.default_rng(0)
    for number in range(restarts + 1):
        noise = draw.uniform(-1, 1, len(frame.up))
        search = Search(frame, k, m, suppress=suppress)
        search.cover(0)
        search.improve(search.gain * 3.0**noise if number else search.gain)
        if best is None or search.loss < best.loss:
            best = search
        if progress is not None:
            progress(number + 1, restarts + 1, "searching")
    assert best is not None
    return best.shown


def refined(frame: Frame, k: int, m: int, shown: Shown, *, suppress: bool) -> Shown:
    """A safe state after all moves that lower its loss."""
    search = Search(frame, k, m, suppress=suppress, shown=shown)
    search.improve()
    return search.shown


def reinserted(frame: Frame, k: int, m: int, shown: Shown) -> Shown:
    """Of shown nodes, in descending worth, each that is no part of a threat with those before it; then all moves."""
    search = Search(frame, k, m, suppress=True)
    nodes = [node for node in np.unique(shown).tolist() if node >= 0]
    for node in sorted(nodes, key=lambda node: (-frame.worth[node], node)):
        search.insert(node, 0)
    search.improve()
    return search.shown


def _gains(frame: Frame) -> Priorities:
    """What expanding each node gains, if all its children can be shown."""
    costs = frame.weight * frame.penalty
    below = np.bincount(frame.up[1:], weights=costs[1:], minlength=len(costs))
    return np.asarray(costs - below, dtype=np.float64)
