"""The report of advice: what to run, and the trials that speak for it."""

from __future__ import annotations

from setveil.pipeline.advise import Advice
from setveil.pipeline.commands import method_options
from setveil.pipeline.trials import Trial
from setveil.published import Release
from setveil.report import Fact, Report, Section
from setveil.words import plural, seconds, share

LARGE = 0.5
"""A loss that leaves little to use."""


def report_advice(found: Advice, name: str = "DATA") -> Report:
    """The promise, the command, and what each way lost in its trial."""
    best = found.best
    use = f"{found.use.measure}: the error when asked {found.use.about}"
    sections = [
        Section("Run", found.command),
        Section(f"Promise: {found.promise.title}", _promise(found)),
        Section("Exposure", "\n".join(found.exposed.sentences), private=True),
        Section(
            f"Why {best.way.method.name}: it loses least in trials, by {use}",
            facts=_facts(found),
            private=True,
        ),
        Section("Next", _next(found, name)),
    ]
    if best.loss is not None and best.loss > LARGE:
        sections.insert(-1, Section("Is it good enough?", _doubt(best), private=True))
    return Report(tuple(sections), found.to_dict())


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


def _doubt(best: Trial) -> str:
    return (
        f"Even the best setting has an error of {share(best.loss or 0)}, so its release would say "
        "little. A smaller k or m, or more records, make it smaller; so may a hierarchy, if you "
        "gave none."
    )


def _facts(found: Advice) -> tuple[Fact, ...]:
    """A row for each trial; settings of a method that lose the same are one row."""
    alike: dict[object, list[Trial]] = {}
    for trial in found.trials:
        key = (trial.way.method.name, trial.records, trial.loss, trial.reason)
        alike.setdefault(key, []).append(trial)
    return tuple(_fact(first, len(others)) for first, *others in alike.values())


def _fact(trial: Trial, others: int) -> Fact:
    words = " ".join(method_options(trial.way.method.to_dict())[1:])
    if trial.loss is None:
        return Fact(words, "none", trial.reason)
    remark = f"{plural(trial.records, 'record')}, {seconds(trial.seconds)}"
    if others:
        remark += f"; the same with {plural(others, 'other setting')}"
    return Fact(words, share(trial.loss), remark)


def _next(found: Advice, name: str) -> str:
    whole = found.best.records == found.records
    ranked = "Trials on a sample only rank settings; the losses of the whole data differ. "
    command = f"`setveil compare {name} -o compared --methods {_methods(found)} ...`"
    return f"{'' if whole else ranked}{command} measures all methods on the whole data."


def _methods(found: Advice) -> str:
    return ",".join(dict.fromkeys(trial.way.method.name for trial in found.trials))
