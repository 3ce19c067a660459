"""Pages: one HTML file about a release or a comparison, which needs nothing else.

A page has no script and loads nothing. Its charts are drawings inside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setveil.errors import ParameterError
from setveil.pipeline.compare import Comparison
from setveil.pipeline.dossier import Dossier
from setveil.report.comparison_page import comparison_page
from setveil.report.release_page import release_page

_PAGES: dict[type, Callable[[Any], str]] = {Dossier: release_page, Comparison: comparison_page}


def page(thing: object) -> str:
    """The page about a release (what `write_report` returns) or a comparison, as HTML.

    Example:
        >>> from setveil import compare
        >>> baskets = [["wine", "beer"], ["wine", "beer"], ["milk"], ["milk"]]
        >>> found = compare(baskets, "disassociation", k=2, m=2, workers=0)
        >>> page(found).startswith("<!doctype html>")
        True
    """
    for kind, made in _PAGES.items():
        if isinstance(thing, kind):
            return made(thing)
    kinds = ", ".join(kind.__name__ for kind in _PAGES)
    raise ParameterError("thing", type(thing).__name__, f"there are pages about {kinds}")
