"""k-anonymity by counting equal records. Slow, plain, standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

Record = frozenset[tuple[str, int]]


def as_bag(record: Iterable[str] | Mapping[str, int]) -> Record:
    """A record as a set of (item, count)."""
    return (
        frozenset(record.items())
        if isinstance(record, Mapping)
        else frozenset(Counter(record).items())
    )


def rare_records(records: Iterable[Iterable[str] | Mapping[str, int]], k: int) -> dict[Record, int]:
    """The distinct records that occur fewer than k times, and how often."""
    return {record: count for record, count in Counter(map(as_bag, records)).items() if count < k}
