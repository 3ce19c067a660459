"""Records like those of the IBM Quest generator, the usual benchmark data of itemset mining."""

from dataclasses import dataclass

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s, Int64s
from setveil.data.generate import draw
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary

_BLOCK = 200_000
_TRIES = 8  # how often the rest of a pattern is drawn by weight before it is filled with any items


def quest(
    records: int,
    items: int = 1_000,
    average_length: float = 10,
    patterns: int = 2_000,
    seed: int = 0,
    *,
    average_pattern: float = 4,
    correlation: float = 0.5,
    corruption: float = 0.5,
) -> Transactions:
    """Records built from patterns: itemsets that often occur together, though rarely complete.

    With the defaults and 100,000 records this is what the literature calls T10I4D100K. It follows
    [Agrawal1994], "Generation of Synthetic Data":

    1. Each item and each pattern gets an exponentially distributed weight.
    2. A pattern has a Poisson size around `average_pattern`, at least 1 and at most all items. A
       share of its items, exponential around `correlation`, comes from the previous pattern; the
       rest is drawn by the weights of the items. It also gets a corruption level: normal around
       `corruption` with variance 0.1, clipped to 0 to 1.
    3. A record has a target size, Poisson around `average_length` and at least 1. Patterns are
       drawn by weight; each loses items as long as a random number is below its corruption level.
       A pattern that no longer fits is added anyway half of the time, and otherwise starts the
       next record; an empty record takes any pattern.

    The items are called `1` to `items`; items that were never drawn are not in the vocabulary. The
    same arguments and seed give the same records on any machine.

    Departures from the paper:
        Items that two patterns of a record share count twice towards its target size, so long
        records are slightly shorter. A corrupted pattern keeps at least one item. (As in the paper,
        records that are hardly longer than the patterns are longer than asked for.)

    Cost:
        Linear; a million records of 10 items take a few seconds.

    Args:
        records: The number of records.
        items: The number of items to draw from.
        average_length: The average target size of a record.
        patterns: The number of patterns.
        average_pattern: The average size of a pattern.
        correlation: How much of a pattern comes from the previous one, 0 to 1.
        corruption: How much of a pattern is dropped, 0 to 1.

    Example:
        >>> data = quest(1_000, items=50, average_length=6, patterns=20, seed=1)
        >>> len(data), len(data.vocabulary) <= 50, 4 < data.occurrences / len(data) < 7
        (1000, True, True)
    """
    draw.whole("records", records, 0)
    draw.whole("items", items, 1)
    draw.whole("patterns", patterns, 1)
    draw.between("average_length", average_length, 1, 10_000)
    draw.between("average_pattern", average_pattern, 1, 1_000)
    random = draw.source(seed)
    draw.between("correlation", correlation, 0, 1)
    draw.between("corruption", corruption, 0, 1)
    plan = _Plan(items, patterns, average_pattern, correlation, corruption)
    known = _make_patterns(random, plan)
    sizes = np.maximum(draw.poisson(random, average_length, records), 1)
    owners, numbers = _fill(random, known, sizes)
    used = np.bincount(numbers, minlength=items) > 0
    vocabulary = Vocabulary(str(number + 1) for number in np.flatnonzero(used).tolist())
    return Transactions.from_pairs(owners, (np.cumsum(used) - 1)[numbers], vocabulary, size=records)


@dataclass(frozen=True)
class _Plan:
    """What the patterns should be like."""

    items: int
    count: int
    average: float
    correlation: float
    corruption: float


@dataclass(frozen=True)
class _Patterns:
    table: Int64s  # one row of items for each pattern, filled up with -1
    sizes: Int64s
    weights: Int64s
    levels: Floats  # the corruption level of each pattern


