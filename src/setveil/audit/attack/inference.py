"""What is inferred about further items of a person, all of them and the private ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from setveil.audit.attack.draws import Draws, Items, Sample
from setveil.audit.attack.outcome import Inference, View
from setveil.data.arrays import Floats

if TYPE_CHECKING:
    from setveil.audit.attack.knowing import Knowing

See = Callable[[int], View]
"""What is left of a release for each person."""
_SURE = 1 - 1e-9


class Seen:
    """For each draw: the belief without and with the known items, and whether one is certain; nan
    where there is nothing to infer."""

    def __init__(self, draws: int) -> None:
        self.further = np.full((3, draws), np.nan)
        self.private = np.full((3, draws), np.nan)


def beliefs_of(job: Knowing, draws: Draws, see: See | None) -> Seen:
    """What is inferred about further items, all of them and the private ones, from what an
    adversary sees who looks for a person."""
    seen, same = Seen(len(draws.draws)), dict[tuple[int, Items], list[int]]()
    views = [job.view if see is None else see(draw.record) for draw in draws.draws]
    for number, (draw, view) in enumerate(zip(draws.draws, views, strict=True)):
        same.setdefault((id(view), draw.known), []).append(number)
    hidden = np.flatnonzero(job.private)
    for (_, known), numbers in same.items():
        beliefs = views[numbers[0]].beliefs(known)
        beliefs[list(known)] = 0.0
        for number in numbers:
            others = job.pools["item"].others(draws.draws[number])
            if len(others):
                means = job.base[others].mean(), beliefs[others].mean()
                seen.further[:, number] = *means, float(beliefs.max(initial=0.0) >= _SURE)
        if len(hidden):
            worst = hidden[int((beliefs - job.base)[hidden].argmax())]
            sure = float(beliefs[hidden].max() >= _SURE)
            seen.private[:, numbers] = [[job.base[worst]], [beliefs[worst]], [sure]]
    return seen


def inferred(seen: Floats, sample: Sample, items: int) -> Inference | None:
    """The means over the draws in which there is something to infer."""
    able = ~np.isnan(seen[0])
    if not able.any():
        return None
    weights = sample.weights[able]
    part = Sample(weights / weights.sum(), sample.exact)
    base, belief, sure = seen[:, able]
    return Inference(part.mean(base), part.mean(belief), part.share(sure), int(able.sum()), items)
