"""The report of advice: what to run, and the trials that speak for it."""

from __future__ import annotations

from setveil.pipeline.advise import Advice
from setveil.pipeline.commands import method_options
from setveil.pipeline.trials import Trial
from setveil.published import Release
from setveil.report import Fact, Report, Section
from setveil.words import plural, seconds, share


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
            facts=tuple(_fact(trial) for trial in found.trials),
            private=True,
        ),
        Section("Next", _next(found, name)),
    ]
    return Report(tuple(sections), found.to_dict())


def _promise(found: Advice) -> str:
    form = Release.named(found.best.way.method.form)
    lines = [
        found.promise.describe(possible=not form.shows_records),
        f"Chosen because {found.promise.feared}.",
    ]
    if found.usual:
        several = len(found.usual) > 1
        named = f"{' and '.join(found.usual)} {'were' if several else 'was'} not given"
        lines.append(f"{named}; {'these are common values' if several else 'this is common'}.")
    if found.built:
        lines.append(
            f"No hierarchy was given, so one was built ({found.built}). Its groups mean little: a "
            "hierarchy of your own loses less."
        )
    return "\n".join(lines)


def _fact(trial: Trial) -> Fact:
    words = method_options(trial.way.method.to_dict())[1:]
    if trial.loss is None:
        return Fact(" ".join(words), "none", trial.reason)
    remark = f"{plural(trial.records, 'record')}, {seconds(trial.seconds)}"
    return Fact(" ".join(words), share(trial.loss), remark)


def _next(found: Advice, name: str) -> str:
    whole = found.best.records == found.records
    ranked = "Trials on a sample only rank settings; the losses of the whole data differ. "
    command = f"`setveil compare {name} -o compared --methods {_methods(found)} ...`"
    return f"{'' if whole else ranked}{command} measures all methods on the whole data."


def _methods(found: Advice) -> str:
    return ",".join(dict.fromkeys(trial.way.method.name for trial in found.trials))
