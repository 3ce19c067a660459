"""What is released: the published forms."""

from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.grouped.cells import Node, PublishedColumn, Span
from setveil.published.grouped.form import Grouped
from setveil.published.release import Release, Support
from setveil.published.suppressed import Suppressed
from setveil.published.synthetic import Synthetic
from setveil.published.typical_bags import TypicalBags

__all__ = [
    "Disassociated",
    "Generalized",
    "Grouped",
    "Node",
    "PublishedColumn",
    "Release",
    "Span",
    "Support",
    "Suppressed",
    "Synthetic",
    "TypicalBags",
]
