"""The first screen: projects, and how to start or remove one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from setveil.web.context import form_of, queue_of, store_of
from setveil.web.following import changing
from setveil.web.forms import Form
from setveil.web.pages.run import back
from setveil.web.project import Project
from setveil.web.runs import Spending
from setveil.web.screens import Screen, go, respond
from setveil.web.security import set_cookie
from setveil.web.store import Store

WHY = (
    "Publish baskets, clicks, searches or codes of people so that nobody in them can be "
    "recognized, and see what that costs."
)
DOING = {
    "sample": "Generating a sample",
    "preview": "Looking at the file",
    "inspect": "Reading the data",
    "querylog": "Making records from the log",
    "tree": "Checking the hierarchy",
    "advise": "Trying methods",
    "anonymize": "Anonymizing",
    "attack": "Attacking a release",
    "support": "Counting in a release",
    "approval": "Writing a dossier",
    "reconstruct": "Reconstructing originals",
    "compare": "Comparing settings",
}
"""What a job does, in a few words."""


@dataclass(frozen=True, kw_only=True)
class HomeScreen(Screen):
    """All projects."""

    template = "home.html"
    projects: list[dict[str, Any]]


async def home(request: Request) -> Response:
    """All projects."""
    store, spending = store_of(request), Spending.of(store_of(request))
    screen = HomeScreen(
        title="Release data, keep people hidden",
        why=WHY,
        projects=[_listed(store, spending, one) for one in store.projects()],
    )
    return await respond(request, screen)


async def create(request: Request) -> Response:
    """A new project."""
    form = await form_of(request)
    project = store_of(request).new_project(_tidy(form.get("name", "")) or "New project")
    return go(request, f"/projects/{project.id}/load")


async def rename(request: Request, project: Project, form: Form) -> str:
    """Give a project another name."""
    async with changing(request) as project:
        project.name = _tidy(form.get("name", "")) or project.name
        store_of(request).save(project)
    return "/"


async def delete(request: Request, project: Project, form: Form) -> str:
    """Remove a project and its files."""
    await queue_of(request).forget(project)
    store_of(request).delete(project)
    return "/"


async def wipe(request: Request) -> Response:
    """Remove everything."""
    await form_of(request)
    for project in store_of(request).projects():
        await queue_of(request).forget(project)
    store_of(request).wipe()
    request.app.state.secrets.renew()  # signs all other browsers out
    answer = go(request, "/")
    set_cookie(answer, request.app.state.address, request.app.state.secrets)
    return answer


def _tidy(name: str) -> str:
    return " ".join(name.split())[:80]


def _listed(store: Store, spending: Spending, project: Project) -> dict[str, Any]:
    jobs = store.jobs(project)
    runs = [job for job in jobs if job.verb == "anonymize" and job.status == "done"]
    return {
        "id": project.id,
        "name": project.name,
        "created": project.created,
        "made": time.strftime("%d %B %Y, %H:%M", time.localtime(project.created)),
        "releases": len(runs),
        "spent": spending.total(project),
        "place": f"/projects/{project.id}/{project.state.get('at', 'load')}",
        "running": [
            {"doing": DOING[job.verb], "place": back(project.id, job)}
            for job in jobs
            if job.is_live
        ],
    }
