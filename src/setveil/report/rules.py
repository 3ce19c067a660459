"""The report of association rules."""

from dataclasses import asdict

from setveil.audit.verdict import show_items
from setveil.metrics.rules import Rule
from setveil.pipeline.rules import Rules
from setveil.report import Fact, Report, Section
from setveil.words import count, plural, rough_share


def report_rules(rules: Rules) -> Report:
    """Each rule with its confidence and support, and their bounds."""
    title = f"{plural(len(rules.found), 'rule')} with the largest expected confidence"
    text = "How many of the records with the first items have the others too. The bounds are"
    text += f" {rules.bounds_are}."
    text += "" if rules.found else " No rule is expected to reach these limits."
    facts = tuple(map(_fact, rules.found))
    section = Section(f"{title}, of {plural(rules.records, 'record')}", text, facts)
    values = [asdict(rule) for rule in rules.found]
    return Report((section,), {"records": rules.records, "rules": values})


def _fact(rule: Rule) -> Fact:
    name = f"{show_items(rule.antecedent)} -> {show_items(rule.consequent)}"
    sure, both = rule.confidence, rule.support
    bounds = f"{rough_share(sure.lower)} to {rough_share(sure.upper)}"
    expected = f"{both.expected:,.1f}".removesuffix(".0")
    records = f"{expected} records, {count(both.lower)} to {count(both.upper)}"
    return Fact(name, rough_share(sure.expected), f"{bounds}; {records}")
