"""How many records of a cluster have an item that it lists without counts.

The release says: at least one. An item of k records or more has a chunk, so fewer than k; in
between it says nothing. But the more often an item is common enough for a chunk, the more often it
is nearly so, on all data that we looked at: if `t` clusters show an item in a chunk for each one
that lists it, a listed item is in `1 + SHARE (k - 2) t^(1/4)` records on average. The estimates of
`supports` and the worlds of `reconstruct` both follow this rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s, sums
from setveil.data.transactions import Counts
from setveil.published.disassociated.forest import Forest

if TYPE_CHECKING:
    from setveil.published.disassociated.form import Disassociated

SHARE = 0.09
"""Measured on groceries, msweb and generated invoices, with k = 3, 5 and 10."""
ERROR = 0.5
"""The standard error of `Listed.further`, as a share of it: the root mean square over seven sets
that were not used for `SHARE`, with the same k."""
POOLED = 16
"""The ratio of an item counts as much as this number of listings with that of similar items."""


@dataclass(frozen=True, eq=False)
class Listed:
    """The numbers of records in which items are that clusters list without counts."""

    further: Floats
    """For each item, in how many records it is on average besides the first."""
    is_open: Flags
    """The items that are always listed, however many records have them, and all if k < 3, for which
    the rule was not measured: nothing is known."""
    most: int

    @classmethod
    def of(cls, release: Disassociated, forest: Forest) -> Listed:
        """From how many clusters list each item and how many show it in a record chunk, and what
        this is for items that are listed about as often."""
        items, chunks = forest.domains
        own = release.is_simple[release.chunk_node[chunks]]
        listed, shown = release.terms.supports(), sums(items[own], own[own], len(release.items))
        octave = np.frexp(listed)[1]
        pooled = (np.bincount(octave, weights=each) + 1 for each in (shown, listed))
        similar = np.divide(*pooled)[octave]
        ratio = np.minimum((shown + POOLED * similar) / (listed + POOLED), 1)
        k = release.promise.crowd
        always = release.promise.named_items.get("sensitive", frozenset())
        is_open = np.array([item in always for item in release.items], dtype=bool) | (k < 3)
        further = np.where(is_open, 0.0, SHARE * max(k - 2, 0) * ratio**0.25)
        return cls(further, is_open, max(k - 1, 1))

    def mean(self, item: int, sizes: Counts) -> Floats:
        """The expected number in clusters of these sizes: of `draw`, exactly."""
        more = self.further[item] / (1 + self.further[item])
        found: Floats = (1 - more ** np.minimum(sizes, self.most)) / (1 - more)
        return found

    def error(self, item: int) -> float:
        """The standard error of the mean, as a share of it."""
        further = float(self.further[item])
        return np.inf if self.is_open[item] else ERROR * further / (1 + further)

    def draw(self, items: Int32s, sizes: Counts, random: np.random.Generator) -> Counts:
        """A random number for each item in a cluster of that size: one, and each time another with
        the same chance, up to `most` or all."""
        drawn = random.geometric(1 / (1 + self.further[items]))
        return np.minimum(np.minimum(drawn, sizes), self.most)
