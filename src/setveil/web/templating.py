"""Templates: how values become pages. Everything is escaped but what `report` has made as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from setveil import __version__
from setveil.report import PROMISE_HOLDS, fragments, markup
from setveil.report.comparison import noise_note
from setveil.report.comparison_page import about_measures, common_table, missing_table
from setveil.report.release_page import release_parts
from setveil.web.fixing import field_links
from setveil.web.wording import as_field, label_of, note_of, words_in
from setveil.words import plural, printable

TEMPLATES = Path(__file__).parent / "templates"
MOST_LINES = 200
"""How much of a tree is shown to browsers without scripts."""


def render(template: str, values: Mapping[str, Any]) -> str:
    """A page, or a part of one."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters |= {
        "exact": _exact,
        "command": _command,
        "sentence": sentence,
        "note": note_of,
        "triples": _triples,
    }
    made.globals |= {"plural": plural, "label_of": label_of, "as_field": as_field}
    made.globals |= {"field_links": field_links, "words_in": words_in, "noise_note": noise_note}
    made.globals |= {"first_levels": lambda draft: list(islice(draft.walk(depth=2), MOST_LINES))}
    pieces = {name: getattr(fragments, name) for name in fragments.__all__}
    pieces |= {"table": markup.table, "common_table": common_table, "missing_table": missing_table}
    pieces |= {"release_parts": release_parts, "about_measures": about_measures}
    made.globals |= {name: _html(make) for name, make in pieces.items()}
    made.globals |= {"version": __version__, "promise_holds": PROMISE_HOLDS}
    return made


def sentence(words: str) -> str:
    """A line of the command line as a sentence; the name of a file at its beginning stays as it is.

    Example:
        >>> sentence("the data is empty"), sentence("a.csv: the file is empty; use another")
        ('The data is empty.', 'a.csv: the file is empty; use another.')
    """
    first = words.split(" ", 1)[0]
    words = f"{words[:1].upper()}{words[1:]}" if first.isalpha() else words
    return f"{words}." if words[-1:].isalnum() or words[-1:] in ("”", ")") else words


def _shown(value: Any) -> Any:
    """Text as it is shown, whatever characters it has; a percentage is never torn apart."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value).replace(" %", "\u00a0%")


def _exact(value: object) -> Markup:
    """The value of a field, which a form sends back: not one character is changed."""
    if isinstance(value, float):
        value = f"{value:g}"
    return escape("" if value is None else value)


def _triples(options: Mapping[str, str], abouts: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """The options of a field as radio buttons take them."""
    return [(key, words, abouts.get(key, "")) for key, words in options.items()]


def _command(words: str) -> Markup:
    """A command whose options are not torn apart at the end of a line."""
    whole = r'<span class="whole">\1</span>'
    return Markup(re.sub(r"(?<!\S)(--?[\w-]+)", whole, str(_exact(words))))


def _html(make: Callable[..., str]) -> Callable[..., Markup]:
    """A function of `report`, which escapes by itself."""
    return lambda *given, **how: Markup(make(*given, **how))
