"""Charts as SVG inside a page: no script, and they follow the colours of the page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from html import escape
from typing import Any

from setveil.errors import MissingExtraError
from setveil.report.charts import PALETTE

NO_CHARTS = "Charts need the extra charts of setveil: pip install 'setveil[charts]'."
_TEXT, _GRID, _FONT = "#111111", "#CCCCCC", "Arial, Helvetica, Liberation Sans, sans-serif"
_ROOM = {"left": 44, "right": 18, "top": 5, "bottom": 5}
"""Around a chart, because a reader's font may be wider than the one that was measured."""
_OPEN = re.compile(r"<svg\b[^>]*>")
_CONFIG = {
    "background": None,
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": _TEXT, "titleColor": _TEXT, "domainColor": _TEXT, "tickColor": _TEXT,
        "gridColor": _GRID, "gridOpacity": 0.5, "labelFontSize": 12, "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": _TEXT, "titleColor": _TEXT, "labelFontSize": 12, "symbolSize": 90},
    "header": {"labelColor": _TEXT, "titleColor": _TEXT, "labelFontSize": 12,
               "titleFontWeight": "normal"},
    "text": {"color": _TEXT, "fontSize": 12},
}  # fmt: skip


def picture(draw: Callable[[], Any], text: str, caption: str = "") -> str:
    """A figure with a chart, or a line that says what is missing to draw it.

    Args:
        draw: Makes the chart.
        text: What the chart shows, for people who cannot see it.
        caption: A line below it.
    """
    try:
        drawn = svg(draw(), text)
    except MissingExtraError:
        return f'<p class="missing">{escape(NO_CHARTS)}</p>'
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure><div class="chart">{drawn}</div>{below}</figure>'


def svg(chart: Any, text: str) -> str:
    """An Altair chart as SVG that scales, with a text for people who cannot see it."""
    spec = chart.properties(usermeta={}).to_dict()
    spec |= {"config": _CONFIG, "padding": _ROOM}
    made = _drawn(json.dumps(spec, sort_keys=True))
    return _OPEN.sub(lambda found: _opening(found[0], text), made, count=1)


@lru_cache(maxsize=64)
def _drawn(spec: str) -> str:
    """The drawing of a chart; a page that is looked at again draws nothing."""
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError("vl-convert-python", "a chart", extra="charts") from None
    return _themed(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


def _opening(tag: str, text: str) -> str:
    """The first tag, with a role and a text for readers of screens."""
    kept = re.sub(r'\s(role|aria-roledescription|aria-label|class)="[^"]*"', "", tag)
    return kept.replace("<svg", f'<svg role="img" aria-label="{escape(text, quote=True)}"', 1)


def _themed(made: str) -> str:
    """The drawing in the colours of the page, which differ by day and by night."""
    for number, color in enumerate(PALETTE):
        made = re.sub(f'"{color}"', f'"var(--c{number})"', made, flags=re.IGNORECASE)
    made = re.sub(f'"{_TEXT}"', '"currentColor"', made, flags=re.IGNORECASE)
    return re.sub(f'"{_GRID}"', '"var(--grid)"', made, flags=re.IGNORECASE)


def can_draw() -> bool:
    """Whether the libraries for charts are installed."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("altair", "vl_convert"))
