"""Which items to suppress so that no mole is left: greedily, then restored or exchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.arrays import Flags, Floats
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.methods.suppression.moles import Moles

if TYPE_CHECKING:
    from setveil.kernels.suppression.hitting import IndexedMoles

SCORES = ("mm/il", "mm", "1/il", "rmall")
PARTS = {"mm/il": ("mm/il", "mm", "1/il")}
"""The scores whose answers are tried when items are restored; the cheapest answer is taken."""
ROUNDS = 50  # how often the local search visits all items at most


def choose(
    moles: Moles, losses: Floats, score: str, *, restore: bool = True, search: bool = False
) -> Flags:
    """Which items are suppressed, as marks over the vocabulary.

    With `restore`, items are restored, the most expensive first, while every mole stays hit. For
    `mm/il` this is also done for the answers of `mm` and `1/il`, and the best of the three is
    taken: on some data one half of the ratio alone does better. With `search`, the answers of all
    scores are improved by exchanges. `rmall` suppresses every item of a mole."""
    from setveil.kernels.suppression import hitting

    indexed = indexed_moles(moles, losses)
    order = np.lexsort((np.arange(len(losses)), -losses))
    answers: list[Flags] = []
    for name in _starts(score, restore, search):
        marks = np.zeros(len(losses), dtype=bool)
        greedy = name != "rmall"
        items = hitting.eliminate(indexed, SCORES.index(name)) if greedy else moles.items
        marks[items] = True
        if search:
            marks = hitting.improve(indexed, marks, order, ROUNDS)
        elif restore:
            marks = hitting.restore(indexed, marks, order)
        answers.append(marks)
    return min(answers, key=lambda marks: float(losses[marks].sum()))


def _starts(score: str, restore: bool, search: bool) -> tuple[str, ...]:
    """The scores whose greedy answers are tried."""
    if search:
        return SCORES
    return PARTS.get(score, (score,)) if restore else (score,)


def indexed_moles(moles: Moles, losses: Floats) -> IndexedMoles:
    """The moles as the kernels take them."""
    from setveil.kernels.steps import fill_holders
    from setveil.kernels.suppression.hitting import IndexedMoles

    counts = np.bincount(moles.items, minlength=len(losses))
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    holders = np.empty(len(moles.items), dtype=np.int32)
    fill_holders(moles.indptr, moles.items, starts, holders)
    return IndexedMoles(moles.indptr, moles.items, starts, holders, losses)


def losses_of(data: Transactions, weights: str | Mapping[str, float]) -> Floats:
    """What suppressing each item costs."""
    losses = np.maximum(data.supports(), 1).astype(np.float64)
    if weights == "items":
        return np.ones(len(losses))
    if isinstance(weights, Mapping):
        numbers = data.vocabulary.numbers
        for item, value in weights.items():
            if not isinstance(value, int | float) or not 0 < value < float("inf"):
                allowed = f"the weight of {item!r} must be a number above 0"
                raise ParameterError("weights", value, allowed)
            if item in numbers:
                losses[numbers[item]] = value
    return losses
