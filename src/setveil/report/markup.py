"""HTML of pages and notebooks: small pieces, each escapes what it is given; and charts as SVG."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from setveil.data.tables.frames import needed
from setveil.errors import MissingExtraError
from setveil.report.charts import PALETTE
from setveil.words import printable

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the page may load: nothing, so that no browser asks anybody about it."""


def document(title: str, body: Iterable[str]) -> str:
    """A whole page: its style is inside, and it has no script and loads nothing."""
    style = files("setveil.report").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def text(words: object) -> str:
    """Words as they are, whatever characters they have; a percentage is never torn apart."""
    return escape(printable(str(words)).replace(" %", "\u00a0%"), quote=True)


def paragraph(words: str, kind: str = "") -> str:
    """A paragraph for each line."""
    mark = f' class="{kind}"' if kind else ""
    return "\n".join(f"<p{mark}>{text(line)}</p>" for line in words.splitlines() if line)


def bullets(lines: Sequence[str]) -> str:
    """A list."""
    return f"<ul>{''.join(f'<li>{text(line)}</li>' for line in lines)}</ul>" if lines else ""


def section(title: str, *parts: str) -> str:
    """A titled part of a page; nothing if it has no content."""
    inside = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{text(title)}</h2>\n{inside}\n</section>" if inside else ""


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()
) -> str:
    """A table; the columns `numbers` are aligned as numbers. Cells that begin with a tag are HTML
    already, made by this module."""
    lines = []
    if head:
        cells = (_cell("th", name, at in numbers) for at, name in enumerate(head))
        lines.append(f"<thead><tr>{''.join(cells)}</tr></thead>")
    for row in rows:
        cells = (_cell("td", value, at in numbers) for at, value in enumerate(row))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="wide"><table>{"".join(lines)}</table></div>' if lines else ""


def best(words: str) -> Markup:
    """The best number of a column."""
    return Markup(f"<strong>{text(words)}</strong>")


def yes_or_no(holds: bool, *, plain: bool = False) -> Markup:
    """A mark that does not need its colour; with `plain` it is not praised by one."""
    if plain and holds:
        return Markup("yes")
    return Markup(f'<span class="{"yes" if holds else "no"}">{"yes" if holds else "NO"}</span>')


def code(words: str, kind: str = "") -> Markup:
    """A piece of code, or a hash."""
    return Markup(
        f'<code class="{kind}">{text(words)}</code>' if kind else f"<code>{text(words)}</code>"
    )


def _cell(tag: str, value: str, is_number: bool) -> str:
    inside = value if isinstance(value, Markup) else text(value)
    tag = tag if inside else "td"  # a heading without words confuses a screen reader
    return f'<{tag} class="n">{inside}</{tag}>' if is_number else f"<{tag}>{inside}</{tag}>"


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
    vl_convert = needed("vl_convert", "a chart", "charts", "vl-convert-python")
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
