"""Partition: k-anonymity by top-down local generalization. [He2009]"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.hashing import hash_records
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.engines.parts import Block, Parts
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.dividing import Coding, Divisible, Share, Whole
from setveil.methods.method import Request
from setveil.methods.partition.parts import Cut, divide
from setveil.promises import KAnonymity, KmAnonymity, Promise, VocabularyKAnonymity
from setveil.published.generalized import Generalized
from setveil.published.rows import relabeled

if TYPE_CHECKING:
    from setveil.methods.partition.classes import Classes

LARGE = 100_000
"""From this many occurrences on, it pays to move records that will stay together next to each
other."""


@dataclass(frozen=True, kw_only=True)
class Partition(Divisible[Generalized]):
    """Groups similar records top-down and publishes each group as the nodes that its records share.

    It starts with one partition: all records, generalized to the root. In each partition it expands
    the node that gains most (the drop in NCP, summed over the occurrences under it), and splits the
    records by which children they contain. Parts of fewer than k records go to a leftover, which
    takes the records that gain least from parts of more than k until it has k, or joins the
    smallest part. The leftover keeps the old nodes and may not expand this node again. All parts
    are split further, each on its own. [He2009] section 4

    Bags are grouped like their sets, and a node is published with the smallest count that it has in
    any record of the group: LG(bag), [Liu2010b] section V-A.

    The result depends only on the records, not on their order or the number of threads. Among equal
    gains the first node in the tree is expanded, and among equal records to move, those with the
    first items in the tree are moved.

    Departures from the paper:
        - Its `Anonymize` expands the same node of the leftover forever; here the leftover closes a
          node that was tried.
        - It does not mention empty records. They are a class of their own. If there are 1 to k - 1,
          the shortest other records are published as empty too, until there are k. If fewer than k
          others remain, they are published as empty as well.
        - It enumerates the subsets of a node's children; here only the sets that occur cost time,
          so a node may have hundreds of children.

    Cost:
        Linear in the data for a given tree: each level reads each occurrence a few times. About 50
        bytes per occurrence.

    Example:
        >>> paths = [("a1", "A", "ALL"), ("a2", "A", "ALL"), ("b1", "B", "ALL"), ("b2", "B", "ALL")]
        >>> data = Transactions.of([["a1"], ["a1", "a2"], ["b1", "b2"], ["b1", "b2"]])
        >>> release = Partition().anonymize(data, KAnonymity(k=2), Hierarchy.from_paths(paths))
        >>> sorted(zip(release.classes, release.sizes.tolist()))
        [(('A',), 2), (('b1', 'b2'), 2)]
    """

    name: ClassVar[str] = "partition"
    promises: ClassVar[tuple[type[Promise], ...]] = (KAnonymity, KmAnonymity, VocabularyKAnonymity)
    chosen_for: ClassVar[Mapping[type[Promise], str]] = {
        KAnonymity: "it generalizes each record only as far as its group needs",
        VocabularyKAnonymity: "it generalizes each bag only as far as its group needs",
    }
    needs_hierarchy: ClassVar[bool] = True
    trial: ClassVar[Promise] = KAnonymity(k=2)
    runs_anywhere: ClassVar[bool] = True

    def _anonymize(
        self, request: Request[KAnonymity | KmAnonymity | VocabularyKAnonymity]
    ) -> Generalized:
        from setveil.methods.partition.classes import split_records

        promise, hierarchy = request.promise, request.tree
        data = _on_leaves(request.records, hierarchy)
        # Bags need an order that depends on their content alone, which breaks all ties.
        order = np.argsort(hash_records(data, 1), kind="stable") if isinstance(data, Bags) else None
        data = data if order is None else data.take(order)
        kept = _near_each_other(data, _kept_records(data, promise.k), hierarchy)
        found = split_records(data, kept, promise.k, request)
        rows, alignment = _as_rows(found, len(data), hierarchy)
        if isinstance(data, Bags):
            rows = _with_counts(rows, alignment[kept], data.take(kept), hierarchy)
        if order is not None:
            alignment = alignment[np.argsort(order)]
        return self._release(rows, alignment, request)

    def _release(self, rows: Transactions, alignment: Int64s, request: Request[Any]) -> Generalized:
        weights = np.bincount(alignment, minlength=len(rows)).astype(np.int64)
        told = request.tree, request.promise, self.to_dict()
        return Generalized.of_rows(rows, *told, alignment=alignment, weights=weights)

    def coding(self, vocabulary: Vocabulary, hierarchy: Hierarchy | None) -> Coding:
        """Items are numbered as the leaves of the tree."""
        assert hierarchy is not None
        leaves = Vocabulary(hierarchy.labels[: hierarchy.leaf_count])
        return Coding(hierarchy.leaf_numbers(vocabulary), leaves)

    def divide(self, parts: Parts, whole: Whole) -> list[Share]:
        return divide(parts, whole.promise.crowd, whole)

    def anonymize_share(
        self, blocks: Sequence[Block], state: object, request: Request[Any]
    ) -> Generalized:
        from setveil.methods.partition.classes import split_blocks

        cuts = cast("Sequence[Cut]", state)
        found = split_blocks(blocks, cuts, request.promise.k, request.tree)
        return self._release(*_as_rows(found, len(request.records), request.tree), request)


def _on_leaves(data: Transactions, hierarchy: Hierarchy) -> Transactions:
    """The same records over the nodes of the tree, which start with its leaves."""
    numbers = hierarchy.leaf_numbers(data.vocabulary)
    if isinstance(data, Bags) or not (numbers[1:] > numbers[:-1]).all():
        return relabeled(data, numbers, hierarchy.nodes)
    return Transactions(data.indptr, numbers[data.items], hierarchy.nodes)


def _kept_records(data: Transactions, k: int) -> Int64s:
    """The records to partition; all others are published as empty."""
    lengths = data.lengths
    full = np.flatnonzero(lengths)
    empty = len(lengths) - len(full)
    if len(full) < k:
        return full[:0]
    if empty == 0 or empty >= k:
        return full
    order = full[np.argsort(lengths[full], kind="stable")]
    longest = lengths[order[k - empty - 1]]
    short = [int(record) for record in order if lengths[record] <= longest]
    short.sort(key=lambda record: (lengths[record], data.items[data.entries(record)].tolist()))
    kept = np.setdiff1d(full, short[: k - empty])
    return kept if len(kept) >= k else kept[:0]


def _near_each_other(data: Transactions, kept: Int64s, hierarchy: Hierarchy) -> Int64s:
    """The records in an order that is quick to work on; the classes do not depend on it.

    Records that stay together for long are next to each other in memory. The key of a record says
    which nodes near the root it contains, one bit for each, the nearest first."""
    if len(data.items) < LARGE:
        return kept
    bits, left = np.zeros(hierarchy.leaf_count, dtype=np.uint64), 64
    for depth in range(1, hierarchy.height + 1):
        present, place = np.unique(hierarchy.ancestors[:, depth], return_inverse=True)
        if len(present) > left and depth > 1:
            break
        left = max(left - len(present), 0)
        bits |= np.left_shift(np.uint64(1), (left + place % (64 - left)).astype(np.uint64))
    key = np.bitwise_or.reduceat(np.append(bits[data.items], np.uint64(0)), data.indptr)
    return kept[np.argsort(key[kept], kind="stable")]


def _as_rows(
    found: Iterable[tuple[Int64s, Classes]], records: int, tree: Hierarchy
) -> tuple[Transactions, Int64s]:
    """The classes as records of nodes, one more if empty ones need it, and that of each record."""
    alignment, count = np.full(records, -1, dtype=np.int64), 0
    owners, nodes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for numbers, classes in found:
        alignment[numbers] = count + classes.of_records()
        owners.append(count + np.repeat(np.arange(len(classes.sizes)), classes.sizes))
        nodes.append(classes.nodes)
        count += len(classes.sizes)
    is_empty = alignment < 0
    alignment[is_empty] = count
    size = count + bool(is_empty.any())
    pairs = np.concatenate(owners), np.concatenate(nodes)
    return Transactions.from_pairs(*pairs, tree.nodes, size=size), alignment


def _with_counts(rows: Transactions, member: Int64s, data: Bags, hierarchy: Hierarchy) -> Bags:
    """The classes, each node with the least count that any record of its class has of it."""
    # The nodes of a class cover disjoint intervals of leaves: sorted by class and first leaf, the
    # last one that starts at or before a leaf is the one above it.
    starts = rows.rows * hierarchy.leaf_count + hierarchy.first[rows.items]
    order = np.argsort(starts)
    leaves = np.repeat(member, data.lengths) * hierarchy.leaf_count + data.items
    above = order[np.searchsorted(starts[order], leaves, side="right") - 1]
    begins = np.flatnonzero(np.diff(data.rows * len(order) + above, prepend=-1))
    least = np.full(len(order), np.iinfo(np.int64).max)
    if len(begins):
        np.minimum.at(least, above[begins], np.add.reduceat(data.counts, begins))
    return Bags(rows.indptr, rows.items, rows.vocabulary, least)
