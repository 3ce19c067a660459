"""The last step: the release to hand over, and apart from it what is private."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from setveil.report.markup import Markup, tag
from setveil.web.context import job_of, project_of, store_of
from setveil.web.layout import banner, respond
from setveil.web.pages.run import run_name
from setveil.web.steps import step_screen
from setveil.web.store import Project, StoredJob
from setveil.web.tasks import ALIGNMENT, JOB, PAGE, WORLDS, ZIP

WHY = "One file is made to be handed over. The others are for you: they say more than the release."
FILES = {
    ZIP: ("anonymize", "application/zip"),
    PAGE: ("anonymize", "text/html"),
    JOB: ("anonymize", "text/plain"),
    ALIGNMENT: ("anonymize", "text/csv"),
    f"{WORLDS}.zip": ("reconstruct", "application/zip"),
}
"""The files that may be downloaded, the verb that makes each, and their types."""


async def download(request: Request) -> Response:
    """All releases of a project."""
    project = project_of(request)
    jobs = store_of(request).jobs(project, "anonymize")
    runs = [job for job in jobs if job.status == "done" and (job.folder / ZIP).exists()]
    body: list[str | None] = [_run(project, job) for job in runs]
    if not runs:
        link = tag("a", "Anonymize first", href=f"/projects/{project.id}/run", class_="button")
        body = [tag("p", "There is no release yet."), tag("p", link)]
    screen = step_screen(
        request, project, "download", why=WHY, body=body,
        values={
            "runs": [
                {
                    "id": job.id,
                    "name": run_name(job),
                    "files": {name: _place(project, job, name) for name in _has(job)},
                }
                for job in runs
            ]
        },
        command="setveil verify release" if runs else "",
        python='import setveil as sv\n\nsv.verify("release")' if runs else "",
    )  # fmt: skip
    return respond(request, screen)


async def file(request: Request) -> Response:
    """One of the files of a run."""
    project = project_of(request)
    job, name = job_of(request, project), request.path_params["file"]
    if name not in FILES or job.verb != FILES[name][0] or job.status != "done":
        raise HTTPException(404, "There is no such file.")
    place = job.folder / name
    if not place.is_file() or place.is_symlink():
        raise HTTPException(404, "There is no such file.")
    return FileResponse(place, media_type=FILES[name][1], filename=_filename(project, name))


def _run(project: Project, job: StoredJob) -> Markup:
    has = _has(job)
    public = tag(
        "div",
        tag("h3", "To hand over"),
        tag("p", "The release: its data, and what it promises. Nothing else of the original."),
        tag("a", "Download the release", href=_place(project, job, ZIP), class_="button"),
        class_="public",
    )
    private = tag(
        "div",
        tag("h3", "For you alone ", tag("span", "private", class_="private")),
        tag(
            "ul",
            _item(project, job, PAGE, "Report", "the verdict and every loss, with charts"),
            _item(project, job, JOB, "Job file", "does the same again: setveil run job.toml"),
            _item(
                project, job, ALIGNMENT, "Alignment", "the published record of each original record"
            )
            if ALIGNMENT in has
            else None,
        ),
        banner(
            "Never hand these over: they compare the release with the original.", "private-banner"
        ),
    )
    return tag("section", tag("h2", run_name(job)), public, private, class_="card")


def _item(project: Project, job: StoredJob, name: str, label: str, about: str) -> Markup:
    return tag("li", tag("a", label, href=_place(project, job, name)), f": {about}")


def _has(job: StoredJob) -> list[str]:
    return [name for name in FILES if (job.folder / name).is_file()]


def _place(project: Project, job: StoredJob, name: str) -> str:
    return f"/projects/{project.id}/runs/{job.id}/{name}"


def _filename(project: Project, name: str) -> str:
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(project.name).stem).strip(
        "-"
    )
    return f"{stem or 'setveil'}-{name}"
