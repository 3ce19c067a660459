"""The reports of what a release alone says of its original: supports, rules, reconstructions."""

from setveil.audit.verdict import show_items
from setveil.metrics.rules import Rule
from setveil.pipeline.reconstruct import Reconstructions
from setveil.pipeline.support import Rules, Supports
from setveil.published.countable import EXACT, Support
from setveil.report import Fact, Report, Section
from setveil.words import count, plural, rough_share


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
        _expected(support, found),
        Fact("at most", count(support.upper), found.bounds_are),
    )
    absent = ", ".join(map(repr, found.unknown))
    near = f"; {found.near}" if found.near else "."
    remark = f"The original does not contain {absent}{near}" if absent else found.note
    title = f"Records that contain {show_items(itemset)}, of {count(found.records)}"
    (values,) = _values(found)
    section = Section(title, remark, facts)
    return Report((section,), {"records": found.records, **values, "unknown": list(found.unknown)})


def _top(found: Supports) -> Report:
    """The itemsets that most records certainly contain, with their bounds."""
    facts = tuple(_itemset(*each) for each in found.found)
    records = plural(found.records, "record")
    title = f"{plural(len(facts), 'itemset')} with the largest lower bound in {records}"
    text = f"The bounds are {found.bounds_are}. The expected number is {found.expected_is}."
    section = Section(title, text, facts)
    return Report((section,), {"records": found.records, "itemsets": _values(found)})


def _values(found: Supports) -> list[dict[str, object]]:
    both = zip(found.found, found.counted, strict=True)
    return [
        {"items": list(items), **one.to_dict()}
        | ({"in_cut_records": {"lower": counted[0], "upper": counted[1]}} if counted else {})
        for (items, one), counted in both
    ]


def _expected(support: Support, found: Supports) -> Fact:
    """The estimate and how exact it is, or why there is none."""
    if support.expected is None:
        return Fact("expected", support.accuracy, found.open_because)
    sure = "" if found.bounds_are == "certain" else f", {found.bounds_are}"
    said = f"{support.accuracy}{sure}{_flag(support)}; {found.expected_is}"
    remark = support.accuracy if support.accuracy == EXACT else said
    return Fact("expected", _number(support.expected), remark)


def _flag(support: Support) -> str:
    """What is said of a number that the release does not determine."""
    return "" if support.is_determined else ", not determined by the release"


def _itemset(items: tuple[str, ...], found: Support) -> Fact:
    bounds, remark = dict.fromkeys((count(found.lower), count(found.upper))), found.accuracy
    if found.expected is not None and found.accuracy != EXACT:
        remark = f"expected {_number(found.expected)}, {remark}{_flag(found)}"
    return Fact(show_items(items), " to ".join(bounds), remark)


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def report_rules(rules: Rules) -> Report:
    """Each rule with its confidence and support, and their bounds."""
    title = f"{plural(len(rules.found), 'rule')} with the largest lower bound of the confidence"
    text = "How many of the records with the first items have the others too. The bounds are"
    text += f" {rules.bounds_are}."
    text += "" if rules.found else " No rule surely reaches these limits."
    facts = tuple(map(_fact, rules.found))
    section = Section(f"{title}, of {plural(rules.records, 'record')}", text, facts)
    values = [rule.to_dict() for rule in rules.found]
    return Report((section,), {"records": rules.records, "rules": values})


def _fact(rule: Rule) -> Fact:
    name = f"{show_items(rule.antecedent)} -> {show_items(rule.consequent)}"
    sure, both = rule.confidence, rule.support
    ends = (rough_share(sure.lower), rough_share(sure.upper))
    records = f"{count(both.lower)} to {count(both.upper)} records"
    if both.lower == both.upper:
        records = plural(both.lower, "record")
    mean = "" if sure.expected is None or not sure.within else rough_share(sure.expected)
    return Fact(name, " to ".join(dict.fromkeys(ends)), f"expected {mean}; " * bool(mean) + records)
