"""Minimal moles: the sets of public items that break a promise while no subset of theirs does, size by size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Transactions
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.errors import InfeasibleError, ParameterError
from setveil.promises import Coherence, KmAnonymity, Promise

if TYPE_CHECKING:
    from setveil.kernels.suppression.moles import Level, Rows

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

_TASKS_FOR_EACH_THREAD = 16


@dataclass(frozen=True)
class Task:
    """Data, which of its items an adversary may know and which they must not learn, and the numbers of the promise."""

    data: Transactions
    public: Marks
    private: Marks
    h: float
    k: int
    p: int

    @classmethod
    def of(cls, data: Transactions, promise: Promise) -> Task:
        """What a promise asks of some data; k^m-anonymity is coherence without private items."""
        if isinstance(promise, KmAnonymity):
            promise = Coherence(h=1, k=promise.k, p=promise.m)
        assert isinstance(promise, Coherence)
        private = np.fromiter(
            (item in promise.private for item in data.vocabulary),
            dtype=bool,
            count=len(data.vocabulary),
        )
        return cls(data, ~private, private, float(promise.h), promise.k, promise.p)

    def without(self, marks: Marks) -> Task:
        """The same task with some items that nobody knows and nobody can learn, for they are left out."""
        return replace(self, public=self.public & ~marks, private=self.private & ~marks)

    def check_feasible(self) -> None:
        """Refuse data that break the promise when nothing but private items is left: the empty set is a mole."""
        supports, size = self.data.supports() * self.private, len(self.data)
        worst = int(np.argmax(supports)) if len(supports) else 0
        if size and len(supports) and supports[worst] / size > self.h:
            share, item = 100 * supports[worst] / size, self.data.vocabulary[worst]
            raise InfeasibleError(
                f"the private item {item!r} stands in {share:.4g} % of all {size} records, more than h = {100 * self.h:g} %: "
                "whoever knows nothing learns it already; raise h or take it off the private items"
            )


@dataclass(frozen=True)
class Moles:
    """Minimal moles, the smaller ones first."""

    indptr: Int64s
    items: Int32s
    """Numbers of the data's vocabulary."""
    supports: Int64s
    private: Int64s
    """The private item that stands in too many of the records; -1 where there are too few records."""
    counts: Int64s
    """In how many it stands."""

    def __len__(self) -> int:
        return len(self.supports)

    @property
    def sizes(self) -> Int64s:
        """The number of items of each."""
        return np.diff(self.indptr)

    def select(self, marks: Marks) -> Moles:
        """Some of them."""
        sizes = self.sizes
        indptr = np.concatenate(([0], np.cumsum(sizes[marks])))
        return Moles(
            indptr,
            self.items[np.repeat(marks, sizes)],
            self.supports[marks],
            self.private[marks],
            self.counts[marks],
        )

    def named(self, data: Transactions) -> Iterator[tuple[str, ...]]:
        """The items of each."""
        labels, items, bounds = data.vocabulary.labels, self.items.tolist(), self.indptr.tolist()
        for start, stop in zip(bounds, bounds[1:], strict=False):
            yield tuple(labels[item] for item in sorted(items[start:stop]))


def find_moles(task: Task, engine: Engine = LOCAL, progress: Progress | None = None) -> Moles:
    """Every minimal mole of 1 to p items. [Xu2008] section 3.1

    Departures from the paper: a candidate that occurs nowhere is no mole; one that stands in the same records as a subset of its own is not
    extended, since nothing that holds it is minimal. Moles of one item are found first and not looked at again.
    """
    from setveil.kernels.suppression import moles as kernels

    data, supports = task.data, task.data.supports()
    known = np.flatnonzero(task.public & (supports > 0))
    rows, order = _rows(task, known, supports)
    worst, counts = kernels.worst_beside_items(rows, task.k, task.h)
    ranked = supports[order]
    broken = (ranked < task.k) | (worst >= 0)
    privates = np.append(np.flatnonzero(task.private), -1)
    single = np.flatnonzero(broken)
    found = [
        np.column_stack((order[single], ranked[single], privates[worst[single]], counts[single]))
    ]
    useful = order[~broken & (ranked < len(data))]
    rows, order = _rows(task, useful, supports)
    for moles in _of_more_items(task, rows, supports[order], engine, progress):
        size = moles.shape[1] - 3
        found.append(
            np.column_stack(
                (
                    order[moles[:, :size]],
                    moles[:, size],
                    privates[moles[:, size + 1]],
                    moles[:, size + 2],
                )
            )
        )
    return _joined(found)


