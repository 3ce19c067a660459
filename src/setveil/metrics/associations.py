"""What happened to frequent itemsets: tkd and its variants, and the errors of pairs and triples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from setveil.data.arrays import Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics.itemsets import Finder, Itemsets, top_itemsets
from setveil.metrics.queries import count_supports
from setveil.metrics.state import Measure, Records, measured

TOP = 1000  # how many itemsets are compared. [Terrovitis2012] section 7
Itemset = tuple[str, ...]
MANY, FEW = 1000, 100  # how many itemsets are compared


@measured(Records.drawn)
def tkd(found: Records, *, count: int = TOP, find: Finder = top_itemsets) -> float:
    """Top-K deviation: the share of the 1,000 most frequent itemsets that leave the top 1,000.

    Formula: tkd = 1 - |FI and FI'| / |FI|, where FI are the K itemsets of any size with the
    greatest supports in the original, FI' those of a reconstruction. With several reconstructions
    FI' goes by the average supports. Itemsets that tie for rank K may be in or out: the figure is
    the middle between the best and the worst way to break ties, which `tkd_range` gives.
    [Terrovitis2012] section 6

    Range: 0 (all are still at the top) to 1 (none is). 0 if the original has no items.

    Example:
        The items a and b are in chunks of their own, but 3 and 3 of them fill 4 records only if 2
        records have both, as in the original.

        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> cluster = SimpleCluster(4, [{("a",): 3}, {("b",): 3}])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=3, m=2))
        >>> tkd(release, Transactions.of([["a", "b"], ["a", "b"], ["a"], ["b"]]), count=3)
        0.0
    """
    return _deviation(found, count, find).middle


@measured(Records.drawn)
def tkd_2(found: Records, *, count: int = TOP, find: Finder = top_itemsets) -> float:
    """Top-K deviation of larger itemsets: as tkd, among the itemsets of 2 or more items.

    A disassociated release keeps every single item, so this variant says more about what was
    linked. Formula, range and arguments as `tkd`."""
    return _deviation(found, count, find, least_size=2).middle


@measured(Records.certain)
def tkd_a(found: Records, *, count: int = TOP, find: Finder = top_itemsets) -> float:
    """Top-K deviation of what is certain: as tkd, but only what is inside chunks counts.

    Formula: 1 - |FI and FI'| / |FI|, where FI' goes by the number of subrecords of record and
    shared chunks that contain an itemset, plus one for each term chunk that has a single item. It
    needs no reconstruction and does not depend on chance. Ties as in `tkd`. [Terrovitis2012]
    section 7

    Range: 0 to 1.

    Example:
        The top itemsets are {a}, {b} and {a, b}; the pair is in no chunk.

        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> cluster = SimpleCluster(4, [{("a",): 4}, {("b",): 3}], ["c"])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=3, m=2))
        >>> original = Transactions.of([["a", "b"], ["a", "b"], ["a", "b"], ["a", "c"]])
        >>> tkd_a(release, original, count=3)
        0.3333333333333333
    """
    return _deviation(found, count, find).middle


@measured(Records.certain)
def tkd_a_2(found: Records, *, count: int = TOP, find: Finder = top_itemsets) -> float:
    """Top-K deviation of larger itemsets that are certain: as tkd_a, of 2 or more items.

    Range: 0 to 1."""
    return _deviation(found, count, find, least_size=2).middle


def _deviation(
    found: Records, count: int = TOP, find: Finder = top_itemsets, *, least_size: int = 1
) -> Deviation:
    """The deviation with ties for the last ranks broken for the best and for the worst."""
    published = find(found.published, count, least_size=least_size, weights=found.weights)
    return deviation(_top(find(found.original, count, least_size=least_size)), _top(published))


tkd_range, tkd_a_range = (Measure(state, _deviation) for state in (Records.drawn, Records.certain))


@measured(Records.drawn)
def tkd_ml2(found: Records, *, hierarchy: Hierarchy, count: int = TOP) -> float:
    """Top-K multiple level mining loss: as tkd, for itemsets of nodes at every level of a tree.

    Formula: 1 - |FI and FI'| / |FI|, where FI are the K most frequent itemsets whose items are all
    on one level of the hierarchy (below the root), over all levels together; an item without a node
    on a level counts as itself there. FI' is the same of a reconstruction. Ties as in `tkd`.
    [Terrovitis2012] section 6

    Range: 0 to 1.

    Example:
        Whichever drink went with which milk, a drink went with each.

        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> paths = [("beer", "Drink", "ALL"), ("wine", "Drink", "ALL"), ("milk", "Food", "ALL")]
        >>> cluster = SimpleCluster(2, [{("milk",): 2}, {("beer",): 1, ("wine",): 1}])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
        >>> original = Transactions.of([["beer", "milk"], ["wine", "milk"]])
        >>> tkd_ml2(release, original, hierarchy=Hierarchy.from_paths(paths), count=4)
        0.0
    """
    here, there = (
        _top_of_levels(data, hierarchy, count) for data in (found.original, found.published)
    )
    return deviation(here, there).middle


def _top(found: Itemsets) -> Top:
    return Top.of(_supports(found), found.wanted)


def _supports(found: Itemsets) -> dict[Itemset, int]:
    return {tuple(sorted(itemset)): support for itemset, support in found}


def _top_of_levels(data: Transactions, hierarchy: Hierarchy, count: int) -> Top:
    leaves = hierarchy.leaf_numbers(data.vocabulary)[data.items]
    levels = []
    for depth in range(1, hierarchy.height + 1) if hierarchy.height else [0]:
        nodes = hierarchy.ancestors[leaves, depth]
        level = Transactions.from_pairs(
            data.rows, np.where(nodes >= 0, nodes, leaves), hierarchy.nodes, size=len(data)
        )
        levels.append(_supports(top_itemsets(level, count)))
    found = {itemset: support for level in levels for itemset, support in level.items()}
    return Top.of(found, count)


@dataclass(frozen=True)
class Top:
    """The itemsets that are among the top for certain, and those that tie for the `places` left."""

    certain: frozenset[Itemset]
    ties: frozenset[Itemset]
    places: int

    @classmethod
    def of(cls, found: Mapping[Itemset, int], count: int) -> Top:
        """The top `count` of itemsets with their supports."""
        if len(found) <= count:
            return cls(frozenset(found), frozenset(), 0)
        last, following = sorted(found.values(), reverse=True)[count - 1 : count + 1]
        least = last + (last == following)
        certain = frozenset(itemset for itemset, support in found.items() if support >= least)
        ties = frozenset(itemset for itemset, support in found.items() if support == last)
        return cls(certain, ties - certain, count - len(certain))

    def __len__(self) -> int:
        return len(self.certain) + self.places


@dataclass(frozen=True)
class Deviation:
    """The share of the top itemsets that is lost, with ties broken for the best and the worst."""

    best: float
    worst: float

    @property
    def middle(self) -> float:
        return (self.best + self.worst) / 2


def deviation(original: Top, published: Top) -> Deviation:
    """1 - |FI and FI'| / |FI|, over all ways to break ties in either list; 0 if there are none.

    Example:
        >>> first = Top.of({("a",): 3, ("b",): 2, ("c",): 1}, 2)
        >>> deviation(first, Top.of({("a",): 3, ("b",): 1, ("c",): 1}, 2))
        Deviation(best=0.0, worst=0.5)
    """
    if not len(original):
        return Deviation(0.0, 0.0)
    both = len(original.certain & published.certain)
    here, there = len(original.ties & published.certain), len(published.ties & original.certain)
    tied = len(original.ties & published.ties)
    taken, other = min(here, original.places), min(there, published.places)
    most = both + taken + other + min(tied, original.places - taken, published.places - other)
    least = both + _forced(original, here) + _forced(published, there)
    forced = _forced_ties(original, here, tied) + _forced_ties(published, there, tied)
    least += max(0, forced - tied)
    size = len(original)
    return Deviation((size - most) / size, (size - least) / size)


def _forced(top: Top, certain: int) -> int:
    """How many of the ties that are certain in the other list must be taken at least."""
    return max(0, top.places - (len(top.ties) - certain))


def _forced_ties(top: Top, certain: int, tied: int) -> int:
    """How many ties of both lists must be taken if as few certain ones as possible are."""
    return min(tied, max(0, top.places - (len(top.ties) - certain - tied)))


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
