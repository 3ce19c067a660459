"""What was lost of frequent patterns: recall, sdist and term_counts. [Liu2010b] section V-B"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setveil.alignment.align import check_size, over_tree
from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics.itemsets import closed_itemsets
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


def recall(
    release: RecordRelease,
    original: Transactions,
    *,
    count: int = TOP,
    least_size: int = 1,
) -> float:
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
    check_size(release, original)
    here, there = _closed(original, count, least_size), _closed_of(release, count, least_size)
    if not len(here.items):
        return 1.0
    used = np.unique(here.items)
    place = {here.vocabulary[number]: column for column, number in enumerate(used.tolist())}
    columns = np.array([place.get(label, -1) for label in there.vocabulary], dtype=np.int64)
    known = columns[there.items] >= 0
    published = np.zeros((len(there), len(used)), dtype=np.float32)
    published[there.rows[known], columns[there.items[known]]] = 1
    found = 0.0
    for start in range(0, len(here), _BLOCK):
        block = here.take(np.arange(start, min(start + _BLOCK, len(here))))
        held = np.zeros((len(block), len(used)), dtype=np.float32)
        held[block.rows, np.searchsorted(used, block.items)] = 1
        found += float((held @ published.T).max(axis=1, initial=0).sum())
    return found / len(here.items)


def sdist(
    release: RecordRelease,
    original: Transactions,
    *,
    hierarchy: Hierarchy | None = None,
    count: int = TOP,
    least_size: int = 1,
) -> float:
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

    check_size(release, original)
    release = over_tree(release, original, hierarchy)
    tree = release.tree if hierarchy is None else hierarchy
    if tree is None:
        allowed = "sdist compares items by their meaning and needs a hierarchy over them"
        raise ParameterError("hierarchy", None, allowed)
    here, there = _closed(original, count, least_size), _closed_of(release, count, least_size)
    if not len(here.items):
        return 0.0
    meaning = Meaning.of(release)
    some, names = _numbered(here)
    others, published = _numbered(there)
    table = meaning.table(names, published, tree if release.tree is None else release.tree, tree)
    found = nearest_distances(
        BagRows(some.indptr, some.items, np.ones(len(some.items), dtype=np.int64)),
        BagRows(others.indptr, others.items, np.ones(len(others.items), dtype=np.int64)),
        table,
        meaning.nil,
    )
    return int(found.sum()) / SCALE / len(here.items)


def _closed(
    data: Transactions, count: int, least_size: int, weights: npt.NDArray[np.int64] | None = None
) -> Transactions:
    """The first `count` closed itemsets."""
    found = closed_itemsets(data, count, least_size=least_size, weights=weights).itemsets
    return found.take(np.arange(min(count, len(found))))


def _closed_of(release: RecordRelease, count: int, least_size: int) -> Transactions:
    return _closed(release.with_terms().classes, count, least_size, release.sizes)


def _numbered(data: Transactions) -> tuple[Transactions, Vocabulary]:
    """The same itemsets over a vocabulary of the items in them."""
    used = np.unique(data.items)
    vocabulary = Vocabulary([data.vocabulary[number] for number in used.tolist()])
    return Transactions(
        data.indptr, np.searchsorted(used, data.items).astype(np.int32), vocabulary
    ), vocabulary


def term_counts(release: RecordRelease, original: Transactions) -> float:
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
        >>> original = Bags.of([{"wine": 1, "beer": 1}, {"wine": 2}])
        >>> release = TypicalBags.of([{"wine": 2}, {"wine": 2}], VocabularyKAnonymity(k=2))
        >>> term_counts(release, original)
        0.75
    """
    check_size(release, original)
    if not original.occurrences:
        return 1.0
    counts = original.counts if isinstance(original, Bags) else None
    totals = np.bincount(original.items, weights=counts, minlength=len(original.vocabulary))
    now = [release.term_totals().get(label, 0) for label in original.vocabulary]
    return int(np.minimum(totals.astype(np.int64), now).sum()) / original.occurrences
