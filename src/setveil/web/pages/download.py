"""The last step: the release to hand over, and apart from it what is private."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from setveil.errors import SetveilError
from setveil.report.notebook import page
from setveil.web.context import found_of, job_of, project_of, store_of
from setveil.web.ownfiles import PUBLIC_LIST, list_files
from setveil.web.project import Project
from setveil.web.runs import run_values
from setveil.web.screens import Screen, step_frame
from setveil.web.store import StoredJob
from setveil.web.tasks import ALIGNMENT, DOSSIER, JOB, TWIN, WORLDS, ZIP

WHY = "One file is made to be handed over. The others are for you: they say more than the release."
LISTS = (*list_files(), PUBLIC_LIST)
REPORT, PRIVATE_REPORT = "report.html", "private-report.html"
FILES = {
    ZIP: ("anonymize", "application/zip"),
    JOB: ("anonymize", "text/plain"),
    ALIGNMENT: ("anonymize", "text/csv"),
    f"{WORLDS}.zip": ("reconstruct", "application/zip"),
    DOSSIER: ("approval", "text/html"),
    TWIN: ("approval", "application/json"),
    **dict.fromkeys(LISTS, ("anonymize", "text/plain")),
}
"""The files that may be downloaded, the verb that makes each, and their types."""
REPORTS = {REPORT: "public", PRIVATE_REPORT: "dossier"}
"""The reports, which are made when they are downloaded, and what each is made of."""
PRIVATE = {
    PRIVATE_REPORT: ("Report", "the verdict and every loss, with charts"),
    JOB: ("Job file", "does the same again: setveil run job.toml"),
    ALIGNMENT: ("Alignment", "the published record of each original record"),
    **{name: (name, "your list, which the job file and the command read") for name in LISTS},
}


@dataclass(frozen=True, kw_only=True)
class DownloadScreen(Screen):
    """The releases of a project, and the files of each."""

    template = "download.html"
    runs: list[dict[str, Any]]
    final: bool
    """Whether one release is the one to hand over."""
    private: dict[str, tuple[str, str]]
    """The files that must not be handed over."""


async def screen(request: Request, project: Project, error: SetveilError | None) -> DownloadScreen:
    """All releases of a project."""
    jobs = store_of(request).jobs(project, "anonymize")
    runs = {job.id: job for job in jobs if job.status == "done" and (job.folder / ZIP).exists()}
    base = f"/projects/{project.id}/runs"
    return DownloadScreen(
        **step_frame(request, project, "download"),
        why=WHY,
        runs=sorted(
            (
                {**run, "files": {name: f"{base}/{run['id']}/{name}" for name in _has(job)}}
                for run in run_values(project, jobs)
                if (job := runs.get(run["id"])) is not None
            ),
            key=lambda run: not run["is_final"],
        ),
        final=project.state.get("final") in runs,
        private=PRIVATE,
        command="setveil verify release" if runs else "",
        python='import setveil as sv\n\nsv.verify("release")' if runs else "",
    )


async def file(request: Request) -> Response:
    """One of the files of a run."""
    project = project_of(request)
    job, name = job_of(request, project), request.path_params["file"]
    kind, media = FILES.get(name, ("anonymize", "text/html"))
    place, saved_as = job.folder / name, name
    if job.status != "done" or job.verb != kind or name not in (*FILES, *REPORTS):
        raise HTTPException(404, "There is no such file.")
    if name not in LISTS:
        stem = Path(project.name).stem
        stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in stem).strip("-")
        saved_as = f"{stem or 'setveil'}-{name}"
    if place.is_file() and not place.is_symlink():
        return FileResponse(place, media_type=media, filename=saved_as)
    found = getattr(found_of(job), REPORTS.get(name, ""), None)
    if found is None:
        raise HTTPException(404, "There is no such file.")
    attached = f"attachment; filename*=utf-8''{quote(saved_as)}"
    text = await run_in_threadpool(page, found)
    return Response(text, media_type=media, headers={"Content-Disposition": attached})


def _has(job: StoredJob) -> list[str]:
    made = REPORTS if found_of(job) is not None else ()
    return [name for name in (*REPORTS, *FILES) if name in made or (job.folder / name).is_file()]
