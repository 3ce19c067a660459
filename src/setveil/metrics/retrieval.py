"""What was lost of frequent patterns: recall, sdist and term_counts. [Liu2010b] section V-B"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from setveil.alignment.align import check_size, over_tree
from setveil.data.arrays import Int64s, sums
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics.itemsets import closed_itemsets
from setveil.metrics.state import Records, State, measured
from setveil.published.release import RecordRelease, Release

EPSILON, OMEGA = 4, 10  # the numbers of [Liu2010b], for releases without their own
SCALE = 1000  # omega may be a fraction: distances are counted in thousandths


@dataclass(frozen=True)
class Meaning:
    """Which items are close in meaning, and what one without a partner costs."""

    epsilon: int
    omega: float

    @classmethod
    def of(cls, release: Release) -> Meaning:
        """The numbers of a release, or those of the paper if it has none."""
        facts: dict[str, Any] = {"epsilon": EPSILON, "omega": OMEGA} | release.facts
        return cls(facts["epsilon"], facts["omega"])

    @property
    def nil(self) -> int:
        """Omega, scaled."""
        return round(SCALE * self.omega)

    def table(
        self, items: Vocabulary, published: Vocabulary, tree: Hierarchy, network: Hierarchy
    ) -> Int64s:
        """The scaled distance of each item to each published label; -1 if it is more than epsilon.

        `published` are original items or nodes of the tree; `network` gives the distances of items.
        """
        table = np.full((len(items), len(published)), -1, dtype=np.int64)
        leaves = tree.leaf_numbers(items).astype(np.int64)
        nodes = tree.nodes.encode(published.labels).astype(np.int64)
        inner = np.flatnonzero(nodes >= tree.leaf_count)
        if len(inner):
            table[:, inner] = _edges(tree, leaves, nodes[inner])
        outer = np.flatnonzero(nodes < tree.leaf_count)
        shown = [published[number] for number in outer.tolist()]
        together = Vocabulary.of([*items, *shown])
        near = network.neighbours(together, self.epsilon)
        all_pairs = np.full((len(together), len(together)), -1, dtype=np.int64)
        owners = np.repeat(np.arange(len(together)), np.diff(near.indptr))
        all_pairs[owners, near.items] = near.distances
        table[:, outer] = all_pairs[np.ix_(together.encode(items.labels), together.encode(shown))]
        return np.where((table < 0) | (table > self.epsilon), -1, table * SCALE)


def _edges(tree: Hierarchy, leaves: Int64s, nodes: Int64s) -> Int64s:
    """The number of edges between each leaf and each node."""
    paths, others = tree.ancestors[leaves], tree.ancestors[tree.first[nodes]]
    shared = np.zeros((len(leaves), len(nodes)), dtype=np.int64)
    for depth in range(1, tree.height + 1):
        shared += (paths[:, None, depth] == others[None, :, depth]) & (paths[:, None, depth] >= 0)
    shared = np.minimum(shared, tree.depth[nodes][None, :])
    return tree.depth[leaves][:, None] + tree.depth[nodes][None, :] - 2 * shared


TOP = 1000  # how many closed itemsets are compared
_BLOCK = 1 << 10


@measured(Records.classes)
def recall(found: Records, *, count: int = TOP, least_size: int = 1) -> float:
    """Recall: how much of the most frequent closed itemsets is still found together in the release.

    Formula: the sum over the itemsets O of the original of the greatest |O and A| over the itemsets
    A of the release, divided by the sum of |O|; on either side the `count` closed itemsets of
    greatest support. Counts of bags are ignored. A node of the tree is an original item only if it
    is a leaf; a slot counts as its most frequent item. [Liu2010b] section V-B

    Range: 0 (nothing is found) to 1 (everything). 1 if the original has no items.

    Ties: of those that tie for the last rank the shorter come first, then in the order of items.

    Example:
        Of {beer, wine}, {beer} and {milk}, wine is not found:

        >>> from setveil import TypicalBags, VocabularyKAnonymity
        >>> original = Transactions.of([["beer", "wine"], ["beer"], ["milk"], ["milk"]])
        >>> bags = [["beer"], ["beer"], ["milk"], ["milk"]]
        >>> recall(TypicalBags.of(bags, VocabularyKAnonymity(k=2)), original)
        0.75
    """
    here, there = _closed(found, count, least_size)
    if not len(here.items):
        return 1.0
    used = np.unique(here.items)
    place = {here.vocabulary[number]: column for column, number in enumerate(used.tolist())}
    columns = np.array([place.get(label, -1) for label in there.vocabulary], dtype=np.int64)
    known = columns[there.items] >= 0
    published = np.zeros((len(there), len(used)), dtype=np.float32)
    published[there.rows[known], columns[there.items[known]]] = 1
    held_in = 0.0
    for start in range(0, len(here), _BLOCK):
        block = here.take(np.arange(start, min(start + _BLOCK, len(here))))
        held = np.zeros((len(block), len(used)), dtype=np.float32)
        held[block.rows, np.searchsorted(used, block.items)] = 1
        held_in += float((held @ published.T).max(axis=1, initial=0).sum())
    return held_in / len(here.items)


@dataclass(frozen=True, eq=False)
class Compared(Records):
    """Records whose items are compared by their meaning."""

    shared = ("worlds", "meaning", "tree", "network")
    meaning: Meaning = field(kw_only=True)
    tree: Hierarchy = field(kw_only=True)
    """That of the published nodes."""
    network: Hierarchy = field(kw_only=True)

    @classmethod
    def of(
        cls, release: RecordRelease, original: Transactions, *, hierarchy: Hierarchy | None = None
    ) -> Compared:
        check_size(release, original)
        release = over_tree(release, original, hierarchy)
        tree = release.tree if hierarchy is None else hierarchy
        if tree is None:
            allowed = "sdist compares items by their meaning and needs a hierarchy over them"
            raise ParameterError("hierarchy", None, allowed)
        found, own = Records.classes(release, original), release.tree
        return cls(
            found.before,
            found.after,
            found.times,
            meaning=Meaning.of(release),
            tree=tree if own is None else own,
            network=tree,
        )


@measured(Compared.of)
def sdist(found: Compared, *, count: int = TOP, least_size: int = 1) -> float:
    """Semantic distance: how far the most frequent closed itemsets moved, in steps per item.

    Formula: the sum over the itemsets O of the original of the least distance(O, A) over the
    itemsets A of the release, divided by the sum of |O|; on either side the `count` closed itemsets
    of greatest support. distance(O, A) is the least sum of distances of a matching of their items
    in which an item without a partner costs omega; two items may be matched if they are at most
    epsilon apart (epsilon and omega are those of the release, else 4 and 10). Items are compared by
    `hierarchy.neighbours`; an inner node and an item by the edges between them. [Liu2010b] section
    V-B

    Range: 0 (all are there as they were) upward; omega if nothing is published, at most twice that.
    0 if the original has no items.

    Example:
        Wine is published as beer, two edges away: {beer} is there, {wine} is 2 away.

        >>> from setveil import TypicalBags, VocabularyKAnonymity
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> release = TypicalBags.of([["beer"]] * 4, VocabularyKAnonymity(k=2))
        >>> original = Transactions.of([["beer"], ["beer"], ["wine"], ["wine"]])
        >>> sdist(release, original, hierarchy=Hierarchy.from_paths(paths))
        1.0
    """
    from setveil.kernels.retrieval import BagRows, nearest_distances

    here, there = _closed(found, count, least_size)
    if not len(here.items):
        return 0.0
    some, names = _numbered(here)
    others, published = _numbered(there)
    table = found.meaning.table(names, published, found.tree, found.network)
    apart = nearest_distances(
        BagRows(some.indptr, some.items, np.ones(len(some.items), dtype=np.int64)),
        BagRows(others.indptr, others.items, np.ones(len(others.items), dtype=np.int64)),
        table,
        found.meaning.nil,
    )
    return int(apart.sum()) / SCALE / len(here.items)


def _closed(found: Records, count: int, least_size: int) -> list[Transactions]:
    """The first `count` closed itemsets of the original and of what is published."""
    sides = (found.original, None), (found.published, found.weights)
    closed = [
        closed_itemsets(data, count, least_size=least_size, weights=weights).itemsets
        for data, weights in sides
    ]
    return [each.take(np.arange(min(count, len(each)))) for each in closed]


def _numbered(data: Transactions) -> tuple[Transactions, Vocabulary]:
    """The same itemsets over a vocabulary of the items in them."""
    used = np.unique(data.items)
    vocabulary = Vocabulary([data.vocabulary[number] for number in used.tolist()])
    return Transactions(
        data.indptr, np.searchsorted(used, data.items).astype(np.int32), vocabulary
    ), vocabulary


@dataclass(frozen=True, eq=False)
class Totals(State):
    """How often each item occurs, and how often it is published."""

    original: Int64s
    published: Int64s

    @classmethod
    def of(cls, release: RecordRelease, original: Transactions) -> Totals:
        check_size(release, original)
        totals = sums(original.items, original.times, len(original.vocabulary))
        now = release.term_totals()
        return cls(totals, np.array([now.get(label, 0) for label in original.vocabulary]))


@measured(Totals.of)
def term_counts(found: Totals) -> float:
    """Term counts: the share of the original occurrences that are published as the same item.

    Formula: the sum over the items of the original of min(published total, original total), divided
    by the sum of the original totals. A total is the number of occurrences in all records; an item
    published too often counts only as often as is right. A node of the tree is an original item
    only if it is a leaf; a slot counts each of its items.

    Range: 0 (no item is published as itself) to 1 (each at least as often as it occurred). 1 if the
    original has no items.

    Example:
        Three of four occurrences: wine is published once too often, which does not help.

        >>> from setveil import TypicalBags, VocabularyKAnonymity
        >>> from setveil.data.transactions import Bags
        >>> original = Bags.of([{"wine": 1, "beer": 1}, {"wine": 2}])
        >>> release = TypicalBags.of([{"wine": 2}, {"wine": 2}], VocabularyKAnonymity(k=2))
        >>> term_counts(release, original)
        0.75
    """
    occurrences = int(found.original.sum())
    kept = int(np.minimum(found.original, found.published).sum())
    return kept / occurrences if occurrences else 1.0