def _rows(task: Task, chosen: Int64s, supports: Int64s) -> tuple[Rows, Int64s]:
    """The records over some public items, ranked by rising support, and over the private items; and the item of each rank."""
    from setveil.kernels.suppression import moles as kernels

    data = task.data
    order = chosen[np.lexsort((chosen, supports[chosen]))]
    indptr, ranks = _relabeled(data, order)
    private_indptr, privates = _relabeled(data, np.flatnonzero(task.private))
    owners = np.repeat(np.arange(len(data), dtype=np.int32), np.diff(indptr))
    holders = owners[np.argsort(ranks, kind="stable")]
    starts = np.concatenate(([0], np.cumsum(np.bincount(ranks, minlength=len(order))))).astype(
        np.int64
    )
    return kernels.Rows(
        indptr, ranks, private_indptr, privates, starts, holders, int(task.private.sum())
    ), order


def _relabeled(data: Transactions, order: Int64s) -> tuple[Int64s, Int32s]:
    """The records over some items, item `order[i]` renamed to i, ascending in each."""
    number = np.full(len(data.vocabulary), -1, dtype=np.int64)
    number[order] = np.arange(len(order))
    new = number[data.items]
    kept = new >= 0
    rows = data.rows[kept]
    codes = np.sort(rows * len(order) + new[kept])
    lengths = np.bincount(rows, minlength=len(data)) if len(data) else np.zeros(0, dtype=np.int64)
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return indptr, (codes % max(len(order), 1)).astype(np.int32)


def _of_more_items(
    task: Task, rows: Rows, supports: Int64s, engine: Engine, progress: Progress | None
) -> Iterator[Int32s]:
    """The minimal moles of 2, 3, ... items; see `setveil.kernels.suppression.moles.extend_items` for the columns."""
    from setveil.kernels.suppression import moles as kernels

    def extend(bounds: tuple[int, int]) -> tuple[int, Int32s, Int32s]:
        if level is None:
            return bounds[0], *kernels.extend_items(
                rows, supports, task.k, task.h, *bounds, size == task.p
            )
        return bounds[0], *kernels.extend_level(
            rows, level, task.k, task.h, *bounds, size == task.p
        )

    level: Level | None = None
    weights = supports
    for size in range(2, task.p + 1):
        tasks = _even_parts(weights, engine.width * _TASKS_FOR_EACH_THREAD)
        answers = []
        for answer in engine.map(extend, tasks):
            answers.append(answer)
            if progress is not None:
                progress(len(answers), len(tasks), f"looking for moles of {size} items")
        answers.sort(key=lambda answer: answer[0])
        if not answers:
            return
        yield np.concatenate([moles for _, moles, _ in answers])
        others = np.concatenate([rest for _, _, rest in answers])
        if len(others) < 2 or size == task.p:
            return
        level = _level(others, len(supports))
        weights = np.diff(level.firsts)


def _even_parts(weights: Int64s, count: int) -> list[tuple[int, int]]:
    """Ranks from ... to ..., in up to `count` parts of about the same weight."""
    ends = np.cumsum(weights)
    if not len(ends) or not ends[-1]:
        return []
    cuts = np.unique(
        np.append(np.searchsorted(ends, ends[-1] * np.arange(1, count) / count), len(ends))
    )
    cuts = cuts[cuts > 0].tolist()
    return list(zip([0, *cuts], cuts, strict=False))


def _level(others: Int32s, ranks: int) -> Level:
    """The itemsets that may be extended, with a table to find them."""
    from setveil.kernels.suppression import moles as kernels

    itemsets = np.ascontiguousarray(others[:, :-1])
    table = np.full(1 << (2 * len(itemsets)).bit_length(), -1, dtype=np.int64)
    kernels.hash_level(itemsets, table)
    firsts = np.searchsorted(itemsets[:, 0], np.arange(ranks + 1)).astype(np.int64)
    return kernels.Level(itemsets, others[:, -1].astype(np.int64), firsts, table)


def _joined(found: list[npt.NDArray[np.int64]]) -> Moles:
    sizes = [part.shape[1] - 3 for part in found]
    lengths = np.repeat(sizes, [len(part) for part in found]).astype(np.int64)
    items = np.concatenate(
        [part[:, :size].ravel() for part, size in zip(found, sizes, strict=True)]
    ).astype(np.int32)
    supports, private, counts = (
        np.concatenate([part[:, at] for part in found]).astype(np.int64) for at in (-3, -2, -1)
    )
    return Moles(np.concatenate(([0], np.cumsum(lengths))), items, supports, private, counts)


def as_weights(weights: object, task: Task) -> npt.NDArray[np.float64]:
    """What giving up each item costs."""
    supports = np.maximum(task.data.supports(), 1).astype(np.float64)
    if weights == "occurrences":
        return supports
    if weights == "items":
        return np.ones(len(supports))
    if not isinstance(weights, dict):
        raise ParameterError(
            "weights",
            weights,
            "it must be occurrences, items, or a mapping of items to numbers above 0",
        )
    numbers = task.data.vocabulary.numbers
    for item, value in weights.items():
        if not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise ParameterError(
                "weights", value, f"the weight of {item!r} must be a number above 0"
            )
        if item in numbers:
            supports[numbers[item]] = value
    return supports
