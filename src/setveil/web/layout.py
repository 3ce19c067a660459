"""The frame of every screen: its head, the steps, what it shows, and the same as a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from setveil import __version__
from setveil.report.markup import Markup, joined, tag
from setveil.web.forms import button, form_tag
from setveil.web.store import Project, StoredJob

STEPS = {
    "load": "Load the data",
    "exposure": "See who is exposed",
    "goal": "Say what matters",
    "hierarchy": "Group the items",
    "run": "Anonymize",
    "result": "Look at the result",
    "compare": "Compare settings",
    "download": "Download",
}
"""The steps of the path and what they are called."""


@dataclass(frozen=True, kw_only=True)
class Screen:
    """What one address shows, as a page and as JSON."""

    title: str
    why: str = ""
    """Why this step is there, in a sentence."""
    body: Sequence[str | None] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    """The same as one JSON object."""
    project: Project | None = None
    step: str = ""
    done: frozenset[str] = frozenset()
    """The steps that have something to show."""
    command: str = ""
    python: str = ""
    error: str = ""
    refresh: bool = False
    """Whether a browser without scripts should load the page again."""
    status: int = 200
    modules: tuple[str, ...] = ()
    """Scripts besides the one that every screen has."""
    styles: tuple[str, ...] = ()


def respond(request: Request, screen: Screen) -> Response:
    """The screen as a page, or as JSON if that is asked for."""
    status = screen.status
    if wants_json(request):
        values = {"title": screen.title, "step": screen.step or None, **screen.values}
        values |= {"command": screen.command or None, "python": screen.python or None}
        values |= {"error": screen.error} if screen.error else {}
        return JSONResponse(values, status_code=status)
    return HTMLResponse(_page(request, screen), status_code=status)


def go(request: Request, place: str) -> Response:
    """After a form: the next page, or where it is for a program."""
    if wants_json(request):
        return JSONResponse({"next": place})
    return RedirectResponse(place, status_code=303)


def wants_json(request: Request) -> bool:
    """Whether a program asks, not a browser."""
    if request.query_params.get("format") == "json":
        return True
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def csrf_of(request: Request) -> str:
    """The value that forms carry."""
    return str(request.app.state.secrets.csrf)


def progress_panel(request: Request, job: StoredJob, doing: str) -> Markup:
    """How far a job is: it moves by itself, and can be cancelled."""
    base = f"/projects/{job.project}/jobs/{job.id}"
    stop = form_tag(f"{base}/cancel", csrf_of(request), button("Cancel", "quiet"))
    ahead = request.app.state.queue.progress(job)["ahead"]
    words = "Waiting for other jobs" if job.status == "queued" or ahead else "Working"
    return tag(
        "section",
        tag("h2", doing),
        tag("p", tag("span", words, data_stage=True), role="status", aria_live="polite"),
        tag("progress", aria_label=doing, max=100),
        tag("p", "You may leave this page: the work goes on.", class_="hint"),
        stop,
        class_="progress",
        data_events=f"{base}/events",
    )


def job_trouble(job: StoredJob, doing: str, again: Markup) -> Markup:
    """What went wrong with a job, and how to start it again."""
    titles = {
        "failed": f"{doing} did not work",
        "cancelled": f"{doing} was cancelled",
        "interrupted": f"{doing} was interrupted",
    }
    title = titles.get(job.status, doing)
    words = sentence(job.error or "Nothing was published, and nothing of it is left.")
    kind = "trouble" if job.status == "failed" else "notice"
    role = "alert" if job.status == "failed" else "note"
    return tag("section", tag("h2", title), tag("p", words), again, class_=kind, role=role)


def unfinished(
    request: Request, job: StoredJob, doing: str, failed: str = "", again: str = ""
) -> Markup | None:
    """How far a job is, or what went wrong with it; None if it is done."""
    if job.is_live:
        return progress_panel(request, job, doing)
    if job.status != "done":
        return job_trouble(job, failed or doing, Markup(again))
    return None


def sentence(words: str) -> str:
    """A line of the command line as a sentence; the name of a file at its beginning stays as it is.

    Example:
        >>> sentence("the data is empty"), sentence("a.csv: the file is empty; use another")
        ('The data is empty.', 'a.csv: the file is empty; use another.')
    """
    first = words.split(" ", 1)[0]
    words = f"{words[:1].upper()}{words[1:]}" if first.isalpha() else words
    return f"{words}." if words[-1:].isalnum() or words[-1:] in ("”", ")") else words


def banner(words: str, kind: str = "notice") -> Markup:
    """A remark that must be seen."""
    return tag("div", words, class_=kind, role="note")


def next_step(project: Project, step: str, label: str = "") -> Markup:
    """The way to the step after this one."""
    names = list(STEPS)
    after = names[names.index(step) + 1]
    words = label or f"Next: {STEPS[after].lower()}"
    place = f"/projects/{project.id}/{after}"
    return tag("p", tag("a", words, href=place, class_="button"), class_="onward")


def _page(request: Request, screen: Screen) -> str:
    body = joined(
        tag("a", "Skip to the content", href="#main", class_="skip"),
        _head(request, screen),
        tag(
            "div",
            _steps(screen) if screen.project is not None else None,
            tag("main", *_content(screen), id="main", tabindex=-1),
            class_="frame" if screen.project is not None else "frame alone",
        ),
        _foot(),
    )
    named = f"{screen.title} · {screen.project.name}" if screen.project else screen.title
    refresh = tag("noscript", tag("meta", http_equiv="refresh", content="2"))
    scripts = [tag("script", src="/static/page.js", defer=True)]
    scripts += [tag("script", src=f"/static/{name}", type="module") for name in screen.modules]
    styles = (tag("link", rel="stylesheet", href=f"/static/{name}") for name in _styles(screen))
    head = joined(
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="csrf-token", content=csrf_of(request)),
        tag("title", f"{named} · setveil"),
        tag("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        *styles,
        *scripts,
        refresh if screen.refresh else None,
    )
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>{body}</body>\n</html>\n'


def _styles(screen: Screen) -> tuple[str, ...]:
    return ("style.css", *screen.styles)


def _head(request: Request, screen: Screen) -> Markup:
    here = tag("span", screen.project.name, class_="project") if screen.project else None
    local = tag("span", "Everything stays on this machine", class_="local")
    return tag("header", tag("a", "setveil", href="/", class_="brand"), here, local, class_="top")


def _steps(screen: Screen) -> Markup:
    assert screen.project is not None
    made = []
    for name, label in STEPS.items():
        here, done = name == screen.step, name in screen.done
        state = "here" if here else "done" if done else "open"
        link = tag(
            "a",
            label,
            href=f"/projects/{screen.project.id}/{name}",
            aria_current="step" if here else None,
        )
        mark = tag("span", " (done)", class_="hidden") if done and not here else None
        made.append(tag("li", link, mark, class_=state))
    return tag("nav", tag("ol", *made), aria_label="Steps", class_="steps")


def _content(screen: Screen) -> Sequence[str | None]:
    said = sentence(screen.error)
    wrong = tag("div", said, class_="trouble", role="alert") if said else None
    return (
        tag("h1", screen.title),
        tag("p", screen.why, class_="why") if screen.why else None,
        wrong,
        *screen.body,
        _same_elsewhere(screen),
    )


def _same_elsewhere(screen: Screen) -> Markup | None:
    """The same on the command line and in Python."""
    if not screen.command and not screen.python:
        return None
    parts = [
        joined(
            tag("h3", name),
            tag(
                "div",
                tag("pre", tag("code", words), tabindex=0, role="region", aria_label=name),
                tag("button", "Copy", type="button", data_copy=True, aria_label=f"Copy: {name}"),
                class_="code",
            ),
        )
        for name, words in (("Command line", screen.command), ("Python", screen.python))
        if words
    ]
    return tag("section", tag("h2", "The same without this page"), *parts, class_="same")


def _foot() -> Markup:
    words = (
        f"setveil {__version__}. Nothing is sent anywhere: this page talks only to the program "
        "that you started."
    )
    return tag("footer", tag("p", words))
