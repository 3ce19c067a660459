"""The reports of what a disassociated release tells about itemsets."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.audit.verdict import show_items
from setveil.published.disassociated.form import Disassociated
from setveil.published.release import Support
from setveil.report.report import Fact, Report, Section
from setveil.words import count, plural


def report_support(release: Disassociated, items: Sequence[str]) -> Report:
    """How many records hold all of these items: what is certain, and what is to be expected."""
    itemset = tuple(dict.fromkeys(items))
    found = release.support(itemset)
    unknown = [item for item in itemset if item not in release.items]
    facts = (
        Fact("at least", count(found.lower), "certain"),
        Fact("expected", _expected(found), "on average over the possible originals"),
        Fact("at most", count(found.upper), "certain"),
    )
    remark = (
        f"The release does not hold {', '.join(map(repr, unknown))}, and neither does the original."
        if unknown
        else ""
    )
    title = f"Records that hold {show_items(itemset)}, of {count(len(release))}"
    values = {"records": len(release), "items": list(itemset), **_values(found), "unknown": unknown}
    return Report((Section(title, remark, facts),), values)


def report_top_itemsets(
    release: Disassociated, found: Sequence[tuple[tuple[str, ...], Support]]
) -> Report:
    """The itemsets that most records are expected to hold, with their bounds."""
    facts = tuple(
        Fact(
            show_items(items), _expected(bounds), f"{count(bounds.lower)} to {count(bounds.upper)}"
        )
        for items, bounds in found
    )
    title = f"{plural(len(found), 'itemset')} that most of {plural(len(release), 'record')} are expected to hold, with certain bounds"
    values = {
        "records": len(release),
        "itemsets": [{"items": list(items), **_values(bounds)} for items, bounds in found],
    }
    return Report((Section(title, facts=facts),), values)


def _expected(found: Support) -> str:
    return f"{found.expected:,.1f}".removesuffix(".0")


def _values(found: Support) -> dict[str, object]:
    return {"lower": found.lower, "expected": round(found.expected, 6), "upper": found.upper}
