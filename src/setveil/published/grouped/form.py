"""The grouped form: columns beside the set, generalized for groups of people, and the sets of each
group published by another method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from setveil.data.arrays import Int32s, Int64s
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.errors import DataError
from setveil.promises.promise import Promise
from setveil.published.grouped.cells import PublishedColumn
from setveil.published.release import Release, Support


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(Release):
    """Groups of people: one cell per column for all of a group, and a release of their sets.

    `cells[g, c]` is the number of the cell of column c that covers all people of group g; no two
    groups have the same cells. `groups[g]` is an ordinary release of their sets, all of one form.
    The alignment, the group of each original row, is private; that of a group is of its rows, in
    the order of the original.

    Example:
        >>> from setveil.promises import KmAnonymity
        >>> from setveil.published import PublishedColumn, Span, Suppressed
        >>> born = PublishedColumn("born", "number", (Span(None, "1931"), Span("1931", None)))
        >>> promise = KmAnonymity(k=2, m=2)
        >>> old = Suppressed.of([["flu"], ["flu"]], promise)
        >>> young = Suppressed.of([["flu", "cold"], ["cold", "flu"]], promise)
        >>> release = Grouped.of_groups([born], np.array([[0], [1]]), [old, young], promise)
        >>> release
        Grouped(4 records in 2 groups, 1 column, KmAnonymity(k=2, m=2))
        >>> release.support(["flu"]).lower
        4
    """

    form: ClassVar[str] = "grouped"

    columns: tuple[PublishedColumn, ...]
    cells: Int32s
    groups: tuple[Release, ...]
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    alignment: Int64s | None = None
    min_people: int = 0

    @classmethod
    def of_groups(
        cls,
        columns: Sequence[PublishedColumn],
        cells: Int32s,
        groups: Sequence[Release],
        promise: Promise,
        method: Mapping[str, object] | None = None,
        alignment: Int64s | None = None,
    ) -> Grouped:
        """From groups with their cells, in any order.

        Rows whose cells are the same are one group: join them before their sets are published."""
        numbers = np.asarray(cells, dtype=np.int32).reshape(len(groups), len(columns))
        for place, column in enumerate(columns):
            wrong = (numbers[:, place] < 0) | (numbers[:, place] >= len(column.cells))
            if wrong.any():
                raise DataError(f"the column {column.name} has no such cell")
        if len(np.unique(numbers, axis=0)) < len(groups):
            raise DataError("two groups have the same columns; join their rows before")
        if len({each.form for each in groups}) > 1:
            raise DataError("the groups must have one form")
        return cls(tuple(columns), numbers, tuple(groups), promise, method or {}, alignment)

    def __len__(self) -> int:
        return sum(map(len, self.groups))

    def __repr__(self) -> str:
        shape = f"{len(self)} records in {len(self.groups)} groups"
        columns = f"{len(self.columns)} column{'s' * (len(self.columns) != 1)}"
        return f"Grouped({shape}, {columns}, {self.promise})"

    @property
    def items(self) -> Vocabulary:
        return Vocabulary(sort_labels({label for each in self.groups for label in each.items}))

    @property
    def group_sizes(self) -> Int64s:
        return np.array([len(each) for each in self.groups], dtype=np.int64)

    def certain_rows(self) -> tuple[Transactions, Int64s]:
        raise NotImplementedError

    def support(self, itemset: Iterable[object]) -> Support:
        found = [each.support(itemset) for each in self.groups]
        lower, upper = sum(one.lower for one in found), sum(one.upper for one in found)
        return Support(lower, upper, sum(one.guess for one in found))

    def reconstruct(self, seed: int | None = None) -> Transactions:
        raise NotImplementedError
