"""The second step: how many people could be recognized if the data were published as it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from setveil.data.summary import Summary
from setveil.errors import SetveilError
from setveil.pipeline.commands import command_line, python_call
from setveil.pipeline.inspect import Inspection
from setveil.report import Report
from setveil.report.inspection import data_sections
from setveil.web.context import found_of, store_of
from setveil.web.following import changing, start
from setveil.web.forms import Form
from setveil.web.project import Project
from setveil.web.screens import PAGE_ONLY, Screen, step_frame
from setveil.web.store import StoredJob

WHY = (
    "Names are not needed to recognize somebody: a few items that a neighbour or a colleague "
    "knows are often enough."
)


@dataclass(frozen=True, kw_only=True)
class ExposureScreen(Screen):
    """How exposed people are."""

    template = "exposure.html"
    job: StoredJob | None
    summary: Summary | None
    exposures: tuple[Any, ...]
    """An `Exposure` for each k."""
    sentences: list[str]
    about: Report | None = field(metadata=PAGE_ONLY)


async def screen(request: Request, project: Project, error: SetveilError | None) -> ExposureScreen:
    """The figures and their chart."""
    job, data = store_of(request).latest(project, "inspect"), project.data
    found, words = found_of(job), project.reading
    name = data[0] if data else "DATA"
    return ExposureScreen(
        **step_frame(request, project, "exposure"),
        why=WHY,
        job=None if data is None else job,
        summary=found and found.summary,
        exposures=found.exposures if found else (),
        sentences=_sentences(found) if found else [],
        about=found and Report(data_sections(found.summary)),
        command=command_line("inspect", name, **words),
        python=python_call("inspect", name, **words),
        refresh=bool(job and job.is_live),
    )


def _sentences(found: Inspection) -> list[str]:
    skipped = () if found.account is None else found.account.skipped
    return [*found.exposures[0].sentences, *skipped]


async def again(request: Request, project: Project, form: Form) -> str:
    """Count once more."""
    async with changing(request, "inspect") as project:
        await start(request, project, "inspect", **project.reading)
    return f"/projects/{project.id}/exposure"
