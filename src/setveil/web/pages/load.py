"""The first step: a file, how it begins, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.requests import Request

from setveil.errors import SetveilError
from setveil.pipeline.beside import ColumnFound
from setveil.pipeline.commands import command_line, python_call
from setveil.pipeline.inspect import Inspection
from setveil.pipeline.querylog import QuerylogResult
from setveil.report import Report
from setveil.report.inspection import report_log
from setveil.web.columnchoices import WORDS, column_fields, column_words
from setveil.web.context import found_of, queue_of, store_of
from setveil.web.following import (
    ABOUT_DATA,
    changing,
    preview_task,
    read_again,
    settled,
    use_source,
)
from setveil.web.forms import Field, Form, log_fields, log_words, reading_fields, reading_words
from setveil.web.pages.files import Use, named, received, use_of
from setveil.web.pages.questions import (
    WHO,
    Known,
    Question,
    answered,
    asked_about,
    one_record,
    remarks_on,
    understood,
    understood_log,
)
from setveil.web.project import Project
from setveil.web.screens import PAGE_ONLY, Screen, step_frame
from setveil.web.store import StoredJob

MOST_COLUMNS = 12
WHY = "A record is a set of items of one person: all they bought, the pages they saw, their codes."
SAMPLES = {"shop": "shop.csv", "log": "searches.tsv"}


@dataclass(frozen=True, kw_only=True)
class LoadScreen(Screen):
    """The file of a project, how it begins and how it was read."""

    template = "load.html"
    file: str | None
    origin: str | None
    contains: str | None
    """`records` or `log`, as soon as it is known."""
    reading: dict[str, Any]
    jobs: dict[str, StoredJob]
    live: StoredJob | None
    preview: dict[str, Any] | None
    head: list[str]
    rows: list[list[str]]
    inspect: Inspection | None
    understood: list[str]
    """How the file was read, in sentences."""
    record: str
    """What one record is, in a sentence."""
    asks_several: bool
    """Whether only the user can say if a person may have several records."""
    several: bool | None
    """Whether a person may have several records, as far as the user has said."""
    questions: list[Question]
    remarks: list[str]
    settled: bool
    """Whether nothing is left that must be answered first."""
    querylog: QuerylogResult | None
    log_report: Report | None = field(metadata=PAGE_ONLY)
    columns: list[Field]
    """What becomes of each column that is no item."""
    use: Use
    use_tree: Use
    reading_fields: list[list[Field]]
    log_fields: list[list[Field]]


async def upload(request: Request, project: Project, form: Form) -> str:
    """A file that was dropped or chosen."""
    given = await received(request, project)
    try:
        return await use_source(request, {"kind": "upload", **given})
    finally:
        Path(given["path"]).unlink(missing_ok=True)  # if it was not taken


async def path(request: Request, project: Project, form: Form) -> str:
    """A file on this machine, which is read where it is."""
    return await use_source(request, {"kind": "path", **named(request, form.get("path", ""))})


async def sample(request: Request, project: Project, form: Form) -> str:
    """Synthetic data."""
    kind = "log" if form.get("sample") == "log" else "shop"
    async with changing(request, *ABOUT_DATA) as project:
        for name in ("source", "terms", "contains", "offered", "tree", "reading", "several"):
            project.state.pop(name, None)
        if project.name == "New project":
            project.name = f"Sample: {SAMPLES[kind]}"
        store_of(request).save(project)
        task = {"data": SAMPLES[kind], "options": {"sample": kind}}
        await queue_of(request).add(project, "sample", task)
    return f"/projects/{project.id}/load"


async def reading(request: Request, project: Project, form: Form) -> str:
    """How to read the file."""

    def change(state: dict[str, Any]) -> None:
        words, before = reading_words(form), state.get("reading", {})
        words |= {name: before[name] for name in WORDS if words and name in before}
        state |= {"reading": words, "contains": "records"}
        for name in ("terms", "several"):
            state.pop(name, None)

    return await read_again(request, change)


async def columns(request: Request, project: Project, form: Form) -> str:
    """Which columns are published beside the items, and which are dropped."""

    def change(state: dict[str, Any]) -> None:
        state["reading"] = column_words(form, _beside(project), state.get("reading", {}))

    return await read_again(request, change)


async def column_tree(request: Request, project: Project, form: Form) -> str:
    """A file with a hierarchy for columns."""
    given = await received(request, project)
    try:
        async with changing(request) as project:
            taken = settled(project, given)
            known = project.state.get("column_trees", {})
            project.state["column_trees"] = {**known, str(taken["name"]): taken}
            store_of(request).save(project)
    finally:
        Path(given["path"]).unlink(missing_ok=True)  # if it was not taken
    return f"/projects/{project.id}/load#f-columns"


async def answer(request: Request, project: Project, form: Form) -> str:
    """The answer to a question about the file."""
    if form.get("several") in ("yes", "no"):
        project.state["several"] = form["several"] == "yes"
        store_of(request).save(project)
        return f"/projects/{project.id}/load"

    def change(state: dict[str, Any]) -> None:
        state["reading"] = answered(form, state.get("reading", {}))

    return await read_again(request, change)


async def log(request: Request, project: Project, form: Form) -> str:
    """Make records from a query log."""
    words = log_words(form)
    async with changing(request, "querylog", "inspect", "tree", "advise") as project:
        project.state |= {"contains": "log", "log": words}
        project.state.pop("terms", None)
        project.state.pop("reading", None)
        task = preview_task(project) | {"options": words}
        await queue_of(request).add(project, "querylog", task)
        store_of(request).save(project)
    return f"/projects/{project.id}/load"


async def screen(request: Request, project: Project, error: SetveilError | None) -> LoadScreen:
    """The file of a project, or the ways to give one."""
    store, state = store_of(request), project.state
    latest = {verb: store.latest(project, verb) for verb in ABOUT_DATA}
    jobs = {verb: job for verb, job in latest.items() if job is not None}
    live = next((job for job in jobs.values() if job.is_live), None)
    preview, log = found_of(jobs.get("preview")) or {}, found_of(jobs.get("querylog"))
    command, python = _elsewhere(project)
    source, columns = state.get("source") or {}, preview.get("columns", [])
    found = found_of(jobs.get("inspect"))
    account = None if found is None else found.account
    known = Known(preview=preview, account=account, reading=project.reading)
    failed = next((job for job in jobs.values() if job.status == "failed"), None)
    asked = asked_about(found, failed, known)
    unsaid = not {"record", "person"} & known.reading.keys() and not state.get("terms")
    asks_who = unsaid and any(each.title == WHO for each in asked)
    asks_several = unsaid and not asks_who and source.get("kind") != "sample"
    asks_several = asks_several and "person" not in (account.columns if account else ())
    head, rows = _cells(preview)
    record, said = one_record(account), [] if found is None else understood(found)
    if state.get("terms"):
        record, *said = understood_log(state.get("log", {}))
    return LoadScreen(
        **step_frame(request, project, "load", error),
        why=WHY,
        file=source.get("name"),
        origin=source.get("kind"),
        contains=state.get("contains"),
        reading=project.reading,
        jobs=jobs,
        live=live,
        preview=preview or None,
        head=head,
        rows=rows,
        inspect=found,
        understood=said,
        record=record,
        asks_several=asks_several,
        several=state.get("several"),
        questions=asked,
        remarks=remarks_on(found, asked),
        settled=found is not None
        and not (found.doubtful or asks_who)
        and not (asks_several and state.get("several") is None),
        querylog=log,
        log_report=None if log is None else report_log(log),
        columns=_columns(project),
        use=use_of(request, "data"),
        use_tree=use_of(request, "column"),
        reading_fields=reading_fields(state.get("reading", {}), columns),
        log_fields=log_fields(state.get("log", {}), columns),
        command=command,
        python=python,
        refresh=live is not None,
    )


def _columns(project: Project) -> list[Field]:
    if project.state.get("terms"):
        return []
    return column_fields(
        _beside(project), project.reading, [*project.state.get("column_trees", {})]
    )


def _beside(project: Project) -> list[ColumnFound]:
    """The columns as they were found when the file was last read well."""
    return [ColumnFound(**each) for each in project.state.get("beside", ())]


def _cells(preview: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The first rows of a file as a table of equal rows; very wide ones are cut."""
    if not preview:
        return [], []
    columns, rows = preview["columns"], preview["rows"]
    width = min(max([len(columns), *map(len, rows)], default=0), MOST_COLUMNS)
    head, *cells = ([*row, *[""] * (width - len(row))][:width] for row in (columns, *rows))
    return head if columns else [], cells


def _elsewhere(project: Project) -> tuple[str, str]:
    """The same on the command line and in Python."""
    source = project.state.get("source")
    if source is None:
        return "", ""
    if project.state.get("contains") == "log":
        words = dict(project.state.get("log", {}))
        line = command_line("querylog", source["name"], output="terms.csv", **words)
        return line, python_call("read_querylog", source["name"], **_python_log(words))
    found = project.data
    assert found is not None
    words = project.reading
    line = command_line("inspect", found[0], **words)
    words = {{"input_format": "format"}.get(name, name): words[name] for name in words}
    return line, python_call("read", found[0], **words)


def _python_log(words: dict[str, Any]) -> dict[str, Any]:
    names = ("gap", "terms", "min_users", "keep_empty", "user", "text", "time", "no_header")
    return {name: words[name] for name in (*names, "time_format") if name in words}
