"""What comes before the clustering: a canonical order, and what needs no clustering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Bags

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Prepared:
    """The vocabularies to cluster, and groups that are clusters already; all others are published as empty."""

    rows: Int64s
    """The numbers of the vocabularies to cluster, in canonical order."""
    groups: list[Int64s]
    """Groups of equal vocabularies, each published as it is."""


def prepare(data: Bags, k: int, *, group_equal: bool) -> Prepared:
    """Sort the vocabularies, set the empty ones apart and, if asked for, those that stand k times or more.

    Where there are 1 to k - 1 empty vocabularies, the shortest others are published as empty too, until there are k; where fewer than k
    remain, so are these.

    Args:
        data: The vocabularies.
        k: How many must be alike.
        group_equal: Whether equal vocabularies, k or more of them, are a cluster of their own.
    """
    order, keys = canonical_order(data)
    sizes = data.totals
    rows, empty = order[sizes[order] > 0], int((sizes == 0).sum())
    if 0 < empty < k:
        shortest = rows[np.argsort(sizes[rows], kind="stable")][: k - empty]
        rows = rows[~np.isin(rows, shortest)]
    groups: list[Int64s] = []
    if group_equal:
        rows, groups = _without_equal(rows, keys, k)
    if len(rows) < k:
        rows = rows[:0]
    return Prepared(rows, groups)


def canonical_order(data: Bags) -> tuple[Int64s, list[bytes]]:
    """The vocabularies in the order of their terms and counts, as words in a dictionary; and the key of each.

    It depends on what they hold alone; equal ones stand together.
    """
    ends = (12 * data.indptr).tolist()
    pairs = np.empty(len(data.items), dtype=[("item", ">u4"), ("count", ">u8")])
    pairs["item"], pairs["count"] = data.items, data.counts
    raw = pairs.tobytes()
    keys = [raw[start:stop] for start, stop in zip(ends, ends[1:], strict=False)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64), keys


def _without_equal(rows: Int64s, keys: list[bytes], k: int) -> tuple[Int64s, list[Int64s]]:
    """The rows that stand fewer than k times, and the groups of the others.

    Of 1 to k - 1 single rows no cluster can be made: then the smallest group stays with them.
    """
    new = [i for i in range(1, len(rows)) if keys[rows[i]] != keys[rows[i - 1]]]
    runs = np.split(rows, new)
    groups = sorted((run for run in runs if len(run) >= k), key=lambda run: (len(run), keys[run[0]]))
    if 0 < len(rows) - sum(map(len, groups)) < k:
        groups = groups[1:]
    apart = np.concatenate([rows[:0], *groups])
    return rows[~np.isin(rows, apart)], groups
