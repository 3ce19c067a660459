"""Summarizes a data set: how many records and items it has, and how many records are unique."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from setveil.data.arrays import Int64s, changes, sums
from setveil.data.hashing import hash_records
from setveil.data.people import People, holders
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError


@dataclass(frozen=True)
class Lengths:
    """The number of distinct items per record; all 0 if there are no records."""

    least: int
    mean: float
    median: float
    most: int


@dataclass(frozen=True)
class CountSummary:
    """How often items occur in the records of bags."""

    pairs: int  # pairs of a record and an item in it
    mean: float
    most: int
    repeated: int  # pairs whose item occurs more than once in the record


@dataclass(frozen=True)
class Summary:
    """What `summarize` returns; `to_dict` gives it as plain numbers and texts."""

    records: int
    items: int  # items that occur in some record
    occurrences: int
    empty_records: int
    lengths: Lengths
    distinct_records: int
    unique_records: int  # records with items that differ from all others
    most_frequent: tuple[tuple[str, int], ...]
    """Items with their supports, descending, ties in the order of the vocabulary."""
    single_record_items: int  # items that occur in only one record
    rare_words: int = 0
    """Items that one person (or record) has, if they are most items and have letters, so that they
    may be names or free text."""
    counts: CountSummary | None = None  # for bags only

    def to_dict(self) -> dict[str, object]:
        """The summary as JSON shows it."""
        fields = asdict(self)
        fields["most_frequent"] = [
            {"item": item, "support": support} for item, support in self.most_frequent
        ]
        if self.counts is None:
            del fields["counts"]
        return fields


def summarize(
    data: object,
    most_frequent: int = 10,
    *,
    sizes: Int64s | None = None,
    people: People | None = None,
) -> Summary:
    """Count records, items, occurrences and equal records.

    Equal records are found by two independent 64-bit hashes. With a hundred million records the
    chance that two different ones count as equal is below 10**-22. Verification does not rely on
    hashes: it compares the records themselves.

    Args:
        data: The records.
        most_frequent: How many of the most frequent items to name.
        sizes: How often each record occurs, if they are distinct.
        people: The person of each record, if that is known: then rare words are those of one
            person.

    Cost:
        A few array passes over the occurrences and one sort of the records; little extra memory.

    Example:
        >>> found = summarize(Transactions.of([["wine", "beer"], ["beer"], ["beer"], []]))
        >>> found.records, found.distinct_records, found.unique_records, found.most_frequent
        (4, 3, 1, (('beer', 3), ('wine', 1)))
    """
    if not isinstance(most_frequent, int | np.integer) or most_frequent < 0:
        allowed = "it must be a whole number of 0 or more"
        raise ParameterError("most_frequent", most_frequent, allowed)
    data = as_transactions(data)
    class_sizes = _class_sizes(data) if sizes is None else sizes
    weights = np.ones(len(data), dtype=np.int64) if sizes is None else sizes
    supports, lengths = data.supports(), data.lengths
    if sizes is not None:
        supports = sums(data.items, np.repeat(sizes, lengths), len(data.vocabulary))
    held, empty = np.flatnonzero(supports), int(weights[lengths == 0].sum())
    top = held[np.argsort(-supports[held], kind="stable")[:most_frequent]].tolist()
    return Summary(
        records=int(weights.sum()),
        items=len(held),
        occurrences=data.occurrences if sizes is None else int(supports.sum()),
        empty_records=empty,
        lengths=_lengths(lengths, weights),
        distinct_records=len(class_sizes),
        unique_records=int((class_sizes == 1).sum()) - (empty == 1),
        most_frequent=tuple((data.vocabulary[item], int(supports[item])) for item in top),
        single_record_items=int((supports == 1).sum()),
        rare_words=rare_words(data, supports if people is None else holders(data, people)),
        counts=_counts(data) if isinstance(data, Bags) else None,
    )


def rare_words(data: Transactions, holders: Int64s) -> int:
    """How many items one person (or record) has, if most items are such, and most of these have
    letters: they may be names or free text."""
    rare = np.flatnonzero(holders == 1)
    if len(rare) < _ENOUGH or 2 * len(rare) <= (holders > 0).sum():
        return 0
    some = rare[:: max(1, len(rare) // _LOOKED_AT)].tolist()
    lettered = sum(any(map(str.isalpha, data.vocabulary[item])) for item in some)
    return len(rare) if 2 * lettered > len(some) else 0


_ENOUGH, _LOOKED_AT = 20, 1_000


def _lengths(lengths: Int64s, weights: Int64s) -> Lengths:
    """The lengths of records that are there so many times."""
    if not len(lengths):
        return Lengths(0, 0.0, 0.0, 0)
    counts = sums(lengths, weights, int(lengths.max()) + 1)
    ends, number = np.cumsum(counts), int(weights.sum())
    middle = np.searchsorted(ends, [(number - 1) // 2, number // 2], side="right")
    mean = float((np.arange(len(counts)) * counts).sum() / number)
    return Lengths(int(lengths.min()), mean, float(middle.mean()), int(lengths.max()))


def _counts(data: Bags) -> CountSummary:
    counts = data.counts
    mean = float(counts.mean()) if len(counts) else 0.0
    return CountSummary(len(counts), mean, int(counts.max(initial=0)), int((counts > 1).sum()))


def _class_sizes(data: Transactions) -> Int64s:
    """How many records equal each distinct record."""
    one, two = hash_records(data, 1), hash_records(data, 2)
    order = np.lexsort((two, one))
    firsts = np.flatnonzero(changes(one[order], two[order]))
    return np.diff(np.append(firsts, len(one)))


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
