"""The fifth step: what will be done, the button that does it, and what was done before."""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from setveil.errors import SetveilError
from setveil.pipeline.anonymize import job_from
from setveil.pipeline.job import check_job
from setveil.report.markup import Markup, table, tag
from setveil.web.context import (
    anonymize_words,
    data_of,
    form_of,
    project_of,
    store_of,
    tree_of,
)
from setveil.web.equivalents import anonymize_python, safe_command
from setveil.web.flow import start
from setveil.web.forms import button, form_tag
from setveil.web.layout import csrf_of, go, respond
from setveil.web.steps import load_first, step_screen
from setveil.web.store import Project, StoredJob
from setveil.web.wording import label_of, line_of
from setveil.words import seconds

WHY = (
    "Each release is checked by code that shares nothing with the code that made it. One that "
    "fails is never kept."
)
STATES = {
    "queued": "waiting",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "interrupted": "interrupted",
}


async def run(request: Request) -> Response:
    """What would be done."""
    return _screen(request, project_of(request))


async def begin(request: Request) -> Response:
    """Anonymize, as a job."""
    await form_of(request)
    project = project_of(request)
    found = data_of(project)
    try:
        if found is None:
            raise SetveilError("load the data first")
        words = anonymize_words(project)
        check_job(job_from(found[0], words))
    except SetveilError as error:
        return _screen(request, project, error)
    made = await start(request, project, "anonymize", **words)
    return go(request, f"/projects/{project.id}/runs/{made.id}")


def _screen(request: Request, project: Project, error: SetveilError | None = None) -> Response:
    runs = store_of(request).jobs(project, "anonymize")
    body: list[str | None] = [load_first(project)]
    if data_of(project) is not None:
        body = [
            _summary(project),
            form_tag(
                f"/projects/{project.id}/run", csrf_of(request), button("Anonymize now", "large")
            ),
            _history(project, runs),
        ]
    screen = step_screen(
        request, project, "run", why=WHY, body=body, error=error,
        values={"words": anonymize_words(project), "runs": [run_values(job) for job in runs]},
        command=safe_command(project),
        python=anonymize_python(project),
    )  # fmt: skip
    return respond(request, screen)


def _summary(project: Project) -> Markup:
    """The choices, in the words of the page."""
    found, tree = data_of(project), tree_of(project)
    words = anonymize_words(project)
    shown = {name: words[name] for name in words if name not in ("hierarchy", "promise", "method")}
    method = words.get("method")
    try:
        job = job_from("DATA", words)
        method = method or f"{job.method.name} (chosen for you: {job.reason})".replace(": )", ")")
        promise = job.promise.title
    except SetveilError as error:
        promise = line_of(error)
    rows = [
        ["Data", found[0] if found else ""],
        ["Promise", promise],
        ["Method", str(method or "")],
        ["Hierarchy", tree[0] if tree else "none"],
        *([label_of(name), _value(value)] for name, value in shown.items()),
    ]
    return tag("section", tag("h2", "What will be done"), Markup(table([], rows)), class_="card")


def _history(project: Project, runs: list[StoredJob]) -> Markup | None:
    if not runs:
        return None
    items = []
    for job in runs:
        link = tag("a", run_name(job), href=f"/projects/{project.id}/runs/{job.id}")
        items.append(tag("li", link, tag("span", STATES[job.status], class_=f"state {job.status}")))
    return tag("section", tag("h2", "Runs so far"), tag("ul", *items, class_="projects"))


def run_name(job: StoredJob) -> str:
    """What a run is called: what was promised, how, and when."""
    words = job.task["options"]
    names = ("k", "m", "p", "h", "l", "epsilon")
    numbers = ", ".join(f"{name} = {words[name]}" for name in names if name in words)
    how = words.get("method") or job.task.get("method") or words["promise"]
    at = time.strftime("%H:%M", time.localtime(job.created))
    return f"{how} ({numbers}), {at}" if numbers else f"{how}, {at}"


def run_values(job: StoredJob) -> dict[str, Any]:
    """A run as JSON shows it."""
    took = None if job.ended is None else round(job.ended - job.created, 3)
    return {
        "id": job.id,
        "status": job.status,
        "error": job.error or None,
        "words": job.task["options"],
        "seconds": took,
    }


def run_time(job: StoredJob) -> str:
    """How long a run took."""
    return "" if job.ended is None else seconds(job.ended - job.created)


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
