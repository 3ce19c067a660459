"""Exposure: how many people stand out in data as it is, to whom knows some of their items."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import comb

import numpy as np

from setveil.audit.itemsets import Marks, Numbers, Search, Vertical
from setveil.audit.kanonymity import count_records
from setveil.data.seeds import random_from
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags
from setveil.errors import check_count
from setveil.words import plural, rough_share

_MOST_ITEMSETS = 150_000_000
"""How many itemsets of one size the records may hold together to be looked through one by one."""
_SAMPLE = 1_000


@dataclass(frozen=True)
class Known:
    """How exposed records are to an adversary who knows some items of a person."""

    items: int
    """How many items the adversary knows at most."""
    share: float
    """The share of records with such items that fewer than k records hold together."""
    examined: int
    """How many records were examined: all, or a random sample."""
    exact: bool

    @property
    def about(self) -> str:
        return "" if self.exact else "about "


@dataclass(frozen=True)
class Exposure:
    """How exposed data is, in shares of its records; no item of anybody is named.

    Example:
        >>> print(exposure([["beer", "wine"], ["beer", "milk"], ["wine", "milk"], ["beer"], ["beer"]]).text)
        60.0 % of 5 records stand fewer than 2 times.
        Whoever knows 1 item of a person finds fewer than 2 records for 0.0 % of the people.
        Whoever knows 2 items of a person finds fewer than 2 records for 60.0 % of the people.
        Whoever knows 3 items of a person finds fewer than 2 records for 60.0 % of the people.
    """

    records: int
    k: int
    whole: float
    """The share of records that stand fewer than k times, alike in all items."""
    known: tuple[Known, ...]
    counted: bool = False
    """Whether the adversary also knows how often each item stands (bags)."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each figure."""
        with_counts = " and how often each stands" if self.counted else ""
        lines = [
            f"{rough_share(self.whole)} of {plural(self.records, 'record')} stand fewer than {self.k} times."
        ]
        for one in self.known:
            items = plural(one.items, "item")
            sample = (
                ""
                if one.exact
                else f" (estimated on a random sample of {plural(one.examined, 'record')})"
            )
            share = f"{one.about}{rough_share(one.share)}"
            lines.append(
                f"Whoever knows {items} of a person{with_counts} finds fewer than {self.k} records for {share} of the people{sample}."
            )
        return tuple(lines)

    @property
    def text(self) -> str:
        return "\n".join(self.sentences)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def exposure(
    data: object, *, k: int = 2, known: Iterable[int] | int = (1, 2, 3), seed: int = 0
) -> Exposure:
    """How exposed data is as it stands.

    A record is exposed to whoever knows i items when up to i of its items stand together in fewer than k records. One and two items are
    counted exactly; from three on, exactly where the records hold few enough itemsets of that size, else on a random sample of records
    (of which each is examined against all records), with the number stated.

    Args:
        data: The records, or any object that `as_transactions` takes; of bags, an adversary who knows an item also knows how often it
            stands.
        k: Fewer records than this pick a person out.
        known: How many items the adversary knows, one or several numbers; each 1 or more.
        seed: For the sample.

    Example:
        >>> found = exposure([["beer", "wine"], ["beer", "milk"], ["wine", "milk"], ["beer"], ["beer"]], known=2)
        >>> found.whole, found.known[0].share
        (0.6, 0.6)
    """
    k = check_count("k", k, 2)
    known = [
        check_count("known", number, 1)
        for number in (known if isinstance(known, Iterable) else [known])
    ]
    data = as_transactions(data)
    counted = count_records(data)
    vertical, records = Vertical.of(counted), len(data)
    weights, lengths = vertical.weights, vertical.lengths
    exposed = np.zeros(len(weights), dtype=bool)
    answers: dict[int, Known] = {}
    sample: Marks | None = None
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


def _mark(data: Vertical, k: int, size: int, exposed: Marks, sample: Marks | None) -> None:
    """Mark the records that hold a rare itemset of this size, of those that are not yet exposed."""
    search = Search(data, k, ~exposed if sample is None else ~exposed & sample)
    for rare in search.of_size(size):
        exposed[rare.carriers] = True


def _sample(lengths: Numbers, size: int, seed: int) -> Marks | None:
    """A random sample of the distinct records; None when all can be examined."""
    values, counts = np.unique(lengths, return_counts=True)
    total = sum(
        comb(int(value), size) * int(count) for value, count in zip(values, counts, strict=True)
    )
    if size <= 2 or total <= _MOST_ITEMSETS or len(lengths) <= _SAMPLE:
        return None
    marks = np.zeros(len(lengths), dtype=bool)
    marks[random_from(seed).choice(len(lengths), size=_SAMPLE, replace=False)] = True
    return marks
