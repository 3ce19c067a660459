"""Writes the tables of the docs that are derived from the code: `make docs-tables`.

A page marks the place of a table with `<!-- begin NAME -->` and `<!-- end NAME -->`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from textwrap import wrap

from setveil import METHODS, METRICS, PROMISES
from setveil.io.releases.versions import VERSIONS
from setveil.metrics.table import Metric
from setveil.parameters import Parameter, parameters
from setveil.promises import Promise

TOP = Path(__file__).resolve().parents[1]
DOCS = TOP / "docs"
BLOCK = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
FORM_PAGES = {
    "generalized": "receiving.md",
    "suppressed": "receiving.md",
    "typical-bags": "forms/typical-bags.md",
    "synthetic": "forms/synthetic.md",
    "disassociated": "forms/disassociated.md",
    "grouped": "forms/grouped.md",
}
NEEDS = {"worlds": "reconstructions", "hierarchy": "a hierarchy"}

Link = Callable[[str, str], str]
"""The words and the page of a link, as a page writes it."""


def main() -> None:
    """Rewrite every marked table."""
    for page in marked_pages():
        page.write_text(renewed(page), encoding="utf-8")


def marked_pages() -> list[Path]:
    """The pages with a derived table."""
    pages = [*sorted(DOCS.rglob("*.md")), *sorted(TOP.glob("*.md"))]
    return [page for page in pages if BLOCK.search(page.read_text(encoding="utf-8"))]


def renewed(page: Path) -> str:
    """The text of a page with its tables derived anew."""

    def link(words: str, target: str) -> str:
        return f"[{words}]({Path(os.path.relpath(DOCS / target, page.parent)).as_posix()})"

    def table(found: re.Match[str]) -> str:
        return f"{found[1]}{TABLES[found[2]](link)}\n{found[3]}"

    return BLOCK.sub(table, page.read_text(encoding="utf-8"))


def promise_options(link: Link) -> str:
    """The options that say what is promised."""
    rows = (
        [_option(each), _joined(owners), each.about.help, _allowed(each)]
        for each, owners in _shared(PROMISES, "promises", link)
    )
    return _table(["option", "promise", "meaning", "allowed"], rows)


def method_options(link: Link) -> str:
    """The options of the methods."""
    rows = (
        [_option(each), _joined(owners), each.about.help, _allowed(each), _default(each)]
        for each, owners in _shared(METHODS, "methods", link)
    )
    return _table(["option", "method", "meaning", "allowed", "default"], rows)


def methods(link: Link) -> str:
    """What each method keeps, needs, reads and publishes."""
    rows = (
        [
            link(name, f"methods/{name}.md"),
            _joined(_promise(each, link) for each in kind.promises)
            + "".join(f"; with {_promise(each, link)} if asked" for each in kind.additions),
            "yes" if kind.needs_hierarchy else "no",
            {"either": "sets or bags"}.get(kind.reads, kind.reads),
            link(kind.form, FORM_PAGES[kind.form]),
        ]
        for name, kind in METHODS.items()
    )
    return _table(["method", "keeps", "needs a hierarchy", "reads", "publishes"], rows)


def metrics(link: Link) -> str:
    """What each metric says, for which forms, and which way is better."""
    rows = (
        [
            link(name, f"metrics/{name}.md"),
            row.about,
            _measured_for(row),
            row.unit,
            {"less": "lower", "more": "higher"}[row.better],
            _joined(NEEDS[need] for need in row.needs if need in NEEDS),
        ]
        for name, row in METRICS.items()
    )
    return _table(["metric", "meaning", "measured for", "unit", "better", "needs"], rows)


def _measured_for(row: Metric) -> str:
    if not row.forms:
        return "all by name"
    bags = " (bags only)" if row.of_bags else ""
    return f"{_joined(row.forms)}{bags}{'; others by name' if row.on_request else ''}"


def compare_words(link: Link) -> str:
    """The parameters of promises and methods that `compare` takes, as one sentence."""
    owned = [*_shared(PROMISES, "promises", link), *_shared(METHODS, "methods", link)]
    names = dict.fromkeys(f"`{each.option}`" for each, _ in owned)
    return "\n".join(wrap(f"{', '.join(names)}.", 100, break_on_hyphens=False))


def fears(link: Link) -> str:
    """What may be feared, and what is promised against it."""
    rows = (
        [f"`{kind.fear}`", kind.feared, link(name, f"promises/{name}.md")]
        for name, kind in PROMISES.items()
        if kind.fear
    )
    return _table(["`--fear`", "the fear", "promise"], rows)


def tuned(link: Link) -> str:
    """What `--tune` may change."""
    rows = (
        [link(name, f"methods/{name}.md"), _joined(_values(kind, each) for each in kind.tunes)]
        for name, kind in METHODS.items()
    )
    return _table(["method", "what is tried"], rows)


def _values(kind: type, name: str) -> str:
    known = ("default" if value is None else str(value).lower() for value in kind.tunes[name])
    return f"`{parameters(kind)[name].option}` {' / '.join(known)}"


def formats(link: Link) -> str:
    """What each version of the release format changed."""
    rows = ([str(number), each.setveil, each.news] for number, each in VERSIONS.items())
    return _table(["format", "since setveil", "what changed"], rows)


TABLES: dict[str, Callable[[Link], str]] = {
    "promise-options": promise_options,
    "method-options": method_options,
    "methods": methods,
    "metrics": metrics,
    "compare-words": compare_words,
    "fears": fears,
    "tuned": tuned,
    "formats": formats,
}


def _shared(
    kinds: dict[str, type], folder: str, link: Link
) -> Iterator[tuple[Parameter, list[str]]]:
    """Each option once, with links to all that have it and describe it in the same way."""
    found: dict[tuple[str, str], tuple[Parameter, list[str]]] = {}
    for name, kind in kinds.items():
        for each in parameters(kind).values():
            if not any(isinstance(hint, type) and issubclass(hint, Promise) for hint in each.kinds):
                _, owners = found.setdefault((each.option, each.about.help), (each, []))
                owners.append(link(name, f"{folder}/{name}.md"))
    yield from found.values()


def _option(parameter: Parameter) -> str:
    switch = f", `--no-{parameter.option[2:]}`" if bool in parameter.kinds else ""
    return f"`{parameter.option}`{switch}"


def _allowed(parameter: Parameter) -> str:
    least, words = parameter.about.least, parameter.about.words
    if parameter.choices:
        number = ("whole number",) if int in parameter.kinds else ()
        return _joined((*(f"`{choice}`" for choice in parameter.choices), *number))
    if parameter.holds_items:
        return "[items](#how-to-name-items)"
    if bool in parameter.kinds:
        return ""
    kind = "whole number" if int in parameter.kinds else "number"
    bound = "" if least is None else f" of {least:g} or more"
    return f"{kind}{bound}" + "".join(f", or `{word}`" for word in words)


def _default(parameter: Parameter) -> str:
    special = {None: "", True: "on", False: "off"}
    if parameter.default is None or isinstance(parameter.default, bool):
        return special[parameter.default]
    return f"`{parameter.default}`"


def _promise(kind: type[Promise], link: Link) -> str:
    return link(kind.model, f"promises/{kind.model}.md")


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


if __name__ == "__main__":
    main()
