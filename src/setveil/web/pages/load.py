"""The first step: a file, how it begins, and how it is read."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from setveil.errors import SetveilError
from setveil.pipeline.commands import command_line, python_call
from setveil.report.markup import Markup, joined, table, tag
from setveil.web.context import (
    data_of,
    form_of,
    project_of,
    queue_of,
    reading_of,
    store_of,
)
from setveil.web.flow import ABOUT_DATA, make_records, read_again, use_source
from setveil.web.forms import button, details, form_tag
from setveil.web.layout import banner, csrf_of, go, next_step, progress_panel, respond, unfinished
from setveil.web.pages.files import drop_form, named, path_form, received
from setveil.web.pages.reading import log_form, log_words, reading_form, reading_words
from setveil.web.steps import step_screen
from setveil.web.store import Project, StoredJob
from setveil.words import plural

WHY = "A record is what one person did: a basket, the pages of a visit, the codes of a stay."
SAMPLES = {"shop": "shop.csv", "log": "searches.tsv"}


async def load(request: Request) -> Response:
    """The file of a project, or the ways to give one."""
    return _screen(request, project_of(request))


async def upload(request: Request) -> Response:
    """A file that was dropped or chosen."""
    project = project_of(request)
    try:
        given = await received(request, project)
    except SetveilError as error:
        return _screen(request, project, error)
    return await _use(request, {"kind": "upload", **given})


async def path(request: Request) -> Response:
    """A file on this machine, which is read where it is."""
    form = await form_of(request)
    project = project_of(request)
    try:
        given = named(request, form.get("path", ""))
    except SetveilError as error:
        return _screen(request, project, error)
    return await _use(request, {"kind": "path", **given})


async def sample(request: Request) -> Response:
    """Synthetic data."""
    form = await form_of(request)
    project = project_of(request)
    kind = "log" if form.get("sample") == "log" else "shop"
    queue = queue_of(request)
    await queue.forget(project, *ABOUT_DATA)
    for name in ("source", "terms", "contains", "offered", "tree", "reading"):
        project.state.pop(name, None)
    if project.name == "New project":
        project.name = f"Sample: {SAMPLES[kind]}"
    store_of(request).save(project)
    task = {"data": SAMPLES[kind], "options": {"sample": kind}}
    await queue.add(project, "sample", task)
    return go(request, f"/projects/{project.id}/load")


async def reading(request: Request) -> Response:
    """How to read the file."""
    form = await form_of(request)
    project = project_of(request)
    project.state["reading"] = reading_words(form)
    project.state["contains"] = "records"
    project.state.pop("terms", None)
    store_of(request).save(project)
    await read_again(request, project)
    return go(request, f"/projects/{project.id}/load")


async def log(request: Request) -> Response:
    """Make records from a query log."""
    form = await form_of(request)
    project = project_of(request)
    try:
        words = log_words(form)
    except SetveilError as error:
        return _screen(request, project, error)
    project.state |= {"contains": "log", "log": words}
    project.state.pop("terms", None)
    store_of(request).save(project)
    await queue_of(request).forget(project, "querylog", "inspect", "tree", "advise")
    await make_records(queue_of(request), project, words)
    return go(request, f"/projects/{project.id}/load")


async def _use(request: Request, source: dict[str, Any]) -> Response:
    project = project_of(request)  # as it is now, after the file has come
    await use_source(request, project, source)
    return go(request, f"/projects/{project.id}/load")


def _screen(request: Request, project: Project, error: SetveilError | None = None) -> Response:
    store = store_of(request)
    jobs = {verb: store.latest(project, verb) for verb in ABOUT_DATA}
    live = next((job for job in jobs.values() if job is not None and job.is_live), None)
    source = project.state.get("source")
    body: list[str | None] = []
    if source is None and live is None:
        body += [*_ways(request, project)]
    if source is not None:
        body += [_about(project, jobs["preview"])]
    body += [_progress(request, live) if live is not None else None]
    if source is not None and live is None:
        body += _read(request, project, jobs)
        body.append(details("Use another file", *_ways(request, project, compact=True)))
    if source is None and live is None and jobs["sample"] is not None:
        body += _sad(request, jobs["sample"])
    command, python = _elsewhere(project)
    screen = step_screen(
        request, project, "load", why=WHY, body=body, error=error,
        values=_values(project, jobs), command=command, python=python, refresh=live is not None,
    )  # fmt: skip
    return respond(request, screen)


def _ways(request: Request, project: Project, compact: bool = False) -> list[Markup]:
    """A file that is dropped, a path, or a sample."""
    level = "h3" if compact else "h2"
    drop = drop_form(
        request,
        project,
        "data",
        "Choose a file",
        tag(level, "A file of yours"),
        tag("p", "Drop it here, or choose it. It is copied into a private folder."),
    )
    path = path_form(request, project, "data", tag(level, "A large file on this computer"))
    samples = form_tag(
        f"/projects/{project.id}/load/sample",
        csrf_of(request),
        tag(level, "No data at hand?"),
        tag("p", "Try everything with synthetic data first."),
        tag(
            "p",
            button("Baskets of a shop", "quiet", name="sample", value="shop"),
            button("A query log", "quiet", name="sample", value="log"),
            class_="row",
        ),
        class_="card",
    )
    return [drop, path, samples]


def _about(project: Project, job: StoredJob | None) -> Markup:
    """The name of the file and its first rows."""
    source = project.state["source"]
    kinds = {"upload": "uploaded", "path": "read where it is", "sample": "synthetic"}
    head = tag("h2", f"{source['name']} ", tag("span", kinds[source["kind"]], class_="hint"))
    found = job.result.get("values", {}) if job is not None else {}
    if not found:
        return tag("section", head)
    width = max([len(found["columns"]), *(len(row) for row in found["rows"])], default=0)
    width = min(width, 12)
    rows = [[*row, *[""] * (width - len(row))][:width] for row in found["rows"]]
    columns = [*found["columns"], *[""] * (width - len(found["columns"]))][:width]
    shown = Markup(table(columns if found["columns"] else [], rows))
    caption = f"The first {plural(len(rows), 'row')} of the file"
    format = f", which looks like {found['format']}" if found["format"] else ""
    return tag("section", head, tag("p", f"{caption}{format}.", class_="hint"), shown)


def _read(
    request: Request, project: Project, jobs: dict[str, StoredJob | None]
) -> list[str | None]:
    """How the file was read, or why it cannot be."""
    preview, inspected, log_job = jobs["preview"], jobs["inspect"], jobs["querylog"]
    found = preview.result.get("values", {}) if preview is not None else {}
    if preview is not None and preview.status != "done":
        return [*_sad(request, preview), _forms(request, project, found, opened=True)]
    if project.state.get("contains") == "log" and inspected is None:
        trouble = _sad(request, log_job) if log_job is not None and log_job.status != "done" else []
        said = banner("This is a query log: users, what they asked, and when.")
        return [said, *trouble, _forms(request, project, found, opened=True)]
    if inspected is None or inspected.status != "done":
        trouble = _sad(request, inspected) if inspected is not None else []
        return [*trouble, _forms(request, project, found, opened=True)]
    result = inspected.result
    size = f"{plural(result['records'], 'record')} of {plural(result['items'], 'item')}"
    report = Markup(log_job.result.get("report", "")) if log_job is not None else None
    return [
        tag(
            "section",
            tag("h2", f"Read: {size}"),
            Markup(table([], result["read"])),
            *(banner(note) for note in result["notes"]),
        ),
        details("What was found in the log (private)", report) if report else None,
        _forms(request, project, found, opened=False),
        next_step(project, "load"),
    ]


def _forms(request: Request, project: Project, found: dict[str, Any], *, opened: bool) -> Markup:
    """The ways to read a file: as records, or as a query log."""
    is_log = project.state.get("contains") == "log"
    base, csrf = f"/projects/{project.id}/load", csrf_of(request)
    columns = found.get("columns", [])
    records = form_tag(
        f"{base}/reading", csrf, reading_form(project.state.get("reading", {}), columns),
        button("Read it like this"),
    )  # fmt: skip
    logs = form_tag(
        f"{base}/log", csrf, log_form(project.state.get("log", {}), columns),
        button("Make records from the log"),
    )  # fmt: skip
    first, second = ("How to read the log", "How to read the file") if is_log else (
        "How to read the file", "It is a query log"
    )  # fmt: skip
    if is_log:
        return joined(
            details(first, logs, opened=opened), details("It is not a query log", records)
        )
    return joined(details(first, records, opened=opened), details(second, logs))


def _progress(request: Request, job: StoredJob) -> Markup:
    doing = {
        "sample": "Generating the sample",
        "preview": "Looking at the file",
        "inspect": "Reading the data",
        "querylog": "Making records from the log",
    }
    return progress_panel(request, job, doing.get(job.verb, "Working"))


def _sad(request: Request, job: StoredJob) -> list[str | None]:
    names = {"preview": "Reading", "inspect": "Reading", "sample": "The sample"}
    return [unfinished(request, job, names.get(job.verb, "Making records"))]


def _elsewhere(project: Project) -> tuple[str, str]:
    """The same on the command line and in Python."""
    source = project.state.get("source")
    if source is None:
        return "setveil generate shop -o shop.csv --hierarchy products.hierarchy.csv", ""
    if project.state.get("contains") == "log":
        words = dict(project.state.get("log", {}))
        line = command_line("querylog", source["name"], output="terms.csv", **words)
        return line, python_call("read_querylog", source["name"], **_python_log(words))
    found = data_of(project)
    assert found is not None
    words = reading_of(project)
    line = command_line("inspect", found[0], **words)
    words = {{"input_format": "format"}.get(name, name): words[name] for name in words}
    return line, python_call("read", found[0], **words)


def _python_log(words: dict[str, Any]) -> dict[str, Any]:
    names = ("gap", "terms", "min_users", "keep_empty", "user", "text", "time", "no_header")
    return {name: words[name] for name in (*names, "time_format") if name in words}


def _values(project: Project, jobs: dict[str, StoredJob | None]) -> dict[str, Any]:
    source = project.state.get("source")
    return {
        "file": source["name"] if source else None,
        "contains": project.state.get("contains"),
        "reading": reading_of(project),
        "jobs": {
            verb: {"id": job.id, "status": job.status, "error": job.error or None}
            for verb, job in jobs.items()
            if job is not None
        },
        **{
            verb: job.result["values"]
            for verb, job in jobs.items()
            if job is not None and job.result and verb in ("preview", "inspect", "querylog")
        },
    }
