"""What follows from what: loading a file starts looking at it, and changes what came of others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from setveil.pipeline.stored import freeze
from setveil.web.context import found_of, project_of, queue_of, store_of
from setveil.web.drafts import keep_edits
from setveil.web.ownfiles import about_file, about_of
from setveil.web.project import Project
from setveil.web.store import Store, StoredJob
from setveil.web.tasks import TREE

ABOUT_DATA = ("sample", "preview", "inspect", "querylog", "tree", "advise")
"""The verbs whose results are about the data, and are gone when other data is loaded."""
KEPT = ("promise", "keep", "numbers", "method", "parameters", "publishing", "names", "final", "at")
"""What stays in the state when other data is loaded: what is feared and asked for, and what is said
about runs."""
NO_DATA = "Load the data first."
Next = tuple[Project, str, dict[str, Any]]


@asynccontextmanager
async def changing(request: Request, *replaced: str) -> AsyncIterator[Project]:
    """The project of a request, as it is now; nobody else changes it at the same time.

    Its jobs with the verbs `replaced` are removed, for one that takes their place: if too many
    jobs wait for that, nothing is changed."""
    locks: dict[str, asyncio.Lock] = request.app.state.locks
    async with locks.setdefault(request.path_params["project"], asyncio.Lock()):
        if replaced:
            await queue_of(request).make_room(project_of(request), *replaced)
        yield project_of(request)


async def use_source(request: Request, source: dict[str, Any]) -> str:
    """Take a file as the data of a project, and look at it; where that is shown."""
    queue, store = queue_of(request), store_of(request)
    async with changing(request, *ABOUT_DATA) as project:
        source = settled(project, source)
        for place in (project.folder / "input").iterdir():  # runs have their own results
            if place != Path(source["path"]):
                place.unlink(missing_ok=True)
        project.state = {name: one for name, one in project.state.items() if name in KEPT}
        project.state["source"] = source
        if project.name == "New project":
            project.name = str(source["name"])
        store.save(project)
        await queue.add(project, "preview", preview_task(project))
    return f"/projects/{project.id}/load"


def settled(project: Project, given: dict[str, Any]) -> dict[str, Any]:
    """A file that has just come, in the folder where the project keeps its files."""
    place = Path(given["path"])
    if place.parent != project.folder / "incoming":
        return given
    return {**given, **about_file(place.replace(project.folder / "input" / place.name))}


async def read_again(request: Request, change: Callable[[dict[str, Any]], None]) -> str:
    """Look at the data again, because a change of the state says to read it in another way; where
    that is shown."""
    async with changing(request, "preview", "inspect", "tree", "advise") as project:
        change(project.state)
        task = preview_task(project)
        store_of(request).save(project)
        await queue_of(request).add(project, "preview", task)
    return f"/projects/{project.id}/load"


async def start(request: Request, project: Project, verb: str, **options: Any) -> StoredJob:
    """A job on the data of a project."""
    await keep_edits(request, project)
    found = project.data
    if found is None:
        raise HTTPException(400, NO_DATA)
    task = {"data": found[0], "files": project.files, "options": options}
    return await queue_of(request).add(project, verb, task)


def preview_task(project: Project) -> dict[str, Any]:
    """A look at the file as it is."""
    source = project.state.get("source")
    if source is None:
        raise HTTPException(400, NO_DATA)
    files = {source["name"]: about_of(source), **project.column_files}
    return {"data": source["name"], "files": files, "options": project.reading}


def after(store: Store, job: StoredJob) -> Iterator[Next]:
    """What follows from a job that is done."""
    project = store.project(job.project)
    if project is None:
        return
    if job.verb == "sample":
        yield from _after_sample(store, project, job)
    elif job.verb == "preview":
        yield from _after_preview(store, project, job)
    elif job.verb == "querylog":
        project.state |= {"terms": str(job.folder / "terms.csv"), "contains": "log"}
        store.save(project)
        yield project, "inspect", _inspect_task(project)
    elif job.verb == "inspect":
        found = found_of(job)
        project.state["bags"] = found.summary.counts is not None
        before = [each["name"] for each in project.state.get("beside", ())]
        beside = sorted(freeze(found.beside), key=lambda each: _place(each["name"], before))
        project.state["beside"] = beside  # to choose again if a choice fails
        store.save(project)


def _place(name: str, names: list[str]) -> int:
    return names.index(name) if name in names else len(names)


def _after_sample(store: Store, project: Project, job: StoredJob) -> Iterator[Next]:
    """The files of a sample become uploads of the project."""
    name = job.task["data"]
    place = project.folder / "input" / name
    (job.folder / name).replace(place)
    project.state |= {"source": {"kind": "sample", "name": name, **about_file(place)}}
    if (job.folder / TREE).exists():
        tree = project.folder / "input" / "products.hierarchy.csv"
        (job.folder / TREE).replace(tree)
        project.state["offered"] = {"name": tree.name, **about_file(tree)}
    store.save(project)
    yield project, "preview", preview_task(project)


def _after_preview(store: Store, project: Project, job: StoredJob) -> Iterator[Next]:
    """Read the data, unless it is a query log, of which records must be made first."""
    found = found_of(job)
    project.state["source"] |= {"sha256": found["hashes"].get(project.state["source"]["name"])}
    store.save(project)
    is_log = bool(found["is_log"]) and not project.state.get("reading")
    if project.state.get("contains") is None:
        project.state["contains"] = "log" if is_log else "records"
        store.save(project)
    if project.data is not None:
        yield project, "inspect", _inspect_task(project)


def _inspect_task(project: Project) -> dict[str, Any]:
    found = project.data
    assert found is not None
    files = {found[0]: found[1], **project.column_files}
    return {"data": found[0], "files": files, "options": project.reading}
