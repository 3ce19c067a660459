"""The first screen: projects, and how to start or remove one."""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import Response

from setveil.report.markup import Markup, joined, tag
from setveil.web.context import form_of, project_of, queue_of, store_of
from setveil.web.forms import button, details, form_tag, text_field
from setveil.web.layout import Screen, csrf_of, go, respond
from setveil.web.store import Project
from setveil.words import plural

WHY = (
    "Publish baskets, clicks, searches or codes of people so that nobody in them can be "
    "recognized, and see what that costs."
)


async def home(request: Request) -> Response:
    """All projects."""
    projects = store_of(request).projects()
    csrf = csrf_of(request)
    new = form_tag(
        "/projects",
        csrf,
        text_field("name", "Name of the project", help="For you alone; you may leave it empty."),
        button("Start a new project"),
        class_="card",
    )
    wipe = details(
        "Delete everything",
        tag(
            "p",
            "Removes all projects: uploads, results and settings. Releases that you have "
            "downloaded, and files that you named by path, stay where they are.",
        ),
        form_tag("/wipe", csrf, button("Delete everything now", "danger")),
    )
    listed = [
        tag("h2", "Your projects"),
        tag("ul", *(_row(request, project) for project in projects), class_="projects"),
    ]
    screen = Screen(
        title="Release data, keep people hidden",
        why=WHY,
        body=[new, *(listed if projects else []), wipe if projects else None],
        values={"projects": [_values(project) for project in projects]},
        command="setveil demo",
    )
    return respond(request, screen)


async def create(request: Request) -> Response:
    """A new project."""
    form = await form_of(request)
    name = " ".join(form.get("name", "").split())[:80] or "New project"
    project = store_of(request).new_project(name)
    return go(request, f"/projects/{project.id}/load")


async def delete(request: Request) -> Response:
    """Remove a project and its files."""
    await form_of(request)
    project = project_of(request)
    await queue_of(request).forget(project)
    store_of(request).delete(project)
    return go(request, "/")


async def wipe(request: Request) -> Response:
    """Remove everything."""
    await form_of(request)
    for project in store_of(request).projects():
        await queue_of(request).forget(project)
    store_of(request).wipe()
    return go(request, "/")


def _row(request: Request, project: Project) -> Markup:
    runs = [job for job in store_of(request).jobs(project, "anonymize") if job.status == "done"]
    made = time.strftime("%d %B %Y, %H:%M", time.localtime(project.created))
    about = f"{made} · {plural(len(runs), 'release')}"
    place = f"/projects/{project.id}/{'result' if runs else 'load'}"
    now = button("Delete it now", "danger", aria_label=f"Delete it now: {project.name}")
    remove = tag(
        "details",
        tag("summary", "Delete", aria_label=f"Delete {project.name}"),
        form_tag(f"/projects/{project.id}/delete", csrf_of(request), now),
    )
    link = tag("a", project.name, href=place)
    return tag("li", joined(link, tag("span", about, class_="hint")), remove)


def _values(project: Project) -> dict[str, object]:
    return {"id": project.id, "name": project.name, "created": project.created}
