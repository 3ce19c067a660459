"""Chunks over all records for the items of frequent pairs: the head of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s, Int64s, gathered, offsets, positions
from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.judging import Targets
from setveil.methods.disassociation.partitioning import MANY, only_items
from setveil.threads import at_once

WORK = 200  # the steps of annealing, per occurrence of an item, that the time allows
TOP_WEIGHTS = (0.25, 1.0)
"""What the pairs of the top items are worth, beside the frequent pairs: with m = 2, and with m = 3.
Where all records must stay together, both are tried."""
PRICES = {2: (0.02, 0.05, 0.1), 3: (0.002, 0.005)}
"""What it may cost if a record leaves, as a share of what its pairs are worth, by m: it is charged
for each of its conflicts, and keeps some of its pairs where it goes."""

AGAIN = (3.0, 3.75, 4.5)
"""The same for records that left and leave the others of these. Measured; what annealing finds at a
price depends on chance."""
NARROW = 1.2
"""A pair can be counted if its upper bound is at most so many times its lower one."""
NEARLY, ENOUGH = 0.4, 0.5
"""Records may leave again if the first share of the frequent pairs can be counted, but not the
second: some 4 % more can be."""

HUBS = (2, 3)
"""How many of the most frequent items the records of a part may agree in."""
FAR = 1.2  # times the limit: an error of parts by fewer hubs that more hubs do not mend
FEWEST_SWEEPS = 10  # of annealing, whatever the time allows
MOST_SWEEPS = 200  # after which hardly anything changes
PART_SWEEPS = 30  # of annealing in a part, after which little changes
SURE = 0.1
"""What it is worth, as a share of its support, if a chunk shows a pair which it need not keep since
all records have one of its items. Measured."""

ALONE = 1.5
"""How much more small clusters lose of records that left than of the same records among the others.
Measured."""


class Arranged(NamedTuple):
    """The parts of the records, and how the head is cut into chunks in each of them."""

    part: Int64s  # of each record
    chunks: Int32s  # [part, item] the chunk of each item, -1 if it is not in the head of the part
    pairs: float  # the expected error of the frequent pairs
    head: float  # of the most frequent ones
    top: float  # of all pairs of the top items
    counted: float  # the share of the frequent pairs that can be counted, about

    @property
    def badness(self) -> float:
        """How much it is expected to err."""
        return self.pairs + self.head + self.top / 2


class Counts(NamedTuple):
    """How often the items of the head occur in some records."""

    records: Int64s
    rows: Rows
    together: Int64s  # [item, item]
    held: Int64s  # of each item


class Piece(NamedTuple):
    """Some records, the chunks of the head in them, and what is expected of the targets: bounds,
    and between them the number that is likely."""

    records: Int64s
    chunk: Int64s
    expected: Floats
    low: Int64s
    high: Int64s


class Head:
    """The items that occur in frequent pairs of k records or more, and the records over them: rarer
    pairs cannot be kept in a chunk.

    `below` says what small clusters keep of the targets in some records."""

    def __init__(
        self,
        rows: Transactions,
        targets: Targets,
        rule: Rule,
        below: Callable[[Int64s], Floats] | None = None,
        width: int = 1,
    ) -> None:
        self._rule, self._below, self._threads = rule, below, width
        width = max(len(rows.vocabulary), 1)
        supports = np.bincount(rows.items, minlength=width)
        can = targets.supports >= rule.k
        items = np.unique(np.concatenate((targets.first[can], targets.second[can])))
        self._items = items[np.argsort(-supports[items], kind="stable")]
        number = positions(self._items, width)
        self._width, self._rows = width, _over(rows, number)
        self._all_targets = targets
        targets = targets._replace(first=number[targets.first], second=number[targets.second])
        self._inside = (targets.first >= 0) & (targets.second >= 0)
        self._is_mixed = (targets.first >= 0) != (targets.second >= 0)
        self._targets = targets.some(self._inside)
        self._steps = WORK * rows.occurrences / max(len(items), 1) ** 2
        self.sweeps = int(min(max(self._steps, FEWEST_SWEEPS), MOST_SWEEPS))
        # A head that is large for its records takes long, so less is tried.
        self._tries = 1 if self._steps < 2 * FEWEST_SWEEPS else len(PRICES[2])

    @property
    def is_part(self) -> bool:
        """Whether some targets have an item that is not in the head."""
        return not self._inside.all()

    @property
    def triples(self) -> int:
        """How many triples of the head are counted with m = 3."""
        from setveil.kernels.disassociation.heads import LONGEST

        lengths = np.diff(self._rows[0])
        lengths = lengths[lengths <= LONGEST] if self._rule.m > 2 else lengths[:0]
        return int((lengths * (lengths - 1) * (lengths - 2) // 6).sum())

    @property
    def hub_share(self) -> float:
        """The share of the frequent pairs that have one of the hubs."""
        has_hub = np.minimum(self._targets.first, self._targets.second) < max(HUBS)
        return float(self._targets.many[has_hub].sum())

    def arrange(self, kind: str, limit: float = np.inf) -> list[Arranged]:
        """Ways to arrange the records. `head`: in one of them all records are one part, unless m is
        3; in the others some leave it. `hubs`: the records of a part agree in some of the most
        frequent items, the hubs; in more of them only if fewer are not far above the limit. None if
        no way keeps the promise."""
        if not len(self._items):
            return []
        is_deep, works = self._rule.m > 2, list[Callable[[], list[Piece]]]()
        cost = self._targets.cost(TOP_WEIGHTS[is_deep])
        if kind == "hubs":
            made = [self._arranged(self._by_hubs(HUBS[0], cost))]
            if made[0].pairs <= FAR * limit:
                made += [self._arranged(self._by_hubs(hubs, cost)) for hubs in HUBS[1:]]
            return made
        works += [] if is_deep else [lambda: [self._together]]
        works += self._splits(self._all, cost)
        found = at_once(*works, width=self._threads)
        return [self._arranged(pieces) for pieces in found if pieces]

    @cached_property
    def whole(self) -> Arranged:
        """The best arrangement with all records as one part."""
        weights = [TOP_WEIGHTS[self._rule.m <= 2]][: self._tries - 1]
        others = [self._whole(self._all, self._targets.cost(each)) for each in weights]
        found = [self._arranged([piece]) for piece in (self._together, *others)]
        return min(found, key=lambda each: each.pairs + each.head)

    def _arranged(self, pieces: Sequence[Piece]) -> Arranged:
        part = np.empty(len(self._rows[0]) - 1, dtype=np.int64)
        chunks = np.full((len(pieces), self._width), -1, dtype=np.int32)
        for number, piece in enumerate(pieces):
            part[piece.records], chunks[number, self._items] = number, piece.chunk
        expected = self._left.copy()
        expected[self._inside] += np.sum([piece.expected for piece in pieces], axis=0)
        low, high = (np.sum(each, axis=0) for each in zip(*(p[3:] for p in pieces), strict=True))
        counted = float(self._targets.many[high <= NARROW * low].sum())
        return Arranged(part, chunks, *self._all_targets.errors(expected), counted)

    def leave_again(self, best: Arranged) -> list[Arranged]:
        """Ways in which a few of the records that left leave the others of these, if then at least
        half of the frequent pairs can be counted, and nearly half can in any case.

        What is not in a chunk of those that left cannot be counted, and few of them cause most of
        their conflicts."""
        chunks = best.chunks[:, self._items].astype(np.int64)
        is_split = self._rule.m == 2 and len(chunks) == 2 and (chunks.max(axis=1) >= 0).all()
        if not (is_split and NEARLY <= best.counted < ENOUGH):
            return []
        core, left = (self._count(np.flatnonzero(best.part == number)) for number in (0, 1))
        stay = self._settled(core, chunks[0])
        ways = [self._arranged([stay, *pieces]) for pieces in self._again(left, AGAIN)]
        return [each for each in ways if each.counted >= ENOUGH]

    def _again(self, counts: Counts, prices: Sequence[float]) -> Iterator[list[Piece]]:
        """Two parts of some records, for each price without and with those that need not leave the
        first of them; every frequent pair is worth as much as any other."""
        from setveil.kernels.disassociation.heads import charge, find_stayers

        targets, rows, together = self._targets, counts.rows, counts.together
        pairs = together[targets.first, targets.second]
        cost, usual = targets.many / np.maximum(targets.supports, 1), targets.cost(TOP_WEIGHTS[0])
        charges = charge(*rows, together, self._spread(cost), self._rule)
        worth = self._spread(cost * pairs * (pairs >= self._rule.k))
        for price in prices:
            wanted = self._annealed(counts, worth - price * charges, np.zeros(worth.shape, bool))
            for _ in range(2):
                stays = find_stayers(*rows, wanted, together, self._rule)
                if min(np.count_nonzero(stays), np.count_nonzero(~stays)) < self._rule.k:
                    break
                parts = (self._count(counts.records[each]) for each in (stays, ~stays))
                pieces = [self._whole(each, usual) for each in parts]
                yield pieces
                wanted = pieces[0].chunk

    @cached_property
    def _left(self) -> Floats:
        """What is about expected of the targets that are not inside the head: small clusters of the
        rest keep what they keep, and nothing of pairs with one item of the head."""
        found = self._all_targets.apart
        if self._below is not None and self.is_part:
            found = np.where(self._is_mixed, found, self._below(np.arange(len(self._rows[0]) - 1)))
        return np.where(self._inside, 0.0, found)

    @cached_property
    def _all(self) -> Counts:
        return self._counted(np.arange(len(self._rows[0]) - 1), self._rows)

    @cached_property
    def _together(self) -> Piece:
        """All records as one part."""
        return self._whole(self._all, self._targets.cost(TOP_WEIGHTS[self._rule.m > 2]))

    def _count(self, records: Int64s) -> Counts:
        ptr, items = self._rows
        lengths = np.diff(ptr)[records]
        return self._counted(records, (offsets(lengths), gathered(items, ptr[records], lengths)))

    def _counted(self, records: Int64s, rows: Rows) -> Counts:
        from setveil.kernels.itemsets import count_chosen

        none = np.zeros(0, dtype=np.int64)
        together = count_chosen(*rows, none, np.arange(len(self._items) + 1))
        return Counts(records, rows, together, together.diagonal().copy())

    def _whole(self, counts: Counts, cost: Floats) -> Piece:
        """Records with head chunks in which no two items are in conflict."""
        together = counts.together
        conflicts = (together > 0) & (together < self._rule.k)
        wanted = self._annealed(counts, self._worth(counts, cost), conflicts)
        return self._settled(counts, wanted)

    def _splits(self, counts: Counts, cost: Floats) -> list[Callable[[], list[Piece]]]:
        """For each price, what finds the records that stay together and those that leave."""
        from setveil.kernels.disassociation.heads import charge

        charges = charge(*counts.rows, counts.together, self._spread(cost), self._rule)
        worth, prices = self._worth(counts, cost), PRICES[self._rule.m][: self._tries]
        return [partial(self._split, counts, cost, worth - price * charges) for price in prices]

    def _split(self, counts: Counts, cost: Floats, worth: Floats) -> list[Piece]:
        """The records that stay together and those that leave, or nothing.

        Chunks may have conflicts, at the price of the records that have these: they leave. If that
        would leave fewer than k records anywhere, nothing is split."""
        from setveil.kernels.disassociation.heads import find_stayers

        k, rows, together = self._rule.k, counts.rows, counts.together
        wanted = self._annealed(counts, worth, np.zeros(together.shape, dtype=bool))
        stays = find_stayers(*rows, wanted, together, self._rule)
        if min(np.count_nonzero(stays), np.count_nonzero(~stays)) < k:
            return []
        core = self._settled(self._count(counts.records[stays]), wanted)
        return [core, self._rest(self._count(counts.records[~stays]), cost)]

    def _by_hubs(self, hubs: int, cost: Floats) -> list[Piece]:
        """For each set of hubs the records with just these, and the records that leave."""
        ptr, items = self._rows
        is_hub, owners = items < hubs, np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        had = np.bincount(owners[is_hub], 1 << items[is_hub], len(ptr) - 1).astype(np.int64)
        sizes = np.bincount(had, minlength=1)
        had[sizes[had] < self._rule.k] = sizes.argmax()
        each = copy(self)
        each.sweeps = int(min(max(self._steps / 2**hubs, FEWEST_SWEEPS), PART_SWEEPS))
        pieces: list[Piece] = []
        for number in np.unique(had):
            counts = self._count(np.flatnonzero(had == number))
            pieces += each._splits(counts, cost)[-1]() or [each._whole(counts, cost)]
        return pieces

    def _rest(self, counts: Counts, cost: Floats) -> Piece:
        """Records that left: in head chunks, or in small clusters if these keep more, or m is 3."""
        none = np.full(len(counts.held), -1, dtype=np.int64)
        high = np.minimum(counts.held[self._targets.first], counts.held[self._targets.second])
        bounds = np.zeros_like(high), high
        if self._below is not None and self._rule.m > 2:
            return Piece(counts.records, none, self._below(counts.records)[self._inside], *bounds)
        piece = self._whole(counts, cost)
        if self._below is None:
            return piece
        kept = self._below(counts.records)[self._inside]
        truth = counts.together[self._targets.first, self._targets.second]
        if cost @ np.abs(piece.expected - truth) <= ALONE * cost @ np.abs(kept - truth):
            return piece
        return Piece(counts.records, none, kept, *bounds)

    def _worth(self, counts: Counts, cost: Floats) -> Floats:
        """[item, item] what it is worth to keep a pair: what it costs to have it as often as
        independence explains, and a little if that is as often as it occurs."""
        first, second = self._targets.first, self._targets.second
        pairs, held, records = counts.together[first, second], counts.held, len(counts.records)
        gain = np.abs(pairs - held[first] * held[second] / records)
        gain += SURE * pairs * (np.maximum(held[first], held[second]) == records)
        return self._spread(cost * gain * (pairs >= self._rule.k))

    def _spread(self, values: Floats) -> Floats:
        """[item, item] the values of the targets."""
        matrix = np.zeros((len(self._items), len(self._items)))
        first, second = self._targets.first, self._targets.second
        matrix[first, second] = matrix[second, first] = values
        return matrix

    def _annealed(self, counts: Counts, worth: Floats, conflicts: Flags) -> Int64s:
        """The chunk that each item should have, or -1 if fewer than k records have it."""
        from setveil.kernels.disassociation.annealing import anneal

        live = np.flatnonzero(counts.held >= self._rule.k)
        wanted = np.full(len(counts.held), -1, dtype=np.int64)
        if len(live) < len(wanted):
            worth = worth[live].take(live, axis=1)
            conflicts = conflicts[live].take(live, axis=1)
        wanted[live] = anneal(worth, conflicts, self.sweeps)
        return wanted

    def _settled(self, counts: Counts, wanted: Int64s) -> Piece:
        """Head chunks as wanted, as far as they are safe, and what they lead one to expect."""
        from setveil.kernels.disassociation.heads import settle

        chunk: Int64s = settle(*counts.rows, wanted, self._rule)
        first, second, held = self._targets.first, self._targets.second, counts.held
        shown = np.where(held >= self._rule.k, held, np.minimum(held, 1))
        apart = shown[first] * shown[second] / len(counts.records)
        joined = (chunk[first] >= 0) & (chunk[first] == chunk[second])
        expected = np.where(joined, counts.together[first, second], apart)
        low = np.maximum(held[first] + held[second] - len(counts.records), 0)
        bounds = low, np.minimum(held[first], held[second])
        found = (np.where(joined, counts.together[first, second], each) for each in bounds)
        return Piece(counts.records, chunk, expected, *found)


Rows = tuple[Int64s, Int32s]


def _over(rows: Transactions, number: Int64s) -> Rows:
    """Records over other numbers, ascending in each record, without those of number -1."""
    if len(rows) > MANY:
        from setveil.kernels.itemsets import rank_rows

        found: Rows = rank_rows(rows.indptr, rows.items, number.astype(np.int32))
        return found
    rows = only_items(rows, number >= 0)
    numbers = number[rows.items].astype(np.int32)
    order = np.lexsort((numbers, rows.rows))
    return rows.indptr, numbers[order]
