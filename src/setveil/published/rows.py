"""Published records on their way into a release, and from nodes back to items that they may
represent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import (
    Flags,
    Floats,
    Int32s,
    Int64s,
    changes,
    offsets,
    positions,
    sums,
)
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.published.release import RecordRelease

MANY = 1_000_000
"""Records with as many items are renamed and compared by compiled loops."""
FAR = 1 << 30
"""More steps than any tree has."""


def relabeled(data: Transactions, numbers: Int32s, vocabulary: Vocabulary) -> Transactions:
    """The same records with item i renamed to `numbers[i]` of another vocabulary."""
    if type(data) is Transactions and len(data.items) >= MANY:
        from setveil.kernels.records import merge_records

        lengths, found, _ = merge_records(data.lengths, data.items, numbers, False)
        return Transactions(offsets(lengths), found, vocabulary)
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


def merged(rows: Transactions, weights: Int64s | None) -> tuple[Transactions, Int64s, Int64s]:
    """The distinct records, how many people each represents, and which of them each row is.

    Args:
        rows: Published records in any order.
        weights: How many people each row represents; 1 each if not given.
    """
    classes, member = distinct_records(rows)
    return classes, sums(member, 1 if weights is None else weights, len(classes)), member


def same_records(one: RecordRelease, other: RecordRelease) -> bool:
    """Whether two releases surely publish the same records equally often; compares arrays, which
    is much quicker than to compare records item by item."""
    if one.classes.indptr[-1] != other.classes.indptr[-1] or len(one.sizes) != len(other.sizes):
        return False
    place = {meaning: number for number, meaning in enumerate(other.meanings())}
    found = [place.get(meaning, -1) for meaning in one.meanings()]
    numbers = np.array(found, dtype=np.int32)
    used = numbers[np.unique(one.classes.items)]
    if (used < 0).any() or len(np.unique(used)) < len(used):
        return False
    renamed = merged(relabeled(one.classes, numbers, other.classes.vocabulary), one.sizes)
    wanted = merged(other.classes, other.sizes)
    same = renamed[0] == wanted[0] and np.array_equal(renamed[1], wanted[1])
    return same and len(wanted[0]) == len(other.classes)


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


def distinct_records(data: Transactions, many: int | None = None) -> tuple[Transactions, Int64s]:
    """The distinct records, sorted by their items (and counts), and which of them each record
    is."""
    if type(data) is Transactions and len(data.items) >= (MANY if many is None else many):
        return _grouped(data)
    keys = _row_keys(data)
    place = {key: number for number, key in enumerate(sorted(set(keys)))}
    member = np.fromiter(map(place.__getitem__, keys), dtype=np.int64, count=len(keys))
    first = np.zeros(len(place), dtype=np.int64)
    first[member[::-1]] = np.arange(len(keys) - 1, -1, -1)
    return data.take(first), member


def _grouped(data: Transactions) -> tuple[Transactions, Int64s]:
    """The same by a compiled loop, so that only distinct records are sorted."""
    from setveil.kernels.rows import group_records

    group, first = group_records(data.indptr, data.items)
    classes = data.take(first)
    keys = _row_keys(classes)
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    return classes.take(order), positions(order)[group]


def _row_keys(data: Transactions) -> list[bytes]:
    """One byte string per record; big-endian, so that they sort as the records do."""
    values: npt.NDArray[np.unsignedinteger] = data.items.astype(">u4")
    if isinstance(data, Bags):
        values = np.stack((data.items, data.counts), axis=1).astype(">u8")
    blob = values.tobytes()
    width = len(blob) // max(len(data.items), 1)
    bounds = (data.indptr * width).tolist()
    return [blob[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False)]
