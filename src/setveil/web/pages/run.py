"""The fifth step: what will be done, the button that does it, and what was done before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from setveil.errors import SetveilError
from setveil.pipeline.anonymize import job_from
from setveil.web.context import (
    anonymize_words,
    data_of,
    form_of,
    project_of,
    store_of,
    tree_of,
)
from setveil.web.equivalents import both
from setveil.web.fixing import check_choices
from setveil.web.flow import start
from setveil.web.layout import Screen, go, respond
from setveil.web.pages.hierarchy import RECIPES
from setveil.web.runs import run_values
from setveil.web.steps import step_frame
from setveil.web.store import Project
from setveil.web.wording import label_of, line_of, phrase_of

WHY = (
    "Each release is checked by code that shares nothing with the code that made it. One that "
    "fails is never kept."
)


@dataclass(frozen=True, kw_only=True)
class RunScreen(Screen):
    """What would be done, and what was done before."""

    template = "run.html"
    loaded: bool
    words: dict[str, Any]
    choices: list[list[str]]
    """The same in the words of the page."""
    runs: list[dict[str, Any]]


async def run(request: Request) -> Response:
    """What would be done."""
    return await _screen(request, project_of(request))


async def begin(request: Request) -> Response:
    """Anonymize, as a job."""
    await form_of(request)
    return await begin_run(request, project_of(request))


async def begin_run(request: Request, project: Project) -> Response:
    """Start a run with what is settled."""
    try:
        check_choices(project)
    except SetveilError as error:
        return await _screen(request, project, error)
    made = await start(request, project, "anonymize", **anonymize_words(project))
    return go(request, f"/projects/{project.id}/runs/{made.id}")


async def _screen(
    request: Request, project: Project, error: SetveilError | None = None
) -> Response:
    screen = RunScreen(
        **step_frame(request, project, "run", error),
        why=WHY,
        loaded=data_of(project) is not None,
        words=anonymize_words(project),
        choices=_choices(project),
        runs=run_values(project, store_of(request).jobs(project, "anonymize")),
        **both(project),
    )
    return await respond(request, screen)


def _choices(project: Project) -> list[list[str]]:
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
    return [
        ["Data", project.state["source"]["name"] if found else ""],
        ["Promise", promise],
        ["Method", str(method or "")],
        ["Hierarchy", RECIPES.get(tree[0], tree[0]) if tree else "none"],
        *(
            [label_of(name), phrase_of(name, value) or _value(value)]
            for name, value in shown.items()
        ),
    ]


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
