"""Possible originals of a release, in which itemsets and pairs are counted."""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from setveil.data.transactions import Bags, Transactions
from setveil.errors import check_count
from setveil.published.release import Release

Worlds = Sequence[Transactions]


class Drawing(TypedDict, total=False):
    """Which possible originals a metric is averaged over."""

    seed: int  # for reconstructing; 0 if not given
    reconstructions: int  # how many; 1 if not given
    worlds: Worlds | None  # reconstructions made before, instead of `seed` and `reconstructions`


def draw_worlds(
    release: Release, *, seed: int = 0, reconstructions: int = 1, worlds: Worlds | None = None
) -> Worlds:
    """The possible originals made before, or new ones; the first is that of the seed itself."""
    if worlds:
        return worlds
    count = check_count("reconstructions", reconstructions, 1)
    more = np.random.SeedSequence(seed).generate_state(count - 1, np.uint64).tolist()
    drawn = (release.reconstruct(each) for each in (seed, *more))
    return [world.sets() if isinstance(world, Bags) else world for world in drawn]
