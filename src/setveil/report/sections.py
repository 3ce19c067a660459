"""The reports of what the library gives back: outcomes, verdicts, losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setveil.audit.verdict import Check, Verdict
from setveil.metrics import METRICS
from setveil.published import Release
from setveil.report.inspection import PRIVATE
from setveil.report.report import Fact, Report, Section
from setveil.words import plural, seconds, share

if TYPE_CHECKING:
    from setveil.pipeline import Outcome

MOST_NAMED = 20
"""How many suppressed items are named before the rest is only counted."""
ALWAYS = "That somebody is in the data is not hidden, and a person with several records is protected in each of them alone."
"""What no promise of this kind covers."""
TREE_HINT = (
    "The tree was built over the data's own items, so the release holds only the part of it that the records show. If everybody may "
    "know the list of items, --public-items publishes the whole tree."
)


def report_outcome(outcome: Outcome) -> Report:
    """What a run has done: the promise, the verdict, the losses, and where everything lies."""
    sections = [
        _data(outcome),
        *_promise(outcome.release),
        _verdict(outcome.verdict),
        *_notes(outcome.notes),
    ]
    if outcome.verdict.holds:
        sections += [
            *_losses(outcome.losses),
            *_suppressed(outcome),
            *_explanation(outcome),
            _places(outcome),
        ]
    else:
        sections.append(
            Section("Nothing was written", "The release does not verify, so it was not kept.")
        )
    return Report(tuple(sections), outcome.to_dict())


def report_verdict(verdict: Verdict, notes: Sequence[str] = ()) -> Report:
    """Whether a promise holds, check by check, with a witness where it does not."""
    return Report((_verdict(verdict), *_notes(notes)), {**verdict.to_dict(), "notes": list(notes)})


def report_losses(losses: Mapping[str, Any], measured: Release | None = None) -> Report:
    """What was lost, by metric; with the release of which all that apply were `measured`, also what was left out for want of a tree."""
    usual = [] if measured is None else [n for n, row in METRICS.items() if row.is_usual(measured)]
    missing = {name for name in usual if "hierarchy" in METRICS[name].needs} - losses.keys()
    named = " and ".join(sorted(missing))
    note = (
        [
            Section(
                "Not measured",
                f"{named}: name the tree by which the release was made, with --semantics",
            )
        ]
        if named
        else []
    )
    return Report((*_losses(losses), *note), losses)


def _data(outcome: Outcome) -> Section:
    text = f"{plural(outcome.records, 'record')}, {plural(outcome.items, 'item')}, {plural(outcome.occurrences, 'occurrence')}"
    done = f"anonymized by the method {outcome.release.method['name']} in {seconds(outcome.seconds['anonymizing'])}"
    return Section("Read", f"{text}, in {seconds(outcome.seconds['reading'])}; {done}")


def _promise(release: Release) -> tuple[Section, Section]:
    """What is promised and what is not, in the words for whoever is to decide about the release."""
    promise = release.promise
    return Section(f"Promised: {promise.title}", release.describe()), Section(
        "Not promised", f"{promise.limits()}\n{ALWAYS}"
    )


def _verdict(verdict: Verdict) -> Section:
    title = f"{'Verified' if verdict.holds else 'Does not hold'}: {verdict.promise.title}"
    return Section(
        title,
        facts=tuple(fact for check in verdict.checks for fact in _check(check)),
        holds=verdict.holds,
    )


def _check(check: Check) -> list[Fact]:
    facts = [Fact(check.name, "holds" if check.holds else "FAILS", check.text)]
    return facts + [
        Fact("", "witness", f"{'(private) ' * witness.private}{witness.text}")
        for witness in check.witnesses
    ]


def _notes(notes: Sequence[str]) -> list[Section]:
    return [Section("Note", "\n".join(notes))] if notes else []


def _losses(losses: Mapping[str, Any]) -> list[Section]:
    """What was lost, and, where there are such measures, what was kept."""
    facts = {
        name: Fact(name, _figure(name, value), METRICS[name].about)
        for name, value in losses.items()
    }
    lost = tuple(fact for name, fact in facts.items() if METRICS[name].better == "less")
    kept = tuple(fact for name, fact in facts.items() if METRICS[name].better == "more")
    sections = [Section(f"Lost ({PRIVATE})", facts=lost)] if lost or not kept else []
    return sections + ([Section(f"Kept ({PRIVATE})", facts=kept)] if kept else [])


def _suppressed(outcome: Outcome) -> list[Section]:
    if not outcome.suppressed:
        return []
    named, more = outcome.suppressed[:MOST_NAMED], len(outcome.suppressed) - MOST_NAMED
    text = ", ".join(named) + (f" and {more:,} more; --json lists all" if more > 0 else "")
    return [
        Section(
            f"Suppressed everywhere: {plural(len(outcome.suppressed), 'item')} ({PRIVATE})", text
        )
    ]


def _explanation(outcome: Outcome) -> list[Section]:
    if outcome.explanation is None:
        return []
    return [Section(f"Why so much is lost ({PRIVATE})", "\n".join(outcome.explanation.lines()))]


def _figure(name: str, value: Any) -> str:
    if METRICS[name].unit == "steps":
        return f"{value:,.3f}"
    if isinstance(value, Mapping):
        return ", ".join(
            f"{part} {f'{number:,.1f}'.removesuffix('.0')}" for part, number in value.items()
        )
    return share(float(value))


def _places(outcome: Outcome) -> Section:
    facts = []
    if outcome.output is not None:
        facts.append(Fact("release", f"{outcome.output}/", "safe to hand over"))
    if outcome.alignment is not None:
        facts.append(Fact("alignment", str(outcome.alignment), PRIVATE))
    return Section(
        "Written" if facts else "Nothing was written, as nothing was asked for",
        TREE_HINT * outcome.pruned,
        tuple(facts),
    )
