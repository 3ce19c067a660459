"""Lowest common ancestors of many sets of leaves at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from setveil.hierarchy.tree import Hierarchy, Nodes


def common_ancestors(
    tree: Hierarchy, owners: npt.NDArray[np.int64], leaves: npt.NDArray[np.integer], count: int
) -> Nodes:
    """The lowest node over all leaves of each of `count` sets, of which `owners` says to which each leaf belongs; -1 of an empty one.

    Leaves are numbered in the order of the tree, so the node over the first and the last of a set is over all of them.

    Example:
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")])
        >>> found = common_ancestors(tree, np.array([0, 0, 1, 2, 2]), np.array([1, 0, 1, 0, 2]), 4)
        >>> [tree.labels[node] if node >= 0 else None for node in found]
        ['Alcohol', 'wine', 'ALL', None]
    """
    low, high = np.full(count, tree.leaf_count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    np.minimum.at(low, owners, leaves)
    np.maximum.at(high, owners, leaves)
    found = np.full(count, -1, dtype=np.int32)
    full = np.flatnonzero(high >= 0)
    one, other = tree.ancestors[low[full]], tree.ancestors[high[full]]
    shared = ((one == other) & (one >= 0)).sum(axis=1) - 1
    found[full] = one[np.arange(len(full)), shared]
    return found
