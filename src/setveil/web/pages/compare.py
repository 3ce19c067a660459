"""The seventh step: releases side by side, and other methods and numbers on the same data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from setveil.errors import ParameterError, SetveilError
from setveil.metrics import METRICS
from setveil.parameters import parameters
from setveil.pipeline.commands import command_line, python_call
from setveil.pipeline.methods import list_methods
from setveil.pipeline.names import words_of
from setveil.report.markup import Markup, best, joined, table, tag
from setveil.report.outcome import figure
from setveil.web.context import (
    data_of,
    form_of,
    project_of,
    promise_kind,
    promise_words_of,
    queue_of,
    reading_of,
    store_of,
    tree_words,
)
from setveil.web.flow import start
from setveil.web.forms import Form, button, check_field, form_tag, text_field
from setveil.web.layout import csrf_of, go, next_step, respond, unfinished
from setveil.web.pages.run import run_name
from setveil.web.steps import job_values, load_first, step_screen
from setveil.web.store import Project, StoredJob
from setveil.web.wording import label_of

WHY = "More protection costs more. Look at a few settings side by side before you decide."
HOLES = (
    "Not every measure fits every kind of release. The comparison below uses measures that fit all."
)


async def compare(request: Request) -> Response:
    """What was run, and what a comparison found."""
    return _screen(request, project_of(request))


async def begin(request: Request) -> Response:
    """Compare methods and numbers, as a job."""
    form = await form_of(request)
    project = project_of(request)
    try:
        words = _words(project, form)
    except SetveilError as error:
        return _screen(request, project, error)
    await queue_of(request).forget(project, "compare")
    await start(request, project, "compare", **words)
    return go(request, f"/projects/{project.id}/compare#compared")


def _screen(request: Request, project: Project, error: SetveilError | None = None) -> Response:
    store = store_of(request)
    runs = [job for job in store.jobs(project, "anonymize") if job.result.get("holds")]
    job = store.latest(project, "compare")
    body: list[str | None] = [load_first(project)]
    if data_of(project) is not None:
        body = [
            _beside(project, runs),
            _compared(request, job),
            _form(request, project),
            next_step(project, "compare", "Next: download") if runs else None,
        ]
    words = _usual(project) if job is None else job.task["options"]
    found = data_of(project)
    name = found[0] if found else "DATA"
    screen = step_screen(
        request, project, "compare", why=WHY, body=body, error=error,
        values={
            "runs": [_run_values(run) for run in runs],
            "job": job_values(job),
            "comparison": job.result.get("values") if job else None,
        },
        command=command_line("compare", name, output="compared", **words),
        python=python_call("compare", name, **words),
        refresh=bool(job and job.is_live),
    )  # fmt: skip
    return respond(request, screen)


def _beside(project: Project, runs: Sequence[StoredJob]) -> Markup:
    """The losses of all releases of the project, the least of each measure marked."""
    title = tag("h2", "Your releases side by side ", tag("span", "private", class_="private"))
    if not runs:
        return tag("section", title, tag("p", "There is no release yet."))
    losses = [run.result["losses"] for run in runs]
    shared = {name: sum(name in one for one in losses) for name in METRICS}
    names = sorted(filter(shared.get, METRICS), key=lambda name: -shared[name])
    rows = [
        [
            joined(name, tag("span", METRICS[name].about, class_="hint")),
            *_figures(name, [one.get(name) for one in losses]),
        ]
        for name in names
    ]
    head = ["measure", *map(run_name, runs)]
    links = (
        tag("li", tag("a", run_name(run), href=f"/projects/{project.id}/runs/{run.id}"))
        for run in runs
    )
    shown = Markup(table(head, rows, numbers=range(1, len(runs) + 1)))
    fits_all = all(shared[name] == len(runs) for name in names)
    holes = None if fits_all else tag("p", HOLES, class_="hint")
    return tag("section", title, shown, holes, tag("ul", *links), class_="measures")


def _figures(name: str, values: Sequence[Any]) -> list[str]:
    plain = [value for value in values if isinstance(value, int | float)]
    wanted = None
    if len(plain) > 1 and METRICS[name].unit != "people":
        wanted = min(plain) if METRICS[name].better == "less" else max(plain)
    return [
        ""
        if value is None
        else best(figure(name, value))
        if value == wanted
        else figure(name, value)
        for value in values
    ]


def _compared(request: Request, job: StoredJob | None) -> Markup | None:
    """What a comparison has found."""
    if job is None:
        return None
    title = tag("h2", "Methods and numbers compared", id="compared")
    if job.status != "done":
        return unfinished(request, job, "Comparing", "The comparison")
    found = job.result
    parts = [Markup(found[name]) for name in ("table", "chart", "missing") if found[name]]
    return tag("section", title, *parts)


def _form(request: Request, project: Project) -> Markup:
    """Which methods and which numbers."""
    model, words = promise_kind(project).model, promise_words_of(project)
    fitting = [method for method in list_methods() if model in method.promises]
    chosen = _usual(project)["methods"].split(",")
    boxes = (
        check_field(f"method.{method.name}", method.name, method.name in chosen, method.about)
        for method in fitting
    )
    own = parameters(promise_kind(project))
    numbers = (
        text_field(
            name, label_of(name), words.get(name, ""), "One or more numbers, with commas.",
            required=True,
        )
        for name, one in own.items()
        if one.required and not one.holds_items
    )  # fmt: skip
    return form_tag(
        f"/projects/{project.id}/compare",
        csrf_of(request),
        tag("h2", "Compare on this data"),
        tag("fieldset", tag("legend", "Methods"), *boxes),
        tag("div", *numbers, class_="grid"),
        tag("p", "Each is anonymized, verified and measured; nothing is published.", class_="hint"),
        button("Compare"),
        class_="card",
    )


def _words(project: Project, form: Form) -> dict[str, Any]:
    """The words of a comparison."""
    methods = [method.name for method in list_methods() if form.get(f"method.{method.name}")]
    if not methods:
        raise ParameterError("methods", None, "choose at least one method")
    own = words_of(promise_kind(project))
    given = promise_words_of(project)
    numbers = {
        name: form.get(name, "").replace(" ", "") or given.get(name)
        for name, one in parameters(promise_kind(project)).items()
        if one.required and not one.holds_items
    }
    items = {name: given[name] for name, one in own.items() if one.holds_items and given.get(name)}
    common = {**tree_words(project), **reading_of(project)}
    return {"methods": ",".join(methods), "promise": given["promise"], **numbers, **items, **common}


def _usual(project: Project) -> dict[str, Any]:
    """A comparison that works: all methods that keep the promise and have what they need."""
    words = promise_words_of(project)
    tree = tree_words(project)
    methods = [
        method.name
        for method in list_methods()
        if words["promise"] in method.promises and (tree or not method.needs_hierarchy)
    ]
    return {"methods": ",".join(methods), **words, **tree, **reading_of(project)}


def _run_values(run: StoredJob) -> dict[str, Any]:
    return {"id": run.id, "name": run_name(run), "losses": run.result["losses"]}
