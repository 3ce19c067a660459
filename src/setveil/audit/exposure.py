"""Exposure: how many people can be singled out in data by some of their items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from math import comb

import numpy as np

from setveil.alignment.merging import Counted, count_records, record_keys
from setveil.audit.rareitemsets import Search, Vertical, coded_items
from setveil.data.arrays import Flags, Int64s, find, offsets, positions, random_from
from setveil.data.people import PEOPLE, RECORDS, People
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.errors import check_count
from setveil.words import are, plural, rough_share

_MOST_ITEMSETS = 150_000_000
"""The most itemsets of one size that are counted; beyond this, records are sampled."""
_LEAST, _SAMPLE = 100, 1_000  # records in a sample
DRAWN = 1_000
"""How many times a person and some of their items are drawn."""


@dataclass(frozen=True)
class Known:
    """How exposed records are to an adversary who knows some items of a person."""

    items: int
    """The most items that the adversary knows."""
    share: float
    """The share of records with up to so many items that occur together in fewer than k records:
    the adversary knows the most telling items of each person."""
    examined: int
    """How many records were examined: all, or a random sample."""
    exact: bool
    random: float
    """The share of records if the adversary knows random items of each person instead."""
    drawn: int
    """How many times a record and some of its items were drawn for that, from the same records."""

    @property
    def margin(self) -> float:
        """How far the share may be off, with 95 % confidence; 0 if it is exact."""
        return 0.0 if self.exact else _margin(self.share, self.examined)

    @property
    def random_margin(self) -> float:
        """The same for random items."""
        return _margin(self.random, self.drawn)

    @property
    def about(self) -> str:
        return "" if self.exact else "about "


def _margin(share: float, examined: int) -> float:
    if not examined:
        return 0.0
    spread = max(share * (1 - share), 1 / examined)
    return float(1.96 * (spread / examined) ** 0.5)


@dataclass(frozen=True)
class Exposure:
    """How exposed data is, in shares of the records that have items; it names no items.

    Example:
        >>> data = [["beer", "wine"], ["beer", "milk"], ["wine", "milk"], ["beer"], ["beer"]]
        >>> print(exposure(data).text)
        60.0 % of 5 records are unique.
        1 known item singles out 0.0 % of records if it is the most telling one. A random one ...
        2 known items single out 60.0 % of records if they are the most telling ones. Random ...
        3 known items single out 60.0 % of records if they are the most telling ones. Random ...
        Random items: 1,000 draws from the same records.
    """

    records: int
    """The records that have items: nobody can be singled out by the items of an empty one."""
    k: int
    whole: float
    """The share of records that occur fewer than k times."""
    known: tuple[Known, ...]
    counted: bool = False
    """Whether the adversary also knows the counts of items (bags)."""
    empty: int = 0
    """How many records have no items; no share counts them."""
    unit: str = RECORDS
    """What is counted: `records`, or `people` with all their records together."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each figure."""
        rare = "are unique" if self.k == 2 else f"occur fewer than {self.k} times"
        rare += ", if all records of a person are taken together" * (self.unit == PEOPLE)
        some = f"{self._counted(self.records)}{' with items' if self.empty else ''}"
        left = f" {are(self.empty, 'empty record')} not counted." if self.empty else ""
        whole = f"{rough_share(self.whole)} of {some} {rare}.{left}"
        if not self.known or not self.records:
            return (whole,)
        draws = f"Random items: {self.known[0].drawn:,} draws from the same {self.unit}."
        return (whole, *(self._sentence(one) for one in self.known), draws)

    def _sentence(self, one: Known) -> str:
        """Two definitions, a sentence each: the most telling items of a person, and random ones."""
        s, which = "", "they are the most telling ones. Random ones"
        counts = " with their counts" * self.counted
        if one.items == 1:
            s, which = "s", "it is the most telling one. A random one"
            counts = " with its count" * self.counted
        those = f"{one.about}{rough_share(one.share)} of {self.unit}"
        does, again = f"single{s} out {those}", f"single{s} out"
        if self.k > 2:
            does = f"narrow{s} {those} down to fewer than {self.k}"
            again = f"narrow{s} down"
        if not one.exact:
            sample = self._counted(one.examined)
            does += f" (a random sample of {sample}, so give or take {rough_share(one.margin)})"
        random = f"{100 * one.random:.1f} ± {100 * one.random_margin:.1f} %"
        return f"{plural(one.items, 'known item')}{counts} {does} if {which} {again} {random}."

    def _counted(self, number: int) -> str:
        if self.unit == PEOPLE:
            return plural(number, "person", "people")
        return plural(number, "record")

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
    people: People | None = None,
) -> Exposure:
    """How exposed data is if it is published unchanged.

    Shares are of the records that have items. A record is exposed by i known items if up to i of
    its items occur together in fewer than k records: the adversary knows the most telling ones. One
    and two items are counted exactly; three and more exactly if the records contain few enough
    itemsets of that size, else on a random sample of records (each compared with all records), and
    the text gives the size of the sample. For comparison, the same with i random items (all
    items of a record that has fewer), in a thousand draws from the same records.

    Args:
        data: The records, or any object that `as_transactions` takes; in bags, an adversary who
            knows an item also knows its count.
        k: Fewer records than this single a person out.
        known: How many items the adversary knows, one or several numbers; each 1 or more.
        seed: For the sample.
        sizes: How many equal records each one is; 1 each if not given.
        people: The person of each record, if that is known: then people are counted, and what is
            known of a person may be from any of their records.

    Example:
        >>> data = [["beer", "wine"], ["beer", "milk"], ["wine", "milk"], ["beer"], ["beer"]]
        >>> found = exposure(data, known=2)
        >>> found.whole, found.known[0].share
        (0.6, 0.6)
    """
    if people is not None:
        data = people.joined(as_transactions(data))
    found = examine(data, k=k, known=known, seed=seed, sizes=sizes)[0]
    return found if people is None else replace(found, unit=PEOPLE)


