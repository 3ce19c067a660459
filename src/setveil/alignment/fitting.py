"""Which published records may stand for which original ones: classes as sorted rows of leaf intervals, and a trie over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy.tree import Hierarchy

Numbers = npt.NDArray[np.int64]

_MOST_STATES = 2_000_000
"""How many states of the search are held at once."""


@dataclass(frozen=True)
class ClassTable:
    """The nodes of each class in the order of their first leaves, with keys to find the node over a leaf."""

    tree: Hierarchy
    indptr: Numbers
    nodes: Numbers
    counts: Numbers
    """The multiplicity of each node; 1 in sets."""
    keys: Numbers
    """`class * leaf_count + first leaf` of each entry, ascending."""
    broken: npt.NDArray[np.bool_]
    """Classes in which a node stands beside one of its ancestors: they are the image of nothing."""

    @classmethod
    def of(cls, classes: Transactions, tree: Hierarchy) -> ClassTable:
        """The table of these classes over the nodes of `tree`."""
        rows, width = classes.rows, tree.leaf_count
        keys = rows * width + tree.first[classes.items]
        order = np.lexsort((-tree.stop[classes.items], keys))
        nodes, keys = classes.items[order].astype(np.int64), keys[order]
        counts = (
            classes.counts[order]
            if isinstance(classes, Bags)
            else np.ones(len(nodes), dtype=np.int64)
        )
        broken = np.zeros(len(classes), dtype=bool)
        overlap = (rows[1:] == rows[:-1]) & (tree.stop[nodes[:-1]] > tree.first[nodes[1:]])
        broken[rows[1:][overlap]] = True
        return cls(tree, classes.indptr, nodes, counts, keys, broken)

    @property
    def lengths(self) -> Numbers:
        """The number of nodes of each class."""
        return np.diff(self.indptr)

    def find(self, classes: Numbers, leaves: Numbers) -> Numbers:
        """The entry of each class that covers each leaf; -1 where none does. Leaf -1 is one that the tree does not have."""
        entries = (
            np.searchsorted(self.keys, classes * self.tree.leaf_count + leaves, side="right") - 1
        )
        if not len(self.nodes):
            return np.full(len(leaves), -1, dtype=np.int64)
        covers = (
            (leaves >= 0)
            & (entries >= self.indptr[classes])
            & (leaves < self.tree.stop[self.nodes[entries]])
        )
        return np.where(covers, entries, -1)


@dataclass(frozen=True)
class LeafRecords:
    """Original records as ascending leaves; those with an item that the tree does not know are left empty and marked."""

    indptr: Numbers
    leaves: Numbers
    totals: Numbers
    """Running sum of the counts, with a 0 in front."""
    foreign: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, data: Transactions, tree: Hierarchy) -> LeafRecords:
        """These records over the leaves of `tree`."""
        leaves, rows = leaves_of(tree, data.vocabulary)[data.items], data.rows
        counts = data.counts if isinstance(data, Bags) else np.ones(len(leaves), dtype=np.int64)
        foreign = np.zeros(len(data), dtype=bool)
        foreign[rows[leaves < 0]] = True
        keep = ~foreign[rows]
        order = np.flatnonzero(keep)[
            np.argsort(rows[keep] * tree.leaf_count + leaves[keep], kind="stable")
        ]
        indptr = np.concatenate(([0], np.cumsum(np.where(foreign, 0, data.lengths))))
        return cls(indptr, leaves[order], np.concatenate(([0], np.cumsum(counts[order]))), foreign)

    def keys(self, start: int, stop: int, width: int) -> Numbers:
        """`record * width + leaf` of the entries of the records `start` to `stop - 1`, ascending."""
        bounds = self.indptr[start : stop + 1]
        return (
            np.repeat(np.arange(start, stop), np.diff(bounds)) * width
            + self.leaves[bounds[0] : bounds[-1]]
        )


def leaves_of(tree: Hierarchy, vocabulary: Vocabulary) -> Numbers:
    """The leaf of each item of a vocabulary; -1 where the tree has none."""
    numbers, count = tree.nodes.numbers, tree.leaf_count
    found = np.fromiter(
        (numbers.get(item, count) for item in vocabulary), dtype=np.int64, count=len(vocabulary)
    )
    return np.where(found < count, found, -1)


class ClassTrie:
    """The classes as paths of a trie, to find all that fit a record.

    A class fits a record when each item of the record is covered by exactly one node of the class, each node covers an item, and (in bags)
    no node stands more often than the items under it. From a state of the trie only the ancestors of the first uncovered item can lead
    on, so a step has at most as many branches as the tree is high. The empty class, which fits every record, is left to the caller.

    Cost: vectorized over records; never more states than prefixes of classes that fit the record so far.
    """

    def __init__(self, table: ClassTable) -> None:
        self.table = table
        alive = np.flatnonzero(~table.broken & (table.lengths > 0))
        state, lengths, size = (
            np.zeros(len(alive), dtype=np.int64),
            table.lengths[alive],
            len(table.tree),
        )
        keys: list[Numbers] = []
        last, made = np.zeros(len(alive), dtype=np.int64), 0
        for depth in range(int(lengths.max(initial=0))):
            going = np.flatnonzero(lengths > depth)
            codes = state[going] * size + table.nodes[table.indptr[alive[going]] + depth]
            level, place = np.unique(codes, return_inverse=True)
            state[going] = made + place + 1
            last[going] = state[going]
            keys.append(level)
            made += len(level)
        self._keys = np.concatenate(keys) if keys else np.zeros(0, dtype=np.int64)
        order = np.argsort(last, kind="stable")
        self._classes = alive[order]
        self._ends = np.searchsorted(last[order], np.arange(made + 2))

    def fits(self, records: LeafRecords, start: int, stop: int) -> tuple[Numbers, Numbers]:
        """All pairs (record, class) that fit, for the records `start` to `stop - 1`, by record and class."""
        found = self._search(records, start, stop)
        if found is None:
            middle = (start + stop) // 2
            halves = self.fits(records, start, middle), self.fits(records, middle, stop)
            return np.concatenate((halves[0][0], halves[1][0])), np.concatenate(
                (halves[0][1], halves[1][1])
            )
        rows, states = found
        counts = self._ends[states + 1] - self._ends[states]
        rows, at = np.repeat(rows, counts), _ranges(self._ends[states], counts)
        classes = self._classes[at]
        if (self.table.counts > 1).any():
            rows, classes = self._within_counts(records, start, rows, classes)
        order = np.lexsort((classes, rows))
        return rows[order], classes[order]

    def _search(
        self, records: LeafRecords, start: int, stop: int
    ) -> tuple[Numbers, Numbers] | None:
        """All pairs (record, end state); None when too many states are alive at once and there is more than one record."""
        tree, width = self.table.tree, self.table.tree.leaf_count
        base, bounds = records.indptr[start], records.indptr
        leaves, keys = records.leaves[base : bounds[stop]], records.keys(start, stop, width)
        rows = np.flatnonzero(np.diff(bounds[start : stop + 1])) + start
        at, states = bounds[rows], np.zeros(len(rows), dtype=np.int64)
        ended: list[tuple[Numbers, Numbers]] = [(rows[:0], states[:0])]
        while len(rows):
            if len(rows) * (tree.height + 1) > _MOST_STATES and stop - start > 1:
                return None
            rows, states, nodes = self._step(rows, states, tree.ancestors[leaves[at - base]])
            at = np.searchsorted(keys, rows * width + tree.stop[nodes]) + base
            done = at == bounds[rows + 1]
            ended.append((rows[done], states[done]))
            rows, at, states = rows[~done], at[~done], states[~done]
        return np.concatenate([pair[0] for pair in ended]), np.concatenate(
            [pair[1] for pair in ended]
        )

    def _step(
        self, rows: Numbers, states: Numbers, above: npt.NDArray[np.int32]
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Follow every edge of the trie that covers the next leaf, whose ancestors are `above`."""
        codes = states[:, None] * len(self.table.tree) + above
        places = np.searchsorted(self._keys, codes)
        known = (
            (above >= 0) & (self._keys[np.minimum(places, len(self._keys) - 1)] == codes)
            if len(self._keys)
            else above < -1
        )
        at, depth = np.nonzero(known)
        return rows[at], places[at, depth] + 1, above[at, depth].astype(np.int64)

    def _within_counts(
        self, records: LeafRecords, start: int, rows: Numbers, classes: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Of pairs that fit as sets, those in which no node stands more often than the items under it."""
        table, tree = self.table, self.table.tree
        stop = int(rows.max(initial=start - 1)) + 1
        lengths = table.lengths[classes]
        entries, owners = (
            _ranges(table.indptr[classes], lengths),
            np.repeat(np.arange(len(rows)), lengths),
        )
        keys = records.keys(start, stop, tree.leaf_count)
        nodes, bases = table.nodes[entries], rows[owners] * tree.leaf_count
        first, last = (
            records.indptr[start] + np.searchsorted(keys, bases + bound[nodes])
            for bound in (tree.first, tree.stop)
        )
        short = records.totals[last] - records.totals[first] < table.counts[entries]
        keep = np.ones(len(rows), dtype=bool)
        keep[owners[short]] = False
        return rows[keep], classes[keep]


def _ranges(starts: Numbers, lengths: Numbers) -> Numbers:
    """The numbers `starts[i]` to `starts[i] + lengths[i] - 1`, one range after the other."""
    ends = np.cumsum(lengths)
    numbers: Numbers = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
        starts - (ends - lengths), lengths
    )
    return numbers
