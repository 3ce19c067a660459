"""The name table of the measures."""

from __future__ import annotations

from collections.abc import Callable

from setveil.metrics.generalization import blm, class_sizes, distortion, lm, ncp
from setveil.metrics.queries import are

METRICS: dict[str, Callable[..., float | dict[str, float]]] = {
    "ncp": ncp,
    "lm": lm,
    "blm": blm,
    "distortion": distortion,
    "are": are,
    "class_sizes": class_sizes,
}

SEEDED = frozenset({"are"})
"""The measures that draw at random and take a `seed`."""

BY_NODE = frozenset({"ncp", "lm", "blm", "distortion"})
"""The measures that rest on how many occurrences each node is `published` for."""
