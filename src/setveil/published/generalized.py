"""The generalized form: a multiset of records whose items are nodes of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from setveil.data.seeds import random_from
from setveil.data.transactions import Bags, Counts, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.promise import Promise
from setveil.published.frozen import Frozen


@dataclass(frozen=True, eq=False, repr=False)
class Generalized(Frozen):
    """Records of hierarchy nodes, held as distinct records and how often each stands.

    `classes` holds the distinct published records in a canonical order (never that of the input), over the nodes of `hierarchy`;
    `sizes` how many people each stands for. What links people to classes is private: `alignment`, the class of each original record, is
    there right after `anonymize` and is never written into a release.

    Example:
        >>> from setveil.promises import KAnonymity
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")])
        >>> release = Generalized.of([["Alcohol"], ["Alcohol"], ["milk"], ["milk"]], tree, KAnonymity(k=2))
        >>> release
        Generalized(4 records in 2 classes, KAnonymity(k=2))
        >>> release.records().support(["Alcohol"])
        2
    """

    form: ClassVar[str] = "generalized"

    classes: Transactions
    """The distinct published records; `Bags` when each node has a multiplicity."""
    sizes: Counts
    hierarchy: Hierarchy
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    """The method's name and parameters, as in `release.json`."""
    alignment: npt.NDArray[np.int64] | None = None
    """Private: the class of each original record."""

    @classmethod
    def of(
        cls,
        records: Iterable[Iterable[str]],
        hierarchy: Hierarchy,
        promise: Promise,
        *,
        counted: bool = False,
        method: Mapping[str, object] | None = None,
    ) -> Generalized:
        """From published records as labels of nodes, the first standing for the first original record, and so on.

        Args:
            records: Labels of nodes; of bags (`counted`), with repeats or as mappings `{label: count}`.
            hierarchy: The tree of the nodes.
            promise: What the release promises.
            counted: Whether it publishes how often each node stands.
            method: The method's name and parameters.
        """
        data = (Bags if counted else Transactions).of(records)
        rows = relabeled(data, hierarchy.nodes.encode(data.vocabulary.labels), hierarchy.nodes)
        return cls.of_rows(rows, hierarchy, promise, method or {}, alignment=np.arange(len(rows)))

    @classmethod
    def of_rows(
        cls,
        rows: Transactions,
        hierarchy: Hierarchy,
        promise: Promise,
        method: Mapping[str, object],
        *,
        alignment: npt.NDArray[np.int64] | None = None,
        weights: Counts | None = None,
    ) -> Generalized:
        """From published records in any order, equal ones merged.

        Args:
            rows: Records over `hierarchy.nodes`.
            hierarchy: The tree of the nodes.
            promise: What the release promises.
            method: The method's name and parameters.
            alignment: The row of each original record, when known.
            weights: How many people each row stands for; 1 each when not given.
        """
        classes, member = distinct_records(rows)
        sizes = np.bincount(member, weights=weights, minlength=len(classes)).astype(np.int64)
        aligned = None if alignment is None else member[alignment]
        return cls(classes, sizes, hierarchy, promise, method, aligned)

    def __len__(self) -> int:
        """The number of published records."""
        return int(self.sizes.sum())

    def __eq__(self, other: object) -> bool:
        """The same multiset of records under the same labels; who stands behind them does not matter."""
        return isinstance(other, Generalized) and self._multiset() == other._multiset()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Generalized({len(self)} records in {len(self.classes)} classes, {self.promise})"

    def _multiset(self) -> dict[tuple[object, ...], int]:
        counts = (
            self.classes.counts.tolist()
            if isinstance(self.classes, Bags)
            else [1] * len(self.classes.items)
        )
        bounds = self.classes.indptr.tolist()
        return {
            tuple(sorted(zip(record, counts[start:stop], strict=True))): size
            for record, start, stop, size in zip(
                self.classes, bounds, bounds[1:], self.sizes.tolist(), strict=False
            )
        }

    @property
    def items(self) -> Vocabulary:
        """The labels that a published record may hold."""
        return self.hierarchy.nodes

    @property
    def is_global(self) -> bool:
        """Whether one cut of the tree stands for all records, as the method says; what it does not cover is suppressed everywhere."""
        return self.method.get("recoding") == "global" and not isinstance(self.classes, Bags)

    def published_nodes(self) -> npt.NDArray[np.int32]:
        """The nodes that stand in some published record."""
        return np.unique(self.classes.items)

    def records(self, seed: int | None = None) -> Transactions:
        """All published records as transactions (or bags), in random order: from the system, or from a seed."""
        rows = np.repeat(np.arange(len(self.classes)), self.sizes)
        return self.classes.take(random_from(seed).permutation(rows))

    def without_alignment(self) -> Generalized:
        """The same release as anybody may have it."""
        return replace(self, alignment=None)

    def on(self, hierarchy: Hierarchy) -> Generalized:
        """The same records over another tree that holds the same labels (the whole one instead of the pruned one)."""
        used = self.published_nodes()
        place = np.full(len(self.hierarchy), -1, dtype=np.int32)
        place[used] = hierarchy.nodes.encode([self.hierarchy.labels[node] for node in used])
        rows = relabeled(self.classes, place, hierarchy.nodes)
        return Generalized.of_rows(
            rows, hierarchy, self.promise, self.method, alignment=self.alignment, weights=self.sizes
        )


def relabeled(
    data: Transactions, numbers: npt.NDArray[np.int32], vocabulary: Vocabulary
) -> Transactions:
    """The same records with item i renamed to `numbers[i]` of another vocabulary."""
    items, rows = numbers[data.items], data.rows
    if isinstance(data, Bags):
        return Bags.from_pairs(rows, items, vocabulary, size=len(data), counts=data.counts)
    return Transactions.from_pairs(rows, items, vocabulary, size=len(data))


def distinct_records(data: Transactions) -> tuple[Transactions, npt.NDArray[np.int64]]:
    """The distinct records in lexicographic order of their items (and counts), and which of them each record is."""
    keys = _row_keys(data)
    index: dict[bytes, int] = {}
    member = np.fromiter(
        (index.setdefault(key, len(index)) for key in keys), dtype=np.int64, count=len(data)
    )
    representative = np.zeros(len(index), dtype=np.int64)
    representative[member[::-1]] = np.arange(len(data) - 1, -1, -1)
    order = np.array(sorted(range(len(index)), key=list(index).__getitem__), dtype=np.int64)
    place = np.empty(len(index), dtype=np.int64)
    place[order] = np.arange(len(order))
    return data.take(representative[order]), place[member]


def _row_keys(data: Transactions) -> Iterable[bytes]:
    """One byte string for each record; big-endian, so that they sort as the records do."""
    values: npt.NDArray[np.unsignedinteger] = data.items.astype(">u4")
    if isinstance(data, Bags):
        values = np.stack((data.items, data.counts), axis=1).astype(">u8")
    blob = values.tobytes()
    width = len(blob) // max(len(data.items), 1)
    bounds = (data.indptr * width).tolist()
    return (blob[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False))
