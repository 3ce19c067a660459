"""The reports of what to do: advice by trials, and all methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from setveil.errors import Note, Spelling
from setveil.pipeline.advise import Advice
from setveil.pipeline.commands import method_options
from setveil.pipeline.names import MethodFacts
from setveil.pipeline.trials import DRAWS, Trial
from setveil.published import Release
from setveil.report import Fact, Report, Section, as_flag
from setveil.words import plural, seconds, share

Named = Callable[[Mapping[str, object]], str]
"""How a door writes a method with its parameters."""
LARGE = 0.5
"""A loss that leaves little to use."""
NOISE = (
    f"Each figure is the mean of {DRAWS} draws of the noise; none of them is kept, and a release "
    "draws new noise. The figures compare with the original without noise, so a choice by them is "
    "not covered by epsilon: make it on other data, or take the usual method. The trials took the "
    "list of items as public; a release needs one that is."
)
"""What to know about figures of methods that draw noise."""


def report_advice(found: Advice, name: str = "DATA") -> Report:
    """The promise, the command, and what each way lost in its trial."""
    first, last = Section("Run", found.command), Section("Next", _next(found, name))
    return Report((first, *trial_sections(found), last), found.to_dict())


def trial_sections(
    found: Advice, named: Named | None = None, spell: Spelling = as_flag
) -> list[Section]:
    """The promise, and what each way lost in its trial; methods in the words of the door."""
    best = found.best
    notes = [note.text(spell) if isinstance(note, Note) else note for note in found.notes]
    use = f"{found.use.measure}: the error when asked {found.use.about}"
    why = f"Why {best.way.method.name}: it loses least in trials, by {use}"
    sections = [
        Section(f"Promise: {found.promise.title}", _promise(found)),
        *([Section("Note", "\n".join(notes), private=True)] if notes else []),
        Section("Exposure", "\n".join(found.exposed.sentences), private=True),
        Section(why, facts=_facts(found, named or _options), private=True),
    ]
    if best.way.method.draws_noise:
        sections.append(Section("What these figures tell", NOISE, private=True))
    if best.loss is not None and best.loss > LARGE:
        sections.append(Section("Is it good enough?", _doubt(found), private=True))
    return sections


def _promise(found: Advice) -> str:
    form = Release.named(found.best.way.method.form)
    lines = [
        found.promise.describe(possible=not form.shows_records),
        f"Chosen because {found.promise.feared}.",
    ]
    if found.usual:
        values = " and ".join(str(getattr(found.promise, name)) for name in found.usual)
        were, common = ("were", "are common values")
        if len(found.usual) == 1:
            were, common = ("was", "is a common value")
        lines.append(f"{' and '.join(found.usual)} {were} not given; {values} {common}.")
    if found.built:
        lines.append(
            f"No hierarchy was given, so one was built ({found.built}). Its groups mean little: a "
            "hierarchy of your own loses less."
        )
    return "\n".join(lines)


def _doubt(found: Advice) -> str:
    loss, eased = share(found.best.loss or 0), found.promise.easing
    return (
        f"Even the best setting has an error of {loss}, so its release would say little. It gets "
        f"smaller with more records, or {eased}."
    )


def _options(method: Mapping[str, object]) -> str:
    return " ".join(method_options(method)[1:])


def _facts(found: Advice, named: Named) -> tuple[Fact, ...]:
    """A row for each trial; settings of a method that lose the same are one row."""
    alike: dict[object, list[Trial]] = {}
    for trial in found.trials:
        key = (trial.way.method.name, trial.records, trial.loss, trial.reason)
        alike.setdefault(key, []).append(trial)
    return tuple(_fact(first, len(others), named) for first, *others in alike.values())


def _fact(trial: Trial, others: int, named: Named) -> Fact:
    words = named(trial.way.method.to_dict())
    if trial.loss is None:
        return Fact(words, "none", trial.reason)
    remark = f"{plural(trial.records, 'record')}, {seconds(trial.seconds)}"
    if others:
        remark += f"; the same with {plural(others, 'other setting')}"
    return Fact(words, share(trial.loss), remark)


def _next(found: Advice, name: str) -> str:
    whole = found.best.records == found.records
    ranked = "Trials on a sample only rank settings; the losses of the whole data differ. "
    methods = ",".join(dict.fromkeys(trial.way.method.name for trial in found.trials))
    command = f"`setveil compare {name} -o compared --methods {methods} ...`"
    return f"{'' if whole else ranked}{command} measures all methods on the whole data."


_READS = {
    "sets": "sets of items; how often an item occurs in a record is ignored",
    "bags": "bags: how often an item occurs in a record counts",
    "either": "sets or bags",
    "tables": "tables: columns of people beside their sets of items",
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
