"""The summary of a data set: how much there is of what, and how many records stand alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from setveil.data.hashing import hash_records
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.errors import ParameterError


@dataclass(frozen=True)
class Lengths:
    """The number of distinct items of the records; all 0 when there is no record."""

    least: int
    mean: float
    median: float
    most: int


@dataclass(frozen=True)
class CountSummary:
    """How often items stand in the records of bags."""

    pairs: int
    """Pairs of a record and an item that it holds."""
    mean: float
    most: int
    repeated: int
    """Pairs whose item stands more than once in the record."""


@dataclass(frozen=True)
class Summary:
    """What `summarize` finds; `to_dict` gives it as plain numbers and texts."""

    records: int
    items: int
    """Items that some record holds."""
    occurrences: int
    empty_records: int
    lengths: Lengths
    distinct_records: int
    unique_records: int
    """Records that no other record equals."""
    most_frequent: tuple[tuple[str, int], ...]
    """Items with their supports, greatest first, equals in the order of the vocabulary."""
    single_record_items: int
    """Items that one record only holds."""
    counts: CountSummary | None = None
    """For bags only."""

    def to_dict(self) -> dict[str, object]:
        """The summary as it stands in JSON."""
        fields = asdict(self)
        fields["most_frequent"] = [
            {"item": item, "support": support} for item, support in self.most_frequent
        ]
        if self.counts is None:
            del fields["counts"]
        return fields


def summarize(data: object, most_frequent: int = 10) -> Summary:
    """Count records, items and occurrences, and how many records are equal.

    Equal records are found by two independent 64-bit hashes of each record: that two different ones count as equal has, with a hundred
    million records, a chance below 10**-22. Nothing but this summary rests on it; verification compares records themselves.

    Args:
        data: Records or bags, or any object that `as_transactions` takes.
        most_frequent: How many of the most frequent items to name.

    Cost:
        A few array passes over the occurrences and one sort of the records; little memory beyond the data.

    Example:
        >>> found = summarize(Transactions.of([["wine", "beer"], ["beer"], ["beer"], []]))
        >>> found.records, found.distinct_records, found.unique_records, found.most_frequent
        (4, 3, 2, (('beer', 3), ('wine', 1)))
    """
    if not isinstance(most_frequent, int | np.integer) or most_frequent < 0:
        raise ParameterError(
            "most_frequent", most_frequent, "it must be a whole number of 0 or more"
        )
    data = as_transactions(data)
    supports, lengths = data.supports(), data.lengths
    held = np.flatnonzero(supports)
    top = held[np.argsort(-supports[held], kind="stable")[:most_frequent]].tolist()
    class_sizes = _class_sizes(data)
    return Summary(
        records=len(data),
        items=len(held),
        occurrences=data.occurrences,
        empty_records=int((lengths == 0).sum()),
        lengths=_lengths(lengths),
        distinct_records=len(class_sizes),
        unique_records=int((class_sizes == 1).sum()),
        most_frequent=tuple((data.vocabulary[item], int(supports[item])) for item in top),
        single_record_items=int((supports == 1).sum()),
        counts=_counts(data) if isinstance(data, Bags) else None,
    )


def _lengths(lengths: npt.NDArray[np.int64]) -> Lengths:
    if not len(lengths):
        return Lengths(0, 0.0, 0.0, 0)
    return Lengths(
        int(lengths.min()), float(lengths.mean()), float(np.median(lengths)), int(lengths.max())
    )


def _counts(data: Bags) -> CountSummary:
    counts = data.counts
    mean = float(counts.mean()) if len(counts) else 0.0
    return CountSummary(len(counts), mean, int(counts.max(initial=0)), int((counts > 1).sum()))


def _class_sizes(data: Transactions) -> npt.NDArray[np.int64]:
    """How often each distinct record stands."""
    one, two = hash_records(data, 1), hash_records(data, 2)
    order = np.lexsort((two, one))
    one, two = one[order], two[order]
    starts = np.flatnonzero(
        np.concatenate(
            (np.ones(min(len(one), 1), dtype=bool), (one[1:] != one[:-1]) | (two[1:] != two[:-1]))
        )
    )
    return np.diff(np.concatenate((starts, [len(one)])))
