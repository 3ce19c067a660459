"""The frame of every screen: one object with its values fills a template, and is its JSON twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from setveil.pipeline.stored import freeze
from setveil.web.store import Project, StoredJob
from setveil.web.templating import render

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
PAGE_ONLY = {"page": "only"}
"""The metadata of a field that the JSON twin lacks: an object from which, or from whose values in
the twin, the page draws tables and charts."""


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
    more = {"csrf": csrf_of(request), "queue": getattr(request.app.state, "queue", None)}
    frame = {each.name: getattr(screen, each.name) for each in fields(screen)}
    values = {**more, "steps": STEPS, **frame}
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


def csrf_of(request: Request) -> str:
    """The value that forms carry."""
    return str(request.app.state.secrets.csrf)


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
