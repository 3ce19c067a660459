"""The sixth step: the verdict, what is left, what was lost, and what an adversary could do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from setveil.errors import ParameterError, SetveilError
from setveil.pipeline.attack import can_attack
from setveil.pipeline.dossier import Dossier
from setveil.pipeline.names import READING
from setveil.pipeline.stated import STATED, read_stated
from setveil.pipeline.stored import Released
from setveil.published import Release
from setveil.report import Report
from setveil.report.approval import report_dossier
from setveil.report.attack import report_attack
from setveil.report.outcome import verdict_sections
from setveil.report.supports import report_reconstructions, report_supports
from setveil.web.choices import changed_form, choose, spoken, take
from setveil.web.context import found_of, job_of, queue_of, store_of
from setveil.web.following import changing
from setveil.web.forms import Form, item_words, whole_number
from setveil.web.pages.download import LISTS
from setveil.web.pages.run import WHY as RUNS
from setveil.web.pages.run import begin
from setveil.web.project import Project
from setveil.web.runs import run_names, run_values
from setveil.web.screens import PAGE_ONLY, Screen, step_frame
from setveil.web.store import StoredJob
from setveil.web.tasks import RELEASE
from setveil.web.wording import tips_of, words_in
from setveil.words import seconds

WHY = (
    "Does the promise hold, and is the release still useful? Private: hand over the release, never "
    "this page."
)
_REPORTS: dict[str, Callable[[Any], Report]] = {
    "attack": report_attack,
    "approval": report_dossier,
    "support": report_supports,
    "reconstruct": report_reconstructions,
}
ASKS = tuple(_REPORTS)
"""What can be asked about a release, as jobs of their own."""


@dataclass(frozen=True, kw_only=True)
class ResultScreen(Screen):
    """One run: how far it is, what went wrong, or its release."""

    template = "result.html"
    id: str
    name: str
    status: str
    error: str | None
    words: dict[str, Any]
    seconds: float | None
    is_older: bool
    is_final: bool
    progress: dict[str, Any]
    holds: bool | None
    outcome: dict[str, Any] | None
    attack: dict[str, Any] | None
    approval: dict[str, Any] | None
    support: dict[str, Any] | None
    reconstruct: dict[str, Any] | None
    job: StoredJob = field(metadata=PAGE_ONLY)
    took: str
    found: Released | None = field(metadata=PAGE_ONLY)
    failed: Report | None = field(metadata=PAGE_ONLY)
    asks: list[str]
    """What can be asked about it."""
    asked: dict[str, StoredJob] = field(metadata=PAGE_ONLY)
    newest: str
    """What was asked last."""
    answers: dict[str, Any] = field(metadata=PAGE_ONLY)
    reports: dict[str, Report] = field(metadata=PAGE_ONLY)
    lists: list[str]
    """The files that the command reads and that the page has made."""
    stated: dict[str, dict[str, Any]]
    """What may be stated for an approval."""


@dataclass(frozen=True, kw_only=True)
class ReportScreen(Screen):
    """Everything about one release."""

    template = "report.html"
    job: StoredJob
    dossier: Dossier | None


@dataclass(frozen=True, kw_only=True)
class NoResultScreen(Screen):
    """Nothing was run yet."""

    template = "no-result.html"
    runs: list[str] = field(default_factory=list)


async def screen(request: Request, project: Project, error: SetveilError | None) -> Screen:
    """The newest run that is done, or the newest of all."""
    runs = store_of(request).jobs(project, "anonymize")
    done = next((job for job in runs if job.status == "done"), None)
    job = done or next(iter(runs), None)
    if job is None:
        return NoResultScreen(**step_frame(request, project, "result"), why=WHY)
    return run_screen(request, project, job)


async def one_run(request: Request, project: Project, error: SetveilError | None) -> Screen:
    """One run: how far it is, what went wrong, or its release."""
    return run_screen(request, project, run_of(request, project), error)


async def report(request: Request, project: Project, error: SetveilError | None) -> Screen:
    """Everything about one release, with charts."""
    job = run_of(request, project)
    found, frame = _found(job), step_frame(request, project, "result")
    name = run_names(project, store_of(request).jobs(project, "anonymize"))[job.id]
    frame |= {"title": "The full report", "why": name, "refresh": job.is_live}
    return ReportScreen(**frame, job=job, dossier=found.dossier if found else None)


async def attempt(request: Request, project: Project, form: Form) -> str:
    """Start what a run has suggested: its settings with the changes of one line of advice."""
    job = run_of(request, project)
    found, at = _found(job), whole_number("at", form)
    tips = [] if found is None else found.advice
    if found is None or at is None or not at < len(tips) or not words_in(tips[at]):
        raise ParameterError("at", at, "this run has no such suggestion")
    method = str(found.values["method"]["name"])
    settled = changed_form(job.task["options"], method, words_in(tips[at]))
    choose(project, settled)
    take(project, settled)
    store_of(request).save(project)
    return await begin(request, project, {})


async def rename(request: Request, project: Project, form: Form) -> str:
    """Give a run another name; an empty one is the usual name."""
    name = " ".join(form.get("name", "").split())[:80]
    async with changing(request) as project:
        job = run_of(request, project)
        names = {id: old for id, old in project.state.get("names", {}).items() if id != job.id}
        project.state["names"] = names | ({job.id: name} if name else {})
        store_of(request).save(project)
    return f"/projects/{project.id}/runs/{job.id}"


async def final(request: Request, project: Project, form: Form) -> str:
    """Make a release the one to hand over."""
    async with changing(request) as project:
        job = run_of(request, project)
        project.state["final"] = job.id
        store_of(request).save(project)
    return f"/projects/{project.id}/runs/{job.id}"


async def ask(request: Request, project: Project, form: Form) -> str:
    """Attack the release, count in it, or reconstruct originals."""
    job = run_of(request, project)
    verb = request.path_params["verb"]
    if verb in ASKS and verb not in _asks(found_of(job)):
        raise ParameterError("verb", verb, "this cannot be asked about such a release")
    options = _options(verb, form)
    before = about_run(request, project, job, verb)
    task: dict[str, Any] = {"run": job.id, "release": str(job.folder / RELEASE), "options": options}
    if verb in ("attack", "approval"):  # the others need the release alone
        task |= {"data": job.task["data"], "files": job.task["files"]}
        words = job.task["options"]
        options |= {name: words[name] for name in (*READING, "input_format") if name in words}
    await queue_of(request).add(project, verb, task)
    for old in before:
        await queue_of(request).cancel(old)
        store_of(request).forget(old)
    return f"/projects/{project.id}/runs/{job.id}#{verb}"


def run_of(request: Request, project: Project) -> StoredJob:
    """The run of the address."""
    job = job_of(request, project)
    if job.verb != "anonymize":
        raise HTTPException(404, "There is no such run. It may have been deleted.")
    return job


def run_screen(
    request: Request, project: Project, job: StoredJob, error: SetveilError | None = None
) -> ResultScreen:
    """The screen of one run."""
    found, words = _found(job), job.task.get("options", {})
    runs = store_of(request).jobs(project, "anonymize")
    (own,) = (run for run in run_values(project, runs) if run["id"] == job.id)
    jobs = {verb: about_run(request, project, job, verb) for verb in ASKS}
    asked = {verb: each[0] for verb, each in jobs.items() if each}
    answers = {verb: answer for verb in asked if (answer := found_of(asked[verb]))}
    reports = {verb: _REPORTS[verb](answer) for verb, answer in answers.items()}
    live = job.is_live or any(each.is_live for each in asked.values())
    frame = step_frame(request, project, "run" if job.is_live else "result", error)
    frame |= {"title": "Anonymizing"} if job.is_live else {}
    return ResultScreen(
        **frame,
        why=RUNS if job.is_live else WHY,
        **own,
        progress=queue_of(request).progress(job),
        holds=found.verdict.holds if found else None,
        outcome={**found.values, "advice": tips_of(found.advice)} if found else None,
        **{verb: _asked(asked.get(verb), reports.get(verb)) for verb in ASKS},  # type: ignore[arg-type]
        job=job,
        took="" if job.ended is None else seconds(job.ended - job.created),
        found=found,
        failed=Report(tuple(verdict_sections(found.verdict))) if found else None,
        asks=_asks(found),
        asked=asked,
        newest=max(asked, key=lambda verb: asked[verb].number, default=""),
        answers=answers,
        reports=reports,
        lists=[name for name in LISTS if (job.folder / name).is_file()],
        stated={key: asked._asdict() for key, asked in STATED.items()},
        **spoken(project, words),
        refresh=live,
    )


def about_run(request: Request, project: Project, job: StoredJob, *verbs: str) -> list[StoredJob]:
    """The jobs that ask about a run."""
    jobs = store_of(request).jobs(project, *verbs)
    return [each for each in jobs if each.task.get("run") == job.id]


def _found(job: StoredJob) -> Released | None:
    """What a run has found, without its command, which the page shows apart."""
    found: Released | None = found_of(job)
    if found is None or found.dossier is None:
        return found
    return replace(found, dossier=replace(found.dossier, command=""))


def _asks(found: Released | None) -> list[str]:
    if found is None or found.dossier is None:
        return []
    form = found.dossier.form
    cannot = {"attack": not can_attack(form), "reconstruct": Release.named(form).shows_records}
    return [verb for verb in ASKS if not cannot.get(verb)]


def _options(verb: str, form: Form) -> dict[str, Any]:
    if verb == "attack":
        knows = form.get("knows", "").strip() or "1,2,3"
        if not re.fullmatch(r"[\d\s,]+", knows):  # what was typed is never a file
            raise ParameterError("knows", knows, "give whole numbers, such as 1,2,3")
        return {"knows": knows, "trials": whole_number("trials", form, 100) or 2000, "seed": 0}
    if verb == "approval":
        return {"context": _stated(form), "trials": 2000}
    if verb == "support":
        given = item_words(form.get("items", "").replace(",", "\n"))
        return {"items": given} if given else {"top": 20, "least_size": 2}
    if verb == "reconstruct":
        number = whole_number("n", form, 1) or 1
        if number > 20:
            raise ParameterError("n", number, "at most 20 at a time")
        return {"n": number, "seed": whole_number("seed", form)}
    raise ParameterError("verb", verb, f"it is one of {', '.join(ASKS)}")


def _stated(form: Form) -> dict[str, Any]:
    """What was stated in the fields of a form; lists have commas."""
    found: dict[str, Any] = {}
    for key, asked in STATED.items():
        text = form.get(key, "").strip()
        if key == "very_small" and text:
            try:
                found[key] = float(text)
            except ValueError:
                raise ParameterError(key, text, "give a number between 0 and 1") from None
        elif text:
            found[key] = [each.strip() for each in text.split(",")] if asked.is_list else text
    read_stated(found)
    return found


def _asked(job: StoredJob | None, report: Report | None) -> dict[str, Any] | None:
    if job is None:
        return None
    said = {"id": job.id, "status": job.status, "error": job.error or None}
    return {**said, "result": report and dict(report.values)}
