"""The reports of a run, a verdict and losses."""

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.audit.verdict import Check, Verdict
from setveil.metrics import METRICS
from setveil.pipeline.demo import Demo
from setveil.pipeline.job import Outcome
from setveil.published import Release
from setveil.report import PRIVATE, Fact, Report, Section
from setveil.report.inspection import report_inspection
from setveil.words import plural, seconds, share

MOST_NAMED = 20  # how many suppressed items are named; the rest are counted
ALWAYS = (
    "The release may reveal who is in the data. If a person has several records, each is protected "
    "on its own."
)
"""What no promise of this kind covers."""
TREE_HINT = (
    "The tree was built from the items of the data, so the release contains only the part that its "
    "records show. If the list of items is public, --public-items publishes the whole tree."
)


def report_outcome(outcome: Outcome) -> Report:
    """What a run has done: the promise, the verdict, the losses, and where everything is."""
    sections = [_data(outcome), *_promise(outcome.release), *_verdict(outcome.verdict)]
    sections += _notes(outcome.notes, f"Note ({PRIVATE})")
    if outcome.verdict.holds:
        sections += [*_usefulness(outcome), *_losses(outcome.losses)]
        sections += [*_suppressed(outcome), *_explanation(outcome)]
        sections.append(_places(outcome))
    else:
        text = "The release does not verify, so it was removed."
        sections.append(Section("Nothing was written", text))
    return Report(tuple(sections), outcome.to_dict())


def report_verdict(verdict: Verdict, notes: Sequence[str] = ()) -> Report:
    """Whether a promise holds, check by check, with a witness if it does not."""
    return Report((*_verdict(verdict), *_notes(notes)), {**verdict.to_dict(), "notes": list(notes)})


def report_losses(losses: Mapping[str, Any], left_out: Sequence[str] = ()) -> Report:
    """What was lost, by metric, and which metrics were left out because they need a hierarchy."""
    sections = _losses(losses)
    if left_out:
        text = f"{' and '.join(left_out)}: give the hierarchy with --hierarchy"
        sections.append(Section("Not measured", text))
    return Report(tuple(sections), losses)


def _data(outcome: Outcome) -> Section:
    read, anonymized = outcome.seconds["reading"], outcome.seconds["anonymizing"]
    size = f"{plural(outcome.records, 'record')}, {plural(outcome.items, 'item')}"
    return Section(
        "Read",
        f"{size}, {plural(outcome.occurrences, 'occurrence')} in {seconds(read)}; "
        f"anonymized by {outcome.release.method['name']} in {seconds(anonymized)}{_why(outcome)}",
    )


def _why(outcome: Outcome) -> str:
    """Why this method, if the user named none."""
    return f"\n(chosen: {outcome.reason}; --method names another)" if outcome.reason else ""


def _promise(release: Release) -> list[Section]:
    """What is promised and what is not, for the person who decides about the release."""
    promise = release.promise
    return [
        Section(f"Promised: {promise.title}", release.describe()),
        Section("Not promised", f"{promise.limits()}\n{ALWAYS}"),
    ]


def _verdict(verdict: Verdict) -> list[Section]:
    """What anyone can check on the release, and apart from it what only its owner can."""
    title = f"{'Verified' if verdict.keeps_promise else 'Does not hold'}: {verdict.promise.title}"
    sections = [_checks(title, verdict, private=False)]
    if any(check.private for check in verdict.checks):
        comes = "Comes from" if verdict.fits_original else "Does not come from"
        sections.append(_checks(f"{comes} this original ({PRIVATE})", verdict, private=True))
    return sections


def _checks(title: str, verdict: Verdict, *, private: bool) -> Section:
    checks = [check for check in verdict.checks if check.private == private]
    facts = tuple(fact for check in checks for fact in _check(check))
    return Section(title, facts=facts, holds=all(check.holds for check in checks))


