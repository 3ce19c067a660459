"""Minimal moles: sets of public items that break a promise while no subset of theirs does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.arrays import Flags, Int32s, Int64s, offsets, positions
from setveil.data.transactions import Transactions
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.errors import InfeasibleError
from setveil.promises import Coherence, KmAnonymity, Promise

if TYPE_CHECKING:
    from setveil.kernels.suppression.cohorts import SplitRecords
    from setveil.kernels.suppression.moles import Level, Limits

_TASKS_PER_THREAD = 16
_KNOWN: dict[str, Callable[[Any], tuple[Fraction, int]]] = {
    Coherence.model: lambda promise: (promise.share, promise.p),
    KmAnonymity.model: lambda promise: (Fraction(1), promise.m),
}
"""By model: the share h of a private item, and how many items are known."""


@dataclass(frozen=True)
class Setting:
    """The data, which items an adversary may know or must not learn, and the promised numbers."""

    data: Transactions
    public: Flags
    private: Flags
    h: Fraction
    k: int
    p: int
    most: int = 1
    """How many records a person has, at most."""

    @classmethod
    def of(cls, data: Transactions, promise: Promise) -> Setting:
        """What a promise asks of some data; k^m-anonymity is coherence without private items."""
        private = data.vocabulary.marks(promise.named_items.get("private", ()))
        h, p = _KNOWN[promise.model](promise)
        return cls(data, ~private, private, h, promise.crowd, p, promise.most_records)

    def without(self, marks: Flags) -> Setting:
        """The same setting without some items, which nobody can know or learn."""
        return replace(self, public=self.public & ~marks, private=self.private & ~marks)

    def limits(self, *, is_last: bool) -> Limits:
        """The same for kernels, in whole numbers that are not above the number of records."""
        from setveil.kernels.suppression.moles import Limits

        share = greatest_fraction(self.h, max(len(self.data), 1))
        return Limits(self.k, share.numerator, share.denominator, is_last)

    def check_feasible(self) -> None:
        """Refuse data that breaks the promise without any public item: the empty set is a mole."""
        supports, size = self.data.supports() * self.private, len(self.data)
        worst = int(np.argmax(supports)) if len(supports) else 0
        if size and len(supports) and int(supports[worst]) > self.h * size:
            share, item = 100 * supports[worst] / size, self.data.vocabulary[worst]
            limit = f"h = {float(100 * self.h):g} %"
            if self.most > 1:
                people = float(100 * self.h * self.most)
                limit += f" (h = {people:.6g} % of people with up to {self.most:,} records each)"
            raise InfeasibleError(
                f"the private item {item!r} is in {share:.4g} % of all {size:,} records, more than "
                f"{limit}, and can be guessed without knowing anything",
                remedy="raise {h}, or remove the item from {private}",
            )


def greatest_fraction(number: Fraction, most: int) -> Fraction:
    """The greatest fraction that is no greater than a number, with a denominator of at most `most`.

    A share of at most `most` records exceeds it exactly if it exceeds the number. If the nearest
    fraction is too great, it is the one before it: of a / b that is p / q with a q - b p = 1 and
    the largest q.

    Example:
        >>> greatest_fraction(Fraction("0.3334"), 1000), greatest_fraction(Fraction("0.9"), 4)
        (Fraction(1, 3), Fraction(3, 4))
    """
    near = number.limit_denominator(most)
    if near <= number:
        return near
    a, b = near.numerator, near.denominator
    q = pow(a, -1, b)
    q += (most - q) // b * b
    return Fraction((a * q - 1) // b, q)


@dataclass(frozen=True)
class Moles:
    """Minimal moles, the smaller ones first."""

    indptr: Int64s
    items: Int32s  # numbers of the data's vocabulary
    supports: Int64s
    private: Int64s
    """The private item that is in too many of the records; -1 if there are too few records."""
    counts: Int64s  # in how many of the records it is

    def __len__(self) -> int:
        return len(self.supports)

    @property
    def sizes(self) -> Int64s:
        """The number of items of each."""
        return np.diff(self.indptr)

    def named(self, data: Transactions) -> Iterator[tuple[str, ...]]:
        """The items of each."""
        labels, items, bounds = data.vocabulary.labels, self.items.tolist(), self.indptr.tolist()
        for start, stop in zip(bounds, bounds[1:], strict=False):
            yield tuple(labels[item] for item in sorted(items[start:stop]))


def find_moles(setting: Setting, engine: Engine = LOCAL, progress: Progress | None = None) -> Moles:
    """Every minimal mole of 1 to p items. [Xu2008] section 3.1

    Departures from the paper: a candidate that does not occur is no mole. One that is in the same
    records as one of its subsets is not extended, as no minimal mole contains it. Moles of one item
    are found first and then left out."""
    from setveil.kernels.suppression.moles import PRIVATE, worst_privates

    supports = setting.data.supports()
    known = np.flatnonzero(setting.public & (supports > 0))
    records, order = _split(setting, known, supports)
    worst, counts = worst_privates(records, setting.limits(is_last=setting.p == 1))
    ranked = supports[order]
    is_mole = (ranked < setting.k) | (worst >= 0)
    single = np.column_stack((order, ranked, worst, counts)).astype(np.int64)
    found: list[Int64s] = [single[is_mole]]
    useful = order[~is_mole & (ranked < len(setting.data))]
    records, order = _split(setting, useful, supports)
    for moles in _larger_moles(setting, records, supports[order], engine, progress):
        found.append(np.column_stack((order[moles[:, :-3]], moles[:, -3:])))
    privates = np.append(np.flatnonzero(setting.private), -1)
    for part in found:
        part[:, PRIVATE] = privates[part[:, PRIVATE]]
    return _joined(found)


def _split(setting: Setting, chosen: Int64s, supports: Int64s) -> tuple[SplitRecords, Int64s]:
    """The records over some public items, ranked by rising support, and the item of each rank."""
    from setveil.kernels.suppression.cohorts import SplitRecords

    data, private = setting.data, np.flatnonzero(setting.private)
    order = chosen[np.lexsort((chosen, supports[chosen]))]
    indptr, ranks = _relabeled(data, order)
    private_indptr, privates = _relabeled(data, private)
    owners = np.repeat(np.arange(len(data), dtype=np.int32), np.diff(indptr))
    starts = offsets(np.bincount(ranks, minlength=len(order)))
    holders = owners[np.argsort(ranks, kind="stable")]
    records = SplitRecords(
        indptr, ranks, private_indptr, privates, starts, holders, private_count=len(private)
    )
    return records, order


def _relabeled(data: Transactions, order: Int64s) -> tuple[Int64s, Int32s]:
    """The records over some items, item `order[i]` renamed to i, ascending in each."""
    new = positions(order, len(data.vocabulary))[data.items]
    kept = new >= 0
    rows = data.rows[kept]
    codes = np.sort(rows * len(order) + new[kept])
    indptr = offsets(np.bincount(rows, minlength=len(data)))
    return indptr, (codes % max(len(order), 1)).astype(np.int32)


def _larger_moles(
    setting: Setting,
    records: SplitRecords,
    supports: Int64s,
    engine: Engine,
    progress: Progress | None,
) -> Iterator[Int32s]:
    """The minimal moles of 2, 3, ... items, over ranks and numbers of private items."""
    level: Int64s | Level = supports
    weights = supports
    for size in range(2, setting.p + 1):
        limits = setting.limits(is_last=size == setting.p)
        parts = _even_parts(weights, engine.width * _TASKS_PER_THREAD)
        moles, others = [], []
        for found, rest in engine.map(_extend, [(records, level, limits, *part) for part in parts]):
            moles.append(found)
            others.append(rest)
            if progress is not None:
                progress(len(moles), len(parts), f"searching for moles of {size} items")
        if not moles:
            return
        yield np.concatenate(moles)
        itemsets = np.concatenate(others)
        if len(itemsets) < 2 or size == setting.p:
            return
        level = _level(itemsets, len(supports))
        weights = np.diff(level.firsts)


def _extend(task: tuple[SplitRecords, Int64s | Level, Limits, int, int]) -> tuple[Int32s, Int32s]:
    """The minimal moles that begin with some ranks, and the other itemsets that may be extended."""
    from setveil.kernels.suppression.moles import extend_items, extend_level

    records, level, limits, first, stop = task
    if isinstance(level, np.ndarray):  # the supports of single items
        return extend_items(records, level, limits, first, stop)
    return extend_level(records, level, limits, first, stop)


def _even_parts(weights: Int64s, count: int) -> list[tuple[int, int]]:
    """Ranks from ... to ..., in up to `count` parts of about the same weight."""
    ends = np.cumsum(weights)
    if not len(ends) or not ends[-1]:
        return []
    shares = ends[-1] * np.arange(1, count) / count
    cuts = np.unique(np.append(np.searchsorted(ends, shares), len(ends)))
    cuts = cuts[cuts > 0].tolist()
    return list(zip([0, *cuts], cuts, strict=False))


def _level(others: Int32s, ranks: int) -> Level:
    """The itemsets that may be extended, with a table to find them."""
    from setveil.kernels.suppression.moles import Level, hash_level

    itemsets = np.ascontiguousarray(others[:, :-1])
    table = hash_level(itemsets, 1 << (2 * len(itemsets)).bit_length())
    firsts = np.searchsorted(itemsets[:, 0], np.arange(ranks + 1)).astype(np.int64)
    return Level(itemsets, others[:, -1].astype(np.int64), firsts, table)


def _joined(found: list[Int64s]) -> Moles:
    from setveil.kernels.suppression.moles import COUNT, PRIVATE, SUPPORT

    lengths = np.repeat([part.shape[1] - 3 for part in found], [len(part) for part in found])
    items = np.concatenate([part[:, :-3].ravel() for part in found]).astype(np.int32)
    columns = (
        np.concatenate([part[:, column] for part in found]).astype(np.int64)
        for column in (SUPPORT, PRIVATE, COUNT)
    )
    return Moles(offsets(lengths), items, *columns)
