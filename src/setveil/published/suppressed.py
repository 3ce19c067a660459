"""The suppressed form: the original records without some items, which are gone everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from setveil.data.seeds import random_from
from setveil.data.transactions import Counts, Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.promises.promise import Promise
from setveil.published.frozen import Frozen
from setveil.published.generalized import distinct_records, relabeled


@dataclass(frozen=True, eq=False, repr=False)
class Suppressed(Frozen):
    """Records of original items, held as distinct records and how often each stands.

    The vocabulary holds the published items alone, so that nothing tells which items were suppressed. What links people to records is
    private: `alignment`, the distinct record of each original record, is there right after `anonymize` and is never written into a release.

    Example:
        >>> from setveil.promises.coherence import Coherence
        >>> release = Suppressed.of([["beer"], ["wine", "beer"], ["beer"]], Coherence(h=1, k=2, p=1))
        >>> len(release), list(release.classes), release.sizes.tolist()
        (3, [('beer',), ('beer', 'wine')], [2, 1])
    """

    form: ClassVar[str] = "suppressed"

    classes: Transactions
    """The distinct published records, in a canonical order."""
    sizes: Counts
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    """The method's name and parameters, as in `release.json`."""
    alignment: npt.NDArray[np.int64] | None = None
    """Private: the distinct record of each original record."""

    @classmethod
    def of(
        cls,
        records: Iterable[Iterable[object]],
        promise: Promise,
        *,
        method: Mapping[str, object] | None = None,
    ) -> Suppressed:
        """From published records, the first standing for the first original record, and so on."""
        rows = Transactions.of(records)
        return cls.of_rows(rows, promise, method or {}, alignment=np.arange(len(rows)))

    @classmethod
    def of_rows(
        cls,
        rows: Transactions,
        promise: Promise,
        method: Mapping[str, object],
        *,
        alignment: npt.NDArray[np.int64] | None = None,
        weights: Counts | None = None,
    ) -> Suppressed:
        """From published records in any order, equal ones merged, and items that stand in none of them forgotten.

        Args:
            rows: The records.
            promise: What the release promises.
            method: The method's name and parameters.
            alignment: The row of each original record, when known.
            weights: How many people each row stands for; 1 each when not given.
        """
        classes, member = distinct_records(_tidy(rows))
        sizes = np.bincount(member, weights=weights, minlength=len(classes)).astype(np.int64)
        return cls(
            classes, sizes, promise, method, None if alignment is None else member[alignment]
        )

    def __len__(self) -> int:
        """The number of published records."""
        return int(self.sizes.sum())

    def __eq__(self, other: object) -> bool:
        """The same multiset of records; who stands behind them does not matter."""
        return isinstance(other, Suppressed) and self._multiset() == other._multiset()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Suppressed({len(self)} records of {len(self.items)} items, {self.promise})"

    def _multiset(self) -> dict[tuple[str, ...], int]:
        return {
            tuple(sorted(record)): size
            for record, size in zip(self.classes, self.sizes.tolist(), strict=True)
        }

    @property
    def items(self) -> Vocabulary:
        """The published items."""
        return self.classes.vocabulary

    def records(self, seed: int | None = None) -> Transactions:
        """All published records as transactions, in random order: from the system, or from a seed."""
        rows = np.repeat(np.arange(len(self.classes)), self.sizes)
        return self.classes.take(random_from(seed).permutation(rows))

    def without_alignment(self) -> Suppressed:
        """The same release as anybody may have it."""
        return replace(self, alignment=None)

    def suppressed_items(self, original: Transactions) -> tuple[str, ...]:
        """Private: the items of the original that are not published."""
        return tuple(item for item in original.vocabulary if item not in self.items)


def _tidy(rows: Transactions) -> Transactions:
    """The same records over the sorted vocabulary of the items that stand in them."""
    used = np.unique(rows.items)
    labels = [rows.vocabulary[number] for number in used.tolist()]
    vocabulary = Vocabulary(sort_labels(labels))
    numbers = np.full(len(rows.vocabulary), -1, dtype=np.int32)
    numbers[used] = vocabulary.encode(labels)
    return relabeled(rows, numbers, vocabulary)
