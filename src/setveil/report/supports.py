"""The reports of what a release says about itemsets, and of possible originals."""

from setveil.audit.verdict import show_items
from setveil.pipeline.reconstruct import Reconstructions
from setveil.pipeline.support import Supports
from setveil.published.release import Support
from setveil.report import Fact, Report, Section
from setveil.words import count, plural


def report_supports(found: Supports) -> Report:
    """How many records contain one itemset, or those that occur most often."""
    return _top(found) if found.is_top else _one(found)


def report_reconstructions(done: Reconstructions) -> Report:
    """Where the reconstructions are, and what they mean."""
    names = done.names
    named = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    title = f"Written: {plural(len(names), 'reconstruction')} of {plural(done.records, 'record')}"
    text = "Each is one possible original at random. Some of its records may equal true ones."
    text += f"\n{done.note}" if done.note else ""
    values = {"folder": str(done.folder), "records": done.records, "files": list(names)}
    return Report((Section(title, text, (Fact(f"{done.folder}/", named),)),), values)


def _one(found: Supports) -> Report:
    ((itemset, support),) = found.found
    facts = (
        Fact("at least", count(support.lower), found.bounds_are),
        Fact("expected", _expected(support), found.expected_is),
        Fact("at most", count(support.upper), found.bounds_are),
    )
    absent = ", ".join(map(repr, found.unknown))
    near = f"; {found.near}" if found.near else "."
    remark = f"The original does not contain {absent}{near}" if absent else found.note
    title = f"Records that contain {show_items(itemset)}, of {count(found.records)}"
    values = {"records": found.records, "items": list(itemset), **_values(support)}
    section = Section(title, remark, facts)
    return Report((section,), {**values, "unknown": list(found.unknown)})


def _top(found: Supports) -> Report:
    """The itemsets with the largest expected support, with their bounds."""
    facts = tuple(
        Fact(show_items(items), _expected(one), f"{count(one.lower)} to {count(one.upper)}")
        for items, one in found.found
    )
    records = plural(found.records, "record")
    title = f"{plural(len(facts), 'itemset')} with the largest expected support in {records}"
    itemsets = [{"items": list(items), **_values(one)} for items, one in found.found]
    text = f"The expected number is {found.expected_is}. The bounds are {found.bounds_are}."
    section = Section(title, text, facts)
    return Report((section,), {"records": found.records, "itemsets": itemsets})


def _expected(found: Support) -> str:
    return f"{found.expected:,.1f}".removesuffix(".0")


def _values(found: Support) -> dict[str, object]:
    return {"lower": found.lower, "expected": round(found.expected, 6), "upper": found.upper}
