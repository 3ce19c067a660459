"""The report of all methods."""

from collections.abc import Sequence

from setveil.pipeline.methods import MethodFacts
from setveil.report import Fact, Report, Section

_READS = {
    "sets": "sets of items; how often an item occurs in a record is ignored",
    "bags": "bags: how often an item occurs in a record counts",
    "either": "sets or bags",
}


def report_methods(methods: Sequence[MethodFacts]) -> Report:
    """What each method can promise, what it needs, and when it is chosen."""
    values = {"methods": [method.to_dict() for method in methods]}
    return Report(tuple(map(_section, methods)), values)


def _section(method: MethodFacts) -> Section:
    needs = "a hierarchy (--hierarchy)" if method.needs_hierarchy else "no hierarchy"
    facts = [
        Fact("promises", ", ".join(method.promises)),
        Fact("needs", needs),
        Fact("reads", _READS[method.reads]),
        Fact("publishes", method.form),
        *(Fact("chosen", f"for {model}: {why}") for model, why in method.chosen_for.items()),
    ]
    return Section(method.name, facts=tuple(facts))
