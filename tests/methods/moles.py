"""What the tests of suppression share: some of the moles, and the order of the greedy choice."""

from __future__ import annotations

import numpy as np

from setveil.kernels.suppression.hitting import eliminate
from setveil.methods.suppression.method import SCORES, indexed_moles
from setveil.methods.suppression.moles import Moles


def larger(moles: Moles) -> Moles:
    """The moles of more than one item."""
    kept, sizes = moles.sizes > 1, moles.sizes
    indptr = np.concatenate(([0], np.cumsum(sizes[kept])))
    columns = moles.supports[kept], moles.private[kept], moles.counts[kept]
    return Moles(indptr, moles.items[np.repeat(kept, sizes)], *columns)


def greedy_order(moles: Moles, losses, score: str) -> list[int]:
    """The items in the order in which they are suppressed, moles of one item first."""
    single = moles.items[: int((moles.sizes == 1).sum())]
    rest = eliminate(indexed_moles(larger(moles), losses), SCORES.index(score))
    return [*np.sort(single).tolist(), *rest.tolist()]
