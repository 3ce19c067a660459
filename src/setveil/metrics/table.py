"""The name table of the measures."""

from __future__ import annotations

from collections.abc import Callable

from setveil.metrics.associations import tkd, tkd_2, tkd_a, tkd_a_2, tkd_ml2
from setveil.metrics.generalization import blm, class_sizes, distortion, lm, ncp
from setveil.metrics.pairs import re, re_a, re_a_top, re_top
from setveil.metrics.queries import are
from setveil.metrics.retrieval import recall, sdist, term_counts
from setveil.metrics.terms import chunked, tlost

METRICS: dict[str, Callable[..., float | dict[str, float]]] = {
    "ncp": ncp,
    "lm": lm,
    "blm": blm,
    "distortion": distortion,
    "are": are,
    "class_sizes": class_sizes,
    "recall": recall,
    "sdist": sdist,
    "term_counts": term_counts,
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
    "generalized": (
        "ncp",
        "lm",
        "blm",
        "distortion",
        "are",
        "class_sizes",
        "recall",
        "sdist",
        "term_counts",
    ),
    "suppressed": ("distortion", "are", "class_sizes"),
    "typical-bags": ("blm", "distortion", "recall", "sdist", "term_counts", "class_sizes"),
    "disassociated": (
        "tkd",
        "tkd_2",
        "tkd_a",
        "tkd_a_2",
        "tkd_ml2",
        "re",
        "re_top",
        "re_a",
        "re_a_top",
        "tlost",
        "chunked",
    ),
}
"""The measures that a published form has."""

SEEDED = frozenset({"are"})
"""The measures that draw at random and take a `seed`."""

BY_NODE = frozenset({"ncp", "lm", "blm", "distortion"})
"""The measures that rest on how many occurrences each node is `published` for."""

BY_WORLD = frozenset({"tkd", "tkd_2", "tkd_ml2", "re", "re_top"})
"""The measures that rest on reconstructions, and can share them as `worlds`."""

BY_HIERARCHY = {
    "disassociated": frozenset({"tkd_ml2"}),
    "typical-bags": frozenset({"blm", "sdist"}),
}
"""The measures of releases that may have no tree of their own, which need a `hierarchy`."""

OF_BAGS = frozenset({"recall", "sdist", "term_counts"})
"""The measures of generalized releases that are taken of sets only when they are asked for by name."""

KEPT = frozenset({"recall", "term_counts"})
"""The measures that say what is kept, and are better when they are greater."""

DISTANCES = frozenset({"sdist"})
"""The measures that are no shares but steps in a tree or network."""
