"""The name table of the measures."""

from __future__ import annotations

from collections.abc import Callable

from setveil.metrics.associations import tkd, tkd_2, tkd_a, tkd_a_2, tkd_ml2
from setveil.metrics.generalization import blm, class_sizes, distortion, lm, ncp
from setveil.metrics.pairs import re, re_a, re_a_top, re_top
from setveil.metrics.queries import are
from setveil.metrics.terms import chunked, tlost

METRICS: dict[str, Callable[..., float | dict[str, float]]] = {
    "ncp": ncp,
    "lm": lm,
    "blm": blm,
    "distortion": distortion,
    "are": are,
    "class_sizes": class_sizes,
    "tkd": tkd,
    "tkd_2": tkd_2,
    "tkd_a": tkd_a,
    "tkd_a_2": tkd_a_2,
    "tkd_ml2": tkd_ml2,
    "re": re,
    "re_top": re_top,
    "re_a": re_a,
    "re_a_top": re_a_top,
    "tlost": tlost,
    "chunked": chunked,
}

FITTING: dict[str, tuple[str, ...]] = {
    "generalized": ("ncp", "lm", "blm", "distortion", "are", "class_sizes"),
    "suppressed": ("distortion", "are", "class_sizes"),
    "vocabularies": ("distortion", "class_sizes"),
    "disassociated": ("tkd", "tkd_2", "tkd_a", "tkd_a_2", "tkd_ml2", "re", "re_top", "re_a", "re_a_top", "tlost", "chunked"),
}
"""The measures that a published form has."""

SEEDED = frozenset({"are"})
"""The measures that draw at random and take a `seed`."""

BY_NODE = frozenset({"ncp", "lm", "blm", "distortion"})
"""The measures that rest on how many occurrences each node is `published` for."""

BY_WORLD = frozenset({"tkd", "tkd_2", "tkd_ml2", "re", "re_top"})
"""The measures that rest on reconstructions, and can share them as `worlds`."""

BY_HIERARCHY = frozenset({"tkd_ml2"})
"""The measures of disassociated releases that need a `hierarchy`."""
