"""The neighbour index: for each item the items at most `epsilon` steps away, with distances."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int32s, Int64s, ranges
from setveil.data.vocabulary import Vocabulary
from setveil.errors import InfeasibleError, ParameterError
from setveil.hierarchy.tree import Hierarchy

MOST_PAIRS = 1 << 30
"""The largest index (8 GB); above it nearly all items are neighbours of each other."""
_BLOCK = 1 << 21  # how many meetings are joined at once


@dataclass(frozen=True, eq=False, repr=False)
class Neighbours:
    """The items near each item, as a sparse matrix: row i is `items[indptr[i]:indptr[i + 1]]`.

    Rows are ascending, and contain all items at most `epsilon` away, the item itself at distance 0.

    Example:
        >>> alcohol = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL")]
        >>> tree = Hierarchy.from_paths([*alcohol, ("milk", "Dairy", "ALL")])
        >>> near = tree.neighbours(Vocabulary(["beer", "milk", "wine"]), epsilon=2)
        >>> near.row(0)
        [(0, 0), (2, 2)]
        >>> near.distance(0, 2), near.distance(0, 1)
        (2, None)
    """

    indptr: Int64s
    items: Int32s
    distances: Int32s
    epsilon: int

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        return f"Neighbours({len(self)} items, {len(self.items)} pairs, epsilon {self.epsilon})"

    def row(self, item: int) -> list[tuple[int, int]]:
        """The neighbours of an item with their distances."""
        entries = slice(self.indptr[item], self.indptr[item + 1])
        items, distances = self.items[entries].tolist(), self.distances[entries].tolist()
        return list(zip(items, distances, strict=True))

    def distance(self, one: int, other: int) -> int | None:
        """The distance between two items; None if it is more than epsilon."""
        start, stop = self.indptr[one], self.indptr[one + 1]
        place = start + int(np.searchsorted(self.items[start:stop], other))
        return int(self.distances[place]) if place < stop and self.items[place] == other else None


class Reach(NamedTuple):
    """The nodes above each item: `items[i]` reaches `nodes[i]` in `steps[i]` steps up.

    Each pair of item and node occurs once; items ascend."""

    items: Int64s
    nodes: Int64s
    steps: Int64s


def tree_neighbours(tree: Hierarchy, vocabulary: Vocabulary, epsilon: int) -> Neighbours:
    """The neighbours in a tree; the distance of two leaves is the number of edges between them.

    Cost: as `joined`; two leaves meet in each node above both."""
    check_epsilon(epsilon)
    nodes = tree.leaf_numbers(vocabulary).astype(np.int64)
    owners = np.arange(len(nodes), dtype=np.int64)
    parts: list[tuple[Int64s, Int64s, Int64s]] = []
    for step in range(epsilon + 1):
        parts.append((owners, nodes, np.full(len(nodes), step, dtype=np.int64)))
        nodes = tree.parent[nodes].astype(np.int64)
        owners, nodes = owners[nodes >= 0], nodes[nodes >= 0]
        if not len(nodes):
            break
    items, above, steps = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(items, kind="stable")
    return joined(Reach(items[order], above[order], steps[order]), len(vocabulary), epsilon)


def check_epsilon(epsilon: object) -> None:
    """Raise an error unless this is a number of steps."""
    if not isinstance(epsilon, int | np.integer) or isinstance(epsilon, bool) or epsilon < 0:
        raise ParameterError("epsilon", epsilon, "it must be a number of steps, 0 or more")


def joined(reach: Reach, count: int, epsilon: int, *, least: int = 0) -> Neighbours:
    """All pairs of items that meet in a node after at most `epsilon` steps, with the fewest steps.

    The entries of `reach` are sorted by node and steps, so those that an entry meets are one run,
    found by bisection. Only pairs that are near enough are visited, once for each node in which
    they meet, in blocks of a few million."""
    asked, epsilon = int(epsilon), min(int(epsilon), 2 * int(reach.steps.max(initial=0)) + least)
    meetings = _meetings(reach, count, epsilon)
    lengths = [np.zeros(0, dtype=np.int64)]
    items, distances = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
    total = 0
    for first, stop in _blocks(meetings):
        rows, near, apart = _block(meetings, first, stop, least)
        lengths.append(np.bincount(rows, minlength=stop - first))
        items.append(near)
        distances.append(apart)
        total += len(near)
        if total > MOST_PAIRS:
            raise InfeasibleError(
                f"epsilon = {asked} makes more than {MOST_PAIRS:,} pairs of {count:,} items "
                "neighbours",
                remedy="choose a smaller epsilon",
            )
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    return Neighbours(indptr, np.concatenate(items), np.concatenate(distances), asked)


class _Meetings(NamedTuple):
    """For each entry of a reach the entries that it meets in its node, as one run of `met`."""

    reach: Reach
    starts: Int64s
    lengths: Int64s
    met: Int64s
    """The item and steps of each entry, as `item * (epsilon + 1) + steps`, by node and steps."""
    size: int  # the number of items
    epsilon: int


def _meetings(reach: Reach, count: int, epsilon: int) -> _Meetings:
    base = reach.nodes * (epsilon + 1)
    keys = base + reach.steps
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.searchsorted(keys, base)
    stops = np.searchsorted(keys, base + epsilon - reach.steps, side="right")
    met = reach.items[order] * (epsilon + 1) + reach.steps[order]
    return _Meetings(reach, starts, stops - starts, met, count, epsilon)


def _blocks(meetings: _Meetings) -> Iterator[tuple[int, int]]:
    """Ranges of items with about as many meetings as a block may have."""
    items, count = meetings.reach.items, meetings.size
    sums = np.bincount(items, weights=meetings.lengths, minlength=count).astype(np.int64)
    before = np.concatenate(([0], np.cumsum(sums)))
    first = 0
    while first < count:
        stop = int(np.searchsorted(before, before[first] + _BLOCK, side="right")) - 1
        stop = min(max(stop, first + 1), count)
        yield first, stop
        first = stop


def _block(meetings: _Meetings, first: int, stop: int, least: int) -> tuple[Int64s, Int32s, Int32s]:
    """The pairs (row, item, distance) of a range of items, sorted, with their least distances."""
    reach, count, epsilon = meetings.reach, meetings.size, meetings.epsilon
    entries = slice(*np.searchsorted(reach.items, (first, stop)))
    lengths = meetings.lengths[entries]
    places = ranges(meetings.starts[entries], lengths)
    # A code is (row * count + item) * (epsilon + 1) + distance, so sorting puts the least first.
    own = ((reach.items[entries] - first) * count) * (epsilon + 1) + reach.steps[entries]
    codes = meetings.met[places]
    codes += np.repeat(own, lengths)
    codes.sort()
    pairs, distances = np.divmod(codes, epsilon + 1)
    new = np.ones(len(pairs), dtype=bool)
    new[1:] = pairs[1:] != pairs[:-1]
    rows, items = np.divmod(pairs[new], count)
    distances = np.where(rows + first == items, 0, np.maximum(distances[new], least))
    near = distances <= epsilon
    return rows[near], items[near].astype(np.int32), distances[near].astype(np.int32)


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
