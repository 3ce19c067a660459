"""Possible worlds of a disassociated release, in which the measures of itemsets and of pairs are taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from setveil.data.transactions import Transactions
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.reconstruct import reconstructions as reconstruct_several

Worlds = Sequence[Transactions]


class Drawing(TypedDict, total=False):
    """Which worlds a measure is taken in."""

    seed: int
    """For reconstructing; 0 when not given."""
    reconstructions: int
    """How many possible worlds are averaged; 1 when not given."""
    worlds: Worlds | None
    """Reconstructions made before, in the place of `seed` and `reconstructions`."""


def draw_worlds(
    release: Disassociated, *, seed: int = 0, reconstructions: int = 1, worlds: Worlds | None = None
) -> Worlds:
    """The worlds that were made before, or new ones."""
    return worlds or reconstruct_several(release, reconstructions, seed)
