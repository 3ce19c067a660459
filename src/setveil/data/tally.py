"""What is known of data that is too large to hold: its items, and how many records have each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False, repr=False)
class Tally(Bags):
    """One bag of everything: the count of an item is how many records have it.

    So what needs only supports (a tree by frequency, rare items) works as on the data itself."""

    @classmethod
    def of_supports(cls, vocabulary: Vocabulary, supports: Int64s) -> Tally:
        """The tally of items that each occur."""
        items = np.arange(len(vocabulary), dtype=np.int32)
        return cls(np.array([0, len(items)]), items, vocabulary, supports)

    def supports(self) -> Int64s:
        found = np.zeros(len(self.vocabulary), dtype=np.int64)
        found[self.items] = self.counts
        return found
