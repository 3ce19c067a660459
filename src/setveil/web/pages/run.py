"""The fifth step: what will be done, the button that does it, and how far jobs are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from setveil.errors import SetveilError
from setveil.pipeline.anonymize import job_from
from setveil.web.choices import check_choices, spoken_if_fit
from setveil.web.context import job_of, project_of, queue_of, store_of
from setveil.web.following import start
from setveil.web.forms import Form
from setveil.web.pages.hierarchy import RECIPES
from setveil.web.project import Project
from setveil.web.runs import run_values
from setveil.web.screens import Screen, step_frame
from setveil.web.store import StoredJob
from setveil.web.wording import label_of, line_of, phrase_of, text_of
from setveil.words import plural, rough_share

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


async def begin(request: Request, project: Project, form: Form) -> str:
    """Anonymize with what is settled, as a job."""
    check_choices(project)
    made = await start(request, project, "anonymize", **project.words)
    return f"/projects/{project.id}/runs/{made.id}"


async def screen(request: Request, project: Project, error: SetveilError | None) -> RunScreen:
    """What would be done."""
    return RunScreen(
        **step_frame(request, project, "run", error),
        why=WHY,
        loaded=project.data is not None,
        words=project.words,
        choices=_choices(project),
        runs=run_values(project, store_of(request).jobs(project, "anonymize")),
        **spoken_if_fit(project),
    )


def _choices(project: Project) -> list[list[str]]:
    found, tree = project.data, project.tree
    words = project.words
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
            [label_of(name), phrase_of(name, value) or text_of(value)]
            for name, value in shown.items()
        ),
    ]


async def status(request: Request) -> Response:
    """How far a job is, once."""
    job = job_of(request, project_of(request))
    return JSONResponse({"id": job.id, "verb": job.verb, **_said(queue_of(request).progress(job))})


async def events(request: Request) -> Response:
    """How far a job is, again and again, until it has ended."""
    job = job_of(request, project_of(request))

    async def lines() -> AsyncIterator[str]:
        async for now in queue_of(request).follow(job.id):
            yield f"data: {json.dumps(_said(now))}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


async def cancel(request: Request, project: Project, form: Form) -> str:
    """End a job."""
    job = job_of(request, project)
    await queue_of(request).cancel(job)
    return back(project.id, job)


def back(project: str, job: StoredJob) -> str:
    """The screen on which a job is shown."""
    places = {"tree": "hierarchy", "advise": "goal", "compare": "compare"}
    if job.verb in ("anonymize", "attack", "approval", "support", "reconstruct"):
        return f"/projects/{project}/runs/{job.task.get('run') or job.id}"
    return f"/projects/{project}/{places.get(job.verb, 'load')}"


def _said(now: dict[str, Any]) -> dict[str, Any]:
    """How far it is, also in words."""
    stage, _, detail = str(now["stage"]).partition(":")
    words = f"{stage[:1].upper()}{stage[1:]}{',' if detail else ''}{detail}"
    if now["status"] == "queued":
        words = f"Waiting for {plural(now['ahead'], 'other job')}" if now["ahead"] else "Waiting"
    share = now["done"] / now["total"] if now["total"] else None
    shown = f"{words} ({rough_share(share)})" if share is not None else words
    return {**now, "words": shown or "Starting", "share": share}
