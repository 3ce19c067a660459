"""What the sets of each node of a tree of groups are expected to lose, each as a group of its own.

Losses add up over groups: that of a node is what it adds to the loss of the whole release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s, Int64s, find, offsets
from setveil.data.transactions import Transactions
from setveil.engines.base import Engine
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.disassociation.given import Block, Rule
from setveil.methods.groups.tree import Tree
from setveil.methods.method import Method
from setveil.promises import Promise
from setveil.published import Release

MEASURED = 5_000
"""The sets of a node of so many rows are published to see what is lost; those of smaller ones are
estimated, or only some of them are published."""
SAMPLED = 12
"""Of how many smaller nodes of about one size the sets are published."""
PAIRS = 1000
"""So many of the most frequent pairs are judged."""
SMALL = 6
"""Small clusters have fewer than so many times k records."""


class Within(NamedTuple):
    """How the sets of a group are published."""

    method: Method[Release]
    promise: Promise
    hierarchy: Hierarchy | None

    def release(self, rows: Transactions) -> Release:
        """The release of some sets, over no items but theirs."""
        from setveil.engines.local import Local

        own = rows.without_rare(1)
        return self.method.anonymize(own, self.promise, self.hierarchy, engine=Local(1))


class Task(NamedTuple):
    """Sets to publish, and how their loss is measured."""

    within: Within
    rows: Transactions
    measure: Callable[[Release, Transactions], float]


def measured(task: Task) -> float:
    """What the sets of one group lose."""
    return task.measure(task.within.release(task.rows), task.rows)


class SetLosses(ABC):
    """What the sets of nodes lose."""

    data: Transactions
    within: Within
    engine: Engine

    @abstractmethod
    def of(self, tree: Tree) -> Floats:
        """The loss of each node."""

    def _measured(
        self,
        tree: Tree,
        nodes: Iterable[int],
        measure: Callable[[Release, Transactions], float],
    ) -> Iterator[float]:
        """That of the sets of some nodes, as they are published."""
        tasks = (Task(self.within, self.data.take(tree.rows[node]), measure) for node in nodes)
        return self.engine.map(measured, tasks)


@dataclass(frozen=True)
class Covered(SetLosses):
    """For sets that are generalized or suppressed: their NCP times their share of occurrences.

    Of nodes below `MEASURED` rows a few of each size are published, and the others are taken to
    lose as much per occurrence: sizes from 2^i to 2^(i+1) - 1 count as one."""

    data: Transactions
    within: Within
    engine: Engine

    def of(self, tree: Tree) -> Floats:
        sizes = np.maximum(tree.sizes, 1)
        kinds = np.where(sizes >= MEASURED, -1, np.log2(sizes).astype(np.int64))
        chosen = list[int]()
        for kind in np.unique(kinds).tolist():
            nodes = np.flatnonzero(kinds == kind)
            few = kind < 0 or len(nodes) <= SAMPLED
            spread = np.linspace(0, len(nodes) - 1, SAMPLED).astype(np.int64)
            chosen += (nodes if few else nodes[spread]).tolist()
        means = np.full(len(tree), -1.0)
        means[chosen] = list(self._measured(tree, chosen, self._ncp))
        for kind in np.unique(kinds[means < 0]).tolist():
            alike = kinds == kind
            means[alike & (means < 0)] = means[alike & (means >= 0)].mean()
        lengths = self.data.lengths
        occurrences = [int(lengths[rows].sum()) for rows in tree.rows]
        found: Floats = means * np.array(occurrences) / max(self.data.occurrences, 1)
        return found

    def _ncp(self, release: Release, rows: Transactions) -> float:
        return covering_loss(release, rows, self.within.hierarchy)


def covering_loss(release: Any, rows: Transactions, tree: Hierarchy | None) -> float:
    """The mean loss of an occurrence, if each record is published as items or nodes of a tree: the
    share of the leaves that are below the node, 1 if there is none, 0 for the item itself."""
    if not rows.occurrences:
        return 0.0
    assert release.alignment is not None
    shown = release.classes.take(release.alignment)
    names = list(rows.vocabulary) if tree is None else tree.labels
    numbers = {name: number for number, name in enumerate(names)}
    nodes = np.array([numbers.get(name, -1) for name in shown.vocabulary], dtype=np.int64)
    codes = np.unique(shown.rows * len(names) + nodes[shown.items])
    at = np.array([numbers[name] for name in rows.vocabulary], dtype=np.int64)[rows.items]
    losses, open_ones = np.ones(len(at)), np.arange(len(at))
    while len(open_ones):
        is_there = find(codes, rows.rows[open_ones] * len(names) + at[open_ones]) >= 0
        losses[open_ones[is_there]] = _widths(at[open_ones[is_there]], tree)
        open_ones = open_ones[~is_there]
        if tree is None:
            break
        at[open_ones] = tree.parent[at[open_ones]]
        open_ones = open_ones[at[open_ones] >= 0]
    return float(losses.mean())


def _widths(nodes: Int64s, tree: Hierarchy | None) -> Floats:
    if tree is None:
        return np.zeros(len(nodes))
    return np.where(tree.widths[nodes] > 1, tree.widths[nodes] / tree.leaf_count, 0.0)


class Frequent(NamedTuple):
    """The most frequent pairs of items of some records."""

    pairs: Int64s
    """A pair of item numbers in each row."""
    supports: Int64s
    inside: Flags
    """Which items are in one of the pairs."""

    @classmethod
    def of(cls, data: Transactions, many: int = PAIRS) -> Frequent:
        """So many pairs; of equal supports the first in the order of the vocabulary."""
        from setveil.kernels.disassociation.frequent import frequent_pairs

        width = len(data.vocabulary)
        inside = np.zeros(width, dtype=bool)
        if not data.occurrences:
            return cls(np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), inside)
        order = np.argsort(data.items, kind="stable")
        holders = offsets(data.supports()), data.rows[order]
        asked = np.int64(many), np.int64(1)
        found, _ = frequent_pairs(data.indptr, data.items, holders, asked, inside)
        firsts = np.repeat(np.arange(width), np.diff(found.first))
        best = np.lexsort((found.second, firsts, -found.supports))[:many]
        pairs = np.stack((firsts[best], found.second[best]), axis=1)
        inside[pairs] = True
        return cls(pairs, found.supports[best], inside)


@dataclass(frozen=True)
class Unlinked(SetLosses):
    """For disassociated sets: the mean over the most frequent pairs of the whole data of the error
    of their expected support in the group, as a share of their support in the whole data.

    Errors of groups may cancel, so the sum is at least the error of the release. Nodes below
    `MEASURED` rows are estimated, all of one level at once: each as one cluster, and in small
    clusters, without joining any; the better one counts."""

    data: Transactions
    within: Within
    engine: Engine
    k: int
    m: int

    def of(self, tree: Tree) -> Floats:
        if not len(self._frequent.pairs):
            return np.zeros(len(tree))
        losses, large = np.zeros(len(tree)), np.flatnonzero(tree.sizes >= MEASURED)
        losses[large] = list(self._measured(tree, large.tolist(), self._error))
        depth = np.zeros(len(tree), dtype=np.int64)
        for node in range(1, len(tree)):
            depth[node] = depth[tree.parent[node]] + 1
        for level in range(int(depth.max()) + 1):
            nodes = np.flatnonzero((depth == level) & (tree.sizes < MEASURED))
            if len(nodes):
                losses[nodes] = self.estimated([tree.rows[node] for node in nodes]).min(axis=0)
        return losses

    def estimated(self, groups: list[Int64s]) -> Floats:
        """The loss of each group as one cluster (the first row) and in small clusters."""
        from setveil.kernels.disassociation.horizontal import Groups, Sizes, split_horizontally

        has_items = self.data.lengths > 0
        groups = [rows[has_items[rows]] for rows in groups]
        rows, bounds = self.data.take(np.concatenate(groups)), offsets(list(map(len, groups)))
        whole = self._errors(rows, bounds, bounds)
        limit = SMALL * self.k
        if np.diff(bounds).max() < limit:
            return np.stack((whole, whole))
        none = np.zeros(0, dtype=np.int64)
        given = Groups(bounds, np.ones(len(groups), dtype=bool), np.zeros_like(bounds), none)
        order, small, *_ = split_horizontally(
            (rows.indptr, rows.items),
            self._rule.sensitive,
            np.arange(len(rows)),
            given,
            Sizes(self.k, limit, 0),
        )
        return np.stack((whole, self._errors(rows.take(order), small, bounds)))

    def _errors(self, rows: Transactions, clusters: Int64s, bounds: Int64s) -> Floats:
        """The loss of each group, whose rows begin at `bounds`, in these clusters."""
        from setveil.kernels.disassociation.chunks import split_vertically
        from setveil.kernels.groups import Laid, Wanted, pair_errors

        clusters = np.unique(clusters)  # a group without items has no cluster
        chunks = split_vertically(Block(rows.indptr, rows.items, clusters), self._rule)
        frequent, number = self._frequent, self._number
        kept = frequent.inside[rows.items]
        place = np.cumsum(frequent.inside) - 1
        laid = Laid(
            offsets(kept)[rows.indptr],
            place[rows.items[kept]].astype(np.int32),
            chunks.chunk[kept],
            clusters,
            np.searchsorted(bounds, clusters[:-1], side="right") - 1,
        )
        wanted = Wanted(number, frequent.supports)
        found: Floats = pair_errors(laid, wanted, len(bounds) - 1)
        return found / len(frequent.pairs)

    def _error(self, release: Release, rows: Transactions) -> float:
        """The loss of a group as it was published."""
        known = release.items.numbers
        names = [rows.vocabulary[item] for item in np.flatnonzero(self._frequent.inside).tolist()]
        place = np.cumsum(self._frequent.inside) - 1
        is_there = np.array([name in known for name in names], dtype=bool)
        pairs = place[self._frequent.pairs]
        both = is_there[pairs].all(axis=1)
        expected = np.zeros(len(pairs))
        expected[both] = release.estimates(names, pairs[both])
        true = self._counted(rows)
        return float((np.abs(expected - true) / self._frequent.supports).mean())

    def _counted(self, rows: Transactions) -> Int64s:
        """How many of some rows have each of the frequent pairs."""
        holders = np.zeros((len(self._number), len(rows)), dtype=bool)
        kept = self._frequent.inside[rows.items]
        place = np.cumsum(self._frequent.inside) - 1
        holders[place[rows.items[kept]], rows.rows[kept]] = True
        first, second = place[self._frequent.pairs].T
        found = [
            np.count_nonzero(holders[a] & holders[b]) for a, b in zip(first, second, strict=True)
        ]
        return np.array(found, dtype=np.int64)

    @cached_property
    def _frequent(self) -> Frequent:
        return Frequent.of(self.data)

    @cached_property
    def _number(self) -> Int32s:
        """For two items that are in frequent pairs, the number of their pair, or -1."""
        frequent = self._frequent
        place, many = np.cumsum(frequent.inside) - 1, int(frequent.inside.sum())
        table = np.full((many, many), -1, dtype=np.int32)
        first, second = place[frequent.pairs].T
        table[first, second] = table[second, first] = np.arange(len(first), dtype=np.int32)
        return table

    @cached_property
    def _rule(self) -> Rule:
        return Rule(self.k, self.m, np.zeros(max(len(self.data.vocabulary), 1), dtype=bool))
