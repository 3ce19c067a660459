"""What comes before clustering: bags that need none, and blocks of similar bags."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Floats, Int64s, ranges
from setveil.data.transactions import Bags
from setveil.hierarchy.tree import Hierarchy


@dataclass(frozen=True)
class Prepared:
    """The bags to cluster, and groups that are clusters already; all others are published empty."""

    rows: Int64s  # the numbers of the bags to cluster, in canonical order
    groups: list[Int64s]  # groups of equal bags, each published as it is


def prepare(data: Bags, k: int, *, group_equal: bool) -> Prepared:
    """Sort the bags, and set aside empty ones and, if asked for, those that occur at least k times.

    If there are 1 to k - 1 empty bags, the shortest others are published empty as well, until there
    are k; so are the remaining bags if they are fewer than k. If too few bags are outside of
    groups, the smallest groups of equal bags are broken up."""
    order, keys = canonical_order(data)
    sizes = data.totals
    rows, empty = order[sizes[order] > 0], int((sizes == 0).sum())
    missing = k - empty if 0 < empty < k else 0
    groups = _equal(rows, keys, k) if group_equal else []
    while groups and not _suffice(len(rows) - sum(map(len, groups)), empty, missing, k):
        groups = groups[1:]
    rows = rows[~np.isin(rows, np.concatenate([rows[:0], *groups]))]
    shortest = rows[np.argsort(sizes[rows], kind="stable")][:missing]
    rows = rows[~np.isin(rows, shortest)]
    return Prepared(rows if len(rows) >= k else rows[:0], groups)


def _suffice(others: int, empty: int, missing: int, k: int) -> bool:
    """Whether the bags outside of groups are enough for a cluster, or to join the empty ones."""
    return others >= missing if empty else others == 0 or others >= k


def canonical_order(data: Bags) -> tuple[Int64s, list[bytes]]:
    """The bags in the order of their terms and counts, like words in a dictionary; and their keys.

    It depends only on the content of the bags; equal ones are neighbours."""
    ends = (12 * data.indptr).tolist()
    pairs = np.empty(len(data.items), dtype=[("item", ">u4"), ("count", ">u8")])
    pairs["item"], pairs["count"] = data.items, data.counts
    raw = pairs.tobytes()
    keys = [raw[start:stop] for start, stop in zip(ends, ends[1:], strict=False)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64), keys


def _equal(rows: Int64s, keys: list[bytes], k: int) -> list[Int64s]:
    """The groups of k or more equal bags, the smallest first."""
    new = [i for i in range(1, len(rows)) if keys[rows[i]] != keys[rows[i - 1]]]
    groups = (run for run in np.split(rows, new) if len(run) >= k)
    return sorted(groups, key=lambda run: (len(run), keys[run[0]]))


CONCEPTS = 256
"""Bags are compared by the nodes of the deepest level of the tree that has at most this many."""
ROUNDS = 20  # steps of the power iteration; a rough direction is as good as an exact one


def blocks(data: Bags, hierarchy: Hierarchy, most: int) -> list[Int64s]:
    """The rows in blocks of at most `most`, each ascending.

    A block that is too large is halved across the direction in which its bags differ most: their
    weights on the concepts (nodes high in the tree), each bag scaled to length 1, are projected on
    the first principal direction and cut at the median; of equals the first rows come first. Sums
    are taken in the order of the rows, so the result is the same on any number of threads."""
    rows = np.arange(len(data))
    if len(data) <= most:
        return [rows]
    vectors = _vectors(data, hierarchy)
    done, pending = [], [rows]
    while pending:
        block = pending.pop()
        if len(block) <= most:
            done.append(block)
            continue
        halves = np.array_split(block[np.argsort(_projected(vectors, block), kind="stable")], 2)
        pending += [np.sort(half) for half in reversed(halves)]
    return done


@dataclass(frozen=True)
class _Vectors:
    """Sparse vectors of length 1 over the concepts."""

    indptr: Int64s
    concepts: Int64s
    weights: Floats
    width: int


def _vectors(data: Bags, hierarchy: Hierarchy) -> _Vectors:
    """The vector of each bag: the roots of its counts under each concept."""
    level = _level(hierarchy)
    above = hierarchy.ancestors[hierarchy.leaf_numbers(data.vocabulary)]
    nodes = np.where(above[:, level] >= 0, above[:, level], above.max(axis=1))
    names, concepts = np.unique(nodes, return_inverse=True)
    counted = Bags.from_pairs(
        data.rows, concepts[data.items], hierarchy.nodes, size=len(data), counts=data.counts
    )
    weights = np.sqrt(counted.counts.astype(np.float64))
    sums = np.concatenate(([0], np.cumsum(counted.counts)))[counted.indptr]
    weights /= np.repeat(np.sqrt(np.maximum(np.diff(sums), 1).astype(np.float64)), counted.lengths)
    return _Vectors(counted.indptr, counted.items.astype(np.int64), weights, len(names))


def _level(hierarchy: Hierarchy) -> int:
    """The deepest level of the tree with at most `CONCEPTS` nodes over the leaves."""
    level = 0
    for depth in range(1, hierarchy.height + 1):
        if len(np.unique(hierarchy.ancestors[:, depth])) > CONCEPTS:
            break
        level = depth
    return level


def _projected(vectors: _Vectors, block: Int64s) -> Floats:
    """The position of each row of a block along its first principal direction."""
    lengths, size, width = np.diff(vectors.indptr)[block], len(block), vectors.width
    owners, entries = np.repeat(np.arange(size), lengths), ranges(vectors.indptr[block], lengths)
    concepts, weights = vectors.concepts[entries], vectors.weights[entries]
    mean = np.bincount(concepts, weights, width) / size
    squares = np.bincount(concepts, weights * weights, width) / size
    direction = np.zeros(width)
    direction[int(np.argmax(squares - mean * mean))] = 1.0
    for _ in range(ROUNDS):
        along = np.bincount(owners, weights * direction[concepts], size) - _sum(mean * direction)
        direction = np.bincount(concepts, weights * along[owners], width) - mean * _sum(along)
        length = np.sqrt(_sum(direction * direction))
        if length == 0:
            break
        direction /= length
    return np.bincount(owners, weights * direction[concepts], size).astype(np.float64)


def _sum(values: npt.NDArray[np.floating[Any]]) -> float:
    """The sum from first to last."""
    return float(np.cumsum(values)[-1])
