"""The frame of every screen: one object with its values fills a template, and is its JSON twin.

Everything in a template is escaped but what `report` has made as HTML."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from setveil import __version__
from setveil.errors import OutputError, SetveilError
from setveil.pipeline.stored import freeze
from setveil.report import PROMISE_HOLDS, fragments, markup
from setveil.report.comparison import noise_note
from setveil.report.comparison_page import about_measures, common_table, missing_table
from setveil.report.release_page import release_parts
from setveil.web.choices import field_links, marked_of
from setveil.web.context import form_of, project_of, store_of
from setveil.web.forms import Form
from setveil.web.incoming import TooLargeError
from setveil.web.project import Project
from setveil.web.runs import Spending
from setveil.web.store import StoredJob
from setveil.web.wording import as_field, label_of, line_of, note_of, words_in
from setveil.words import plural, printable

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
DECIDE = ("goal", "run", "result", "compare", "download")
"""The steps at which one decides on a release, or which one to hand over."""
TEMPLATES = Path(__file__).parent / "templates"
MOST_LINES = 200
"""How much of a tree is shown to browsers without scripts."""
PAGE_ONLY = {"page": "only"}
"""The metadata of a field that the JSON twin lacks: an object from which, or from whose values in
the twin, the page draws tables and charts."""
Act = Callable[[Request, Project, Form], Awaitable[str]]
"""Does what a form asks for (an upload has none), and says where to go on."""
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, kw_only=True)
class Screen:
    """What one address shows. The fields that a kind of screen adds are its values, which its
    template shows and which are its JSON twin."""

    template: ClassVar[str] = "message.html"
    title: str
    why: str = ""
    """Why this step is there, in a sentence."""
    project: Project | None = None
    step: str = ""
    done: frozenset[str] = frozenset()
    """The steps that have something to show."""
    command: str = ""
    python: str = ""
    wrong: str = ""
    """What was wrong with the form that was sent."""
    marked: Mapping[str, str] = field(default_factory=dict)
    """The field that is wrong, with the sentence that says so."""
    spent: Sequence[str] = ()
    """What private releases have spent, where one decides on another."""
    refresh: bool = False
    """Whether a browser without scripts should load the page again."""
    code: int = 200

    @property
    def values(self) -> dict[str, Any]:
        """What this kind of screen adds to the frame."""
        frame = {each.name for each in fields(Screen)}
        own = (each for each in fields(self) if each.name not in frame and not each.metadata)
        return {each.name: getattr(self, each.name) for each in own}


Show = Callable[[Request, Project, SetveilError | None], Awaitable[Screen]]
"""The screen of a project, with what was wrong with the form that was sent."""


def shows(show: Show) -> Endpoint:
    """The address of a screen."""

    async def endpoint(request: Request) -> Response:
        return await respond(request, await show(request, project_of(request), None))

    return endpoint


def takes(act: Act, show: Show | None = None, *, is_upload: bool = False) -> Endpoint:
    """The address of a form; what is wrong with it is said on the screen."""

    async def endpoint(request: Request) -> Response:
        try:
            form = {} if is_upload else await form_of(request)
            return go(request, await act(request, project_of(request), form))
        except SetveilError as error:
            if show is None or isinstance(error, OutputError):
                raise
            return await respond(request, await show(request, project_of(request), error))

    return endpoint


async def respond(request: Request, screen: Screen) -> Response:
    """The screen as a page, or as JSON if that is asked for."""
    if wants_json(request):
        values: dict[str, Any] = {
            "title": screen.title,
            "why": screen.why,
            "step": screen.step or None,
        }
        values |= {"done": sorted(screen.done), "marked": dict(screen.marked)}
        values |= _plain(screen.values)
        values |= {"command": screen.command or None, "python": screen.python or None}
        values |= {"error": screen.wrong} if screen.wrong else {}
        values |= {"spent": list(screen.spent)} if screen.spent else {}
        return JSONResponse(values, status_code=screen.code)
    state = request.app.state
    more = {"csrf": state.secrets.csrf, "queue": getattr(state, "queue", None), "steps": STEPS}
    values = {**more, **{each.name: getattr(screen, each.name) for each in fields(screen)}}
    page = await run_in_threadpool(render, screen.template, values)  # charts take a moment
    return HTMLResponse(page, status_code=screen.code)


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


def step_frame(
    request: Request, project: Project, step: str, error: SetveilError | None = None
) -> dict[str, Any]:
    """The frame of a step, with what was wrong with the form that was sent, if anything was."""
    frame: dict[str, Any] = {"title": STEPS[step], "step": step, "project": project}
    if step in DECIDE:
        frame["spent"] = Spending.of(store_of(request)).lines(project)
    if error is not None:
        frame |= {"wrong": line_of(error), "code": 413 if isinstance(error, TooLargeError) else 400}
    frame["marked"] = marked_of(request, project, error)
    _remember(request, project, step)
    return {**frame, "done": _done(request, project)}


def render(template: str, values: Mapping[str, Any]) -> str:
    """A page, or a part of one."""
    return _environment().get_template(template).render(values)


def _plain(value: Any) -> Any:
    """A value as JSON shows it; of a job only what became of it."""
    if isinstance(value, StoredJob):
        return {"id": value.id, "status": value.status, "error": value.error or None}
    if hasattr(value, "to_dict"):
        return _plain(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return freeze(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return freeze(value)


def _remember(request: Request, project: Project, step: str) -> None:
    """A project opens at the step that was looked at last. The project is read again, because what
    others have changed meanwhile must stay."""
    now = store_of(request).project(project.id)
    if now is not None and now.state.get("at") != step and not wants_json(request):
        now.state["at"] = step
        with suppress(OutputError):  # a full disk is no reason not to show a page
            store_of(request).save(now)


def _done(request: Request, project: Project) -> frozenset[str]:
    """The steps that are behind the user."""
    done = {job.verb for job in store_of(request).jobs(project) if job.status == "done"}
    behind = {
        "load": project.data is not None,
        "exposure": "inspect" in done,
        "goal": project.state.get("promise"),
        "hierarchy": project.state.get("tree", {}).get("kind"),
        **dict.fromkeys(("run", "result", "download"), "anonymize" in done),
        "compare": "compare" in done,
    }
    return frozenset(step for step in behind if behind[step])


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    filters = {"exact": _exact, "command": _command, "sentence": sentence, "note": note_of}
    made.filters |= {**filters, "triples": _triples}
    made.globals |= {"plural": plural, "label_of": label_of, "as_field": as_field}
    made.globals |= {
        "linked": _linked,
        "field_links": field_links,
        "words_in": words_in,
        "noise_note": noise_note,
    }
    made.globals |= {"first_levels": lambda draft: list(islice(draft.walk(depth=2), MOST_LINES))}
    pieces = {name: getattr(fragments, name) for name in fragments.__all__}
    own = (common_table, missing_table, about_measures, release_parts, markup.table)
    pieces |= {piece.__name__: piece for piece in own}
    made.globals |= {name: _html(make) for name, make in pieces.items()}
    made.globals |= {"version": __version__, "promise_holds": PROMISE_HOLDS}
    return made


def sentence(words: str) -> str:
    """A line of the command line as a sentence; the name of a file at its beginning stays as it is.

    Example:
        >>> sentence("the data is empty"), sentence("a.csv: the file is empty; use another")
        ('The data is empty.', 'a.csv: the file is empty; use another.')
    """
    first = words.split(" ", 1)[0]
    words = f"{words[:1].upper()}{words[1:]}" if first.isalpha() else words
    return f"{words}." if words[-1:].isalnum() or words[-1:] in ("”", ")") else words


def _shown(value: Any) -> Any:
    """Text as it is shown, whatever characters it has; a percentage is never torn apart."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value).replace(" %", "\u00a0%")


def _linked(project: Project, lines: Iterable[str]) -> list[Markup]:
    """Remarks in which the names of fields are links to them."""
    texts = {line: str(escape(_shown(line))) for line in lines}
    for line in texts:
        for label, place in field_links(project, line):
            link = f'<a href="{escape(place)}">“{label}”</a>'
            texts[line] = texts[line].replace(f"“{label}”", link)
    return [Markup(text) for text in texts.values()]


def _exact(value: object) -> Markup:
    """The value of a field, which a form sends back: not one character is changed."""
    if isinstance(value, float):
        value = f"{value:g}"
    return escape("" if value is None else value)


def _triples(options: Mapping[str, str], abouts: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """The options of a field as radio buttons take them."""
    return [(key, words, abouts.get(key, "")) for key, words in options.items()]


def _command(words: str) -> Markup:
    """A command whose options are not torn apart at the end of a line."""
    whole = r'<span class="whole">\1</span>'
    return Markup(re.sub(r"(?<!\S)(--?[\w-]+)", whole, str(_exact(words))))


def _html(make: Callable[..., str]) -> Callable[..., Markup]:
    """A function of `report`, which escapes by itself."""
    return lambda *given, **how: Markup(make(*given, **how))
