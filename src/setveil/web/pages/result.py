"""The sixth step: the verdict, what is left, what was lost, and what an adversary could do."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from setveil.errors import ParameterError, SetveilError
from setveil.report.markup import Markup, bullets, table, tag
from setveil.web.context import form_of, job_of, project_of, queue_of, store_of
from setveil.web.equivalents import anonymize_command, anonymize_python
from setveil.web.forms import (
    Form,
    button,
    details,
    form_tag,
    item_words,
    text_field,
    whole_number,
)
from setveil.web.layout import Screen, banner, csrf_of, go, next_step, respond, unfinished
from setveil.web.pages.run import WHY as RUNS
from setveil.web.pages.run import run_name, run_time, run_values
from setveil.web.steps import step_screen
from setveil.web.store import Project, StoredJob
from setveil.web.tasks import RELEASE, WORLDS

WHY = "Does the promise hold, and is the release still useful? Both are measured on the release."
PRIVATE = (
    "Private: this page compares the release with the original. Hand over the release, never this "
    "page."
)
ASKS = ("attack", "support", "reconstruct")
"""What can be asked about a release, as jobs of their own."""


async def result(request: Request) -> Response:
    """The newest run that is done, or the newest of all."""
    project = project_of(request)
    runs = store_of(request).jobs(project, "anonymize")
    done = next((job for job in runs if job.status == "done"), None)
    job = done or next(iter(runs), None)
    if job is None:
        link = tag("a", "Anonymize first", href=f"/projects/{project.id}/run", class_="button")
        body = [tag("p", "There is no release yet."), tag("p", link)]
        values: dict[str, Any] = {"runs": []}
        return respond(
            request, step_screen(request, project, "result", why=WHY, body=body, values=values)
        )
    return respond(request, run_screen(request, project, job))


async def one_run(request: Request) -> Response:
    """One run: how far it is, what went wrong, or its release."""
    project = project_of(request)
    return respond(request, run_screen(request, project, job_of(request, project)))


async def ask(request: Request) -> Response:
    """Attack the release, count in it, or reconstruct originals."""
    form = await form_of(request)
    project = project_of(request)
    job = job_of(request, project)
    verb = request.path_params["verb"]
    try:
        options = _options(verb, form)
    except SetveilError as error:
        return respond(request, run_screen(request, project, job, error))
    for old in about_run(request, project, job, verb):
        await queue_of(request).cancel(old)
        store_of(request).forget(old)
    files = {**job.task["files"], RELEASE: str(job.folder / RELEASE)}
    reading = {} if verb != "attack" else _reading(job)
    task = {
        "data": job.task["data"], "files": files, "run": job.id, "options": {**options, **reading},
    }  # fmt: skip
    await queue_of(request).add(project, verb, task)
    return go(request, f"/projects/{project.id}/runs/{job.id}#{verb}")


def run_screen(
    request: Request, project: Project, job: StoredJob, error: SetveilError | None = None
) -> Screen:
    """The screen of one run."""
    found = job.result
    if job.verb != "anonymize":
        body: list[str | None] = []
    elif job.status != "done":
        again = form_tag(f"/projects/{project.id}/run", csrf_of(request), button("Start it again"))
        body = [unfinished(request, job, "Anonymizing", again=again)]
    elif not found["holds"]:
        body = [banner("Nothing was published.", "trouble"), Markup(found["sections"])]
    else:
        body = _release(request, project, job, found)
    words = job.task.get("options", {})
    asked = {verb: _latest(request, project, job, verb) for verb in ASKS}
    live = job.is_live or any(each is not None and each.is_live for each in asked.values())
    return step_screen(
        request, project, "run" if job.is_live else "result", body=body, error=error,
        why=RUNS if job.is_live else WHY,
        title="Anonymizing" if job.is_live else "Look at the result",
        values={
            **run_values(job),
            "progress": queue_of(request).progress(job),
            "holds": found.get("holds"),
            "outcome": found.get("values"),
            **{verb: _asked_values(each) for verb, each in asked.items()},
        },
        command=anonymize_command(project, words),
        python=anonymize_python(project, words),
        refresh=live,
    )  # fmt: skip


def about_run(request: Request, project: Project, job: StoredJob, *verbs: str) -> list[StoredJob]:
    """The jobs that ask about a run."""
    jobs = store_of(request).jobs(project, *verbs)
    return [each for each in jobs if each.task.get("run") == job.id]


def _release(
    request: Request, project: Project, job: StoredJob, found: dict[str, Any]
) -> list[str | None]:
    """Everything about a release that holds."""
    poor = found["poor"]
    head = tag(
        "section",
        tag("p", f"The promise holds: {found['title']}", class_="verdict yes"),
        tag(
            "p",
            f"{run_name(job)}. {found['records']:,} records, {found['form']}, in {run_time(job)}.",
        ),
        Markup(bullets(found["use"])),
        banner("An analyst may find this release of little use.") if poor else None,
        details("What to try", Markup(bullets(found["advice"])), opened=True)
        if found["advice"]
        else None,
        class_="card",
    )
    promise, verdict, *rest = found["parts"]
    return [
        banner(PRIVATE, "private-banner"),
        head,
        *(banner(note) for note in found["notes"]),
        next_step(project, "result", "Next: compare with other settings"),
        _beside(found),
        tag("div", Markup(promise), Markup(verdict), class_="report"),
        *_asks(request, project, job, found),
        tag("div", *(Markup(part) for part in rest), class_="report"),
    ]


def _beside(found: dict[str, Any]) -> Markup | None:
    """Originals and what was published for them."""
    if not found["examples"]:
        return None
    few, many = found["examples"][:5], found["examples"][5:]
    head = ["original (private)", "published"]
    more = details("More records", Markup(table(head, many))) if many else None
    title = tag("h2", "Records before and after ", tag("span", "private", class_="private"))
    return tag("section", title, Markup(table(head, few)), more, class_="beside")


def _asks(
    request: Request, project: Project, job: StoredJob, found: dict[str, Any]
) -> list[str | None]:
    """What can be asked about a release."""
    attack_form = [
        text_field("knows", "Items that are known", "1,2,3", "One or more numbers, with commas."),
        text_field(
            "trials", "People to draw", 2000, "More people give more exact figures.",
            type="number", min="100",
        ),
    ]  # fmt: skip
    count_form = [
        text_field(
            "items",
            "Items",
            "",
            "How many records have all of them? With commas; empty for the most frequent pairs.",
        ),
    ]
    worlds_form = [
        text_field("n", "How many", 1, "Files to write.", type="number", min="1", max="20"),
        text_field("seed", "Seed", "", "The same number, the same files.", type="number", min="0"),
    ]  # fmt: skip
    attacks = (
        "An adversary who has the release and knows some items of a person: how far do they get?"
    )
    counts = "What an analyst can count, computed from the release alone."
    worlds = (
        "Records that the release could have been made from: for programs that need whole records."
    )
    return [
        _ask(request, project, job, "attack", ("Attack it", attacks, "Attack", True), attack_form),
        _ask(request, project, job, "support", ("Count in it", counts, "Count", False), count_form),
        None
        if found["shows_records"]
        else _ask(
            request, project, job, "reconstruct",
            ("Reconstruct originals", worlds, "Reconstruct", False), worlds_form,
        ),
    ]  # fmt: skip


def _ask(
    request: Request,
    project: Project,
    job: StoredJob,
    verb: str,
    words: tuple[str, str, str, bool],
    fields: list[Markup],
) -> Markup:
    title, why, label, private = words
    asked = _latest(request, project, job, verb)
    place = f"/projects/{project.id}/runs/{job.id}/{verb}"
    grid = tag("div", *fields, class_="grid")
    form = form_tag(place, csrf_of(request), grid, button(label, "quiet"))
    parts: list[str | None] = [form]
    if asked is not None and asked.status != "done":
        parts = [unfinished(request, asked, title, again=form)]
    elif asked is not None:
        found = asked.result
        zipped = f"/projects/{project.id}/runs/{asked.id}/{WORLDS}.zip"
        link = tag("a", "Download the reconstructions", href=zipped, class_="button")
        parts = [
            Markup(found.get("chart", "")),
            Markup(found["report"]),
            tag("p", link) if verb == "reconstruct" else None,
            details("Ask again", form),
        ]
    mark = tag("span", "private", class_="private") if private else None
    return tag(
        "section", tag("h2", f"{title} ", mark, id=verb), tag("p", why), *parts, class_="card"
    )


def _options(verb: str, form: Form) -> dict[str, Any]:
    """The words of what is asked."""
    if verb == "attack":
        knows = form.get("knows", "").strip() or "1,2,3"
        return {"knows": knows, "trials": whole_number("trials", form, 100) or 2000, "seed": 0}
    if verb == "support":
        given = item_words("items", form.get("items", "").replace(",", "\n"))
        return {"items": given} if given else {"top": 20, "least_size": 2}
    if verb == "reconstruct":
        number = whole_number("n", form, 1) or 1
        if number > 20:
            raise ParameterError("n", number, "at most 20 at a time")
        return {"n": number, "seed": whole_number("seed", form)}
    raise ParameterError("verb", verb, f"it is one of {', '.join(ASKS)}")


def _reading(job: StoredJob) -> dict[str, Any]:
    from setveil.pipeline.names import READING

    words = job.task["options"]
    return {name: words[name] for name in (*READING, "input_format") if name in words}


def _latest(request: Request, project: Project, job: StoredJob, verb: str) -> StoredJob | None:
    return next(iter(about_run(request, project, job, verb)), None)


def _asked_values(job: StoredJob | None) -> dict[str, Any] | None:
    if job is None:
        return None
    return {
        "id": job.id,
        "status": job.status,
        "error": job.error or None,
        "result": job.result.get("values"),
    }
