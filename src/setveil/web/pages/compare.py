"""The seventh step: releases side by side, and other methods and numbers on the same data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from setveil.errors import ParameterError, SetveilError
from setveil.methods import METHODS
from setveil.metrics import METRICS
from setveil.parameters import parameters
from setveil.pipeline.advise import BUILT
from setveil.pipeline.commands import command_line, python_call
from setveil.pipeline.compare import Comparison
from setveil.pipeline.names import list_methods
from setveil.promises import PROMISES
from setveil.report.outcome import figure
from setveil.web.context import found_of, store_of
from setveil.web.following import changing, start
from setveil.web.forms import Field, Form, form_field
from setveil.web.project import Project, adds_noise
from setveil.web.runs import run_values
from setveil.web.screens import Screen, step_frame
from setveil.web.store import StoredJob
from setveil.web.wording import words_in

WHY = "More protection costs more. Look at a few settings side by side before you decide."


@dataclass(frozen=True, kw_only=True)
class CompareScreen(Screen):
    """Releases side by side, and what a comparison has found."""

    template = "compare.html"
    loaded: bool
    runs: list[dict[str, Any]]
    measures: list[dict[str, Any]]
    """Each measure, with a figure of each run."""
    noisy: bool
    """Whether some releases are draws of noise, which are never ranked."""
    job: StoredJob | None
    comparison: Comparison | None
    methods: list[Field]
    numbers: list[Field]


async def begin(request: Request, project: Project, form: Form) -> str:
    """Compare methods and numbers, as a job."""
    words = _words(project, form)
    async with changing(request, "compare") as project:
        await start(request, project, "compare", **words)
    return f"/projects/{project.id}/compare#compared"


async def trade(request: Request, project: Project, form: Form) -> str:
    """Compare the weights of the method: what one loss costs another."""
    async with changing(request, "compare") as project:
        await start(request, project, "compare", **_words(project))
    return f"/projects/{project.id}/compare#compared"


async def screen(request: Request, project: Project, error: SetveilError | None) -> CompareScreen:
    """What was run, and what a comparison found."""
    store, data = store_of(request), project.data
    all_jobs = store.jobs(project, "anonymize")
    jobs = [job for job in all_jobs if job.status == "done"]
    losses = {job.id: one for job in jobs if (one := _losses(job)) is not None}
    shown = [run for run in run_values(project, all_jobs) if run["id"] in losses]
    runs = [{**run, "losses": losses[run["id"]]} for run in shown]
    job = store.latest(project, "compare")
    words = _words(project) if job is None else job.task["options"]
    name = data[0] if data else "DATA"
    return CompareScreen(
        **step_frame(request, project, "compare", error),
        why=WHY,
        loaded=data is not None,
        runs=runs,
        measures=_measures(runs),
        noisy=any(map(_is_draw, runs)),
        job=job,
        comparison=found_of(job),
        methods=_methods(project, _suggested(store.latest(project, "advise"), jobs)),
        numbers=_numbers(project),
        command=command_line("compare", name, output="compared", **words),
        python=python_call("compare", name, **words),
        refresh=bool(job and job.is_live),
    )


def _losses(job: StoredJob) -> Mapping[str, Any] | None:
    """What a release has lost; None if there is none."""
    found = found_of(job)
    return None if found is None or found.dossier is None else found.dossier.private.losses


def _is_draw(run: Mapping[str, Any]) -> bool:
    """Whether a release is a draw of noise: that it lost less than another is luck, and to hand it
    over because of that would say something about the data."""
    return adds_noise(PROMISES[run["words"]["promise"]])


def _measures(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each measure with its figures, those that most releases have first; `own` is what only one of
    several has."""
    shared = {name: sum(name in run["losses"] for run in runs) for name in METRICS}
    return [
        {
            "name": name,
            "about": METRICS[name].about,
            "own": shared[name] == 1 < len(runs),
            "figures": _figures(name, runs),
        }
        for name in sorted(filter(shared.get, METRICS), key=lambda name: -shared[name])
    ]


def _figures(name: str, runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The figures of a measure as people read them; the best is marked, but never a draw."""
    values = [(run["losses"].get(name), _is_draw(run)) for run in runs]
    plain = [one for one, is_draw in values if isinstance(one, int | float) and not is_draw]
    best = None
    if len(plain) > 1 and METRICS[name].unit != "records":
        best = min(plain) if METRICS[name].better == "less" else max(plain)
    return [
        {} if one is None else {"shown": figure(name, one), "best": one == best and not is_draw}
        for one, is_draw in values
    ]


def _suggested(advised: StoredJob | None, runs: Sequence[StoredJob]) -> set[str]:
    """The methods that the trials and the newest release suggest."""
    advice, release = found_of(advised), found_of(next(iter(runs), None))
    found = {words_in(tip).get("method", "") for tip in release.advice} if release else set()
    return found | ({advice.best.way.method.name} if advice else set())


def _methods(project: Project, suggested: Collection[str]) -> list[Field]:
    chosen, tick = {*_words(project)["methods"].split(","), *suggested}, {"kind": "check"}
    return [
        form_field(f"method.{one.name}", one.name in chosen, one.about, label=one.name, **tick)
        for one in list_methods()
        if project.promise_kind.model in one.promises
    ]


def _numbers(project: Project) -> list[Field]:
    words, several = project.promise_words, "One or more numbers, with commas."
    return [
        form_field(name, words.get(name, ""), several, required=True)
        for name, one in parameters(project.promise_kind).items()
        if one.required and not one.holds_items
    ] + [form_field(name, values, several) for name, values in _weights(project).items()]


def _weights(project: Project) -> dict[str, str]:
    """The parameters that weigh one loss against another, with the values that are compared."""
    kinds = [one for one in METHODS.values() if project.promise_kind in one.promises]
    found = {name: each for one in kinds for name, each in one.weighs.items()}
    return {name: ",".join(f"{one:g}" for one in each) for name, each in found.items()}


def _words(project: Project, form: Form | None = None) -> dict[str, Any]:
    """The words of a comparison that a form asks for, without what was added to the promise; if
    there is no form, of what works: all methods that keep the promise and have what they need."""
    own, tree = {"promise", *parameters(project.promise_kind)}, project.tree_words
    words = {name: one for name, one in project.promise_words.items() if name in own}
    fitting = [one for one in list_methods() if words["promise"] in one.promises]
    if form is None:
        methods = [one for one in fitting if tree or not one.needs_hierarchy]
        words |= _weights(project)
    else:
        methods = [one for one in fitting if form.get(f"method.{one.name}")]
        numbers = {one["name"]: form.get(one["name"], "") for one in _numbers(project)}
        words |= {name: given.replace(" ", "") for name, given in numbers.items() if given.strip()}
        if not methods:
            raise ParameterError("methods", None, "choose at least one method")
    if not tree and any(one.needs_hierarchy for one in methods):
        tree = {"hierarchy": BUILT}
    named = ",".join(one.name for one in methods)
    return {"methods": named, **words, **tree, **project.reading}
