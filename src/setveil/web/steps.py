"""Which steps of a project have something to show, and the frame of their screens."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from setveil.errors import SetveilError
from setveil.report.markup import Markup, tag
from setveil.web.context import data_of, store_of
from setveil.web.layout import STEPS, Screen
from setveil.web.store import Project, StoredJob
from setveil.web.uploads import TooLargeError
from setveil.web.wording import line_of


def step_screen(
    request: Request, project: Project, step: str, error: SetveilError | None = None, **more: Any
) -> Screen:
    """A screen of a step, with what was wrong with the form that was sent, if anything was."""
    title = more.pop("title", STEPS[step])
    done = steps_done(request, project)
    if error is not None:
        too_large = isinstance(error, TooLargeError)
        more |= {"error": line_of(error), "status": 413 if too_large else 400}
    return Screen(title=title, step=step, project=project, done=done, **more)


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


def load_first(project: Project) -> Markup:
    """What a step shows as long as there is no data."""
    link = tag("a", "Load the data first", href=f"/projects/{project.id}/load", class_="button")
    return tag("p", link)


def job_values(job: StoredJob | None) -> dict[str, Any] | None:
    """A job as JSON shows it."""
    if job is None:
        return None
    return {"id": job.id, "status": job.status, "error": job.error or None}