def _make_patterns(random: np.random.Generator, plan: _Plan) -> _Patterns:
    count, items = plan.count, plan.items
    weights = draw.exponential(random, items) + 1
    sizes = np.clip(draw.poisson(random, plan.average, count), 1, items)
    shares = np.minimum(draw.exponential(random, count) * (plan.correlation / 65_536), 1.0)
    table = np.full((count, int(sizes.max())), -1, dtype=np.int64)
    before: list[int] = []
    for row, (size, share) in enumerate(zip(sizes.tolist(), shares.tolist(), strict=True)):
        kept = random.permutation(len(before))[: min(int(share * size + 0.5), len(before))]
        chosen = dict.fromkeys(before[place] for place in kept.tolist())
        for _ in range(_TRIES):
            new = draw.weighted(random, weights, size - len(chosen))
            chosen.update(dict.fromkeys(new.tolist()))
        if len(chosen) < size:
            chosen.update(dict.fromkeys(random.permutation(items).tolist()))
        before = list(chosen)[:size]
        table[row, :size] = before
    normal = (random.integers(1 << 16, size=(count, 12)).sum(axis=1) - 6 * 65_535) / 65_536
    levels = np.clip(plan.corruption + normal * 0.1**0.5, 0.0, 1.0)
    return _Patterns(table, sizes, draw.exponential(random, count) + 1, levels)


def _fill(random: np.random.Generator, known: _Patterns, sizes: Int64s) -> tuple[Int32s, Int32s]:
    """Pairs of record and item, with repeats, until each record has its target size."""
    filler = _Filler(sizes.tolist())
    owners: list[Int32s] = []
    items: list[Int32s] = []
    while not filler.is_done:
        chosen = draw.weighted(random, known.weights, _BLOCK)
        kept = known.sizes[chosen] - _dropped(random, known.levels[chosen], known.sizes[chosen] - 1)
        owner = filler.put(kept.tolist(), draw.chance(random, 0.5, _BLOCK).tolist())
        chosen, kept = chosen[: len(owner)], kept[: len(owner)]
        mask = _some(random, known.sizes[chosen], kept, known.table.shape[1])
        owners.append(np.repeat(owner, kept))
        items.append(known.table[chosen][mask].astype(np.int32))
    nothing = np.zeros(0, dtype=np.int32)
    return np.concatenate([nothing, *owners]), np.concatenate([nothing, *items])


def _dropped(random: np.random.Generator, levels: Floats, most: Int64s) -> Int64s:
    """How many items each pattern loses: one for each consecutive draw below its level."""
    dropped = np.zeros(len(levels), dtype=np.int64)
    open_ones = np.flatnonzero(most > 0)
    while len(open_ones):
        open_ones = open_ones[draw.chance(random, levels[open_ones], len(open_ones))]
        dropped[open_ones] += 1
        open_ones = open_ones[dropped[open_ones] < most[open_ones]]
    return dropped


def _some(random: np.random.Generator, sizes: Int64s, kept: Int64s, width: int) -> Flags:
    """The columns of each row to keep: a random choice of `kept` of the first `sizes`."""
    mask = np.zeros((len(sizes), width), dtype=bool)
    wanted, left = kept.copy(), sizes.copy()
    for column in range(width):
        rows = np.flatnonzero(left > 0)
        hit = random.integers(left[rows]) < wanted[rows]
        mask[rows[hit], column] = True
        wanted[rows[hit]] -= 1
        left[rows] -= 1
    return mask


class _Filler:
    """Adds patterns to records one by one; no other step needs a loop over patterns."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes, self.record, self.filled = sizes, 0, 0

    @property
    def is_done(self) -> bool:
        return self.record >= len(self.sizes)

    def put(self, counts: list[int], squeeze: list[bool]) -> Int32s:
        """The record of each pattern, until patterns or records run out."""
        owners: list[int] = []
        sizes, record, filled = self.sizes, self.record, self.filled
        last = len(sizes)
        for count, squeezed in zip(counts, squeeze, strict=True):
            if filled and filled + count > sizes[record] and not squeezed:
                record, filled = record + 1, 0
                if record == last:
                    break
            owners.append(record)
            filled += count
            if filled >= sizes[record]:
                record, filled = record + 1, 0
                if record == last:
                    break
        self.record, self.filled = record, filled
        return np.array(owners, dtype=np.int32)
