"""How wrong the supports of the most frequent pairs and triples are, for every form."""

from typing import Unpack

import numpy as np

from setveil.data.arrays import Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.metrics.itemsets import Finder, Itemsets, top_itemsets
from setveil.metrics.queries import count_supports
from setveil.metrics.worlds import Drawing, Worlds, draw_worlds
from setveil.published.release import Release

MANY, FEW = 1000, 100  # how many itemsets are compared


def pair_error(
    release: Release,
    original: Transactions,
    *,
    count: int = MANY,
    size: int = 2,
    find: Finder = top_itemsets,
    **drawing: Unpack[Drawing],
) -> float:
    """Error of frequent pairs: how wrong the supports of the 1,000 most frequent pairs are.

    Formula: the average of |so - sp| / so over the `count` itemsets of `size` items with the
    greatest supports so in the original; sp is the support in a reconstruction (the average of
    several). Of the itemsets that tie for the last rank all are taken, each with the weight that
    makes them fill the ranks left: the average over all ways to break ties.

    Range: 0 (all supports are right) upward, without a bound; 1 if none of them is found any more.
    0 if the original has no pairs.

    Example:
        Both records had the pair, and it is found in one of them.

        >>> from setveil import Suppressed, KAnonymity
        >>> original = Transactions.of([["a", "b"], ["a", "b"]])
        >>> pair_error(Suppressed.of([["a"], ["a", "b"]], KAnonymity(k=2)), original)
        0.5
    """
    asked, truth, weights = _most_frequent(
        find(original, count, least_size=size, most_size=size), size
    )
    if not len(truth):
        return 0.0
    published = _published(draw_worlds(release, **drawing), original, asked)
    return float(np.average(np.abs(truth - published) / truth, weights=weights))


def pair_error_top(
    release: Release,
    original: Transactions,
    *,
    find: Finder = top_itemsets,
    **drawing: Unpack[Drawing],
) -> float:
    """Error of the most frequent pairs: as pair_error, for the first 100.

    Range: 0 upward."""
    return pair_error(release, original, count=FEW, find=find, **drawing)


def triple_error(
    release: Release,
    original: Transactions,
    *,
    find: Finder = top_itemsets,
    **drawing: Unpack[Drawing],
) -> float:
    """Error of frequent triples: as pair_error, for itemsets of 3 items.

    Range: 0 upward."""
    return pair_error(release, original, size=3, find=find, **drawing)


def triple_error_top(
    release: Release,
    original: Transactions,
    *,
    find: Finder = top_itemsets,
    **drawing: Unpack[Drawing],
) -> float:
    """Error of the most frequent triples: as triple_error, for the first 100.

    Range: 0 upward."""
    return pair_error(release, original, count=FEW, size=3, find=find, **drawing)


def _most_frequent(found: Itemsets, size: int) -> tuple[Int64s, Int64s, Floats]:
    """Itemsets as rows of items, their supports, and how much each counts."""
    certain, total = found.certain, len(found)
    weights = np.ones(total)
    weights[certain:] = (found.wanted - certain) / max(total - certain, 1)
    return found.itemsets.items.reshape(total, size).astype(np.int64), found.supports, weights


def _published(worlds: Worlds, original: Transactions, asked: Int64s) -> Floats:
    """The average support of each itemset over all worlds, which may not have every item."""
    sums = np.zeros(len(asked))
    for world in worlds:
        numbers = world.vocabulary.numbers
        found = np.array([numbers.get(item, -1) for item in original.vocabulary], dtype=np.int64)
        rows = found[asked]
        known = np.flatnonzero((rows >= 0).all(axis=1))
        sums[known] += count_supports(world, rows[known])
    return sums / len(worlds)
