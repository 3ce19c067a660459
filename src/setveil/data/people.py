"""Which records belong to one person: an array of numbers beside the records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int64s
from setveil.data.tables.frames import joined
from setveil.data.transactions import Transactions
from setveil.errors import DataError

RECORDS, PEOPLE = "records", "people"
"""What is counted: records, unless the person of each record is known."""


@dataclass(frozen=True, eq=False)
class People:
    """The person of each record, as a number below the number of people.

    Example:
        >>> data = Transactions.of([["a", "b"], ["a"], ["b"]])
        >>> People.of(["ann", "ann", "bob"]).supports(data).tolist()
        [1, 2]
    """

    owners: Int64s

    @classmethod
    def of(cls, values: npt.ArrayLike) -> People:
        """From anything that differs between people; numbered by first appearance."""
        _, firsts, owners = np.unique(np.asarray(values), return_index=True, return_inverse=True)
        ranks = np.empty(len(firsts), dtype=np.int64)
        ranks[np.argsort(firsts)] = np.arange(len(firsts))
        return cls(ranks[owners])

    def __len__(self) -> int:
        """How many people there are."""
        return int(self.owners.max(initial=-1)) + 1

    def supports(self, data: Transactions) -> Int64s:
        """How many people have each item."""
        self._check(data)
        pairs = np.unique(data.items * np.int64(max(len(self), 1)) + self.owners[data.rows])
        return np.bincount(pairs // max(len(self), 1), minlength=len(data.vocabulary))

    def joined(self, data: Transactions) -> Transactions:
        """One record for each person, with the items of all their records."""
        self._check(data)
        return joined(data, self.owners)

    def _check(self, data: Transactions) -> None:
        if len(data) != len(self.owners):
            raise DataError(f"{len(data):,} records, but the people of {len(self.owners):,}")


def holders(data: Transactions, people: People | None) -> Int64s:
    """How many people have each item, or how many records if people are not known."""
    return data.supports() if people is None else people.supports(data)


def without_rare(data: Transactions, few: int, people: People | None) -> Transactions:
    """The same records without the items that fewer people (or records) have."""
    return data.keeping(holders(data, people) >= few)


def had_by_few(few: int, people: People | None, items: int = 2) -> str:
    """Of some items, that few people have them, or few records.

    Example:
        >>> had_by_few(5, None), had_by_few(5, People.of([1, 1]))
        ('that occur in fewer than 5 records', 'that fewer than 5 people have')
    """
    if people is not None:
        return f"that fewer than {few:,} people have"
    return f"that occur{'s' * (items == 1)} in fewer than {few:,} records"
