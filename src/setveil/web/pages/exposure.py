"""The second step: how many people could be recognized if the data were published as it is."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from setveil.pipeline.commands import command_line, python_call
from setveil.report.markup import Markup, bullets, tag
from setveil.web.context import data_of, form_of, project_of, queue_of, reading_of, store_of
from setveil.web.flow import start
from setveil.web.forms import button, details, form_tag
from setveil.web.layout import csrf_of, go, next_step, respond, unfinished
from setveil.web.steps import load_first, step_screen

WHY = (
    "Names are not needed to recognize somebody: a few items that a neighbour or a colleague "
    "knows are often enough."
)


async def exposure(request: Request) -> Response:
    """The figures and their chart."""
    project = project_of(request)
    job = store_of(request).latest(project, "inspect")
    found = data_of(project)
    again = form_tag(f"/projects/{project.id}/exposure", csrf_of(request), button("Try again"))
    if found is None or job is None:
        body: list[str | None] = [load_first(project)]
    elif job.status != "done":
        body = [unfinished(request, job, "Counting who is exposed", "Counting", again)]
    else:
        result = job.result
        body = [
            tag("div", Markup(bullets(result["sentences"])), class_="headline"),
            Markup(result["chart"]),
            tag(
                "p", "These figures are about the original data: keep them private.", class_="hint"
            ),
            details("The same as a table", Markup(result["table"])),
            details("More about the data", Markup(result["more"])),
            next_step(project, "exposure"),
        ]
    words = reading_of(project)
    name = found[0] if found else "DATA"
    screen = step_screen(
        request, project, "exposure", why=WHY, body=body,
        values={
            "status": job.status if job else None,
            "error": job.error if job and job.error else None,
            **(job.result.get("values", {}) if job else {}),
        },
        command=command_line("inspect", name, **words),
        python=python_call("inspect", name, **words),
        refresh=bool(job and job.is_live),
    )  # fmt: skip
    return respond(request, screen)


async def again(request: Request) -> Response:
    """Count once more."""
    await form_of(request)
    project = project_of(request)
    await queue_of(request).forget(project, "inspect")
    await start(request, project, "inspect", **reading_of(project))
    return go(request, f"/projects/{project.id}/exposure")
