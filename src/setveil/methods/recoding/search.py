"""The search for a cut, with or without suppression: nodes are shown one by one if it is safe."""

import heapq
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Floats
from setveil.engines.base import Engine, Progress
from setveil.methods.recoding.frame import SUPPRESSED, Frame, Shown

EFFORT = 2
"""For m above 3, a node is unsafe if its check takes longer than reading the data this often."""
PASSES = 4  # how often the moves are tried over all nodes at most
UNLIMITED = np.iinfo(np.int64).max


class Task(NamedTuple):
    """A search from a safe state."""

    frame: Frame
    k: int
    m: int
    suppress: bool
    """Whether nodes may be suppressed; else every item is shown as some node."""
    shown: Shown | None = None
    """The state to begin with; by default as much of the root as can be shown."""
    order: Floats | None = None
    """Which nodes are expanded first; by default those with the greatest gain."""


def run(task: Task) -> Shown:
    """The state after all moves that lower the loss."""
    search = Search(task.frame, task.k, task.m, suppress=task.suppress, shown=task.shown)
    if task.shown is None:
        search.cover(0)
    search.improve(gains(task.frame) if task.order is None else task.order)
    return search.shown


def from_root(task: Task, restarts: int) -> list[Task]:
    """Searches from the root downward that differ in the order in which nodes are expanded.

    The first goes by the greatest gain, as [Liu2010a] does; the others by gains that are multiplied
    by fixed random numbers."""
    draw, gain = np.random.default_rng(0), gains(task.frame)
    noise = [draw.uniform(-1, 1, len(task.frame)) for _ in range(restarts + 1)]
    return [task, *(task._replace(order=gain * 3.0**each) for each in noise[1:])]


def searched(
    tasks: list[Task], stage: str, engine: Engine, progress: Progress | None
) -> list[Shown]:
    """The states that independent searches find, in the order of the tasks."""
    found = []
    for shown in engine.map(run, tasks):
        found.append(shown)
        if progress is not None:
            progress(len(found), len(tasks), stage)
    return found


def gains(frame: Frame) -> Floats:
    """What expanding each node gains, if all its children can be shown."""
    costs = frame.tree.weight * frame.tree.penalty
    below = np.bincount(frame.tree.up[1:], weights=costs[1:], minlength=len(costs))
    return np.asarray(costs - below, dtype=np.float64)


