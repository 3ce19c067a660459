"""The method Frequent: noisy supports of frequent items and pairs, and records that fit them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import ClassVar

import numpy as np

from setveil.data.arrays import Floats, Int64s, positions
from setveil.data.transactions import Transactions
from setveil.methods.frequent.contribution import (
    MOST_LENGTH,
    cut_ranges,
    cut_records,
    frequent_lengths,
    kept_shares,
    lost_items,
    lost_pairs,
    pair_counts,
    ranks,
    shortened,
    smoothed,
)
from setveil.methods.frequent.synthesis import Tally, Wanted, draw_records
from setveil.methods.private import Private, PrivateMethod
from setveil.parameters import with_default
from setveil.promises import DifferentialPrivacy, Promise
from setveil.published.ledger import Expense, scale_for
from setveil.published.synthetic import Synthetic

SHARES = {"records": 1, "ranking": 7, "lengths": 4, "items": 42, "pairs": 46}
"""How the budget is divided if the list of items is public, in hundredths."""
FINDING = {"records": 1, "domain": 30, "lengths": 4, "items": 31, "pairs": 34}
"""The same if the items are found privately."""
RANKED = 5  # how many items of a record are counted to rank them
MOST_PAIRED = 16
_DIGITS = 60  # of what a threshold is computed with
TYPICAL = 7
"""How many times as often as the average pair of frequent items a pair is that should be found."""
HEED = 0.7
"""How much an item lost by cutting records weighs against one of noise: some of it is made up
for."""
DOUBT, PAIR_DOUBT = 0.1, 0.005
"""How much each record that is cut weighs, as it may have lost any item or pair: intervals are
wider by that. Pairs are fewer the larger the noise is, so it weighs less for them."""
SPURIOUS = 0.25
"""Which share of the published itemsets may be there because of noise alone, at most."""


@dataclass(frozen=True, kw_only=True)
class Frequent(PrivateMethod):
    """Publishes noisy supports of frequent items and of frequent pairs, and records that fit them.

    Sparse data has too many possible records for noise on each: DiffPart publishes next to nothing.
    But one record has few items, so it changes few counts of items and pairs if long records are
    cut. Five noisy counts are made, each with a fixed share of epsilon:

    1. the number of records;
    2. a rough ranking of the items, from up to 5 random items of each record;
    3. how many records have 0, 1, 2, ... of the first 100 items of that ranking; from it, privately
       but for free, how many items of a record to count: few give less noise, many lose less;
    4. the supports of all items, in records cut to their best ranked items;
    5. the supports of all pairs of the 100 most frequent items, in records cut again.

    Supports are raised by what the cut is estimated to have lost. Those that noise alone could
    explain are left out. Then records are drawn, item by item, so that each published item occurs
    as often as its noisy support says, and each pair about as often. Nothing after the five counts
    looks at the data. `docs/methods/frequent.md` has the proof. The idea of counting pairs of the
    items that are frequent is from [Li2012], cutting records by a noisy ranking from [Zeng2012].

    Departures from the papers:
        - PrivBasis counts every subset of a few bases; here all pairs of 100 items are counted
          directly, which has less noise while records are short.
        - Both take the number of records and the length to cut at from the data or the user.

    Cost: One noise for each item and each pair of the frequent items, about 10 microseconds each;
        else linear in the data.

    Example:
        >>> data = [["beer", "wine"], ["beer"], ["milk"]] * 2_000
        >>> promise, items = DifferentialPrivacy(epsilon=1), ["beer", "gin", "milk", "wine"]
        >>> release = Frequent().anonymize(data, promise, domain=items)
        >>> ("beer", "wine") in {one.items for one in release.supports}
        True
        >>> 1_000 < release.support(["beer", "wine"]).expected < 3_000
        True
    """

    name: ClassVar[str] = "frequent"
    chosen_for: ClassVar[Mapping[type[Promise], str]] = {
        DifferentialPrivacy: "it keeps what is frequent, also in sparse data"
    }
    needs_hierarchy: ClassVar[bool] = False
    takes_hierarchy: ClassVar[bool] = True
    finds_items: ClassVar[bool] = True

    max_items: int | None = with_default(
        None,
        "How many items of a record are counted; chosen privately if not given.",
        metavar="N",
        least=1,
    )
    max_paired: int | None = with_default(
        None,
        "How many items of a record are counted in pairs; chosen privately if not given.",
        metavar="N",
        least=2,
    )
    paired: int = with_default(
        100, "How many of the most frequent items are counted in pairs.", metavar="N", least=2
    )

    def _publish(self, private: Private) -> Synthetic:
        shares = {
            name: Fraction(part, 100)
            for name, part in (SHARES if private.is_public else FINDING).items()
        }
        budget, request = private.budget, private.request
        request.report(0, 5, "counting records")
        total = np.array([len(private.data)])
        size = max(int(budget.count("records", total, shares["records"])[0][0]), 0)
        request.report(1, 5, "ranking items")
        data, rank = _ranked(private, shares)
        counted = self._counted(private, data, rank, shares)
        request.report(4, 5, "drawing records")
        rows = draw_records(counted, size, np.random.default_rng())
        return Synthetic.of_rows(
            rows,
            private.promise,
            self.to_dict(),
            people=size,
            ledger=budget.ledger,
            supports=counted.supports(size),
        )

    def _counted(
        self, private: Private, data: Transactions, rank: Int64s, shares: Mapping[str, Fraction]
    ) -> Wanted:
        """The noisy counts of lengths, items and pairs."""
        budget, items = private.budget, len(data.vocabulary)
        paired = min(self.paired, items)
        lengths = frequent_lengths(data, rank, paired)
        noisy, scale = budget.count("lengths", lengths, shares["lengths"])
        histogram = smoothed(noisy, scale)
        private.request.report(2, 5, "counting items")
        most = self.max_items or self._choose_items(private, histogram, paired, shares["items"])
        starts = cut_ranges(min(most, max(items, 1)), items)
        _, kept = shortened(data, rank[data.items], most)
        counts = np.bincount(kept, minlength=items)
        counts = np.concatenate((counts, cut_records(data, rank, starts, items)))
        noisy, scale = budget.count(
            "items",
            counts,
            shares["items"],
            sensitivity=min(most, max(items, 1)) + bool(len(starts)),
        )
        best = np.argsort(rank)[:paired]
        shares_kept = np.ones(items)
        shares_kept[best] = kept_shares(histogram, noisy[best].astype(float), most, 1)
        ranges = np.searchsorted(starts, rank, side="right")
        threshold = budget.publish_from(least_shown(noisy[:items], scale))
        tally = Tally.of(noisy, scale, ranges, shares_kept, threshold)
        wanted = Wanted(labels=data.vocabulary.labels, histogram=histogram, items=tally)
        private.request.report(3, 5, "counting pairs")
        return self._with_pairs(private, data, wanted, tally.counted, shares["pairs"])

    def _with_pairs(
        self,
        private: Private,
        data: Transactions,
        wanted: Wanted,
        counts: Int64s,
        share: Fraction,
    ) -> Wanted:
        """Also the noisy counts of pairs."""
        rank = ranks(counts)
        best = np.argsort(rank)[: min(self.paired, len(counts))]
        if len(best) < 2:
            return wanted
        most = self.max_paired or self._choose_paired(private, wanted.histogram, len(best), share)
        most = min(most, len(best))
        place = positions(best, len(counts))
        rows, kept = shortened(data, rank[data.items], most)
        inside = place[kept] >= 0
        table = pair_counts(rows[inside], place[kept[inside]], len(best))
        upper, starts = np.triu_indices(len(best), 1), cut_ranges(most, len(best))
        counts = np.concatenate((table[upper], cut_records(data, rank, starts, len(best))))
        together = most * (most - 1) // 2 + bool(len(starts))
        noisy, scale = private.budget.count("pairs", counts, share, sensitivity=together)
        shares_kept = kept_shares(wanted.histogram, wanted.items.estimates[best], most, 2)[upper[1]]
        ranges = np.searchsorted(starts, upper[1], side="right")
        threshold = private.budget.publish_from(least_shown(noisy[: len(ranges)], scale))
        tally = Tally.of(noisy, scale, ranges, shares_kept, threshold)
        return replace(wanted, best=best, pairs=np.stack(upper, axis=1), together=tally)

    def _choose_items(
        self, private: Private, histogram: Floats, paired: int, share: Fraction
    ) -> int:
        """How many items of a record to count, so that loss and noise together are least."""
        epsilon = private.budget.epsilon * share
        mean = float((histogram * np.arange(len(histogram))).sum()) / max(paired, 1)

        def cost(most: int) -> float:
            lost = HEED * lost_items(histogram, most) * mean
            noise = scale_for(epsilon, private.budget.most * (most + 1))
            return lost + DOUBT * float(histogram[most + 1 :].sum()) + noise

        return min(range(1, MOST_LENGTH + 1), key=cost)

    def _choose_paired(
        self, private: Private, histogram: Floats, paired: int, share: Fraction
    ) -> int:
        """How many items of a record to count in pairs, in the same way."""
        epsilon, lengths = private.budget.epsilon * share, np.arange(len(histogram))
        pairs = float((histogram * lengths * (lengths - 1)).sum()) / (paired * (paired - 1))

        def cost(most: int) -> float:
            lost = TYPICAL * lost_pairs(histogram, most) * pairs
            noise = scale_for(epsilon, private.budget.most * (most * (most - 1) // 2 + 1))
            return lost + PAIR_DOUBT * float(histogram[most + 1 :].sum()) + noise

        return min(range(2, MOST_PAIRED), key=cost)


def _ranked(private: Private, shares: Mapping[str, Fraction]) -> tuple[Transactions, Int64s]:
    """The data over the items that may be published, and the rank of each."""
    data, budget = private.data, private.budget
    _, kept = shortened(data, budget.noise.keys(len(data.items)), RANKED)
    counts = np.bincount(kept, minlength=len(data.vocabulary))
    if private.is_public:
        most = max(min(RANKED, len(counts)), 1)
        noisy, _ = budget.count("ranking", counts, shares["ranking"], sensitivity=most)
        return data, ranks(noisy)
    most = budget.most
    threshold = threshold_for(budget.epsilon * shares["domain"], budget.delta, most)
    spent = budget.spend(
        Expense.of(
            "domain",
            budget.epsilon * shares["domain"],
            sensitivity=most * RANKED,
            delta=budget.delta,
            threshold=threshold,
        )
    )
    # An item that does not occur is never published, so counts of 0 need no noise.
    noisy = np.where(counts > 0, budget.noise.laplace(counts, spent.scale), 0)
    found = noisy >= threshold
    return data.keeping(found), ranks(noisy[found])


def threshold_for(epsilon: Fraction, delta: Fraction, most: int = 1) -> int:
    """The least noisy count with which an item is published if the list of items is private.

    A person has up to C = `most` records. Items that are counted with 0 without the person, and up
    to C times with them, are at most C RANKED. With noise X of scale b each is published with a
    chance of at most p = P[X >= t - C], and any of them with at most 1 - (1 - p)^(C RANKED), which
    must not exceed delta. For t above C, p is exp(-(t - C) / b) / (1 + exp(-1 / b))."""
    items = most * RANKED
    with localcontext(prec=_DIGITS + 2 * len(str(delta.denominator))):
        scale, one = Decimal(scale_for(epsilon, items)), Decimal(1)
        none = one - Decimal(delta.numerator) / Decimal(delta.denominator)
        each = one - (none.ln() / items).exp()
        needed = -scale * (each * (one + (-one / scale).exp())).ln()
        return most + max(math.ceil(needed + Decimal(10) ** -(_DIGITS // 2)), 1)


def least_shown(counts: Int64s, scale: float) -> int:
    """The least noisy count that is published, so that few of them are noise alone.

    A count of 0 is t or more with a chance of about exp(-t / scale) / 2. The threshold is the least
    t at which so many counts of 0 would be no more than the share SPURIOUS of all that pass."""
    ordered = np.sort(counts)[::-1]
    passing = np.arange(1, len(ordered) + 1)
    spurious = len(counts) / 2 * np.exp(-np.maximum(ordered, 0) / scale)
    fine = np.flatnonzero((ordered > 0) & (spurious <= SPURIOUS * passing))
    number = int(fine[-1]) + 1 if len(fine) else 1
    return max(math.ceil(scale * math.log(max(len(counts), 1) / 2 / SPURIOUS / number)), 1)
