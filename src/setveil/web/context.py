"""What every screen asks for: the project of a request, its form, its files, its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from setveil.pipeline.stored import restored
from setveil.web.incoming import Places
from setveil.web.jobs import Queue
from setveil.web.project import Project
from setveil.web.security import may_change
from setveil.web.store import Store, StoredJob

MOST_FORM = 1 << 20


@dataclass(frozen=True)
class Settings:
    """What the page may do."""

    max_upload: int
    places: Places
    """The files that may be named by path."""


def store_of(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


def queue_of(request: Request) -> Queue:
    queue: Queue = request.app.state.queue
    return queue


def settings_of(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def project_of(request: Request) -> Project:
    """The project of the address."""
    found = store_of(request).project(request.path_params["project"])
    if found is None:
        raise HTTPException(404, "There is no such project. It may have been deleted.")
    return found


def job_of(request: Request, project: Project) -> StoredJob:
    """The job of the address, which must be one of the project."""
    found = store_of(request).job(request.path_params["job"])
    if found is None or found.project != project.id:
        raise HTTPException(404, "There is no such job. It may have been deleted.")
    return found


def found_of(job: StoredJob | None) -> Any:
    """What a job has found; None unless it is done, or if another version has stored it."""
    return None if job is None else restored(job.verb, job.result)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, after its check value."""
    body = b""
    async for block in request.stream():
        body += block
        if len(body) > MOST_FORM:
            raise HTTPException(413, "This form is too large.")
    pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    form = dict(pairs)
    if not may_change(request, form):
        raise HTTPException(403, "This form lacks its check value. Load the page again.")
    return form
