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
    remain, so are these. A group of equal vocabularies, the smallest first, is one of the others only where these are too few.

    Args:
        data: The vocabularies.
        k: How many must be alike.
        group_equal: Whether equal vocabularies, k or more of them, are a cluster of their own.
    """
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
    """Whether the vocabularies outside of groups are enough for what they are needed for: a cluster, or to be published as empty."""
    return others >= missing if empty else others == 0 or others >= k


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


def _equal(rows: Int64s, keys: list[bytes], k: int) -> list[Int64s]:
    """The groups of k or more equal vocabularies, the smallest first."""
    new = [i for i in range(1, len(rows)) if keys[rows[i]] != keys[rows[i - 1]]]
    return sorted(
        (run for run in np.split(rows, new) if len(run) >= k),
        key=lambda run: (len(run), keys[run[0]]),
    )
