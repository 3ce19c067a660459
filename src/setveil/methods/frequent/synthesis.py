"""Records that fit noisy supports of items and pairs. Nothing here looks at the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s, positions
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.published.synthetic import NoisySupport

ROUNDS = 6
"""How often the wanted supports of pairs are fitted in turn."""
FLOOR = 0.05
"""The weight of a record that has all the items it should have."""


@dataclass(frozen=True)
class Tally:
    """Noisy counts of itemsets in records that were cut, and what the cut may have lost."""

    counted: Int64s
    scale: float
    threshold: int
    """The least count that is published."""
    missed: Int64s
    """How many records may have lost each itemset, with the noise of `noises` counts."""
    noises: Int64s
    kept: Floats
    """The estimated share of the records that have kept each."""

    @classmethod
    def of(cls, noisy: Int64s, scale: float, ranges: Int64s, kept: Floats, threshold: int) -> Tally:
        """From noisy counts: one for each itemset, then those of the records cut in each range of
        ranks. `ranges` is in how many of these each may be lost."""
        size = len(ranges)
        lost = np.concatenate(([0], np.cumsum(noisy[size:])))
        return cls(noisy[:size], scale, threshold, lost[ranges], ranges, kept)

    @property
    def is_shown(self) -> Flags:
        return self.counted >= self.threshold

    @property
    def estimates(self) -> Floats:
        """The counts, raised by what was lost on average; by no more than may have been lost."""
        return np.minimum(self.counted / self.kept, self.counted + np.maximum(self.missed, 0))

    def published(self, at: int, items: tuple[str, ...], most: int) -> NoisySupport:
        """One of them, as it is published."""
        support = int(_whole(self.estimates[at : at + 1], most)[0])
        counted, missed, noises = (
            int(part[at]) for part in (self.counted, self.missed, self.noises)
        )
        return NoisySupport(items, support, self.scale, counted, missed, noises)


@dataclass(frozen=True)
class Wanted:
    """The noisy counts that records are drawn to fit."""

    labels: Sequence[str]
    histogram: Floats
    """How many records have 0, 1, 2, ... frequent items."""
    items: Tally
    best: Int64s = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The items that were counted in pairs, the most frequent first."""
    pairs: Int64s = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    """Their pairs, as places in `best`, the first place smaller."""
    together: Tally | None = None
    """The counts of these pairs."""

    @property
    def pair_is_shown(self) -> Flags:
        """Pairs of items that are not published are not either."""
        if self.together is None:
            return np.zeros(0, dtype=bool)
        return self.together.is_shown & self.items.is_shown[self.best[self.pairs]].all(axis=1)

    def supports(self, size: int) -> list[NoisySupport]:
        """What is published; no support is larger than the number of records, nor that of a pair
        than that of its items."""
        found = {
            item: self.items.published(item, (self.labels[item],), size)
            for item in np.flatnonzero(self.items.is_shown).tolist()
        }
        more = []
        for at in np.flatnonzero(self.pair_is_shown).tolist():
            one, other = (found[item] for item in self.best[self.pairs[at]].tolist())
            names = tuple(sorted((*one.items, *other.items)))
            assert self.together is not None
            more.append(self.together.published(at, names, min(one.support, other.support)))
        return [*found.values(), *more]


def _whole(counts: Floats, most: int) -> Int64s:
    return np.asarray(np.clip(np.rint(counts), 0, most), dtype=np.int64)


