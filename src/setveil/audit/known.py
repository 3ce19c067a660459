"""Random items of random people, and how many records contain them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setveil.alignment.merging import Counted
from setveil.audit.itemsets import coded_items
from setveil.data.arrays import Int64s, find, offsets
from setveil.data.seeds import random_from

DRAWN = 1_000
"""How many times a person and some of their items are drawn."""


def draw_known(counted: Counted, weights: Int64s, size: int, draws: int, seed: int) -> list[Int64s]:
    """The entries of so many random items of random people; all entries of a record that has fewer.

    Args:
        counted: Distinct records.
        weights: How many people each of them is, of those that may be drawn.
        size: How many items of a person are known.
        draws: How many draws; of fewer people, each is drawn equally often.
        seed: The same seed draws the same.
    """
    random, ends = random_from(seed), np.cumsum(weights)
    total = int(ends[-1]) if len(ends) else 0
    people = np.repeat(np.arange(total), max(draws // total, 1)) if total else ends
    if total > draws:
        people = np.sort(random.choice(total, size=draws, replace=False))
    records, starts = np.searchsorted(ends, people, side="right"), counted.records.indptr
    found = []
    for record in records.tolist():
        entries = np.arange(starts[record], starts[record + 1])
        few = len(entries) <= size
        found.append(entries if few else np.sort(random.choice(entries, size, replace=False)))
    return found


class Supports:
    """How many people have some items, over distinct records; in bags, with the same counts."""

    def __init__(self, counted: Counted) -> None:
        self.codes, labels = coded_items(counted.records)
        self.sizes, self._records = counted.sizes, max(len(counted.sizes), 1)
        order = np.argsort(self.codes, kind="stable")
        self._rows = counted.records.rows[order]
        self._starts = offsets(np.bincount(self.codes, minlength=len(labels)))
        self._pairs = self.codes[order] * self._records + self._rows

    def of(self, places: Sequence[Int64s]) -> Int64s:
        """How many people have the items at these entries, for each set of entries."""
        return np.array([self._count(self.codes[each]) for each in places], dtype=np.int64)

    def _count(self, codes: Int64s) -> int:
        """The records of the rarest item are looked up among those of the others."""
        lengths = self._starts[codes + 1] - self._starts[codes]
        first, *others = codes[np.argsort(lengths, kind="stable")].tolist()
        rows = self._rows[self._starts[first] : self._starts[first + 1]]
        for code in others:
            rows = rows[find(self._pairs, code * self._records + rows) >= 0]
        return int(self.sizes[rows].sum())
