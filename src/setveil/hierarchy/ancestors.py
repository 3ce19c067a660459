"""Lowest common ancestors of many sets of leaves at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int32s, Int64s
from setveil.hierarchy.tree import Hierarchy


def common_ancestors(
    tree: Hierarchy, owners: Int64s, leaves: npt.NDArray[np.integer], count: int
) -> Int32s:
    """The lowest node above all leaves of each of `count` sets; -1 for an empty set.

    `owners` is the set of each leaf. Leaves are numbered in the order of the tree, so the node
    above the first and the last leaf of a set is above all of them.

    Example:
        >>> alcohol = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL")]
        >>> tree = Hierarchy.from_paths([*alcohol, ("milk", "ALL")])
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
