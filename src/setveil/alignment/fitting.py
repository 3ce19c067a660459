"""Which classes of published records generalize which original records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.data.arrays import Flags, Int32s, Int64s, offsets, ranges
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy.tree import Hierarchy

_MOST_STATES = 2_000_000  # the most states of the search to hold at once


@dataclass(frozen=True)
class ClassTable:
    """The nodes of each class by their first leaves, with keys to find the node above a leaf."""

    tree: Hierarchy
    indptr: Int64s
    nodes: Int64s
    counts: Int64s  # how often each node occurs; 1 in sets
    keys: Int64s  # `class * leaf_count + first leaf` of each entry, ascending
    broken: Flags  # classes with both a node and one of its ancestors: they generalize no record

    @classmethod
    def of(cls, classes: Transactions, tree: Hierarchy) -> ClassTable:
        """From classes over the nodes of `tree`."""
        rows, width = classes.rows, tree.leaf_count
        keys = rows * width + tree.first[classes.items]
        order = np.lexsort((-tree.stop[classes.items], keys))
        nodes, keys = classes.items[order].astype(np.int64), keys[order]
        broken = np.zeros(len(classes), dtype=bool)
        overlap = (rows[1:] == rows[:-1]) & (tree.stop[nodes[:-1]] > tree.first[nodes[1:]])
        broken[rows[1:][overlap]] = True
        return cls(tree, classes.indptr, nodes, classes.times[order], keys, broken)

    @property
    def lengths(self) -> Int64s:
        """The number of nodes of each class."""
        return np.diff(self.indptr)

    def find(self, classes: Int64s, leaves: Int64s) -> Int64s:
        """The entry of each class that covers each leaf; -1 if none does. Leaf -1 is unknown."""
        if not len(self.nodes):
            return np.full(len(leaves), -1, dtype=np.int64)
        wanted = classes * self.tree.leaf_count + leaves
        entries = np.searchsorted(self.keys, wanted, side="right") - 1
        covers = (leaves >= 0) & (entries >= self.indptr[classes])
        covers &= leaves < self.tree.stop[self.nodes[entries]]
        return np.where(covers, entries, -1)


@dataclass(frozen=True)
class LeafRecords:
    """Original records as ascending leaves; empty if an item is not in the tree."""

    indptr: Int64s
    leaves: Int64s
    totals: Int64s  # the running sum of the counts, from 0

    @classmethod
    def of(cls, data: Transactions, tree: Hierarchy) -> LeafRecords:
        """From records whose items are leaves of `tree`."""
        leaves, rows = leaves_of(tree, data.vocabulary)[data.items], data.rows
        foreign = np.zeros(len(data), dtype=bool)
        foreign[rows[leaves < 0]] = True
        keep = ~foreign[rows]
        codes = rows[keep] * tree.leaf_count + leaves[keep]
        order = np.flatnonzero(keep)[np.argsort(codes, kind="stable")]
        indptr = offsets(np.where(foreign, 0, data.lengths))
        return cls(indptr, leaves[order], offsets(data.times[order]))

    def keys(self, start: int, stop: int, width: int) -> Int64s:
        """`record * width + leaf` of all entries of records `start` to `stop - 1`, ascending."""
        bounds = self.indptr[start : stop + 1]
        rows = np.repeat(np.arange(start, stop), np.diff(bounds))
        return rows * width + self.leaves[bounds[0] : bounds[-1]]


def leaves_of(tree: Hierarchy, vocabulary: Vocabulary) -> Int64s:
    """The leaf of each item of a vocabulary; -1 if the tree has none."""
    found = tree.nodes.find(vocabulary)
    return np.where(found < tree.leaf_count, found, -1)


class ClassTrie:
    """The classes as paths of a trie, to find all that fit a record.

    A class fits a record if exactly one of its nodes covers each item, each node covers an item,
    and (in bags) no node occurs more often than the items below it. Only ancestors of the first
    uncovered item lead on from a state of the trie, so a step has at most as many branches as the
    tree is high. The empty class, which fits every record, is left to the caller.

    Cost: vectorized over records; at most as many states as prefixes of classes that fit so far."""

    def __init__(self, table: ClassTable) -> None:
        self.table = table
        alive = np.flatnonzero(~table.broken & (table.lengths > 0))
        lengths, size, made = table.lengths[alive], len(table.tree), 0
        state = np.zeros(len(alive), dtype=np.int64)
        last, keys = state.copy(), list[Int64s]()
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

    def fits(self, records: LeafRecords, start: int, stop: int) -> tuple[Int64s, Int64s]:
        """All fitting pairs (record, class) of the records `start` to `stop - 1`, in order."""
        found = self._search(records, start, stop)
        if found is None:
            middle = (start + stop) // 2
            one, other = self.fits(records, start, middle), self.fits(records, middle, stop)
            return np.concatenate((one[0], other[0])), np.concatenate((one[1], other[1]))
        rows, states = found
        counts = self._ends[states + 1] - self._ends[states]
        rows, at = np.repeat(rows, counts), ranges(self._ends[states], counts)
        classes = self._classes[at]
        if (self.table.counts > 1).any():
            rows, classes = self._within_counts(records, start, rows, classes)
        order = np.lexsort((classes, rows))
        return rows[order], classes[order]

    def _search(self, records: LeafRecords, start: int, stop: int) -> tuple[Int64s, Int64s] | None:
        """All pairs (record, end state); None if the records have too many states at once."""
        tree, width = self.table.tree, self.table.tree.leaf_count
        base, bounds = records.indptr[start], records.indptr
        leaves, keys = records.leaves[base : bounds[stop]], records.keys(start, stop, width)
        rows = np.flatnonzero(np.diff(bounds[start : stop + 1])) + start
        at, states = bounds[rows], np.zeros(len(rows), dtype=np.int64)
        ended: list[tuple[Int64s, Int64s]] = [(rows[:0], states[:0])]
        while len(rows):
            if len(rows) * (tree.height + 1) > _MOST_STATES and stop - start > 1:
                return None
            rows, states, nodes = self._step(rows, states, tree.ancestors[leaves[at - base]])
            at = np.searchsorted(keys, rows * width + tree.stop[nodes]) + base
            done = at == bounds[rows + 1]
            ended.append((rows[done], states[done]))
            rows, at, states = rows[~done], at[~done], states[~done]
        found, ends = zip(*ended, strict=True)
        return np.concatenate(found), np.concatenate(ends)

    def _step(self, rows: Int64s, states: Int64s, above: Int32s) -> tuple[Int64s, Int64s, Int64s]:
        """Follow every edge of the trie to a node that covers the next leaf, one of `above`."""
        codes = states[:, None] * len(self.table.tree) + above
        places = np.searchsorted(self._keys, codes)
        known = above < -1
        if len(self._keys):
            found = self._keys[np.minimum(places, len(self._keys) - 1)]
            known = (above >= 0) & (found == codes)
        at, depth = np.nonzero(known)
        return rows[at], places[at, depth] + 1, above[at, depth].astype(np.int64)

    def _within_counts(
        self, records: LeafRecords, start: int, rows: Int64s, classes: Int64s
    ) -> tuple[Int64s, Int64s]:
        """Of pairs that fit as sets, those in which no node occurs more often than its items."""
        table, tree = self.table, self.table.tree
        stop = int(rows.max(initial=start - 1)) + 1
        lengths = table.lengths[classes]
        entries = ranges(table.indptr[classes], lengths)
        owners = np.repeat(np.arange(len(rows)), lengths)
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
