"""The suppressed form: the original records without some items, which are removed everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from setveil.data.arrays import Floats, Int32s, Int64s
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.promises.promise import Promise
from setveil.published.countable import Counting
from setveil.published.release import RecordRelease


@dataclass(frozen=True, eq=False, repr=False)
class Suppressed(RecordRelease):
    """Records of original items, held as distinct records and how many people each represents.

    The vocabulary has the published items only, so that nothing says which items were suppressed.
    The alignment, the distinct record of each original record, is private: it exists right after
    `anonymize` and is never written into a release.

    Example:
        >>> from setveil.promises.coherence import Coherence
        >>> rows = [["beer"], ["wine", "beer"], ["beer"]]
        >>> release = Suppressed.of(rows, Coherence(h=1, k=2, p=1))
        >>> len(release), list(release.classes), release.sizes.tolist()
        (3, [('beer',), ('beer', 'wine')], [2, 1])
        >>> release.support(["beer", "wine"])
        Support(lower=1, upper=1, expected=1.0, accuracy='exact')
        >>> release.support(["milk"])
        Support(lower=0, upper=3, expected=None, accuracy='not determined')
    """

    form: ClassVar[str] = "suppressed"
    expected_is: ClassVar[str] = "the number of published records"
    hides_items: ClassVar[bool] = True
    open_because: ClassVar[str] = "an item that is not published may have been in any record"

    classes: Transactions
    """The distinct published records in a canonical order."""
    sizes: Int64s
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    alignment: Int64s | None = None
    min_support: float = 0.0
    """Items in less than this share of the original records were all left out, private ones too."""
    min_people: int = 0

    def __post_init__(self) -> None:
        is_number = isinstance(self.min_support, int | float) and self.min_support is not True
        if not is_number or not 0 <= self.min_support < 1:
            raise DataError("min_support is not a share of the records")
        super().__post_init__()

    @property
    def facts(self) -> dict[str, object]:
        return {"min_support": self.min_support} if self.min_support else {}

    def __repr__(self) -> str:
        return f"Suppressed({len(self)} records of {len(self.items)} items, {self.promise})"

    def reconstruct(self, seed: int | None = None) -> Transactions:
        """The published records: which suppressed items belong to them is unknown."""
        return self.records(seed)

    def images(self, vocabulary: Vocabulary) -> Int32s:
        """Each published item as it is; any other was suppressed, or did not occur."""
        numbers = (self.items.numbers.get(item, -1) for item in vocabulary)
        return np.fromiter(numbers, dtype=np.int32, count=len(vocabulary))

    def like(self, rows: Transactions) -> Suppressed:
        promise, shown = self.promise, {rows.vocabulary[item] for item in np.unique(rows.items)}
        if "private" in promise.named_items:
            left: dict[str, Any] = {"private": promise.named_items["private"] & shown}
            promise = replace(promise, **left)
        made = self.of_rows(rows, promise, self.method, alignment=np.arange(len(rows)))
        return made.leaving_out(self.min_people)

    def suppressed_items(self, original: Transactions) -> tuple[str, ...]:
        return tuple(item for item in original.vocabulary if item not in self.items)

    def estimates(self, items: Sequence[str], queries: Int64s) -> Floats:
        if queries.ndim != 2 or queries.shape[1] != 1:
            return super().estimates(items, queries)
        totals = self.term_totals()  # an item is in a record once
        return np.array([totals.get(item, 0) for item in items], dtype=np.float64)[queries[:, 0]]

    def counting(self) -> Counting:
        totals = self.term_totals()  # an item is in a record once
        exact = np.array(list(totals.values()), dtype=np.int64)
        return Counting(tuple(totals), exact, exact, exact)

    def _holders(self, label: str) -> tuple[Int64s, Int64s, Floats]:
        """The supports of published items are exact; any other item may have been in any record."""
        classes, number = self.classes, self.items.numbers.get(label)
        found = np.zeros(len(classes))
        if number is None:
            return np.zeros_like(self.sizes), self.sizes, found
        found[classes.rows[classes.items == number]] = 1.0
        held = np.where(found > 0, self.sizes, 0)
        return held, held, found