def examine(
    data: object,
    *,
    k: int = 2,
    known: Iterable[int] | int = (1, 2, 3),
    seed: int = 0,
    sizes: Int64s | None = None,
    drawn: int = DRAWN,
) -> tuple[Exposure, dict[int, list[tuple[int, ...]]]]:
    """The exposure, and the random items that were drawn for each number of known items: `drawn`
    sets of items, by their numbers in the data."""
    k = check_count("k", k, 2)
    known = [
        check_count("known", number, 1)
        for number in (known if isinstance(known, Iterable) else [known])
    ]
    data, sizes, empty = _with_items(as_transactions(data), sizes)
    counted = count_records(data, sizes)
    # An order that does not depend on that of the data: every engine draws the same records.
    keys = (blake2b(key, digest_size=8).digest() for key in record_keys(counted.records))
    order = np.argsort(np.frombuffer(b"".join(keys), dtype="<u8"), kind="stable")
    counted = Counted(counted.records.take(order), counted.sizes[order], positions(order))
    vertical, records = Vertical.of(counted), int(counted.sizes.sum())
    weights, lengths = vertical.weights, vertical.lengths
    exposed = np.zeros(len(weights), dtype=bool)
    answers: dict[int, Known] = {}
    draws = dict[int, list[tuple[int, ...]]]()
    supports = Supports(counted)
    sample: Flags | None = None
    for size in range(1, max(known, default=0) + 1):
        sample = _sample(lengths, size, seed) if sample is None else sample
        search = Search(vertical, k, ~exposed if sample is None else ~exposed & sample)
        for found in search.of_size(size):
            exposed[found.carriers] = True
        held = weights if sample is None else np.where(sample, weights, 0)
        share = float(held[exposed].sum() / held.sum()) if records else 0.0
        places = draw_known(counted, held, size, drawn, seed)
        rare = float((supports.of(places) < k).mean()) if places else 0.0
        rare = min(rare, share)  # random items cannot single out more than the most telling ones
        draws[size] = [tuple(counted.records.items[each].tolist()) for each in places]
        answers[size] = Known(size, share, int(held.sum()), sample is None, rare, len(places))
    whole = float(weights[weights < k].sum() / records) if records else 0.0
    answered = tuple(answers[number] for number in known)
    return Exposure(records, k, whole, answered, isinstance(data, Bags), empty), draws


def _with_items(
    data: Transactions, sizes: Int64s | None
) -> tuple[Transactions, Int64s | None, int]:
    """The records that have items, how many equal records each one is, and how many have none."""
    held = data.lengths > 0
    if held.all():
        return data, sizes, 0
    weights = np.ones(len(data), dtype=np.int64) if sizes is None else sizes
    empty, chosen = int(weights[~held].sum()), np.flatnonzero(held)
    return data.take(chosen), None if sizes is None else sizes[chosen], empty


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


def draw_known(counted: Counted, weights: Int64s, size: int, draws: int, seed: int) -> list[Int64s]:
    """The entries of `size` random items of random people; all entries of a record that has fewer.

    `weights` is how many people each distinct record is, of those that may be drawn. Of fewer
    people than draws, each is drawn equally often."""
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
