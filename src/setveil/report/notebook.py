"""HTML of what the library returns: in notebooks, and as a page that needs nothing else.

A page has no script and loads nothing. Its charts are drawings inside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from setveil.audit.verdict import Verdict
from setveil.data.summary import summarize
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics import METRICS
from setveil.pipeline.approval import Approval
from setveil.pipeline.compare import Comparison
from setveil.pipeline.dossier import Dossier
from setveil.pipeline.job import Outcome
from setveil.published import Release
from setveil.report.approval import approval_page, approval_values
from setveil.report.charts import plot
from setveil.report.comparison_page import common_table, comparison_page
from setveil.report.markup import bullets, paragraph, picture, table, text, yes_or_no
from setveil.report.outcome import figure
from setveil.report.release_page import release_page
from setveil.words import plural

_STYLE = "".join(
    f"--c{number}:{color};"
    for number, color in enumerate(
        ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#888888")
    )
)


def html(thing: object) -> str:
    """A short description for a notebook.

    Example:
        >>> from setveil import Transactions
        >>> "2 records" in html(Transactions.of([["beer", "wine"], ["beer"]]))
        True
    """
    for kind, show in _SHOWN.items():
        if isinstance(thing, kind):
            return f'<div style="{_STYLE}--grid:#999999">{show(thing)}</div>'
    return f"<pre>{text(repr(thing))}</pre>"


def _data(data: Transactions) -> str:
    found = summarize(data)
    size = f"{plural(found.records, 'record')} of {plural(found.items, 'item')}"
    rows = [[item, f"{support:,}"] for item, support in found.most_frequent[:5]]
    head = ["most frequent items", "records"]
    lines = f"{size}, {found.lengths.mean:,.1f} items in a record on average"
    chart = _picture(data, "Supports of the items") if found.items else ""
    return paragraph(lines) + table(head, rows, numbers=[1]) + chart


def _tree(tree: Hierarchy) -> str:
    leaves = plural(tree.leaf_count, "leaf", "leaves")
    line = f"{leaves}, {plural(len(tree), 'node')}, {plural(tree.height, 'level')} below the root"
    return paragraph(line) + _picture(tree, "Nodes on each level of the tree")


def _release(release: Release) -> str:
    lines = paragraph(f"{release!r}") + paragraph(release.describe())
    return lines + (_picture(release, "Sizes of groups") if len(release.group_sizes) else "")


def _verdict(verdict: Verdict) -> str:
    mark = partial(yes_or_no, plain=verdict.mark is None)
    rows = [[mark(check.holds), check.name, check.text] for check in verdict.checks]
    found = [witness.text for check in verdict.failed for witness in check.witnesses]
    return paragraph(verdict.text.splitlines()[0]) + table([], rows) + bullets(found)


def _outcome(outcome: Outcome) -> str:
    rows = [
        [name, figure(name, value), METRICS[name].about] for name, value in outcome.losses.items()
    ]
    use = [] if outcome.usefulness is None else outcome.usefulness.sentences
    losses = table(["lost", "", ""], rows, numbers=[1])
    return _verdict(outcome.verdict) + bullets(use) + losses + _release(outcome.release)


def _comparison(found: Comparison) -> str:
    lines = paragraph(repr(found)) + common_table(found)
    return lines + (_picture(found, "Losses of all cells") if found.measured else "")


def _dossier(found: Dossier) -> str:
    chart = _picture(found, "The release") if found.private or found.sizes else ""
    return _verdict(found.verdict) + paragraph(found.meaning) + chart


_SHOWN: dict[type, Callable[[Any], str]] = {
    Transactions: _data,
    Hierarchy: _tree,
    Release: _release,
    Verdict: _verdict,
    Outcome: _outcome,
    Approval: lambda found: _dossier(found.dossier),
    Dossier: _dossier,
    Comparison: _comparison,
}


def _picture(thing: object, words: str) -> str:
    return picture(lambda: plot(thing), words)


_PAGES: dict[type, Callable[[Any], str]] = {
    Approval: approval_page,
    Dossier: release_page,
    Comparison: comparison_page,
}


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


def values(thing: object) -> dict[str, Any]:
    """What the page of `write_approval` shows, as plain values: its JSON twin.

    Example:
        >>> from setveil import KAnonymity, Suppressed, write_approval
        >>> release = Suppressed.of([["milk"], ["milk"]], KAnonymity(k=2))
        >>> values(write_approval(release, original=[["milk"], ["milk"]]))["risk"]["unique_before"]
        {'value': 0.0, 'low': 0.0, 'high': 0.0}
    """
    if not isinstance(thing, Approval):
        raise ParameterError("thing", type(thing).__name__, "there are values of an Approval")
    return approval_values(thing)
