"""Equal records found and counted apart from the makers of releases, by the bytes of each record.

The makers have their own way (`setveil.published.rows`): a fault in it must not hide here."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int32s, Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary


def equal_records(data: Transactions) -> tuple[Int64s, Int64s]:
    """The first record of each kind, in the order of their items (and counts), and the number of
    the kind of each record."""
    keys: dict[bytes, int] = {}
    found = (keys.setdefault(key, len(keys)) for key in record_keys(data, ">"))
    kind = np.fromiter(found, dtype=np.int64, count=len(data))
    first = np.zeros(len(keys), dtype=np.int64)
    first[kind[::-1]] = np.arange(len(data) - 1, -1, -1)
    order = np.array([keys[key] for key in sorted(keys)], dtype=np.int64)
    place = np.empty(len(keys), dtype=np.int64)
    place[order] = np.arange(len(keys))
    return first[order], place[kind]


def item_supports(data: Transactions) -> Int64s:
    """The number of records that have each item."""
    return np.bincount(data.items, minlength=len(data.vocabulary)).astype(np.int64, copy=False)


def renamed(data: Transactions, numbers: Int32s, vocabulary: Vocabulary) -> Transactions:
    """The same records with item i as number `numbers[i]` of another vocabulary; -1 leaves it
    out."""
    kept = numbers[data.items] >= 0
    rows, items = data.rows[kept], numbers[data.items[kept]]
    if isinstance(data, Bags):
        counts = data.counts[kept]
        return Bags.from_pairs(rows, items, vocabulary, size=len(data), counts=counts)
    return Transactions.from_pairs(rows, items, vocabulary, size=len(data))


def stacked(one: Transactions, other: Transactions) -> Transactions:
    """The records of both, one after the other, over the same vocabulary."""
    indptr = np.concatenate((one.indptr, one.indptr[-1] + other.indptr[1:]))
    items = np.concatenate((one.items, other.items))
    if isinstance(one, Bags) and isinstance(other, Bags):
        return Bags(indptr, items, one.vocabulary, np.concatenate((one.counts, other.counts)))
    return Transactions(indptr, items, one.vocabulary)


def record_keys(data: Transactions, order: Literal["<", ">"] = "<") -> list[bytes]:
    """One byte string for each record, equal exactly for equal records; with the order `>` they
    sort as the records do."""
    values: npt.NDArray[np.unsignedinteger] = data.items.astype(f"{order}u4")
    if isinstance(data, Bags):
        values = np.stack((data.items, data.counts), axis=1).astype(f"{order}u8")
    blob = values.tobytes()
    bounds = (data.indptr * (len(blob) // max(len(data.items), 1))).tolist()
    return [blob[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False)]
