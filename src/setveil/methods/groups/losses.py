"""What the sets of each node of a tree of groups are expected to lose, and the best cut for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s, Int64s, find, offsets
from setveil.data.transactions import Transactions
from setveil.engines.base import Engine
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.disassociation.given import Block, Rule
from setveil.methods.disassociation import Disassociation
from setveil.methods.groups.combined import Errors, combined_cut
from setveil.methods.groups.tree import Tree, best_cut
from setveil.methods.method import Method
from setveil.promises import Promise
from setveil.published import Release

MEASURED = 1_000
"""The sets of a node of so many rows are published to see what is lost; those of smaller ones are
estimated, or only some of them are published."""
NOTHING = 1e-9
"""A smaller error is none but for rounding."""
MOST_SCALED = 2.0
"""An estimate is at most multiplied by this."""
SAMPLED = 12
"""Of how many smaller nodes of about one size the sets are published."""
PAIRS = 1000
"""So many of the most frequent pairs are judged."""
SMALL = 6
"""Small clusters have fewer than so many times k records."""


SEARCHED = 1_000
"""In smaller groups disassociation makes small clusters, without looking for anything better."""


class Within(NamedTuple):
    """How the sets of a group are published."""

    method: Method[Release]
    promise: Promise
    hierarchy: Hierarchy | None

    def release(self, rows: Transactions) -> Release:
        """The release of some sets, over no items but theirs."""
        from setveil.engines.local import Local

        own, method = rows.without_rare(1), self.method
        if isinstance(method, Disassociation) and len(rows) < SEARCHED:
            method = replace(method, arrangement="small")
        return method.anonymize(own, self.promise, self.hierarchy, engine=Local(1))


class Task(NamedTuple):
    """Sets to publish, and how their loss is measured."""

    within: Within
    rows: Transactions
    measure: Callable[[Release, Transactions], Any]


def measured(task: Task) -> Any:
    """What the sets of one group lose."""
    return task.measure(task.within.release(task.rows), task.rows)


class SetLosses(ABC):
    """What the sets of nodes lose."""

    data: Transactions
    within: Within
    engine: Engine

    @abstractmethod
    def cut(self, tree: Tree, own: Floats, share: float) -> list[int]:
        """The cut with the least sum of other losses of its nodes, their `own`, and `share` times
        that of its sets, as a share of what one group or the smallest groups lose, if that is more.
        """

    def _measured(
        self,
        tree: Tree,
        nodes: Iterable[int],
        measure: Callable[[Release, Transactions], Any],
    ) -> Iterator[Any]:
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

    def cut(self, tree: Tree, own: Floats, share: float) -> list[int]:
        losses = self.of(tree)
        worst = max(float(losses[0]), float(losses[tree.leaves].sum()))
        return best_cut(tree.parent, own + share * losses / (worst or 1.0))

    def of(self, tree: Tree) -> Floats:
        """The loss of each node."""
        kinds = kinds_of(tree)
        chosen = np.flatnonzero(kinds < 0).tolist() + [at for some in sampled(kinds) for at in some]
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


def kinds_of(tree: Tree) -> Int64s:
    """The size of each node, as a power of two; -1 from `MEASURED` rows on."""
    sizes = np.maximum(tree.sizes, 1)
    return np.where(sizes >= MEASURED, -1, np.log2(sizes).astype(np.int64))


def sampled(kinds: Int64s) -> Iterator[list[int]]:
    """Some nodes of each size below `MEASURED` rows."""
    for kind in np.unique(kinds[kinds >= 0]).tolist():
        nodes = np.flatnonzero(kinds == kind)
        spread = np.linspace(0, len(nodes) - 1, SAMPLED).astype(np.int64)
        yield (nodes if len(nodes) <= SAMPLED else nodes[spread]).tolist()


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
    of their expected support, as a share of their support.

    Errors of groups about a pair may cancel: that of a cut is that of its groups together. Nodes
    below `MEASURED` rows are estimated, all of one level at once: each as one cluster, and in small
    clusters, without joining any; the better one counts. Some of each size are published: the
    errors of that size are taken to be smaller, or larger, in the same proportion."""

    data: Transactions
    within: Within
    engine: Engine
    k: int
    m: int

    def cut(self, tree: Tree, own: Floats, share: float) -> list[int]:
        errors = self.of(tree)
        worst = max(errors.joint([0]), errors.joint(tree.leaves))
        return combined_cut(tree.parent, own, errors, share / (worst or 1.0))

    def of(self, tree: Tree) -> Errors:
        """The error of each node about each pair."""
        many, none = len(self._frequent.pairs), (np.zeros(0, dtype=np.int32), np.zeros(0))
        found = [none] * len(tree)
        large = np.flatnonzero(tree.sizes >= MEASURED).tolist() if many else []
        for node, errors in zip(large, self._measured(tree, large, self._error), strict=True):
            found[node] = errors
        depth = np.zeros(len(tree), dtype=np.int64)
        for node in range(1, len(tree)):
            depth[node] = depth[tree.parent[node]] + 1
        for level in range(int(depth.max()) + 1 if many else 0):
            nodes = np.flatnonzero((depth == level) & (tree.sizes < MEASURED)).tolist()
            for node, errors in zip(nodes, self._estimated(tree, nodes), strict=True):
                found[node] = errors
        return self._scaled(Errors.of(found, many), tree) if many else Errors.of(found, many)

    def _scaled(self, errors: Errors, tree: Tree) -> Errors:
        """The errors with those of each size scaled by what some nodes of that size really add to
        the error of the smallest groups."""
        kinds = kinds_of(tree)
        signs = np.sign(errors.total(tree.leaves))
        guessed, scale = errors.weighed(signs), np.ones(len(tree))
        for nodes in sampled(kinds):
            real = sum(
                float(found @ signs[pairs]) / errors.many
                for pairs, found in self._measured(tree, nodes, self._error)
            )
            expected = float(guessed[nodes].sum())
            if abs(expected) > NOTHING:
                scale[kinds == kinds[nodes[0]]] = min(max(real / expected, 0.0), MOST_SCALED)
        return errors._replace(errors=errors.errors * np.repeat(scale, np.diff(errors.bounds)))

    def _estimated(self, tree: Tree, nodes: Sequence[int]) -> Iterator[tuple[Int32s, Floats]]:
        """The errors of some nodes, each as one cluster or in small clusters."""
        from setveil.kernels.disassociation.horizontal import Groups, Sizes, split_horizontally

        if not nodes:
            return
        has_items = self.data.lengths > 0
        groups = [tree.rows[node][has_items[tree.rows[node]]] for node in nodes]
        rows, bounds = self.data.take(np.concatenate(groups)), offsets(list(map(len, groups)))
        whole = list(self._errors(rows, bounds, bounds))
        limit = SMALL * self.k
        if np.diff(bounds).max() < limit:
            yield from whole
            return
        none = np.zeros(0, dtype=np.int64)
        given = Groups(bounds, np.ones(len(groups), dtype=bool), np.zeros_like(bounds), none)
        order, small, *_ = split_horizontally(
            (rows.indptr, rows.items),
            self._rule.sensitive,
            np.arange(len(rows)),
            given,
            Sizes(self.k, limit, 0),
        )
        for one, other in zip(whole, self._errors(rows.take(order), small, bounds), strict=True):
            yield min(one, other, key=lambda errors: float(np.abs(errors[1]).sum()))

    def _errors(
        self, rows: Transactions, clusters: Int64s, bounds: Int64s
    ) -> Iterator[tuple[Int32s, Floats]]:
        """The errors of each group, whose rows begin at `bounds`, in these clusters."""
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
        ends, pairs, errors = pair_errors(laid, wanted, len(bounds) - 1)
        for start, stop in zip(ends, ends[1:], strict=False):
            yield pairs[start:stop], errors[start:stop]

    def _error(self, release: Release, rows: Transactions) -> tuple[Int32s, Floats]:
        """The errors of a group as it was published."""
        known = release.items.numbers
        names = [rows.vocabulary[item] for item in np.flatnonzero(self._frequent.inside).tolist()]
        place = np.cumsum(self._frequent.inside) - 1
        is_there = np.array([name in known for name in names], dtype=bool)
        pairs = place[self._frequent.pairs]
        both = is_there[pairs].all(axis=1)
        expected = np.zeros(len(pairs))
        expected[both] = release.estimates(names, pairs[both])
        errors = (expected - self._counted(rows)) / self._frequent.supports
        return np.arange(len(pairs), dtype=np.int32), errors

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
        named = self.within.promise.named_items.get("sensitive", frozenset())
        sensitive = np.array([item in named for item in self.data.vocabulary] or [False])
        return Rule(self.k, self.m, sensitive)
