"""Exposure: how many people can be singled out in data by some of their items."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import comb

import numpy as np

from setveil.audit.itemsets import Search, Vertical
from setveil.audit.records import count_records
from setveil.data.arrays import Flags, Int64s
from setveil.data.seeds import random_from
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags
from setveil.errors import check_count
from setveil.words import plural, rough_share

_MOST_ITEMSETS = 150_000_000
"""The most itemsets of one size that are counted; beyond this, records are sampled."""
_LEAST, _SAMPLE = 100, 1_000  # records in a sample


@dataclass(frozen=True)
class Known:
    """How exposed records are to an adversary who knows some items of a person."""

    items: int
    """The most items that the adversary knows."""
    share: float
    """The share of records with up to so many items that occur together in fewer than k records."""
    examined: int
    """How many records were examined: all, or a random sample."""
    exact: bool

    @property
    def margin(self) -> float:
        """How far the share may be off, with 95 % confidence; 0 if it is exact."""
        if self.exact or not self.examined:
            return 0.0
        spread = max(self.share * (1 - self.share), 1 / self.examined)
        return float(1.96 * (spread / self.examined) ** 0.5)

    @property
    def about(self) -> str:
        return "" if self.exact else "about "


@dataclass(frozen=True)
class Exposure:
    """How exposed data is, in shares of its records; it names no items.

    Example:
        >>> data = [["beer", "wine"], ["beer", "milk"], ["wine", "milk"], ["beer"], ["beer"]]
        >>> print(exposure(data).text)
        60.0 % of 5 records are unique.
        1 known item singles out 0.0 % of people.
        2 known items single out 60.0 % of people.
        3 known items single out 60.0 % of people.
    """

    records: int
    k: int
    whole: float
    """The share of records that occur fewer than k times."""
    known: tuple[Known, ...]
    counted: bool = False
    """Whether the adversary also knows the counts of items (bags)."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each figure."""
        rare = "are unique" if self.k == 2 else f"occur fewer than {self.k} times"
        whole = f"{rough_share(self.whole)} of {plural(self.records, 'record')} {rare}."
        return (whole, *(self._sentence(one) for one in self.known))

    def _sentence(self, one: Known) -> str:
        counts = " with its count" if one.items == 1 else " with their counts"
        known = plural(one.items, "known item") + (counts if self.counted else "")
        people, s = f"{one.about}{rough_share(one.share)} of people", "s" * (one.items == 1)
        found = f"single{s} out {people}"
        if self.k > 2:
            found = f"narrow{s} {people} down to fewer than {self.k} records"
        if not one.exact:
            sample = plural(one.examined, "record")
            found += f" (a random sample of {sample}, so give or take {rough_share(one.margin)})"
        return f"{known} {found}."

    @property
    def text(self) -> str:
        return "\n".join(self.sentences)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def exposure(
    data: object,
    *,
    k: int = 2,
    known: Iterable[int] | int = (1, 2, 3),
    seed: int = 0,
    sizes: Int64s | None = None,
) -> Exposure:
    """How exposed data is if it is published unchanged.

    A record is exposed by i known items if up to i of its items occur together in fewer than k
    records. One and two items are counted exactly; three and more exactly if the records contain
    few enough itemsets of that size, else on a random sample of records (each compared with all
    records), and the text gives the size of the sample.

    Args:
        data: The records, or any object that `as_transactions` takes; in bags, an adversary who
            knows an item also knows its count.
        k: Fewer records than this single a person out.
        known: How many items the adversary knows, one or several numbers; each 1 or more.
        seed: For the sample.
        sizes: How many equal records each one is; 1 each if not given.

    Example:
        >>> data = [["beer", "wine"], ["beer", "milk"], ["wine", "milk"], ["beer"], ["beer"]]
        >>> found = exposure(data, known=2)
        >>> found.whole, found.known[0].share
        (0.6, 0.6)
    """
    k = check_count("k", k, 2)
    known = [
        check_count("known", number, 1)
        for number in (known if isinstance(known, Iterable) else [known])
    ]
    data = as_transactions(data)
    counted = count_records(data, sizes)
    vertical, records = Vertical.of(counted), int(counted.sizes.sum())
    weights, lengths = vertical.weights, vertical.lengths
    exposed = np.zeros(len(weights), dtype=bool)
    answers: dict[int, Known] = {}
    sample: Flags | None = None
    for size in range(1, max(known, default=0) + 1):
        sample = _sample(lengths, size, seed) if sample is None else sample
        _mark(vertical, k, size, exposed, sample)
        held = weights if sample is None else np.where(sample, weights, 0)
        share = float(held[exposed].sum() / held.sum()) if records else 0.0
        answers[size] = Known(size, share, int(held.sum()), sample is None)
    whole = float(weights[weights < k].sum() / records) if records else 0.0
    return Exposure(
        records, k, whole, tuple(answers[number] for number in known), isinstance(data, Bags)
    )


def _mark(data: Vertical, k: int, size: int, exposed: Flags, sample: Flags | None) -> None:
    """Mark the records that contain a rare itemset of this size, if not yet exposed."""
    search = Search(data, k, ~exposed if sample is None else ~exposed & sample)
    for rare in search.of_size(size):
        exposed[rare.carriers] = True


def _sample(lengths: Int64s, size: int, seed: int) -> Flags | None:
    """A random sample of the distinct records; None if all can be examined."""
    values, counts = np.unique(lengths, return_counts=True)
    total = sum(
        comb(int(value), size) * int(count) for value, count in zip(values, counts, strict=True)
    )
    if size <= 2 or total <= _MOST_ITEMSETS:
        return None
    share = _MOST_ITEMSETS / total  # records that are long have more itemsets
    number = min(len(lengths), max(_LEAST, min(_SAMPLE, int(share * len(lengths)))))
    marks = np.zeros(len(lengths), dtype=bool)
    marks[random_from(seed).choice(len(lengths), size=number, replace=False)] = True
    return marks
