"""The reports of a run, a verdict and losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from setveil.audit.verdict import Check, Verdict
from setveil.errors import Note, Spelling, as_keyword, spelled
from setveil.metrics import METRICS
from setveil.published import Release
from setveil.published.countable import Countable
from setveil.report import Fact, Report, Section
from setveil.report.inspection import account_facts, report_inspection
from setveil.words import plural, seconds, share

if TYPE_CHECKING:
    from setveil.pipeline.demo import Demo
    from setveil.pipeline.job import Outcome
    from setveil.pipeline.verify import Verification

MOST_NAMED = 20  # how many suppressed items are named; the rest are counted
COUNTABLE = "What can be counted from it"
TREE_HINT = (
    "The tree was built from the items of the data, so the release contains only the part that its "
    "records show. If the list of items is public, {public_items=True} publishes the whole tree."
)


def report_outcome(
    outcome: Outcome, spell: Spelling = as_keyword, *, show_examples: bool = False
) -> Report:
    """What a run has done: first what may be shared, then what is about the original.

    Args:
        outcome: What a run has done.
        spell: How the door spells parameters.
        show_examples: Whether to show a few records before and after.
    """
    verdict, notes = verdict_sections(outcome.verdict), _notes(outcome.notes, spell)
    if not outcome.verdict.holds:
        text = "The release does not keep its promise, so it was removed."
        hidden = [replace(section, private=True) for section in verdict]
        failed = [Section("Nothing was written", text), *hidden, _read(outcome, spell), *notes]
        return Report(tuple(failed), outcome.to_dict())
    sections = [_made(outcome, spell), *report_promise(outcome.release), *verdict]
    sections += _countable(outcome.countable)
    sections += [
        _places(outcome, spell),
        _read(outcome, spell),
        *notes,
        *_usefulness(outcome, spell),
    ]
    if outcome.report is not None:
        text = f"{outcome.report}: the promise, the verdict, and what was lost, with charts"
        sections.append(Section("Written: the page", text, private=True))
    if outcome.alignment is not None:
        text = f"{outcome.alignment}: the published record or cluster of each original record"
        sections.append(Section("Written: the alignment", text, private=True))
    sections += [*_losses(outcome.losses), *_suppressed(outcome)]
    why = [] if outcome.explanation is None else outcome.explanation.lines()
    remarks = [remark.text(spell) for remark in outcome.remarks]
    for title, lines in (("Why so much is lost", why), ("Hierarchy", remarks)):
        sections += [Section(title, "\n".join(lines), private=True)] if lines else []
    sections += _examples(outcome) if show_examples else []
    return Report(_shared_first(sections), outcome.to_dict())


def report_promise(release: Release) -> list[Section]:
    """What is promised and what is not, for the person who decides about the release."""
    promise = release.promise
    return [
        Section(f"Promised: {promise.title}", release.describe()),
        Section("Not promised", release.limits()),
    ]


def report_verification(found: Verification, spell: Spelling = as_keyword) -> Report:
    """Whether a promise holds, check by check, with a witness if it does not; for a release also
    what the promise means."""
    verdict, notes = found.verdict, [_spelled(note, spell) for note in found.notes]
    meaning = [] if found.release is None else report_promise(found.release)
    sections = [*verdict_sections(verdict), *_countable(found.countable), *meaning]
    sections += _notes(found.notes, spell)
    values = {**found.to_dict(), "notes": notes}
    return Report(_shared_first(sections), values)


def report_losses(
    losses: Mapping[str, Any], left_out: Sequence[str] = (), spell: Spelling = as_keyword
) -> Report:
    """What was lost, by metric, and which metrics were left out because they need a hierarchy."""
    sections = _losses(losses)
    if left_out:
        text = f"{' and '.join(left_out)}: give the hierarchy with {{hierarchy}}"
        sections.append(Section("Not measured", spelled(text, spell)))
    return Report(tuple(sections), losses)


def _countable(found: Countable | None) -> list[Section]:
    return [] if found is None else [Section(COUNTABLE, "\n".join(found.sentences))]


def _shared_first(sections: Sequence[Section]) -> tuple[Section, ...]:
    return tuple(sorted(sections, key=lambda section: section.private))


def _made(outcome: Outcome, spell: Spelling) -> Section:
    how = f"as in {outcome.like}" if outcome.like else f"by {outcome.release.method['name']}"
    made = f"{plural(len(outcome.release), 'record')} {how}"
    why = f"Chosen because {outcome.reason}; choose another with {{method}}."
    return Section(f"Anonymized: {made}", spelled(why, spell) if outcome.reason else "")


def _read(outcome: Outcome, spell: Spelling) -> Section:
    read, anonymized = outcome.seconds["reading"], outcome.seconds["anonymizing"]
    size = f"{plural(outcome.records, 'record')}, {plural(outcome.items, 'item')}"
    times = f"in {seconds(read)}; anonymized in {seconds(anonymized)}"
    occurrences = plural(outcome.occurrences, "occurrence")
    facts = () if outcome.account is None else account_facts(outcome.account, spell)
    return Section("Read", f"{size}, {occurrences} {times}", facts, private=True)


def verdict_sections(verdict: Verdict) -> list[Section]:
    """What anyone can check on the release, and apart from it what only its owner can."""
    section = _checks(verdict.titled("Verified", "Does not hold"), verdict, private=False)
    sections = [replace(section, holds=verdict.mark)]
    hidden = [
        Fact(check.name, "witness", witness.text)
        for check in verdict.checks
        for witness in check.witnesses
        if witness.private and not check.private
    ]
    if hidden:
        sections.append(Section("Where it does not hold", facts=tuple(hidden), private=True))
    if verdict.origin is not None:
        sections.append(_checks(verdict.origin_text, verdict, private=True))
    return sections


def _checks(title: str, verdict: Verdict, *, private: bool) -> Section:
    checks = [check for check in verdict.checks if check.private == private]
    facts = tuple(fact for check in checks for fact in _check(check))
    holds = all(check.holds for check in checks)
    return Section(title, facts=facts, holds=holds, private=private)


def _check(check: Check) -> list[Fact]:
    facts = [Fact(check.name, "holds" if check.holds else "FAILS", check.text)]
    return facts + [
        Fact("", "witness", f"{'(private) ' * witness.private}{witness.text}")
        for witness in check.witnesses
        if check.private or not witness.private
    ]


def _notes(notes: Sequence[str], spell: Spelling) -> list[Section]:
    lines = [_spelled(note, spell) for note in notes]
    return [Section("Note", "\n".join(lines), private=True)] if lines else []


def _spelled(note: str, spell: Spelling) -> str:
    return note.text(spell) if isinstance(note, Note) else note


def _usefulness(outcome: Outcome, spell: Spelling) -> list[Section]:
    """What an analyst can still see, and what to try if that is little."""
    found = outcome.usefulness
    if found is None:
        return []
    few = "Use: little can be said about single items"
    title = "Use" if not found.is_poor else "Of little use" if found.is_silent else few
    sections = [Section(title, "\n".join(found.sentences), private=True)]
    lines = [_spelled(line, spell) for line in outcome.advice]
    if found.is_poor and not lines:
        other = outcome.release.promise.easing
        lines = ["anonymize this data on its own" if outcome.like else f"{other}, or more records"]
    return sections + ([Section("Try", "\n".join(lines), private=True)] if lines else [])


def _losses(losses: Mapping[str, Any]) -> list[Section]:
    """What was lost, and what was kept, if some metrics measure that."""
    facts = {
        name: Fact(name, figure(name, value), METRICS[name].about) for name, value in losses.items()
    }
    lost = tuple(fact for name, fact in facts.items() if METRICS[name].better == "less")
    kept = tuple(fact for name, fact in facts.items() if METRICS[name].better == "more")
    sections = [Section("Lost", facts=lost, private=True)] if lost or not kept else []
    return sections + ([Section("Kept", facts=kept, private=True)] if kept else [])


def figure(name: str, value: Any) -> str:
    """A figure as people read it."""
    if METRICS[name].unit == "steps":
        return f"{value:,.3f}"
    if isinstance(value, Mapping) and METRICS[name].unit == "share":
        return ", ".join(f"{part} {share(number)}" for part, number in value.items())
    if isinstance(value, Mapping):
        parts = ((part, f"{number:,.1f}".removesuffix(".0")) for part, number in value.items())
        return ", ".join(f"{part} {number}" for part, number in parts)
    return share(float(value))


def _suppressed(outcome: Outcome) -> list[Section]:
    if not outcome.suppressed:
        return []
    named, more = outcome.suppressed[:MOST_NAMED], len(outcome.suppressed) - MOST_NAMED
    text = ", ".join(named) + (f" and {more:,} more" if more > 0 else "")
    number = plural(len(outcome.suppressed), "item")
    return [Section(f"Removed from every record: {number}", text, private=True)]


def _examples(outcome: Outcome) -> list[Section]:
    facts: list[Fact] = []
    for original, published in outcome.examples:
        facts += [Fact("original", ", ".join(original)), Fact("published", published)]
    title = "Some records, and what was published for them"
    return [Section(title, facts=tuple(facts), private=True)] if facts else []


def _places(outcome: Outcome, spell: Spelling) -> Section:
    facts, but = [], outcome.verdict.but
    if outcome.output is not None:
        facts.append(Fact("release", f"{outcome.output}/", f"keeps the promise{but}"))
    title = "Written" if facts else "Nothing was written, because no output was asked for"
    hint = spelled(TREE_HINT, spell) if outcome.pruned else ""
    return Section(title, hint, tuple(facts))


def report_demo(demo: Demo, spell: Spelling = as_keyword) -> Report:
    """How exposed the customers are, what was published, and some baskets before and after."""
    outcome = report_outcome(demo.outcome, spell, show_examples=True)
    return Report((*report_inspection(demo.inspection).sections, *outcome.sections))
