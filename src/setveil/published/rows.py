"""Published records on their way into a release, and from nodes back to items that they may
represent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from setveil.data.arrays import (
    Flags,
    Floats,
    Int32s,
    Int64s,
    changes,
    numbered,
    offsets,
    positions,
    ranges,
    sums,
)
from setveil.data.hashing import hash_records
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.published.release import RecordRelease, Release

SomeRelease = TypeVar("SomeRelease", bound="Release")

FAR = 1 << 30
"""More steps than any tree has."""
_ENTRIES_AT_ONCE = 1 << 22


def relabeled(data: Transactions, numbers: Int32s, vocabulary: Vocabulary) -> Transactions:
    """The same records with item i renamed to `numbers[i]` of another vocabulary."""
    items, rows = numbers[data.items], data.rows
    if isinstance(data, Bags):
        return Bags.from_pairs(rows, items, vocabulary, size=len(data), counts=data.counts)
    return Transactions.from_pairs(rows, items, vocabulary, size=len(data))


def tidy(rows: Transactions) -> Transactions:
    """The same records over the sorted vocabulary of the items that occur in them."""
    used = np.unique(rows.items)
    labels = [rows.vocabulary[number] for number in used.tolist()]
    vocabulary = Vocabulary(sort_labels(labels))
    numbers = np.full(len(rows.vocabulary), -1, dtype=np.int32)
    numbers[used] = vocabulary.encode(labels)
    return relabeled(rows, numbers, vocabulary)


def stacked(tables: Sequence[Transactions]) -> Transactions:
    """The records of several tables, one after the other, over one vocabulary: that of all tables
    if it is the same, else that of all their items."""
    if len(tables) == 1:
        return tables[0]
    words = tables[0].vocabulary
    if any(each.vocabulary != words for each in tables):
        words = Vocabulary(sort_labels({label for each in tables for label in each.vocabulary}))
        tables = [relabeled(each, words.encode(each.vocabulary), words) for each in tables]
    indptr = offsets(np.concatenate([each.lengths for each in tables]))
    items = np.concatenate([each.items for each in tables])
    counts = [each.counts for each in tables if isinstance(each, Bags)]
    if counts:
        return Bags(indptr, items, words, np.concatenate(counts))
    return Transactions(indptr, items, words)


def merged(
    rows: Transactions, weights: Int64s | None, *, as_read: bool = False
) -> tuple[Transactions, Int64s, Int64s]:
    """The distinct records, how many people each represents, and which of them each row is, given
    how many each row represents (1 each if not given). `as_read` leaves the rows as they are: the
    audit merges them by itself."""
    if as_read:
        sizes = np.ones(len(rows), dtype=np.int64) if weights is None else weights
        return rows, sizes, np.arange(len(rows))
    classes, member = distinct_records(rows)
    return classes, sums(member, 1 if weights is None else weights, len(classes)), member


def with_equal_merged(release: SomeRelease) -> SomeRelease:
    """A release that was read from files, where each record is a row, with equal rows merged."""
    some: Any = release
    if hasattr(some, "groups"):
        joined: SomeRelease = replace(some, groups=tuple(map(with_equal_merged, some.groups)))
        return joined
    if not hasattr(some, "classes"):
        return release
    classes, sizes, _ = merged(some.classes, some.sizes)
    made: SomeRelease = replace(some, classes=classes, sizes=sizes).leaving_out(some.min_people)
    return made


def same_records(one: RecordRelease, other: RecordRelease) -> bool:
    """Whether two releases publish the same records equally often, by what their items mean."""
    place = {meaning: number for number, meaning in enumerate(other.meanings())}
    found = []
    for each in (one, other):
        numbers = np.array([place.get(meaning, -1) for meaning in each.meanings()], dtype=np.int32)
        if (numbers[np.unique(each.classes.items)] < 0).any():
            return False
        rows = relabeled(each.classes, numbers, other.classes.vocabulary)
        found.append(merged(rows, each.sizes))
    (here, sizes, _), (there, others, _) = found
    return here == there and np.array_equal(sizes, others)


def with_leaves(rows: Transactions, tree: Hierarchy, random: np.random.Generator) -> Transactions:
    """The records with each node replaced by a random leaf below it; in bags once per
    occurrence."""
    nodes, owners = tree.nodes.encode(rows.vocabulary.labels)[rows.items], rows.rows
    kind: type[Transactions] = Transactions
    if isinstance(rows, Bags):
        nodes, owners, kind = np.repeat(nodes, rows.counts), np.repeat(owners, rows.counts), Bags
    leaves = random.integers(tree.first[nodes], tree.stop[nodes]).astype(np.int32)
    vocabulary = Vocabulary(tree.labels[: tree.leaf_count])
    return kind.from_pairs(owners, leaves, vocabulary, size=len(rows))


@dataclass(frozen=True)
class Branches:
    """The leaves below a node, with the branch of each and its steps up to the node."""

    leaves: Int32s
    branch: Int32s
    steps: Int32s
    nearest: Int32s
    """The steps of the nearest leaf in another branch; very many if there is none."""

    @classmethod
    def below(cls, tree: Hierarchy, node: int) -> Branches:
        """All leaves below a node."""
        leaves = np.arange(tree.first[node], tree.stop[node], dtype=np.int32)
        steps = tree.depth[leaves] - tree.depth[node]
        branch = tree.ancestors[leaves, tree.depth[node] + 1] if len(leaves) > 1 else leaves
        order = np.argsort(steps, kind="stable")
        here = branch == branch[order[0]]
        others = order[~here[order]]
        nearest = np.where(here, steps[others[0]] if len(others) else 2 * FAR, steps[order[0]])
        return cls(leaves, branch, steps, nearest)

    def drawn(self, size: int, epsilon: int | None, random: np.random.Generator) -> Int32s:
        """Leaves for `size` people, such that the node is the lowest one above all of them.

        So two are in different branches; and all are at most `epsilon` steps apart. If the tree
        has no such leaves (only a part of it may be published), any of the leaves."""
        far = FAR if epsilon is None else epsilon
        able = np.flatnonzero(self.steps <= far - self.nearest)
        if size < 2 or not len(able):
            return random.choice(self.leaves, size)
        one = random.choice(able)
        fits = (self.branch != self.branch[one]) & (self.steps <= far - self.steps[one])
        two = random.choice(np.flatnonzero(fits))
        # Leaves with at most so many steps are near enough to both and to each other.
        most = min(far // 2, far - max(self.steps[one], self.steps[two]))
        pool = np.union1d([one, two], np.flatnonzero(self.steps <= most))
        chosen = np.concatenate(([one, two], random.choice(pool, size - 2)))
        drawn: Int32s = self.leaves[random.permutation(chosen)]
        return drawn


def coverage(tree: Hierarchy, nodes: Int32s, node: int) -> tuple[Flags, Flags, Floats]:
    """For each of some published nodes: is it at or below a node, is it above it, and the chance
    that an item below it is also below the node.

    Of a tree of which only a part was published, a node has leaves that nobody sees: at least
    one."""
    first, stop = tree.first[nodes], tree.stop[nodes]
    within = (first >= tree.first[node]) & (stop <= tree.stop[node])
    if tree.origin.pruned:
        within &= tree.depth[nodes] >= tree.depth[node]
    above = (first <= tree.first[node]) & (stop >= tree.stop[node]) & ~within
    width = tree.widths[nodes] + tree.origin.pruned
    return within, above, np.where(above, tree.widths[node] / width, within)


def most_below(tree: Hierarchy, rows: Int64s, nodes: Int32s, values: Int64s) -> Int64s:
    """For each node of a tree the sum over rows of the greatest value that an entry of the row at
    or below the node has; one level of the tree after the other."""
    width, depth = len(tree), tree.depth[nodes]
    found = np.zeros(width, dtype=np.int64)
    codes, held = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for level in range(tree.height, -1, -1):
        here = depth == level
        below = codes // width * width + tree.parent[codes % width]
        codes = np.concatenate((below, rows[here] * width + nodes[here]))
        held = np.concatenate((held, values[here]))
        codes, held = greatest(codes, held)
        found += sums(codes % width, held, width)
    return found


def greatest(codes: Int64s, values: Int64s) -> tuple[Int64s, Int64s]:
    """The distinct codes, ascending, and the greatest value of each."""
    order = np.argsort(codes, kind="stable")
    codes, values = codes[order], values[order]
    starts = np.flatnonzero(changes(codes))
    return codes[starts], np.maximum.reduceat(values, starts) if len(starts) else values


def distinct_records(data: Transactions) -> tuple[Transactions, Int64s]:
    """The distinct records, sorted by their items (and counts), and which of them each record
    is."""
    group, first = _groups(data)
    classes = data.take(first)
    order = _order(classes)
    return classes.take(order), positions(order)[group]


def _groups(data: Transactions) -> tuple[Int64s, Int64s]:
    """The number of each record's group of equal records, and a record of each group.

    Records are grouped by a hash, and then compared item by item with one of their group; should
    two different ones have the same hash, another hash is taken."""
    for stream in count(1):
        names, group = numbered((hash_records(data, stream) >> np.uint64(1)).astype(np.int64))
        first = np.empty(len(names), dtype=np.int64)
        first[group] = np.arange(len(group))
        if _are_equal(data, first[group]):
            break
    return group, first


def _order(data: Transactions) -> Int64s:
    """The numbers of distinct records in the order of their items (and counts).

    One entry after the other is compared; `rank` is how many records surely come before, and `left`
    are those that some others still equal."""
    rank, left, depth = np.zeros(len(data), dtype=np.int64), np.arange(len(data)), 0
    while len(left):
        inside = data.lengths[left] > depth
        place = np.where(inside, data.indptr[left] + depth, 0)
        items = np.where(inside, data.items[place] + 1, 0) if len(data.items) else 0 * left
        keys = [items, rank[left]]
        if isinstance(data, Bags) and len(data.items):
            keys.insert(0, np.where(inside, data.counts[place], 0))
        order = np.lexsort(keys)
        left, keys = left[order], [key[order] for key in keys]
        same_rank, first = changes(keys[-1]), changes(*keys)
        at = np.arange(len(left))
        group, before = (np.maximum.accumulate(np.where(new, at, 0)) for new in (first, same_rank))
        rank[left] = keys[-1] + group - before
        left = left[~(first & np.append(first[1:], True))]
        depth += 1
    return positions(rank)


def _are_equal(data: Transactions, others: Int64s) -> bool:
    """Whether each record equals the one with the given number, some at a time."""
    lengths = data.lengths
    if not np.array_equal(lengths, lengths[others]):
        return False
    cuts = np.searchsorted(data.indptr, np.arange(0, len(data.items), _ENTRIES_AT_ONCE))
    for low, high in pairwise([*np.unique(cuts).tolist(), len(data)]):
        here = slice(data.indptr[low], data.indptr[high])
        there = ranges(data.indptr[others[low:high]], lengths[low:high])
        if not np.array_equal(data.items[here], data.items[there]):
            return False
        if isinstance(data, Bags) and not np.array_equal(data.counts[here], data.counts[there]):
            return False
    return True
