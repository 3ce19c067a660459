"""Which steps of a project have something to show, and the frame of their screens."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from starlette.requests import Request

from setveil.errors import OutputError, SetveilError
from setveil.web.context import data_of, store_of
from setveil.web.fixing import marked_of
from setveil.web.layout import STEPS, wants_json
from setveil.web.spending import Spending
from setveil.web.store import Project
from setveil.web.uploads import TooLargeError
from setveil.web.wording import line_of

DECIDE = ("goal", "run", "result", "compare", "download")
"""The steps at which one decides on a release, or which one to hand over."""


def step_frame(
    request: Request, project: Project, step: str, error: SetveilError | None = None
) -> dict[str, Any]:
    """The frame of a step, with what was wrong with the form that was sent, if anything was."""
    frame: dict[str, Any] = {"title": STEPS[step], "step": step, "project": project}
    if step in DECIDE:
        frame["spent"] = Spending.of(store_of(request)).lines(project)
    if error is not None:
        frame |= {"wrong": line_of(error), "code": 413 if isinstance(error, TooLargeError) else 400}
    frame["marked"] = marked_of(request, project, error)
    _remember(request, project, step)
    return {**frame, "done": steps_done(request, project)}


def _remember(request: Request, project: Project, step: str) -> None:
    """A project opens at the step that was looked at last. The project is read again, because what
    others have changed meanwhile must stay."""
    now = store_of(request).project(project.id)
    if now is not None and now.state.get("at") != step and not wants_json(request):
        now.state["at"] = step
        with suppress(OutputError):  # a full disk is no reason not to show a page
            store_of(request).save(now)


def steps_done(request: Request, project: Project) -> frozenset[str]:
    """The steps that are behind the user."""
    store = store_of(request)
    found = set[str]()
    if data_of(project) is not None:
        found.add("load")
    inspected = store.latest(project, "inspect")
    if inspected is not None and inspected.status == "done":
        found.add("exposure")
    if project.state.get("promise"):
        found.add("goal")
    if project.state.get("tree", {}).get("kind"):
        found.add("hierarchy")
    if any(job.status == "done" for job in store.jobs(project, "anonymize")):
        found |= {"run", "result", "download"}
    if any(job.status == "done" for job in store.jobs(project, "compare")):
        found.add("compare")
    return frozenset(found)
