"""Which items to give up so that no mole is left: greedily, then what can come back, then exchanges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from setveil.methods.suppression.moles import Moles

if TYPE_CHECKING:
    from setveil.kernels.suppression import hitting

Losses = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]

SCORES = ("mm/il", "mm", "1/il", "rmall")
PARTS = {"mm/il": ("mm/il", "mm", "1/il")}
"""The scores of whose answers, once items have come back, the cheapest is taken; of other scores there is but one."""
ROUNDS = 50
"""How often the local search goes through all items at most."""


def choose(
    moles: Moles, losses: Losses, score: str, *, restore: bool = True, search: bool = False
) -> Marks:
    """Which items are given up; marks over the items of the vocabulary.

    Args:
        moles: All minimal moles.
        losses: What giving up each item costs, above 0.
        score: One of `SCORES`; `rmall` gives up every item of a mole.
        restore: Whether items come back, the dearest first, where every mole stays hit. For `mm/il` they also come back from the answers
            of `mm` and `1/il`, and the best of the three is taken: on some data one half of the ratio alone does better.
        search: Whether the answers of all scores are improved by exchanges, and the best is taken.
    """
    from setveil.kernels.suppression import hitting as kernels

    indexed = _indexed(moles, losses)
    order = np.lexsort((np.arange(len(losses)), -losses))
    best: Marks | None = None
    for name in _starts(score, restore, search):
        marks = np.zeros(len(losses), dtype=bool)
        marks[
            moles.items if name == "rmall" else kernels.eliminate(indexed, SCORES.index(name))
        ] = True
        if search:
            kernels.improve(indexed, marks, order, ROUNDS)
        elif restore:
            kernels.restore(indexed, marks, order)
        if best is None or losses[marks].sum() < losses[best].sum():
            best = marks
    assert best is not None
    return best


def _starts(score: str, restore: bool, search: bool) -> tuple[str, ...]:
    """The scores from whose greedy answers one is made."""
    if search:
        return SCORES
    return PARTS.get(score, (score,)) if restore else (score,)


def greedy_order(moles: Moles, losses: Losses, score: str) -> list[int]:
    """The items in the order in which the greedy way gives them up, moles of one item first."""
    from setveil.kernels.suppression import hitting as kernels

    single = moles.items[: int((moles.sizes == 1).sum())]
    larger = moles.select(moles.sizes > 1)
    rest = kernels.eliminate(_indexed(larger, losses), SCORES.index(score))
    return [*np.sort(single).tolist(), *rest.tolist()]


def _indexed(moles: Moles, losses: Losses) -> hitting.Moles:
    from setveil.kernels.suppression import hitting as kernels

    starts = np.concatenate(
        ([0], np.cumsum(np.bincount(moles.items, minlength=len(losses))))
    ).astype(np.int64)
    holders = np.empty(len(moles.items), dtype=np.int32)
    kernels.index_moles(moles.indptr, moles.items, starts, holders)
    return kernels.Moles(moles.indptr, moles.items, starts, holders, losses)
