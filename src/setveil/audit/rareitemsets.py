"""Rare itemsets: those that occur, but in fewer than k records. Exact, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from setveil.alignment.merging import Counted
from setveil.data.arrays import (
    Flags,
    Int64s,
    changes,
    find,
    offsets,
    order_of,
    positions,
    ranges,
    sums,
)
from setveil.data.transactions import Bags, Transactions

_MOST_EXTENSIONS = 4_000_000
"""How many one-item extensions are counted at once, unless a search says otherwise."""
_WORD = 63


@dataclass(frozen=True)
class Vertical:
    """Distinct records with weights, their items ranked by ascending support.

    In bags, an item with another count is another item: an adversary may know both, and one who
    knows less finds at least as many records.
    """

    indptr: Int64s
    items: Int64s
    """Ranks, ascending in each record."""
    weights: Int64s
    labels: Sequence[str]
    ranked: Int64s
    """The label of each rank, by its place in `labels`."""

    @classmethod
    def of(cls, counted: Counted) -> Vertical:
        """From distinct records and how often each occurs."""
        codes, labels = coded_items(counted.records)
        known = np.arange(len(labels))
        return cls.of_codes(counted.records.indptr, codes, counted.sizes, labels, known)

    @classmethod
    def of_codes(
        cls, indptr: Int64s, codes: Int64s, weights: Int64s, labels: Sequence[str], known: Int64s
    ) -> Vertical:
        """From the items of records by their codes; code c has the label `labels[known[c]]`."""
        rows = np.repeat(np.arange(len(weights)), np.diff(indptr))
        order = np.argsort(sums(codes, weights[rows], len(known)), kind="stable")
        first = rows * max(len(known), 1)
        items = np.sort(first + positions(order)[codes]) - first
        return cls(indptr, items, weights, labels, known[order])

    @property
    def lengths(self) -> Int64s:
        return np.diff(self.indptr)

    @property
    def width(self) -> int:
        """The number of different items."""
        return len(self.ranked)

    def named(self, ranks: Int64s) -> tuple[str, ...]:
        """The labels of some ranks, sorted."""
        return tuple(sorted(self.labels[at] for at in self.ranked[ranks].tolist()))


@dataclass(frozen=True)
class Rare:
    """Some rare itemsets of one size."""

    itemsets: Int64s
    """One row of ranks for each."""
    supports: Int64s
    carriers: Int64s
    """The distinct records that contain any of them; some may be repeated."""


@dataclass(frozen=True)
class _Groups:
    """Itemsets of one size with the places of their last items in the records that hold them."""

    itemsets: Int64s
    supports: Int64s
    bounds: Int64s
    places: Int64s

    def __len__(self) -> int:
        return len(self.supports)

    def part(self, start: int, stop: int) -> _Groups:
        low, high = self.bounds[start], self.bounds[stop]
        return _Groups(
            self.itemsets[start:stop],
            self.supports[start:stop],
            self.bounds[start : stop + 1] - low,
            self.places[low:high],
        )


class Search:
    """The itemsets that occur in fewer than k records, size by size; every minimal one is found.

    It searches only itemsets of `sources` (records that occur k times contain no rare ones), but
    counts supports over all records. An itemset is extended by items of higher rank. It is dropped
    if no source contains it, if it is rare itself (its supersets are not minimal), or if its last
    item changed nothing: if S and S without an item have the same support, so do all supersets,
    and the larger is never minimal.
    """

    def __init__(
        self, data: Vertical, k: int, sources: Flags | None = None, *, at_once: int | None = None
    ) -> None:
        self.data, self.k = data, k
        self.at_once = _MOST_EXTENSIONS if at_once is None else at_once
        """How many one-item extensions are counted at once."""
        light = data.weights < k
        self.sources = light if sources is None else light & sources
        self.exhausted = False
        """Whether the last size that was searched left nothing to extend."""
        self._row: Int64s = np.repeat(np.arange(len(data.weights)), data.lengths)
        self._end = data.indptr[1:]

    def of_size(self, size: int) -> Iterator[Rare]:
        """The rare itemsets of this size that are not rare without their last item, in batches."""
        self.exhausted = True
        if size > int(self.data.lengths[self.sources].max(initial=0)):
            return
        places = np.arange(len(self.data.items))
        whole = _Groups(
            np.zeros((1, 0), dtype=np.int64),
            np.array([self.data.weights.sum()]),
            np.array([0, len(places)]),
            places,
        )
        codes = self.data.items
        if size == 1:
            yield from self._rare(whole, codes, places)
            self.exhausted = False
            return
        pending = [(self._parts(self._extended(whole, codes, places)), 1)]
        while pending:
            parts, depth = pending[-1]
            part = next(parts, None)
            if part is None:
                pending.pop()
                continue
            codes, places = self._extensions(part)
            if depth + 1 < size:
                pending.append((self._parts(self._extended(part, codes, places)), depth + 1))
                continue
            self.exhausted = self.exhausted and not len(codes)
            yield from self._rare(part, codes, places)

    def _parts(self, groups: _Groups) -> Iterator[_Groups]:
        """The groups in parts whose extensions can be counted at once."""
        room = self._end[self._row[groups.places]] - groups.places - 1
        totals, start = offsets(room)[groups.bounds], 0
        while start < len(groups):
            most = totals[start] + self.at_once
            stop = max(int(np.searchsorted(totals, most, side="right")) - 1, start + 1)
            yield groups.part(start, stop)
            start = stop

    def _extensions(self, groups: _Groups) -> tuple[Int64s, Int64s]:
        """Each itemset with each later item: (code of group and item, place of the item)."""
        room = self._end[self._row[groups.places]] - groups.places - 1
        places = ranges(groups.places + 1, room)
        owners = np.repeat(np.repeat(np.arange(len(groups)), np.diff(groups.bounds)), room)
        return owners * self.data.width + self.data.items[places], places

    def _extended(self, groups: _Groups, codes: Int64s, places: Int64s) -> _Groups:
        """The extensions that may still lead to a minimal rare itemset."""
        order = order_of(codes)
        codes, places = codes[order], places[order]
        starts = np.flatnonzero(changes(codes))
        rows = self._row[places]
        supports = np.add.reduceat(self.data.weights[rows], starts) if len(starts) else starts
        owners, items = np.divmod(codes[starts], max(self.data.width, 1))
        keep = (supports >= self.k) & (supports < groups.supports[owners])
        if len(starts):
            keep &= np.logical_or.reduceat(self.sources[rows], starts)
        lengths = np.diff(np.append(starts, len(codes)))
        itemsets = np.column_stack((groups.itemsets[owners[keep]], items[keep]))
        kept = places[np.repeat(keep, lengths)]
        return _Groups(itemsets, supports[keep], offsets(lengths[keep]), kept)

    def _rare(self, groups: _Groups, codes: Int64s, places: Int64s) -> Iterator[Rare]:
        """The extensions that occur in fewer than k records."""
        known, supports = self._counts(codes, places, len(groups) * self.data.width)
        rare = supports < self.k
        chosen = known[rare]
        if not len(chosen):
            return
        carriers = self._row[places[find(chosen, codes) >= 0]]
        owners, items = np.divmod(chosen, self.data.width)
        yield Rare(np.column_stack((groups.itemsets[owners], items)), supports[rare], carriers)

    def _counts(self, codes: Int64s, places: Int64s, size: int) -> tuple[Int64s, Int64s]:
        """The distinct codes, ascending, and the support of each, exact where it is below k.

        In a table if that is small; else by one sort of codes and weights packed together, if both
        fit into 63 bits.
        """
        weights = np.minimum(self.data.weights[self._row[places]], self.k)
        bits = self.k.bit_length()
        if size <= 2 * len(codes):
            table = np.bincount(codes, weights=weights)
            known = np.flatnonzero(table)
            return known, table[known].astype(np.int64)
        if size.bit_length() + bits > _WORD:
            known, owners = np.unique(codes, return_inverse=True)
            return known, sums(owners, weights, len(known))
        packed = np.sort((codes << bits) | weights)
        ordered = packed >> bits
        starts = np.flatnonzero(changes(ordered))
        supports = np.add.reduceat(packed & ((1 << bits) - 1), starts) if len(starts) else starts
        return ordered[starts], supports


def coded_items(data: Transactions) -> tuple[Int64s, list[str]]:
    """The number of each entry, and the label of each number; in bags, an item with another count
    has another number."""
    if not isinstance(data, Bags):
        return data.items.astype(np.int64), list(data.vocabulary)
    found, ranks = np.unique(data.counts, return_inverse=True)
    known, codes = np.unique(data.items * np.int64(max(len(found), 1)) + ranks, return_inverse=True)
    pairs = [(code // len(found), int(found[code % len(found)])) for code in known.tolist()]
    return codes, [
        f"{data.vocabulary[item]} x{count}" if count > 1 else data.vocabulary[item]
        for item, count in pairs
    ]