def _check(check: Check) -> list[Fact]:
    facts = [Fact(check.name, "holds" if check.holds else "FAILS", check.text)]
    return facts + [
        Fact("", "witness", f"{'(private) ' * witness.private}{witness.text}")
        for witness in check.witnesses
    ]


def _notes(notes: Sequence[str], title: str = "Note") -> list[Section]:
    return [Section(title, "\n".join(notes))] if notes else []


def _usefulness(outcome: Outcome) -> list[Section]:
    """What an analyst can still see, and what to try if that is little."""
    found = outcome.usefulness
    if found is None:
        return []
    few = "Use: little can be said about single items"
    title = "Use" if not found.is_poor else "Of little use" if found.is_silent else few
    sections = [Section(f"{title} ({PRIVATE})", "\n".join(found.sentences))]
    if outcome.advice:
        sections.append(Section(f"Try ({PRIVATE})", "\n".join(outcome.advice)))
    elif found.is_poor:
        text = "a smaller -k, fewer known items (-m), or a hierarchy with smaller groups"
        sections.append(Section("Try", text))
    return sections


def _losses(losses: Mapping[str, Any]) -> list[Section]:
    """What was lost, and what was kept, if some metrics measure that."""
    facts = {
        name: Fact(name, _figure(name, value), METRICS[name].about)
        for name, value in losses.items()
    }
    lost = tuple(fact for name, fact in facts.items() if METRICS[name].better == "less")
    kept = tuple(fact for name, fact in facts.items() if METRICS[name].better == "more")
    sections = [Section(f"Lost ({PRIVATE})", facts=lost)] if lost or not kept else []
    return sections + ([Section(f"Kept ({PRIVATE})", facts=kept)] if kept else [])


def _figure(name: str, value: Any) -> str:
    if METRICS[name].unit == "steps":
        return f"{value:,.3f}"
    if isinstance(value, Mapping):
        parts = ((part, f"{number:,.1f}".removesuffix(".0")) for part, number in value.items())
        return ", ".join(f"{part} {number}" for part, number in parts)
    return share(float(value))


def _suppressed(outcome: Outcome) -> list[Section]:
    if not outcome.suppressed:
        return []
    named, more = outcome.suppressed[:MOST_NAMED], len(outcome.suppressed) - MOST_NAMED
    text = ", ".join(named) + (f" and {more:,} more; --json lists all" if more > 0 else "")
    number = plural(len(outcome.suppressed), "item")
    return [Section(f"Removed from every record: {number} ({PRIVATE})", text)]


def _explanation(outcome: Outcome) -> list[Section]:
    if outcome.explanation is None:
        return []
    return [Section(f"Why so much is lost ({PRIVATE})", "\n".join(outcome.explanation.lines()))]


def _places(outcome: Outcome) -> Section:
    facts = []
    if outcome.output is not None:
        facts.append(Fact("release", f"{outcome.output}/", _clearance(outcome)))
    if outcome.alignment is not None:
        facts.append(Fact("alignment", str(outcome.alignment), PRIVATE))
    title = "Written" if facts else "Nothing was written, because no output was asked for"
    return Section(title, TREE_HINT * outcome.pruned, tuple(facts))


def report_demo(demo: Demo) -> Report:
    """How exposed the customers are, what was published, and some baskets before and after."""
    facts = []
    for basket, published in demo.examples:
        facts += [Fact("basket", ", ".join(basket)), Fact("published", ", ".join(published))]
    examples = Section("Some baskets, and what was published for them", facts=tuple(facts))
    outcome = report_outcome(demo.outcome)
    sections = (*report_inspection(demo.inspection).sections, *outcome.sections)
    return Report((*sections, examples) if demo.outcome.verdict.holds else sections)


def _clearance(outcome: Outcome) -> str:
    """What is true of this release, for the person who hands it over."""
    if outcome.notes:
        return "keeps the promise; read the notes before you hand it over"
    return "keeps the promise and contains nothing else of the original"
