"""The clusters of a disassociated release as a forest: the records below each node, and where an
item cannot be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.arrays import Flags as Flags
from setveil.data.arrays import offsets, sums
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
        parents, simple = release.parent.tolist(), release.is_simple
        below, clusters = [1] * len(parents), simple.astype(int).tolist()
        for node in range(len(parents) - 1, -1, -1):
            if parents[node] >= 0:
                below[parents[node]] += below[node]
                clusters[parents[node]] += clusters[node]
        preorder, first = _places(parents, below, 1), _places(parents, clusters, 0)
        nodes = np.flatnonzero(simple)
        nodes = nodes[np.argsort(first[nodes])]
        node_stop, stop = preorder + np.array(below, int), first + np.array(clusters, int)
        starts = offsets(release.sizes[nodes])
        return cls(release, preorder, node_stop, first, stop, nodes, starts)

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
    def places(self) -> Offsets:
        """Which node has which item: codes `item * (nodes + 1) + preorder of the node`, ascending.

        Raises:
            DataError: if an item is in two chunks of one cluster.
        """
        release = self.release
        entries, chunks = release.subrecords, release.subrecord_chunk
        by_chunk = np.unique(_codes(entries, chunks, len(release.chunk_node)))
        items, chunk = np.divmod(by_chunk, max(len(release.chunk_node), 1))
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
        release, width = self.release, len(self.release.parent) + 1
        nodes = release.chunk_node[release.subrecord_chunk]
        shared = np.flatnonzero(~release.is_simple[nodes])
        rows = release.subrecords.take(shared)
        owners = nodes[shared][rows.rows]
        base = rows.items.astype(np.int64) * width
        lows = np.searchsorted(self.places, base + self.preorder[owners] + 1)
        highs = np.searchsorted(self.places, base + self.node_stop[owners])
        by_preorder = np.argsort(self.preorder)
        found: dict[int, list[tuple[int, int]]] = {}
        for entry in np.flatnonzero(highs > lows).tolist():
            below = by_preorder[self.places[lows[entry] : highs[entry]] - base[entry]]
            intervals = found.setdefault(int(shared[rows.rows[entry]]), [])
            intervals.extend(
                zip(self.first[below].tolist(), self.stop[below].tolist(), strict=True)
            )
        return found


def _places(parents: list[int], sizes: list[int], own: int) -> Offsets:
    """The first place of each node, one after the other; parts come after the `own` places of their
    parent."""
    places, cursor, top = [0] * len(parents), [0] * len(parents), 0
    for node, parent in enumerate(parents):
        if parent < 0:
            places[node] = top
            top += sizes[node]
        else:
            places[node] = cursor[parent]
            cursor[parent] += sizes[node]
        cursor[node] = places[node] + own
    return np.array(places, dtype=np.int64)


def _codes(rows: Transactions, owners: Offsets, width: int) -> Offsets:
    """`item * width + owner` of every entry; the owner is given for each row."""
    return rows.items.astype(np.int64) * max(width, 1) + np.repeat(owners, rows.lengths)
