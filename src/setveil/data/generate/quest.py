"""Records in the manner of the IBM Quest generator, by which most work on frequent itemsets is measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.data.generate import draw
from setveil.data.transactions import Items, Transactions
from setveil.data.vocabulary import Vocabulary

Integers = npt.NDArray[np.int64]

_BLOCK = 200_000
_TRIES = 8
"""How often the rest of a pattern is drawn by weight before any items will do."""


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
    """Records that hold patterns: itemsets that people like to take together, each time with some of their items left out.

    With the defaults and 100,000 records this is data of the kind that the literature calls T10I4D100K. It goes as [Agrawal1994] tells
    under "Generation of Synthetic Data":

    1. Each item and each pattern gets a weight, exponentially distributed.
    2. A pattern has a size, Poisson around `average_pattern`, at least 1 and at most all items. A share of its items, exponential around
       `correlation`, is taken from the pattern made before it; the rest is drawn by the weights of the items. It also gets a
       level of corruption: normal around `corruption` with variance 0.1, cut to 0 to 1.
    3. A record has a size to reach, Poisson around `average_length` and at least 1. Patterns are drawn by weight; from each, items are
       dropped as long as a throw of chance stays below its level of corruption. A pattern that does not fit any more is put in all
       the same in half of the cases and opens the next record otherwise; one that meets an empty record always goes in.

    The items are called `1` to `items`; those that were never drawn are not in the vocabulary. The same numbers and seed give the same
    records on any machine.

    Departures from the paper:
        What two patterns of a record share counts twice towards the size to reach, so long records come out a little shorter. A corrupted
        pattern keeps at least one item. (As in the paper, records that are hardly longer than the patterns come out longer than asked.)

    Cost:
        Linear; a million records of 10 items take a few seconds.

    Args:
        records: How many records.
        items: How many items there are to draw from.
        average_length: The size that records reach on average.
        patterns: How many patterns.
        seed: What the random numbers start from.
        average_pattern: The average size of a pattern.
        correlation: How much a pattern takes over from the one before, 0 to 1.
        corruption: How much of a pattern is left out, 0 to 1.

    Example:
        >>> data = quest(1_000, items=50, average_length=6, patterns=20, seed=1)
        >>> len(data), len(data.vocabulary) <= 50, 4 < data.occurrences / len(data) < 7
        (1000, True, True)
    """
    for name, value, least in (
        ("records", records, 0),
        ("items", items, 1),
        ("patterns", patterns, 1),
    ):
        draw.whole(name, value, least)
    for name, number, most in (
        ("average_length", average_length, 10_000),
        ("average_pattern", average_pattern, 1_000),
    ):
        draw.between(name, number, 1, most)
    random = draw.source(seed)
    shares = (
        draw.between("correlation", correlation, 0, 1),
        draw.between("corruption", corruption, 0, 1),
    )
    known = _make_patterns(random, items, patterns, average_pattern, *shares)
    sizes = np.maximum(draw.poisson(random, average_length, records), 1)
    owners, numbers = _fill(random, known, sizes)
    used = np.bincount(numbers, minlength=items) > 0
    vocabulary = Vocabulary(str(number + 1) for number in np.flatnonzero(used).tolist())
    return Transactions.from_pairs(owners, (np.cumsum(used) - 1)[numbers], vocabulary, size=records)


@dataclass(frozen=True)
class _Patterns:
    table: Integers
    """One row of items for each pattern, -1 behind its end."""
    sizes: Integers
    weights: Integers
    levels: npt.NDArray[np.float64]
    """The corruption of each pattern."""


def _make_patterns(
    random: np.random.Generator,
    items: int,
    count: int,
    average: float,
    correlation: float,
    corruption: float,
) -> _Patterns:
    weights = draw.exponential(random, items) + 1
    sizes = np.clip(draw.poisson(random, average, count), 1, items)
    shares = np.minimum(draw.exponential(random, count) * (correlation / 65_536), 1.0)
    table = np.full((count, int(sizes.max())), -1, dtype=np.int64)
    before: list[int] = []
    for row, (size, share) in enumerate(zip(sizes.tolist(), shares.tolist(), strict=True)):
        kept = min(int(share * size + 0.5), len(before))
        chosen = dict.fromkeys(
            before[place] for place in random.permutation(len(before))[:kept].tolist()
        )
        for _ in range(_TRIES):
            chosen.update(
                dict.fromkeys(draw.weighted(random, weights, size - len(chosen)).tolist())
            )
        if len(chosen) < size:
            chosen.update(dict.fromkeys(random.permutation(items).tolist()))
        before = list(chosen)[:size]
        table[row, :size] = before
    normal = (random.integers(1 << 16, size=(count, 12)).sum(axis=1) - 6 * 65_535) / 65_536
    levels = np.clip(corruption + normal * 0.1**0.5, 0.0, 1.0)
    return _Patterns(table, sizes, draw.exponential(random, count) + 1, levels)


def _fill(random: np.random.Generator, known: _Patterns, sizes: Integers) -> tuple[Items, Items]:
    """Pairs of record and item, repeats among them, until each record has reached its size."""
    filler = _Filler(sizes.tolist())
    owners: list[Items] = []
    items: list[Items] = []
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


def _dropped(
    random: np.random.Generator, levels: npt.NDArray[np.float64], most: Integers
) -> Integers:
    """How many items each pattern loses: as many as throws stay below its level, one after the other."""
    dropped = np.zeros(len(levels), dtype=np.int64)
    open_ones = np.flatnonzero(most > 0)
    while len(open_ones):
        open_ones = open_ones[draw.chance(random, levels[open_ones], len(open_ones))]
        dropped[open_ones] += 1
        open_ones = open_ones[dropped[open_ones] < most[open_ones]]
    return dropped


def _some(
    random: np.random.Generator, sizes: Integers, kept: Integers, width: int
) -> npt.NDArray[np.bool_]:
    """Which columns of each row to keep: `kept` of the first `sizes`, each choice equally likely."""
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
    """Puts pattern after pattern into record after record; only this step must go one by one."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes, self.record, self.filled = sizes, 0, 0

    @property
    def is_done(self) -> bool:
        return self.record >= len(self.sizes)

    def put(self, counts: list[int], squeeze: list[bool]) -> Items:
        """The record of each pattern, until the patterns or the records end."""
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
