"""How wrong the supports of single items are, for every form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.alignment.align import over_whole_tree
from setveil.data.arrays import Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.metrics.state import State, measured
from setveil.published.release import Release


@dataclass(frozen=True, eq=False)
class ItemSupports(State):
    """How many records have each item, and how many an analyst expects to have it."""

    truth: Int64s
    expected: Floats

    @classmethod
    def of(cls, release: Release, original: Transactions) -> ItemSupports:
        return cls(original.supports(), expected_supports(release, original))


@measured(ItemSupports.of)
def item_error(found: ItemSupports) -> float:
    """Error of the supports of items: how many of the occurrences an analyst miscounts.

    Formula: sum of |so - se| over all items of the original, divided by the sum of so, where so is
    the number of original records with the item, and se the number that the release alone lets one
    expect (`release.estimates`).

    Range: 0 (the supports of all items are right) upward; 1 if nothing is published, at most 2 if
    as many occurrences are expected as there were. 0 if no record has items.

    Example:
        Of two people behind "Alcohol" one is expected to have bought beer, and one wine; both
        bought beer.

        >>> from setveil import Generalized, Hierarchy, KAnonymity
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol"), ("wine", "Alcohol")])
        >>> release = Generalized.of([["Alcohol"], ["Alcohol"]], tree, KAnonymity(k=2))
        >>> item_error(release, Transactions.of([["beer"], ["beer"]]))
        0.5
    """
    total = int(found.truth.sum())
    return float(np.abs(found.expected - found.truth).sum() / total) if total else 0.0


def expected_supports(release: Release, original: Transactions) -> Floats:
    """How many records an analyst expects to have each item of the original."""
    items = list(original.vocabulary.labels)
    queries = np.arange(len(items), dtype=np.int64)[:, None]
    return over_whole_tree(release, original).estimates(items, queries)
