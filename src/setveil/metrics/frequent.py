"""How wrong the supports of the most frequent pairs and triples are, for every form."""

import numpy as np

from setveil.data.arrays import Floats, Int64s
from setveil.metrics.itemsets import Finder, Itemsets, top_itemsets
from setveil.metrics.queries import count_supports
from setveil.metrics.state import measured
from setveil.metrics.worlds import Records

MANY, FEW = 1000, 100  # how many itemsets are compared


@measured(Records.drawn)
def pair_error(
    found: Records, *, count: int = MANY, size: int = 2, find: Finder = top_itemsets
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

        >>> from setveil import KAnonymity, Suppressed, Transactions
        >>> original = Transactions.of([["a", "b"], ["a", "b"]])
        >>> pair_error(Suppressed.of([["a"], ["a", "b"]], KAnonymity(k=2)), original)
        0.5
    """
    original, published = found.original, found.published
    top = find(original, count, least_size=size, most_size=size)
    asked, truth, weights = _most_frequent(top, size)
    if not len(truth):
        return 0.0
    rows = published.vocabulary.find(original.vocabulary)[asked]
    known, expected = (rows >= 0).all(axis=1), np.zeros(len(asked))
    expected[known] = count_supports(published, rows[known]) / found.worlds
    return float(np.average(np.abs(truth - expected) / truth, weights=weights))


@measured(Records.drawn)
def pair_error_top(found: Records, *, find: Finder = top_itemsets) -> float:
    """Error of the most frequent pairs: as pair_error, for the first 100.

    Range: 0 upward."""
    return pair_error.figure(found, count=FEW, find=find)


@measured(Records.drawn)
def triple_error(found: Records, *, find: Finder = top_itemsets) -> float:
    """Error of frequent triples: as pair_error, for itemsets of 3 items.

    Range: 0 upward."""
    return pair_error.figure(found, size=3, find=find)


@measured(Records.drawn)
def triple_error_top(found: Records, *, find: Finder = top_itemsets) -> float:
    """Error of the most frequent triples: as triple_error, for the first 100.

    Range: 0 upward."""
    return pair_error.figure(found, count=FEW, size=3, find=find)


def _most_frequent(found: Itemsets, size: int) -> tuple[Int64s, Int64s, Floats]:
    """Itemsets as rows of items, their supports, and how much each counts."""
    certain, total = found.certain, len(found)
    weights = np.ones(total)
    weights[certain:] = (found.wanted - certain) / max(total - certain, 1)
    return found.itemsets.items.reshape(total, size).astype(np.int64), found.supports, weights
