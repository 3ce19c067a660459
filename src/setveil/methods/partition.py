"""Partition: k-anonymity by top-down local generalization. [He2009]"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Bags, Transactions
from setveil.engines.base import Engine, Progress
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.method import Method, Request
from setveil.promises import KAnonymity, KmAnonymity, Promise, VocabularyKAnonymity
from setveil.published.generalized import Generalized
from setveil.published.rows import relabeled

if TYPE_CHECKING:
    from setveil.kernels.partition import split as kernels

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

LARGE = 100_000
"""Occurrences from which on it pays to put records that stay together beside each other in memory."""
BUDGET = 1_000_000
"""Occurrences that a worker looks at before it reports progress and shares its pending partitions."""


@dataclass(frozen=True, kw_only=True)
class Partition(Method[Generalized]):
    """Groups similar records top-down and publishes each group as the nodes that all its records share.

    It starts with one partition, all records generalized to the root. In each partition the node whose expansion gains most (the sum over
    the occurrences under it of the drop in NCP) is expanded, and the records part by the set of children they hold. Parts of fewer than k
    records go to a leftover, which takes from parts of more than k the records that gain least until it has k (or joins the smallest part
    whole), keeps the old representation and may not expand that node again. Each part goes on by itself. [He2009] section 4.

    On bags the grouping is that of the sets, and each published node stands as often as in every record of the group: LG(bag),
    [Liu2010b] section V-A.

    The result depends on the records alone, not on their order nor on the number of threads: of equal gains the first node in the tree is
    expanded, and of equal records to move those with the first items in the tree go.

    Departures from the paper:
        - Its `Anonymize` expands the same node of the leftover for ever; here a node that was tried is closed for the leftover.
        - It is silent on empty records. They are a class of their own; if there are fewer than k of them, the records with the fewest items
          are published as empty too, until there are k. If fewer than k others remain, they are published as empty as well.
        - It enumerates the subsets of a node's children; here only the sets that occur are ever touched, so a fan-out of hundreds is fine.

    Cost:
        Each level of the tree looks at each occurrence a small number of times: linear in the data for a given tree. About 50 bytes for
        each occurrence.

    Example:
        >>> tree = Hierarchy.from_paths([("a1", "A", "ALL"), ("a2", "A", "ALL"), ("b1", "B", "ALL"), ("b2", "B", "ALL")])
        >>> data = Transactions.of([["a1"], ["a1", "a2"], ["b1", "b2"], ["b1", "b2"]])
        >>> release = Partition().anonymize(data, KAnonymity(k=2), tree)
        >>> sorted(zip(release.classes, release.sizes.tolist()))
        [(('A',), 2), (('b1', 'b2'), 2)]
    """

    name: ClassVar[str] = "partition"
    promises: ClassVar[tuple[type[Promise], ...]] = (KAnonymity, KmAnonymity, VocabularyKAnonymity)
    needs_hierarchy: ClassVar[bool] = True
    trial: ClassVar[Promise] = KAnonymity(k=2)

    def _anonymize(
        self, request: Request[KAnonymity | KmAnonymity | VocabularyKAnonymity]
    ) -> Generalized:
        promise, hierarchy = request.promise, request.tree
        data = _on_leaves(request.records, hierarchy)
        kept = _near_each_other(data, _kept_records(data, promise.k), hierarchy)
        work = _Work(data, kept, hierarchy, promise.k)
        parts = work.run(request.engine, request.progress)
        rows, alignment = _published(work, len(data), parts, hierarchy)
        if isinstance(data, Bags):
            rows = _with_multiplicities(rows, alignment[kept], work.records, data.take(kept).counts)
        return Generalized.of_rows(
            rows,
            hierarchy,
            promise,
            self.to_dict(),
            alignment=alignment,
            weights=_sizes(rows, alignment),
        )


def _on_leaves(data: Transactions, hierarchy: Hierarchy) -> Transactions:
    """The same records over the nodes of the tree, whose first ones are the leaves."""
    numbers = hierarchy.leaf_numbers(data.vocabulary)
    if isinstance(data, Bags) or not (numbers[1:] > numbers[:-1]).all():
        return relabeled(data, numbers, hierarchy.nodes)
    return Transactions(data.indptr, numbers[data.items], hierarchy.nodes)


def _kept_records(data: Transactions, k: int) -> Int64s:
    """The records to partition; all others are published as empty."""
    lengths = data.lengths
    full = np.flatnonzero(lengths)
    empty = len(lengths) - len(full)
    if len(full) < k:
        return full[:0]
    if empty == 0 or empty >= k:
        return full
    order = full[np.argsort(lengths[full], kind="stable")]
    longest = lengths[order[k - empty - 1]]
    near = [int(record) for record in order if lengths[record] <= longest]
    near.sort(
        key=lambda record: (
            lengths[record],
            data.items[data.indptr[record] : data.indptr[record + 1]].tolist(),
        )
    )
    kept = np.setdiff1d(full, near[: k - empty])
    return kept if len(kept) >= k else kept[:0]


def _near_each_other(data: Transactions, kept: Int64s, hierarchy: Hierarchy) -> Int64s:
    """The records in an order that puts those that stay together for long beside each other in memory; it decides nothing else.

    The key of a record tells which nodes near the root it holds, a bit for each, the nearest first.
    """
    if len(data.items) < LARGE:
        return kept
    bits, left = np.zeros(hierarchy.leaf_count, dtype=np.uint64), 64
    for depth in range(1, hierarchy.height + 1):
        present, place = np.unique(hierarchy.ancestors[:, depth], return_inverse=True)
        if len(present) > left and depth > 1:
            break
        left = max(left - len(present), 0)
        bits |= np.left_shift(np.uint64(1), (left + place % (64 - left)).astype(np.uint64))
    key = np.bitwise_or.reduceat(np.append(bits[data.items], np.uint64(0)), data.indptr)
    return kept[np.argsort(key[kept], kind="stable")]


class _Work:
    """The arrays of one run, and the loop that hands slices of them to workers."""

    def __init__(self, data: Transactions, kept: Int64s, hierarchy: Hierarchy, k: int) -> None:
        from setveil.kernels.partition import split as kernels

        self.kernels, self.k, self.kept = kernels, k, kept
        rows = data.take(kept)
        self.occurrences = len(rows.items)
        fanout = np.bincount(
            hierarchy.parent[hierarchy.parent >= 0], minlength=len(hierarchy)
        ).astype(np.int32)
        penalty = np.where(hierarchy.widths == 1, 0, hierarchy.widths)
        self.tree = kernels.Tree(
            hierarchy.ancestors, hierarchy.depth, fanout, hierarchy.first, hierarchy.stop, penalty
        )
        self.records = kernels.Records(
            rows.indptr,
            rows.items,
            np.arange(len(kept)),
            np.empty(len(kept), dtype=np.int64),
            np.empty(len(kept), dtype=np.int32),
            np.empty(self.occurrences, dtype=np.int32),
            np.zeros(self.occurrences, dtype=np.int32),
        )
        self.root = hierarchy.root

    def run(self, engine: Engine, progress: Progress | None) -> list[kernels.Done]:
        """Split until nothing is pending; returns what each worker finished."""
        if len(self.kept) == 0:
            return []
        self.kernels.start_at_root(self.tree, self.records)
        workers = [_Worker(self) for _ in range(engine.width)]
        workers[0].push_root()
        while any(worker.pending for worker in workers):
            _share(workers)
            for _ in engine.map(_Worker.step, [worker for worker in workers if worker.pending]):
                if progress is not None:
                    progress(
                        sum(worker.finished for worker in workers), len(self.kept), "partitioning"
                    )
        return [worker.done for worker in workers]


class _Worker:
    """A stack of pending partitions with the room to work on them."""

    def __init__(self, work: _Work) -> None:
        kernels, tree = work.kernels, work.tree
        self.work = work
        classes = len(work.kept) // work.k + 2
        arena = work.occurrences // work.k + 2
        longest = int(np.diff(work.records.indptr).max(initial=0)) + 1
        words = min(1 << min(int(tree.fanout.max(initial=0)), 40), work.occurrences) + 2
        self.stack = kernels.Stack(
            np.zeros((classes, 4), dtype=np.int64),
            np.empty(arena, dtype=np.int32),
            np.empty(arena, dtype=np.int64),
        )
        self.done = kernels.Done(
            np.zeros((classes, 4), dtype=np.int64),
            np.empty(arena, dtype=np.int32),
            np.zeros(4, dtype=np.int64),
        )
        table = max(16, 1 << (2 * words - 1).bit_length())
        self.scratch = kernels.Scratch(
            cut=np.empty(longest, dtype=np.int32),
            gains=np.empty(longest, dtype=np.int64),
            slot=np.full(len(tree.depth), -1, dtype=np.int32),
            keys=np.full(table, -1, dtype=np.int64),
            values=np.empty(table, dtype=np.int32),
            used=np.empty(words, dtype=np.int64),
            counts=np.empty(words, dtype=np.int64),
            target=np.empty(words, dtype=np.int64),
            heap=np.empty(len(work.kept), dtype=np.int64),
            places=np.empty(len(work.kept), dtype=np.int64),
        )

    @property
    def pending(self) -> int:
        return int(self.done.tops[0])

    @property
    def finished(self) -> int:
        return int(self.done.tops[2])

    def push_root(self) -> None:
        """Begin with all records under the root."""
        work = self.work
        whole = int(work.records.delta.sum(dtype=np.int64))
        is_leaf = work.tree.fanout[work.root] == 0
        self._push(
            0,
            len(work.kept),
            np.array([work.root], dtype=np.int32),
            np.array([-1 if is_leaf else whole]),
        )

    def step(self) -> None:
        """Work for a while."""
        work = self.work
        work.kernels.split_pending(
            work.tree, work.records, self.stack, self.done, self.scratch, work.k, BUDGET
        )

    def give(self, other: _Worker) -> None:
        """Hand the oldest half of the pending partitions, the largest, to a worker without any."""
        bounds, count = self.stack.bounds, self.pending
        half = count // 2
        for start, stop, low, high in bounds[:half].tolist():
            other._push(start, stop, self.stack.nodes[low:high], self.stack.gains[low:high])
        shift = int(bounds[half, 2])
        top = int(bounds[count - 1, 3])
        for arena in (self.stack.nodes, self.stack.gains):
            arena[: top - shift] = arena[shift:top].copy()
        bounds[: count - half] = bounds[half:count].copy()
        bounds[: count - half, 2:] -= shift
        self.done.tops[0] = count - half

    def _push(self, start: int, stop: int, nodes: Int32s, gains: Int64s) -> None:
        top = self.pending
        base = int(self.stack.bounds[top - 1, 3]) if top else 0
        self.stack.nodes[base : base + len(nodes)] = nodes
        self.stack.gains[base : base + len(nodes)] = gains
        self.stack.bounds[top] = (start, stop, base, base + len(nodes))
        self.done.tops[0] = top + 1


def _share(workers: list[_Worker]) -> None:
    """Give every idle worker half of what the busiest has."""
    for worker in workers:
        if not worker.pending:
            busiest = max(workers, key=lambda other: other.pending)
            if busiest.pending > 1:
                busiest.give(worker)


def _published(
    work: _Work, records: int, parts: list[kernels.Done], hierarchy: Hierarchy
) -> tuple[Transactions, Int64s]:
    """The finished classes as records of nodes (the last one empty), and the class of each of the original records."""
    alignment = np.full(records, -1, dtype=np.int64)
    cuts, sizes, count = [], [], 0
    for start, stop, cut in _finished(parts):
        alignment[work.kept[work.records.order[start:stop]]] = count
        cuts.append(cut)
        sizes.append(len(cut))
        count += 1
    owners = np.repeat(np.arange(count), sizes)
    nodes = np.concatenate(cuts) if cuts else np.empty(0, dtype=np.int32)
    has_empty = bool((alignment < 0).any())
    alignment[alignment < 0] = count
    return Transactions.from_pairs(
        owners, nodes, hierarchy.nodes, size=count + has_empty
    ), alignment


def _finished(parts: list[kernels.Done]) -> Iterator[tuple[int, int, Int32s]]:
    for done in parts:
        for start, stop, low, high in done.bounds[: done.tops[1]].tolist():
            yield start, stop, done.nodes[low:high]


def _sizes(rows: Transactions, alignment: Int64s) -> Int64s:
    return np.bincount(alignment, minlength=len(rows)).astype(np.int64)


def _with_multiplicities(
    rows: Transactions, member: Int64s, records: kernels.Records, counts: Int64s
) -> Bags:
    """Each class with, for each node, the least sum of counts under it in any record of the class.

    Args:
        rows: The classes.
        member: The class of each partitioned record.
        records: The partitioned records; occurrences under one node stand together.
        counts: How often each occurrence stands.
    """
    width, node = len(rows.vocabulary), records.node
    owners = np.repeat(np.arange(len(member)), np.diff(records.indptr))
    begins = _starts(owners * width + node)
    sums = np.add.reduceat(counts, begins) if len(begins) else counts
    codes = member[owners[begins]] * width + node[begins]
    order = np.argsort(codes, kind="stable")
    codes, sums = codes[order], sums[order]
    firsts = _starts(codes)
    least = np.minimum.reduceat(sums, firsts) if len(firsts) else sums
    return Bags.from_pairs(
        codes[firsts] // width, codes[firsts] % width, rows.vocabulary, size=len(rows), counts=least
    )


def _starts(codes: Int64s) -> Int64s:
    """Where the runs of equal values begin."""
    return np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))[: len(codes)]
