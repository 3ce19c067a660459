"""Examples: a few original records, and what is published for each of them. Private."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Transactions
from setveil.published import Release

SHOWN = 3
FEW, MANY = 2, 6  # records with so many items are easy to read


class Example(NamedTuple):
    """A record of the original, and what the release says in its place."""

    original: tuple[str, ...]
    """Its items, with counts above 1."""
    published: str


def examples(release: Release, data: Transactions, shown: int = SHOWN) -> tuple[Example, ...]:
    """Up to three records (or so many), spread over the data, before and after.

    Nothing if the release does not know which of its records belongs to whom."""
    if release.alignment is None:
        return ()
    rows = _readable(data)
    chosen = rows[np.arange(1, shown + 1) * len(rows) // (shown + 1)] if len(rows) else rows
    return tuple(
        Example(data.shown(number), release.published_as(number, data.record(number)))
        for number in np.unique(chosen).tolist()
    )


def _readable(data: Transactions) -> Int64s:
    """Records of a few items; if there are none, all that are not empty."""
    few = np.flatnonzero((data.lengths >= FEW) & (data.lengths <= MANY))
    return few if len(few) else np.flatnonzero(data.lengths > 0)
