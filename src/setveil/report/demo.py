"""The report of the demo."""

from __future__ import annotations

from setveil.pipeline.demo import Demo
from setveil.report.inspection import report_inspection
from setveil.report.outcome import report_outcome
from setveil.report.report import Fact, Report, Section


def report_demo(demo: Demo) -> Report:
    """How exposed the customers are, what was published, and some baskets before and after."""
    facts = []
    for basket, published in demo.examples:
        facts += [Fact("basket", ", ".join(basket)), Fact("published", ", ".join(published))]
    examples = Section("Some baskets, and what was published for them", facts=tuple(facts))
    outcome = report_outcome(demo.outcome)
    sections = (*report_inspection(demo.inspection).sections, *outcome.sections)
    return Report((*sections, examples) if demo.outcome.verdict.holds else sections)
