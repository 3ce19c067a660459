"""Published records on their way into a release: renamed, and equal ones merged."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int32s, Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.hierarchy.tree import Hierarchy


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


def merged(rows: Transactions, weights: Int64s | None) -> tuple[Transactions, Int64s, Int64s]:
    """The distinct records, how many people each represents, and which of them each row is.

    Args:
        rows: Published records in any order.
        weights: How many people each row represents; 1 each if not given.
    """
    classes, member = distinct_records(rows)
    sizes = np.bincount(member, weights=weights, minlength=len(classes)).astype(np.int64)
    return classes, sizes, member


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


def distinct_records(data: Transactions) -> tuple[Transactions, Int64s]:
    """The distinct records, sorted by their items (and counts), and which of them each record
    is."""
    index: dict[bytes, int] = {}
    found = (index.setdefault(key, len(index)) for key in _row_keys(data))
    member = np.fromiter(found, dtype=np.int64, count=len(data))
    representative = np.zeros(len(index), dtype=np.int64)
    representative[member[::-1]] = np.arange(len(data) - 1, -1, -1)
    order = np.array(sorted(range(len(index)), key=list(index).__getitem__), dtype=np.int64)
    place = np.empty(len(index), dtype=np.int64)
    place[order] = np.arange(len(order))
    return data.take(representative[order]), place[member]


def _row_keys(data: Transactions) -> Iterable[bytes]:
    """One byte string per record; big-endian, so that they sort as the records do."""
    values: npt.NDArray[np.unsignedinteger] = data.items.astype(">u4")
    if isinstance(data, Bags):
        values = np.stack((data.items, data.counts), axis=1).astype(">u8")
    blob = values.tobytes()
    width = len(blob) // max(len(data.items), 1)
    bounds = (data.indptr * width).tolist()
    return (blob[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False))
