"""Expected supports of many itemsets in generalized records, computed from the release alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.arrays import Floats, Int64s, ranges
from setveil.data.transactions import Bags
from setveil.threads import on_threads

if TYPE_CHECKING:
    from setveil.published.generalized import Generalized

_MOST_CELLS = 1_000_000


def estimate_supports(release: Generalized, items: list[str], queries: Int64s) -> Floats:
    """The expected number of records that contain all items of each query.

    The model: a node over w leaves was equally likely any of them, independently of whatever else
    is published. So a record contains an item below the node with probability 1 / w (in bags, if
    the node occurs c times, 1 - (1 - 1 / w)^c), an item that no node covers with probability 0, and
    several items with the product, also below one node. What is published as a leaf is certain.

    Args:
        release: The release, over a tree with the items as leaves; unknown items are in no record.
        items: The items that occur in the queries.
        queries: One row per query, with positions in `items`; -1 fills shorter ones.

    Example:
        >>> from setveil import Generalized, Hierarchy, KAnonymity
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> rows = [["Alcohol", "milk"], ["Alcohol", "milk"], ["wine"]]
        >>> release = Generalized.of(rows, Hierarchy.from_paths(paths), KAnonymity(k=2))
        >>> queries = np.array([[0, -1], [1, -1], [0, 1]])
        >>> estimate_supports(release, ["wine", "milk"], queries).tolist()
        [2.0, 2.0, 1.0]
    """
    estimates, count = np.zeros(len(queries)), len(release.classes)
    if not len(queries):
        return estimates
    if queries.shape[1] == 1:
        return _of_items(release, items)[queries[:, 0]]
    leaves = release.hierarchy.nodes.find(items)
    block = max(_MOST_CELLS // max(len(items), 1), 1)

    def estimate(start: int) -> Floats:
        stop = min(start + block, count)
        chances = _chances(release, leaves, start, stop)
        sizes, found = release.sizes[start:stop].astype(np.float64), np.zeros(len(queries))
        for at in range(0, len(queries), 256):
            rows = queries[at : at + 256]
            joint = chances[rows[:, 0]]
            for column in range(1, rows.shape[1]):
                joint *= chances[rows[:, column]]
            found[at : at + 256] = joint @ sizes
        return found

    for part in on_threads(estimate, range(0, count, block)):
        estimates += part
    return estimates


def _of_items(release: Generalized, items: list[str]) -> Floats:
    """The same for each item alone: the chances of all records are summed at once.

    A record has at most one node above a leaf, so each entry adds its chance to all its leaves."""
    tree, classes = release.hierarchy, release.classes
    chance = 1.0 / tree.widths[classes.items]
    if isinstance(classes, Bags):
        chance = 1.0 - (1.0 - chance) ** classes.counts
    people = release.sizes[classes.rows] * chance
    # For each leaf, the sum over the nodes that cover it, one level of the tree at a time: a
    # running sum over all leaves would add up the rounding errors of the others.
    of_nodes = np.bincount(classes.items, weights=people, minlength=len(tree))
    leaves = tree.nodes.find(items)
    found, node = (
        np.zeros(len(items)),
        np.where(leaves < tree.leaf_count, leaves, -1),
    )  # -1 if unknown
    while (node >= 0).any():
        found += np.where(node >= 0, of_nodes[node], 0.0)
        node = np.where(node >= 0, tree.parent[node], -1)
    return found


def _chances(release: Generalized, leaves: Int64s, start: int, stop: int) -> Floats:
    """The chance that a record has an item: a row per item and one of ones, a column per class."""
    classes, order = release.classes, np.argsort(leaves, kind="stable")
    columns = np.repeat(np.arange(stop - start), np.diff(classes.indptr[start : stop + 1]))
    first, last, chance = _covered(release, leaves, start, stop)
    lengths = last - first
    places = ranges(first, lengths)
    table = np.zeros((len(leaves) + 1, stop - start))
    table[-1] = 1.0
    table[order[places], np.repeat(columns, lengths)] = np.repeat(chance, lengths)
    return table


def _covered(
    release: Generalized, leaves: Int64s, start: int, stop: int
) -> tuple[Int64s, Int64s, Floats]:
    """For each entry of some classes, which of the leaves it covers, in the order of the tree:
    where they begin and end; and their chance."""
    tree, classes = release.hierarchy, release.classes
    entries = slice(classes.indptr[start], classes.indptr[stop])
    nodes, ordered = classes.items[entries], np.sort(leaves)
    first, last = (np.searchsorted(ordered, bound)[nodes] for bound in (tree.first, tree.stop))
    chance = 1.0 / tree.widths[nodes]
    if isinstance(classes, Bags):
        chance = 1.0 - (1.0 - chance) ** classes.counts[entries]
    return first, last, chance
