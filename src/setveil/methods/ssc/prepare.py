"""What comes before clustering: a canonical order, and the bags that need no clustering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags


@dataclass(frozen=True)
class Prepared:
    """The bags to cluster, and groups that are clusters already; all others are published empty."""

    rows: Int64s
    """The numbers of the bags to cluster, in canonical order."""
    groups: list[Int64s]
    """Groups of equal bags, each published as it is."""


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
