"""Jobs: how far they are, as they go, and the button that ends one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from setveil.web.context import form_of, job_of, project_of, queue_of
from setveil.web.layout import go
from setveil.web.store import StoredJob
from setveil.words import plural, rough_share


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


async def cancel(request: Request) -> Response:
    """End a job."""
    await form_of(request)
    project = project_of(request)
    job = job_of(request, project)
    await queue_of(request).cancel(job)
    return go(request, back(project.id, job))


def back(project: str, job: StoredJob) -> str:
    """The screen on which a job is shown."""
    places = {"tree": "hierarchy", "advise": "goal", "compare": "compare"}
    if job.verb in ("anonymize", "attack", "support", "reconstruct"):
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
