"""The neighbour index: for each item all items that are at most `epsilon` steps away, with their distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.data.vocabulary import Vocabulary
from setveil.errors import InfeasibleError, ParameterError
from setveil.hierarchy.tree import Hierarchy

Numbers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

MOST_PAIRS = 1 << 30
"""Above this (8 GB) no index is made: nearly all items are neighbours of nearly all, and the answer is a smaller epsilon."""
_BLOCK = 1 << 21
"""Meetings that are joined at once."""


@dataclass(frozen=True, eq=False, repr=False)
class Neighbours:
    """The items near each item, as rows of a sparse matrix: row i is `items[indptr[i]:indptr[i + 1]]`, ascending.

    Every item is in its own row, at distance 0. What is farther than `epsilon` is in no row, so a row tells all relevant items.

    Example:
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "Dairy", "ALL")])
        >>> near = tree.neighbours(Vocabulary(["beer", "milk", "wine"]), epsilon=2)
        >>> near.row(0)
        [(0, 0), (2, 2)]
        >>> near.distance(0, 2), near.distance(0, 1)
        (2, None)
    """

    indptr: Numbers
    items: Small
    distances: Small
    epsilon: int

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        return f"Neighbours({len(self)} items, {len(self.items)} pairs, epsilon {self.epsilon})"

    def row(self, item: int) -> list[tuple[int, int]]:
        """The neighbours of an item with their distances."""
        entries = slice(self.indptr[item], self.indptr[item + 1])
        return list(
            zip(self.items[entries].tolist(), self.distances[entries].tolist(), strict=True)
        )

    def distance(self, one: int, other: int) -> int | None:
        """The distance of two items; None when they are farther apart than epsilon."""
        start, stop = self.indptr[one], self.indptr[one + 1]
        place = start + int(np.searchsorted(self.items[start:stop], other))
        return int(self.distances[place]) if place < stop and self.items[place] == other else None


@dataclass(frozen=True)
class Reach:
    """What lies above each item: item i gets to a node in so many steps up; each pair of item and node once, ascending by item."""

    items: Numbers
    nodes: Numbers
    steps: Numbers


def tree_neighbours(tree: Hierarchy, vocabulary: Vocabulary, epsilon: int) -> Neighbours:
    """The neighbours in a tree: the distance of two leaves is the number of edges between them.

    Cost: as `joined`; two leaves meet in each node that is over both.
    """
    check_epsilon(epsilon)
    nodes = tree.leaf_numbers(vocabulary).astype(np.int64)
    owners = np.arange(len(nodes), dtype=np.int64)
    parts: list[tuple[Numbers, Numbers, Numbers]] = []
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
    """Refuse what is no number of steps."""
    if not isinstance(epsilon, int | np.integer) or isinstance(epsilon, bool) or epsilon < 0:
        raise ParameterError("epsilon", epsilon, "it is a number of steps, 0 or more")


def joined(reach: Reach, count: int, epsilon: int, *, least: int = 0) -> Neighbours:
    """All pairs of items that meet in a node after at most `epsilon` steps in all, with the fewest steps.

    The entries of `reach` are sorted by node and steps; those that an entry meets are then one run of them, found by bisection. So only
    pairs that are near enough are ever looked at, each once for each node in which it meets, in blocks of some million.

    Args:
        reach: What lies above each item, as far as `epsilon` steps.
        count: The number of items.
        epsilon: The most steps.
        least: The least distance of two different items.

    Raises:
        InfeasibleError: when there are more than `MOST_PAIRS` pairs.
    """
    asked, epsilon = int(epsilon), min(int(epsilon), 2 * int(reach.steps.max(initial=0)) + least)
    keys = reach.nodes * (epsilon + 1) + reach.steps
    order = np.argsort(keys, kind="stable")
    starts = np.searchsorted(keys[order], reach.nodes * (epsilon + 1))
    meetings = (
        np.searchsorted(
            keys[order], reach.nodes * (epsilon + 1) + epsilon - reach.steps, side="right"
        )
        - starts
    )
    met = reach.items[order] * (epsilon + 1) + reach.steps[order]
    blocks: list[tuple[Numbers, Small, Small]] = []
    total = 0
    for first, stop in _blocks(reach.items, meetings, count):
        entries = slice(*np.searchsorted(reach.items, (first, stop)))
        block = _block(reach, entries, starts, meetings, met, first, count, epsilon, least)
        lengths = np.bincount(block[0], minlength=stop - first)
        blocks.append((lengths, block[1], block[2]))
        total += len(block[1])
        if total > MOST_PAIRS:
            raise InfeasibleError(
                f"epsilon = {asked} makes more than {MOST_PAIRS:,} pairs of {count:,} items neighbours; choose a smaller epsilon"
            )
    if not blocks:
        return Neighbours(
            np.zeros(1, dtype=np.int64),
            np.zeros(0, dtype=np.int32),
            np.zeros(0, dtype=np.int32),
            asked,
        )
    indptr = np.concatenate(([0], np.cumsum(np.concatenate([block[0] for block in blocks]))))
    return Neighbours(
        indptr,
        np.concatenate([b[1] for b in blocks]),
        np.concatenate([b[2] for b in blocks]),
        asked,
    )


def _blocks(items: Numbers, meetings: Numbers, count: int) -> Iterator[tuple[int, int]]:
    """Ranges of items with about as many meetings as a block may have."""
    before = np.concatenate(
        ([0], np.cumsum(np.bincount(items, weights=meetings, minlength=count).astype(np.int64)))
    )
    first = 0
    while first < count:
        stop = int(np.searchsorted(before, before[first] + _BLOCK, side="right")) - 1
        stop = min(max(stop, first + 1), count)
        yield first, stop
        first = stop


def _block(
    reach: Reach,
    entries: slice,
    starts: Numbers,
    meetings: Numbers,
    met: Numbers,
    first: int,
    count: int,
    epsilon: int,
    least: int,
) -> tuple[Numbers, Small, Small]:
    """The pairs of a range of items as (row, item, distance), sorted; of several distances of a pair the least."""
    lengths = meetings[entries]
    ends = np.cumsum(lengths)
    shift = starts[entries] - (ends - lengths)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(shift, lengths)
    own = ((reach.items[entries] - first) * count) * (epsilon + 1) + reach.steps[entries]
    codes = met[places]
    codes += np.repeat(own, lengths)
    codes.sort()
    pairs, distances = np.divmod(codes, epsilon + 1)
    new = np.ones(len(pairs), dtype=bool)
    new[1:] = pairs[1:] != pairs[:-1]
    rows, items = np.divmod(pairs[new], count)
    distances = np.where(rows + first == items, 0, np.maximum(distances[new], least))
    near = distances <= epsilon
    return rows[near], items[near].astype(np.int32), distances[near].astype(np.int32)
