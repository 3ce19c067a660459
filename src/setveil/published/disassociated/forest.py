"""The clusters of a disassociated release as a forest: the records below each node, and where an
item cannot be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.arrays import Flags, changes, distinct, offsets, positions, sums
from setveil.data.transactions import Counts, Offsets, Transactions
from setveil.errors import DataError

if TYPE_CHECKING:
    from setveil.published.disassociated.form import Disassociated


@dataclass(frozen=True, eq=False)
class Forest:
    """Numbers for nodes, simple clusters and records, such that all below a node is one interval.

    Node v has number `preorder[v]`. Below it are the nodes `preorder[v]` to `node_stop[v] - 1`, the
    simple clusters `first[v]` to `stop[v] - 1`, and their records: those of cluster c are
    `starts[c]` to `starts[c + 1] - 1`."""

    release: Disassociated
    preorder: Offsets
    node_stop: Offsets
    first: Offsets
    stop: Offsets
    nodes: Offsets
    """The node of each simple cluster."""
    starts: Offsets

    @classmethod
    def of(cls, release: Disassociated) -> Forest:
        """Number the nodes of a release depth first."""
        preorder, node_stop = preorder_of(release.parent)
        order = positions(preorder)
        nodes = order[release.is_simple[order]]
        before = offsets(release.is_simple[order])  # simple clusters before each number
        starts = offsets(release.sizes[nodes])
        ends = before[preorder], before[node_stop]
        return cls(release, preorder, node_stop, *ends, nodes, starts)

    @cached_property
    def sizes(self) -> Counts:
        """The number of records of each simple cluster."""
        return np.diff(self.starts)

    @cached_property
    def cluster_of(self) -> Offsets:
        """The simple cluster of each record."""
        return np.repeat(np.arange(len(self.nodes)), self.sizes)

    @cached_property
    def has_terms(self) -> Flags:
        """Whether each simple cluster has a term chunk that is not empty."""
        return self.release.terms.lengths[self.nodes] > 0

    @cached_property
    def is_empty(self) -> Flags:
        """Whether the records of each simple cluster are empty: it contains nothing and is not part
        of a joint one."""
        chunks = np.zeros(len(self.release.parent), dtype=bool)
        chunks[self.release.chunk_node] = True
        return ~chunks[self.nodes] & ~self.has_terms & (self.release.parent[self.nodes] < 0)

    def records(self, nodes: Offsets) -> tuple[Offsets, Counts]:
        """The first record under each node, and how many there are."""
        start = self.starts[self.first[nodes]]
        return start, self.starts[self.stop[nodes]] - start

    @cached_property
    def chunk_sizes(self) -> Counts:
        """The number of subrecords of each chunk."""
        release = self.release
        return sums(release.subrecord_chunk, release.subrecord_counts, len(release.chunk_node))

    @cached_property
    def domains(self) -> tuple[Offsets, Offsets]:
        """The items of each chunk: pairs (item, chunk), ascending."""
        release = self.release
        codes = _codes(release.subrecords, release.subrecord_chunk, len(release.chunk_node))
        return np.divmod(distinct(codes), max(len(release.chunk_node), 1))

    @cached_property
    def places(self) -> Offsets:
        """Which node has which item: codes `item * (nodes + 1) + preorder of the node`, ascending.

        Raises:
            DataError: if an item is in two chunks of one cluster.
        """
        release, (items, chunk) = self.release, self.domains
        width = len(release.parent) + 1
        inside = items * width + self.preorder[release.chunk_node[chunk]]
        codes = np.sort(np.concatenate((inside, _codes(release.terms, self.preorder, width))))
        twice = np.flatnonzero(codes[1:] == codes[:-1])
        if len(twice):
            item = release.items[int(codes[twice[0]] // width)]
            problem = f"the item {item!r} is in two chunks of one cluster"
            raise DataError(f"the release has no possible original: {problem}")
        return codes

    @cached_property
    def barred(self) -> dict[int, list[tuple[int, int]]]:
        """The intervals of simple clusters that a shared subrecord, by its number, cannot belong
        to, if there are any.

        A shared chunk does not count an item for clusters that list it themselves: in a record
        chunk, in the term chunk, or in a shared chunk further down. [Terrovitis2012] section 3"""
        found: dict[int, list[tuple[int, int]]] = {}
        barred = self._barred_items
        rows, chunks = self.release.subrecords, self.release.subrecord_chunk
        some = np.isin(chunks, [chunk for _, chunk in barred])
        for row in np.flatnonzero(some).tolist() if barred else ():
            chunk = int(chunks[row])
            for item in rows.items[rows.entries(row)].tolist():
                if (item, chunk) in barred:
                    found.setdefault(row, []).extend(barred[item, chunk])
        return found

    @property
    def _barred_items(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """The same intervals by item and shared chunk."""
        release, width = self.release, len(self.release.parent) + 1
        items, chunks = self.domains
        shared = np.flatnonzero(~release.is_simple[release.chunk_node[chunks]])
        items, chunks = items[shared], chunks[shared]
        owners, base = release.chunk_node[chunks], items * width
        lows = np.searchsorted(self.places, base + self.preorder[owners] + 1)
        highs = np.searchsorted(self.places, base + self.node_stop[owners])
        by_preorder = positions(self.preorder)
        found = {}
        for at in np.flatnonzero(highs > lows).tolist():
            below = by_preorder[self.places[lows[at] : highs[at]] - base[at]]
            intervals = zip(self.first[below].tolist(), self.stop[below].tolist(), strict=True)
            found[int(items[at]), int(chunks[at])] = [*intervals]
        return found


def preorder_of(parent: Offsets) -> tuple[Offsets, Offsets]:
    """A number for each node, such that all nodes below it have the next ones, and where these end.

    Siblings keep their order. Parents must come before their parts. One level at a time."""
    depth = _depths(parent)
    order = np.argsort(depth, kind="stable")
    levels = np.split(order, np.cumsum(np.bincount(depth))[:-1]) if len(parent) else []
    below = np.ones(len(parent), dtype=np.int64)
    for nodes in levels[:0:-1]:
        np.add.at(below, parent[nodes], below[nodes])
    numbers = np.zeros(len(parent), dtype=np.int64)
    for at, nodes in enumerate(levels):
        # The nodes of a level by their parents; what comes before within a parent comes before.
        nodes = nodes[np.argsort(parent[nodes], kind="stable")] if at else nodes
        begins = np.cumsum(below[nodes]) - below[nodes]
        if at:
            first = changes(parent[nodes])
            begins -= np.repeat(
                begins[first], np.diff(np.append(np.flatnonzero(first), len(nodes)))
            )
            begins += numbers[parent[nodes]] + 1
        numbers[nodes] = begins
    return numbers, numbers + below


def _depths(parent: Offsets) -> Offsets:
    """How many nodes are above each node."""
    depth, above = np.zeros(len(parent), dtype=np.int64), parent
    while (alive := above >= 0).any():
        depth += alive
        above = np.where(alive, parent[above], -1)
    return depth


def _codes(rows: Transactions, owners: Offsets, width: int) -> Offsets:
    """`item * width + owner` of every entry; the owner is given for each row."""
    return rows.items.astype(np.int64) * max(width, 1) + np.repeat(owners, rows.lengths)
