"""Queries on a release: how many people hold some items, estimated without the original."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Bags
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.supports import Support
from setveil.published.generalized import Generalized

_MOST_CELLS = 1_000_000


def support(release: Disassociated, itemset: Iterable[object]) -> Support:
    """How many records of the original hold all items of an itemset, told from a disassociated release alone.

    Where the items stand in one chunk, their subrecords are counted, and the answer is certain. A term of a term chunk stands in 1 to all
    records of its cluster. Items in several chunks of a cluster of s records, in a and b subrecords, stand together in at least a + b - s
    and at most min(a, b) records. Subrecords of a shared chunk may lie in any part that does not have their items by itself. `expected`
    takes the chunks of a cluster as independent, each term as standing in one record, and leaves aside that no record is empty.

    The bounds hold for every possible original, so also for every reconstruction; they are not always the narrowest such bounds.

    Cost: the first query of a release makes an index; then it takes milliseconds.

    Args:
        release: The release.
        itemset: The items; one that the release does not have is held by nobody, and no items at all by everybody.

    Example:
        >>> from setveil.promises import KmAnonymity
        >>> from setveil.published.disassociated.form import SimpleCluster
        >>> cluster = SimpleCluster(5, [{("flu", "itunes"): 3, ("flu",): 1}, {("sony tv",): 3}], ["ikea"])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=3, m=2))
        >>> support(release, ["flu", "itunes"])
        Support(lower=3, upper=3, expected=3.0)
        >>> support(release, ["flu", "sony tv"])
        Support(lower=2, upper=3, expected=2.4)
        >>> support(release, ["ikea"])
        Support(lower=1, upper=5, expected=1.0)
    """
    return release.support(itemset)


def estimate_supports(
    release: Generalized, items: list[str], queries: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """The expected number of records that hold all items of each query.

    The model: a node over w leaves that stands in a published record was equally likely any of them, each independently of what else is
    published. So an item under it is held with probability 1 / w (in bags, by a node that stands c times, 1 - (1 - 1 / w)^c), an item that
    no node covers with probability 0, and several items with the product, also when they stand under one node. What is published as a
    leaf is certain.

    Args:
        release: The release, over a tree that has the items as leaves; an item it does not have is held by nobody.
        items: The items that are asked for.
        queries: One row of positions in `items` for each query; -1 asks for nothing, so that shorter queries can stand among longer ones.

    Example:
        >>> from setveil.hierarchy.tree import Hierarchy
        >>> from setveil.promises import KAnonymity
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")])
        >>> release = Generalized.of([["Alcohol", "milk"], ["Alcohol", "milk"], ["wine"]], tree, KAnonymity(k=2))
        >>> estimate_supports(release, ["wine", "milk"], np.array([[0, -1], [1, -1], [0, 1]])).tolist()
        [2.0, 2.0, 1.0]
    """
    estimates, count = np.zeros(len(queries)), len(release.classes)
    if not len(queries):
        return estimates
    block = max(_MOST_CELLS // max(len(items), 1), 1)
    for start in range(0, count, block):
        stop = min(start + block, count)
        chances = _chances(release, items, start, stop)
        sizes = release.sizes[start:stop].astype(np.float64)
        for at in range(0, len(queries), 256):
            rows = queries[at : at + 256]
            joint = chances[rows[:, 0]].copy()
            for column in range(1, rows.shape[1]):
                joint *= chances[rows[:, column]]
            estimates[at : at + 256] += joint @ sizes
    return estimates


def _chances(
    release: Generalized, items: list[str], start: int, stop: int
) -> npt.NDArray[np.float64]:
    """A table: row = item, column = class from `start` on, cell = the chance that a record of the class holds the item; then ones."""
    tree, classes = release.hierarchy, release.classes
    leaves = np.array([tree.nodes.numbers.get(item, -1) for item in items], dtype=np.int64)
    order = np.argsort(leaves, kind="stable")
    entries = slice(classes.indptr[start], classes.indptr[stop])
    nodes = classes.items[entries]
    columns = np.repeat(np.arange(stop - start), classes.lengths[start:stop])
    first, last = (
        np.searchsorted(leaves[order], bound[nodes]) for bound in (tree.first, tree.stop)
    )
    chance = 1.0 / tree.widths[nodes]
    if isinstance(classes, Bags):
        chance = 1.0 - (1.0 - chance) ** classes.counts[entries]
    lengths = last - first
    ends = np.cumsum(lengths)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - (ends - lengths), lengths)
    table = np.zeros((len(items) + 1, stop - start))
    table[-1] = 1.0
    table[order[places], np.repeat(columns, lengths)] = np.repeat(chance, lengths)
    return table
