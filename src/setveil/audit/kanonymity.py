"""Does every record stand at least k times? Counted again from the records themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.transactions import Bags, Counts, Transactions
from setveil.promises.kanonymity import KAnonymity, VocabularyKAnonymity
from setveil.words import count, plural


@dataclass(frozen=True)
class Counted:
    """The distinct records of some data and how often each stands."""

    records: Transactions
    sizes: Counts
    member: npt.NDArray[np.int64]
    """Which of the distinct records each record is."""


def count_records(data: Transactions, sizes: Counts | None = None) -> Counted:
    """Equal records merged; of bags, records are equal only when their counts are.

    Args:
        data: The records, in any order.
        sizes: How many people each record stands for; 1 each when not given.
    """
    keys: dict[bytes, int] = {}
    member = np.fromiter(
        (keys.setdefault(key, len(keys)) for key in _keys(data)), dtype=np.int64, count=len(data)
    )
    weights = np.ones(len(data), dtype=np.int64) if sizes is None else sizes
    totals = np.zeros(len(keys), dtype=np.int64)
    np.add.at(totals, member, weights)
    representative = np.zeros(len(keys), dtype=np.int64)
    representative[member[::-1]] = np.arange(len(data) - 1, -1, -1)
    return Counted(data.take(representative), totals, member)


def check_k_anonymity(
    counted: Counted, promise: KAnonymity | VocabularyKAnonymity, limit: int = 1
) -> Check:
    """Whether every record stands at least k times; the witnesses are the records that stand least often."""
    rare = np.flatnonzero(counted.sizes < promise.k)
    if not len(rare):
        least = (
            f"; the least of them {count(counted.sizes.min())} times" if len(counted.sizes) else ""
        )
        text = f"every one of {plural(len(counted.sizes), 'distinct record')} stands at least {promise.k} times{least}"
        return Check(promise.model, True, text)
    rare = rare[np.argsort(counted.sizes[rare], kind="stable")]
    verb = "stands" if len(rare) == 1 else "stand"
    text = f"{count(len(rare))} of {plural(len(counted.sizes), 'distinct record')} {verb} fewer than {promise.k} times"
    return Check(
        promise.model,
        False,
        text,
        tuple(_witness(counted, number, promise.k) for number in rare[:limit].tolist()),
    )


def _witness(counted: Counted, number: int, k: int) -> Witness:
    items, size = shown_record(counted.records, number), int(counted.sizes[number])
    return Witness(
        f"the record {show_items(items)} stands {plural(size, 'time')}, not {k}", items, size
    )


def shown_record(data: Transactions, number: int) -> tuple[str, ...]:
    """The items of one record; in a bag, with how often each stands."""
    if not isinstance(data, Bags):
        return data.record(number)
    counts = data.counts[data.indptr[number] : data.indptr[number + 1]].tolist()
    return tuple(
        f"{item} x{count}" if count > 1 else item
        for item, count in zip(data.record(number), counts, strict=True)
    )


def _keys(data: Transactions) -> Iterator[bytes]:
    """One byte string for each record, equal exactly for equal records."""
    entries = (
        np.stack((data.items.astype(np.int64), data.counts), axis=1)
        if isinstance(data, Bags)
        else data.items
    )
    blob = entries.tobytes()
    bounds = (data.indptr * (len(blob) // max(len(entries), 1))).tolist()
    return (blob[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False))
