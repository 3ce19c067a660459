"""How many records of a cluster have an item that it lists without counts.

The release says: at least one. An item of k records or more has a chunk, so fewer than k; in
between it says nothing. But the more items of a cluster are common enough for a chunk, the more are
nearly so, on all data that we looked at: if it shows `t` items for each one that it lists, a listed
item is in `1 + SHARE (k - 2) t^POWER` records on average. The estimates of `supports` and the
worlds of `reconstruct` both follow this rule. It needs no other cluster, so the estimates of the
parts of a release add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s
from setveil.data.transactions import Counts, Offsets
from setveil.published.disassociated.forest import Forest

SHARE, POWER = 0.1, 0.3
"""Measured on eight real and four generated sets, with k = 3, 5, 10 and 25."""
ERROR = 0.25
"""The standard error of `Listed.further`, as a share of the most that it can be. It is that of an
item that is common elsewhere, and so most likely nearly common enough; for others it is less."""


@dataclass(frozen=True, eq=False)
class Listed:
    """The numbers of records in which items are that clusters list without counts."""

    further: Floats
    """In how many records of each simple cluster a listed item is on average, besides the first."""
    sizes: Counts
    is_open: Flags
    """The items that are always listed, however many records have them, and all if k < 3, for which
    the rule was not measured: nothing is known."""
    most: int

    @classmethod
    def of(cls, forest: Forest) -> Listed:
        """From how many items each cluster lists, and how many it shows in record chunks."""
        release, (_, chunks) = forest.release, forest.domains
        nodes = release.chunk_node[chunks]
        shown = np.bincount(nodes, minlength=len(release.parent))[forest.nodes]
        listed, k = release.terms.lengths[forest.nodes], release.promise.crowd
        ratio = np.minimum(shown / np.maximum(listed, 1), 1)
        always = release.promise.named_items.get("sensitive", frozenset())
        is_open = np.array([item in always for item in release.items], dtype=bool) | (k < 3)
        further = SHARE * max(k - 2, 0) * ratio**POWER
        return cls(further, forest.sizes, is_open, max(k - 1, 1))

    def mean(self, item: int, clusters: Offsets) -> Floats:
        """The expected number in these clusters: of `draw`, exactly."""
        more = self._more(item, clusters) / (1 + self._more(item, clusters))
        found: Floats = (1 - more ** np.minimum(self.sizes[clusters], self.most)) / (1 - more)
        return found

    def error(self, item: int, clusters: Offsets) -> tuple[float, float]:
        """The standard error of the mean over these clusters, as a share of it, and its variance
        for each record by chance alone."""
        if self.is_open[item]:
            return np.inf, 0.0
        further = float(self._more(item, clusters).mean())
        return ERROR * (self.most - 1) / (1 + further), further

    def draw(self, items: Int32s, clusters: Offsets, random: np.random.Generator) -> Counts:
        """A random number for each item in a cluster: one, and each time another with the same
        chance, up to `most` or all."""
        drawn = random.geometric(1 / (1 + self._more(items, clusters)))
        return np.minimum(np.minimum(drawn, self.sizes[clusters]), self.most)

    def _more(self, item: int | Int32s, clusters: Offsets) -> Floats:
        return np.where(self.is_open[item], 0.0, self.further[clusters])
