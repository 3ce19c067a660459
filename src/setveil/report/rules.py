"""The report of association rules."""

from setveil.audit.verdict import show_items
from setveil.metrics.rules import Rule
from setveil.pipeline.rules import Rules
from setveil.report import Fact, Report, Section
from setveil.words import count, plural, rough_share


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