def draw_records(wanted: Wanted, size: int, random: np.random.Generator) -> Transactions:
    """Records in which each published item occurs as often as its support says.

    Items are placed in turn, the most frequent first. Each record is given a number of
    frequent items that it should have, by the noisy histogram, and takes an item the more readily
    the more it lacks. For a frequent item these weights are fitted, in turn, to its published pairs
    with the items already placed; other pairs may not become more frequent than was counted. Items
    that were not counted in pairs go anywhere."""
    supports = _whole(np.where(wanted.items.is_shown, wanted.items.estimates, 0.0), size)
    # A number of frequent items for each record, by the histogram, in random order.
    total = wanted.histogram.sum()
    shares = wanted.histogram / total if total else np.eye(len(wanted.histogram))[0]
    bounds = np.rint(np.cumsum(shares) * size).astype(np.int64)
    lengths = np.searchsorted(bounds, np.arange(size), side="right")
    lacking = np.asarray(random.permutation(lengths), dtype=np.float64)
    holders: dict[int, Int64s] = {}
    limits = _limits(wanted, supports)
    paired = set(wanted.best.tolist())
    for item in np.argsort(-supports, kind="stable").tolist():
        if supports[item] == 0:
            break
        number = int(supports[item])
        if item not in paired:
            holders[item] = random.choice(size, number, replace=False)
            continue
        weights = np.maximum(lacking, FLOOR)
        weights = _fitted(weights, number, limits.get(item, []), holders)
        holders[item] = _drawn(weights, number, random)
        lacking[holders[item]] -= 1
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *holders.values()])
    items = np.repeat(np.array(list(holders), dtype=np.int64), [len(r) for r in holders.values()])
    return Transactions.from_pairs(rows, items, Vocabulary(wanted.labels), size=size)


Limit = tuple[int, float, bool]
"""Another item, how many records should have both, and whether at least as many."""


def _limits(wanted: Wanted, supports: Int64s) -> dict[int, list[Limit]]:
    """For each item, its pairs with items that are placed before it."""
    found: dict[int, list[Limit]] = {}
    if wanted.together is None:
        return found
    turn = positions(np.argsort(-supports, kind="stable"))
    is_shown, counts = wanted.pair_is_shown, wanted.together.estimates
    room = np.where(is_shown, 0, wanted.together.scale / wanted.together.kept)
    most = np.maximum(counts, 0) + room
    pairs = wanted.best[wanted.pairs].tolist()
    for (one, other), count, shown in zip(pairs, most, is_shown, strict=True):
        first, last = (one, other) if turn[one] < turn[other] else (other, one)
        if supports[last] > 0:
            found.setdefault(last, []).append((first, float(count), bool(shown)))
    return found


def _fitted(
    weights: Floats, support: int, limits: Sequence[Limit], holders: dict[int, Int64s]
) -> Floats:
    """Weights that add up to a support, also within the records of each item in `limits`.

    Iterative proportional fitting. A factor for all other records is kept aside as a number, so
    that a step only touches the records of one item."""
    fitted = weights * (support / weights.sum())
    for _ in range(ROUNDS if limits else 0):
        others = 1.0
        for item, wanted, at_least in limits:
            rows = holders[item]
            now = others * float(fitted[rows].sum())
            if now <= 0 or (not at_least and now <= wanted):
                continue
            target = min(max(wanted, 1e-3), 0.999 * support)
            rest = (support - target) / max(support - now, 1e-3 * support)
            fitted[rows] *= target / now / rest
            others *= rest
        fitted *= others
        np.minimum(fitted, 1.0, out=fitted)
        fitted *= support / fitted.sum()
    return np.asarray(fitted)


def _drawn(weights: Floats, number: int, random: np.random.Generator) -> Int64s:
    """Different records, each with a chance that is about proportional to its weight.

    Systematic sampling: in a random order, one record for each step of 1 of the sum of the
    chances."""
    chances = weights * (number / weights.sum())
    for _ in range(20):  # what exceeds 1 goes to the others
        full = chances >= 1
        room = number - int(full.sum())
        rest = chances[~full].sum()
        if room <= 0 or rest <= 0 or abs(rest - room) < 1e-6:
            break
        chances = np.where(full, 1.0, chances * (room / rest))
    order = random.permutation(len(chances))
    reached = np.cumsum(np.minimum(chances[order], 1.0))
    reached *= number / reached[-1]
    steps = np.floor(reached + random.random())
    chosen = order[np.diff(steps, prepend=0.0) > 0]
    return _exactly(chosen, number, len(chances), random)


def _exactly(chosen: Int64s, number: int, size: int, random: np.random.Generator) -> Int64s:
    """As many as asked for: rounding may have chosen a few more or fewer."""
    if len(chosen) >= number:
        return random.permutation(chosen)[:number]
    left = np.setdiff1d(np.arange(size), chosen)
    more = random.choice(left, number - len(chosen), replace=False)
    return np.concatenate([chosen, more])
