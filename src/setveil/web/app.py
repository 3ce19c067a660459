"""The application: every address of the page, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from setveil.errors import OutputError
from setveil.web import editor
from setveil.web.context import Settings
from setveil.web.flow import after
from setveil.web.jobs import Queue
from setveil.web.layout import Screen, respond, wants_json
from setveil.web.pages import (
    compare,
    download,
    exposure,
    files,
    goal,
    hierarchy,
    home,
    jobs,
    load,
    result,
    run,
)
from setveil.web.security import Address, Guard, Secrets
from setveil.web.store import Store

STATIC = Path(__file__).parent / "static"


def make_app(store: Store, secrets: Secrets, address: Address, settings: Settings) -> Starlette:
    """The page over a store, which the caller closes."""
    signed_in = partial(store.give_access, address, secrets)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.queue = Queue(store, after)
        await app.state.queue.open()
        yield
        await app.state.queue.close()

    app = Starlette(
        routes=routes(),
        middleware=[Middleware(Guard, secrets=secrets, address=address, signed_in=signed_in)],
        exception_handlers={HTTPException: _refused, OutputError: _unwritable, 500: _broken},  # type: ignore[dict-item]
        lifespan=lifespan,
    )
    app.state.store, app.state.secrets, app.state.settings = store, secrets, settings
    app.state.address, app.state.drafts, app.state.locks = address, {}, {}
    return app


def routes() -> list[BaseRoute]:
    """Every address, and what answers it."""
    return [
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/", home.home),
        Route("/projects", home.create, methods=["POST"]),
        Route("/wipe", home.wipe, methods=["POST"]),
        Mount("/projects/{project}", routes=project_routes()),
    ]


def project_routes() -> list[BaseRoute]:
    """The addresses of one project; the editor of hierarchies is below `/tree`."""
    return [
        *editor.routes(),
        Route("/delete", home.delete, methods=["POST"]),
        Route("/name", home.rename, methods=["POST"]),
        Route("/files", files.browse),
        Route("/load", load.load),
        Route("/load/file", load.upload, methods=["PUT", "POST"]),
        Route("/load/path", load.path, methods=["POST"]),
        Route("/load/sample", load.sample, methods=["POST"]),
        Route("/load/reading", load.reading, methods=["POST"]),
        Route("/load/answer", load.answer, methods=["POST"]),
        Route("/load/log", load.log, methods=["POST"]),
        Route("/exposure", exposure.exposure, methods=["GET"]),
        Route("/exposure", exposure.again, methods=["POST"]),
        Route("/goal", goal.goal),
        Route("/goal/choose", goal.choose, methods=["POST"]),
        Route("/goal/settle", goal.settle, methods=["POST"]),
        Route("/goal/meaning", goal.meaning, methods=["POST"]),
        Route("/goal/advise", goal.advise, methods=["POST"]),
        Route("/goal/accept", goal.accept, methods=["POST"]),
        Route("/hierarchy", hierarchy.hierarchy),
        Route("/hierarchy/choose", hierarchy.choose, methods=["POST"]),
        Route("/hierarchy/file", hierarchy.upload, methods=["PUT", "POST"]),
        Route("/hierarchy/options", hierarchy.options, methods=["POST"]),
        Route("/run", run.run, methods=["GET"]),
        Route("/run", run.begin, methods=["POST"]),
        Route("/result", result.result),
        Route("/runs/{job}", result.one_run),
        Route("/runs/{job}/name", result.rename, methods=["POST"]),
        Route("/runs/{job}/try", result.attempt, methods=["POST"]),
        Route("/runs/{job}/final", result.final, methods=["POST"]),
        Route("/runs/{job}/{verb:str}", result.ask, methods=["POST"]),
        Route("/runs/{job}/report", result.report, methods=["GET"]),
        Route("/runs/{job}/{file:str}", download.file, methods=["GET"]),
        Route("/compare", compare.compare, methods=["GET"]),
        Route("/compare", compare.begin, methods=["POST"]),
        Route("/download", download.download),
        Route("/jobs/{job}", jobs.status),
        Route("/jobs/{job}/events", jobs.events),
        Route("/jobs/{job}/cancel", jobs.cancel, methods=["POST"]),
    ]


async def _refused(request: Request, error: HTTPException) -> Response:
    """What cannot be found or is not allowed, as a page or as JSON."""
    words = error.detail if error.status_code != 404 or error.detail != "Not Found" else (
        "There is no such page."
    )  # fmt: skip
    if wants_json(request):
        return JSONResponse({"error": words}, status_code=error.status_code)
    screen = Screen(title="Not here", why=words, code=error.status_code)
    return await respond(request, screen)


async def _unwritable(request: Request, error: OutputError) -> Response:
    """A disk that is full, or a folder that cannot be written to any more."""
    words = (
        f"The folder of this page cannot be written to ({error.problem}), so this could not be "
        "kept. Make room on the disk, and try again."
    )
    if wants_json(request):
        return JSONResponse({"error": words}, status_code=507)
    return await respond(request, Screen(title="This cannot be kept", why=words, code=507))


async def _broken(request: Request, error: Exception) -> Response:
    words = f"This is a bug in setveil, {type(error).__name__}. The terminal says where."
    if wants_json(request):
        return JSONResponse({"error": words}, status_code=500)
    return await respond(request, Screen(title="Something is broken", why=words, code=500))
