"""Equal records found and counted apart from the makers of releases, by the bytes of each record.

The makers have their own way (`setveil.published.rows`): a fault in it must not hide here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int32s, Int64s, sums
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.published.release import Release

SomeRelease = TypeVar("SomeRelease", bound=Release)


@dataclass(frozen=True)
class Counted:
    """The distinct records of some data and how often each occurs."""

    records: Transactions
    sizes: Int64s
    member: Int64s
    """Which of the distinct records each record is."""


def count_records(data: Transactions, sizes: Int64s | None = None) -> Counted:
    """Merge equal records and count them; bags are equal only if their counts are.

    Args:
        data: The records, in any order.
        sizes: How many people each record represents; 1 each if not given.
    """
    first, member = equal_records(data)
    totals = sums(member, 1 if sizes is None else sizes, len(first))
    return Counted(data.take(first), totals, member)


def recounted(release: SomeRelease) -> SomeRelease:
    """A release whose records were merged and counted here, not by its maker or its reader."""
    groups = getattr(release, "groups", None)
    if groups is not None:
        whole: SomeRelease = replace(release, groups=tuple(map(recounted, groups)))  # type: ignore[type-var]
        return whole
    classes, sizes = getattr(release, "classes", None), getattr(release, "sizes", None)
    if classes is None or sizes is None or len(sizes) != len(classes):
        return release
    counted = count_records(classes, sizes)
    own: Any = {"classes": counted.records, "sizes": counted.sizes}
    given = release.alignment
    if given is not None and len(given) and 0 <= given.min() <= given.max() < len(classes):
        own["alignment"] = counted.member[given]
    made: SomeRelease = replace(release, **own)  # type: ignore[type-var]
    return made.leaving_out(release.min_people)


def covered(release: Release, original: Transactions) -> Transactions:
    """What a release is about: the original without the items that were left out, because few
    records have them or because the tree lacks them."""
    kept = item_supports(original) >= (0 if release.stands_alone else release.min_people)
    tree = release.tree
    if tree is not None and tree.origin.parameters.get("unknown") == "drop":
        leaves = tree.nodes.find(original.vocabulary)
        kept &= (leaves >= 0) & (leaves < tree.leaf_count)
    return original.keeping(kept)


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