class Search:
    """A safe state, `shown`, and the moves that lower its loss and keep it safe.

    It starts from `shown`, a safe state; by default nothing is shown."""

    def __init__(
        self, frame: Frame, k: int, m: int, *, suppress: bool, shown: Shown | None = None
    ) -> None:
        from setveil.kernels.recoding.threats import Limits, insert

        self.frame, self.suppress, self._insert = frame, suppress, insert
        nothing = np.full(frame.tree.whole, SUPPRESSED, dtype=np.int32)
        self.shown = nothing if shown is None else shown.copy()
        self.scratch = frame.scratch(m)
        entries = len(frame.records.leaves) + len(frame.records.indptr) - 1
        effort = EFFORT * entries if m > 3 else UNLIMITED
        self._limits = partial(Limits, m, k, effort=effort)

    @property
    def loss(self) -> int:
        return self.frame.loss(self.shown)

    def show(self, node: int, as_node: int) -> None:
        """Show a node for all leaves under another one."""
        self.shown[self.frame.spans[node]] = as_node

    def insert(self, node: int, budget: int) -> bool:
        """Show a node, if nodes worth no more than the budget must be suppressed for it."""
        frame = self.frame
        is_safe, dropped = self._insert(
            frame.records, frame.tree, self.scratch, self.shown, node, self._limits(budget=budget)
        )
        if is_safe:
            for other in dropped.tolist():
                self.show(other, SUPPRESSED)
            self.show(node, node)
        return is_safe

    def cover(self, node: int) -> None:
        """Show a suppressed node, or else what can be shown below it; less worth may go for it."""
        budget = int(self.frame.worth[node]) - 1 if self.suppress else 0
        if self.frame.tree.weight[node] == 0:
            self.show(node, node)
        elif not self.insert(node, budget) and self.suppress:
            for child in self._children(node):
                if self._first(child) == SUPPRESSED:
                    self.cover(child)

    def expand(self, node: int) -> bool:
        """Show the children of a node in its place, if that lowers the loss."""
        if not self.suppress:
            return self._expand_whole(node)
        before, loss = self.shown.copy(), self.loss
        self.show(node, SUPPRESSED)
        for child in self._children(node):
            self.cover(child)
        if self.loss < loss:
            return True
        self.shown = before
        return False

    def _expand_whole(self, node: int) -> bool:
        """Show all children of a node in its place, or none; the rarest are the first to fail."""
        self.show(node, SUPPRESSED)
        for child in reversed(self._children(node)):
            self.cover(child)
            if self._first(child) != child:
                self.show(node, node)
                return False
        return True

    def descend(self, order: Floats) -> None:
        """Expand nodes, those of high order first, until none is left that lowers the loss."""
        queue = [(-order[node], node) for node in self._inner(self.shown)]
        heapq.heapify(queue)
        while queue:
            _, node = heapq.heappop(queue)
            if self._first(node) == node and self.expand(node):
                for child in self._inner(self.shown[self.frame.spans[node]]):
                    heapq.heappush(queue, (-order[child], child))

    def fill(self) -> None:
        """Try to show again what is suppressed."""
        frame = self.frame
        for node in sorted(self._suppressed(0), key=lambda node: (-frame.worth[node], node)):
            if (self.shown[frame.spans[node]] == SUPPRESSED).all():
                self.cover(node)

    def collapse(self) -> None:
        """Show a node for all that is under it, if this loses less as too much is suppressed."""
        frame, tree = self.frame, self.frame.tree
        for node in range(len(frame) - 1, -1, -1):
            part = self.shown[frame.spans[node]]
            is_shown = 0 <= part[0] <= node or (part != SUPPRESSED).all()
            if is_shown or not frame.children[node]:
                continue
            costs = np.where(part < 0, tree.whole, tree.penalty[part])
            lost = (costs * frame.occurrences[frame.spans[node]]).sum()
            gain = int(lost - tree.weight[node] * tree.penalty[node])
            before = part.copy()
            if gain > 0:
                part[:] = SUPPRESSED
                if not self.insert(node, gain - 1):
                    part[:] = before

    def improve(self, order: Floats) -> None:
        """Make all moves until nothing changes."""
        for _ in range(PASSES):
            loss = self.loss
            self.descend(order)
            if not self.suppress:
                return
            self.fill()
            self.collapse()
            if self.loss == loss:
                return

    def _first(self, node: int) -> int:
        """What is shown for the first leaf under a node."""
        return int(self.shown[self.frame.tree.first[node]])

    def _children(self, node: int) -> list[int]:
        """The children, those worth most first."""
        worth = self.frame.worth
        return sorted(self.frame.children[node], key=lambda child: (-worth[child], child))

    def _inner(self, shown: Shown) -> Iterable[int]:
        nodes = np.unique(shown).tolist()
        return [node for node in nodes if node >= 0 and self.frame.children[node]]

    def _suppressed(self, node: int) -> Iterator[int]:
        """The highest nodes of which nothing is shown though something occurs."""
        part = self.shown[self.frame.spans[node]]
        if part[0] == node or not self.frame.tree.weight[node]:
            return
        if (part == SUPPRESSED).all():
            yield node
            return
        for child in self.frame.children[node]:
            yield from self._suppressed(child)


def reinserted(frame: Frame, k: int, m: int, shown: Shown) -> Shown:
    """Shown nodes, in descending worth, that are in no threat with those before; then all moves."""
    search = Search(frame, k, m, suppress=True)
    nodes = [node for node in np.unique(shown).tolist() if node >= 0]
    for node in sorted(nodes, key=lambda node: (-frame.worth[node], node)):
        search.insert(node, 0)
    search.improve(gains(frame))
    return search.shown
