"""The second step: how many people could be recognized if the data were published as it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from setveil.data.summary import Summary
from setveil.pipeline.commands import command_line, python_call
from setveil.pipeline.inspect import Inspection
from setveil.report import Report
from setveil.report.inspection import data_sections
from setveil.web.context import (
    data_of,
    form_of,
    found_of,
    project_of,
    reading_of,
    store_of,
)
from setveil.web.flow import changing, start
from setveil.web.layout import PAGE_ONLY, Screen, go, respond
from setveil.web.steps import step_frame
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


async def exposure(request: Request) -> Response:
    """The figures and their chart."""
    project = project_of(request)
    job, data = store_of(request).latest(project, "inspect"), data_of(project)
    found, words = found_of(job), reading_of(project)
    name = data[0] if data else "DATA"
    screen = ExposureScreen(
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
    return await respond(request, screen)


def _sentences(found: Inspection) -> list[str]:
    skipped = () if found.account is None else found.account.skipped
    return [*found.exposures[0].sentences, *skipped]


async def again(request: Request) -> Response:
    """Count once more."""
    await form_of(request)
    async with changing(request, "inspect") as project:
        await start(request, project, "inspect", **reading_of(project))
    return go(request, f"/projects/{project.id}/exposure")
