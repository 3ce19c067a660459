"""HTML of pages and notebooks: small pieces, each escapes what it is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from markupsafe import Markup

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
