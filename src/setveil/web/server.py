"""The server: every address of the page behind the guard. It listens on this machine alone, says
where once it answers, and ends cleanly."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from setveil.errors import OutputError, ParameterError
from setveil.web.context import Settings
from setveil.web.drafts import draft_of, saved
from setveil.web.drafts import routes as routes_of_tree
from setveil.web.following import after
from setveil.web.incoming import Places
from setveil.web.jobs import Queue
from setveil.web.pages import (
    compare,
    download,
    exposure,
    files,
    goal,
    hierarchy,
    home,
    load,
    result,
    run,
)
from setveil.web.screens import Act, Screen, Show, respond, shows, takes, wants_json
from setveil.web.security import Address, Guard, Secrets
from setveil.web.store import OPEN, FolderInUseError, Store, running_at, usual_folder

STATIC = Path(__file__).parent / "static"
PORT = 8737
"""The port if none is named; another one if it is taken."""
_PATIENCE = 2  # seconds for open connections when the page ends
_HURRY = 15  # seconds for the head of a request, at least
_MOST_CONNECTIONS = 200
FORMS: dict[str, tuple[Act, Show] | tuple[Act]] = {
    "/delete": (home.delete,),
    "/name": (home.rename,),
    "/load/path": (load.path, load.screen),
    "/load/sample": (load.sample,),
    "/load/reading": (load.reading,),
    "/load/answer": (load.answer,),
    "/load/columns": (load.columns, load.screen),
    "/load/log": (load.log, load.screen),
    "/exposure": (exposure.again,),
    "/goal/choose": (goal.choose,),
    "/goal/settle": (goal.settle, goal.screen),
    "/goal/advise": (goal.advise,),
    "/goal/accept": (goal.accept,),
    "/goal/trade": (compare.trade,),
    "/hierarchy/choose": (hierarchy.choose, hierarchy.screen),
    "/hierarchy/options": (hierarchy.options,),
    "/run": (run.begin, run.screen),
    "/compare": (compare.begin, compare.screen),
    "/runs/{job}/name": (result.rename,),
    "/runs/{job}/try": (result.attempt, result.one_run),
    "/runs/{job}/final": (result.final,),
    "/runs/{job}/{verb:str}": (result.ask, result.one_run),
    "/jobs/{job}/cancel": (run.cancel,),
}
"""What takes the form of an address, and the screen that says what is wrong with it."""


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
        Mount("/tree", routes=routes_of_tree(draft_of, saved)),
        Route("/files", shows(files.screen)),
        Route("/load", shows(load.screen)),
        *_uploads("/load/file", load.upload, load.screen),
        *_uploads("/load/column-tree", load.column_tree, load.screen),
        Route("/exposure", shows(exposure.screen), methods=["GET"]),
        Route("/goal", shows(goal.screen)),
        Route("/goal/meaning", goal.meaning, methods=["POST"]),
        Route("/hierarchy", shows(hierarchy.screen)),
        *_uploads("/hierarchy/file", hierarchy.upload, hierarchy.screen),
        Route("/run", shows(run.screen), methods=["GET"]),
        Route("/result", shows(result.screen)),
        Route("/compare", shows(compare.screen), methods=["GET"]),
        Route("/download", shows(download.screen)),
        Route("/runs/{job}", shows(result.one_run)),
        Route("/runs/{job}/report", shows(result.report), methods=["GET"]),
        *(Route(place, takes(*given), methods=["POST"]) for place, given in FORMS.items()),
        Route("/runs/{job}/{file:str}", download.file, methods=["GET"]),
        Route("/jobs/{job}", run.status),
        Route("/jobs/{job}/events", run.events),
    ]


def _uploads(place: str, act: Act, show: Show) -> list[BaseRoute]:
    return [Route(place, takes(act, show, is_upload=True), methods=["PUT", "POST"])]


async def _refused(request: Request, error: HTTPException) -> Response:
    """What cannot be found or is not allowed."""
    is_plain = error.status_code == 404 and error.detail == "Not Found"
    words = "There is no such page." if is_plain else error.detail
    return await _said(request, "Not here", words, error.status_code)


async def _unwritable(request: Request, error: OutputError) -> Response:
    """A disk that is full, or a folder that cannot be written to any more."""
    words = (
        f"The folder of this page cannot be written to ({error.problem}), so this could not be "
        "kept. Make room on the disk, and try again."
    )
    return await _said(request, "This cannot be kept", words, 507)


async def _broken(request: Request, error: Exception) -> Response:
    words = f"This is a bug in setveil, {type(error).__name__}. The terminal says where."
    return await _said(request, "Something is broken", words, 500)


async def _said(request: Request, title: str, words: str, code: int) -> Response:
    if wants_json(request):
        return JSONResponse({"error": words}, status_code=code)
    return await respond(request, Screen(title=title, why=words, code=code))


@dataclass(frozen=True, kw_only=True)
class ServeJob:
    """Where the page is, and what it may do."""

    host: str = "127.0.0.1"
    port: int | None = None
    data_dir: Path | None = None
    files: tuple[Path, ...] = ()
    """More folders whose files may be named by path."""
    max_upload: int = 20_000_000_000


@dataclass(frozen=True)
class Way:
    """How to open the page."""

    url: str
    """The address with a ticket, which works once."""
    file: Path
    """A private file that leads there."""
    is_new: bool = True
    """Whether this process serves it; False if another one did so already."""


def serve(job: ServeJob, ready: Callable[[Way], None]) -> int:
    """Serve the page until it is interrupted, unless another process does so already. `ready` is
    called as soon as it answers.

    Returns:
        How many jobs were ended with it.
    """
    before = os.umask(0o077)
    folder = (job.data_dir or usual_folder()).expanduser().resolve()
    with ExitStack() as stack:
        stack.callback(os.umask, before)
        try:
            store = Store(folder)
        except FolderInUseError:
            url = running_at(folder)
            if job.port is not None or not url:
                raise
            ready(Way(url, folder / OPEN, is_new=False))
            return 0
        stack.callback(store.close)
        stack.callback(store.take_access)
        listening = stack.enter_context(_listen(job.host, job.port))
        address = Address(job.host, listening.getsockname()[1])
        known = Secrets()
        settings = Settings(job.max_upload, Places(_roots(job.files), store.folder))
        app = make_app(store, known, address, settings)
        store.give_access(address, known)
        way = Way(f"{address.url}/?token={known.new_ticket()}", store.folder / OPEN)
        server = _Server(_config(app), app, lambda: ready(way))
        server.run(sockets=[listening])
        return server.ended


def open_browser(file: Path) -> None:
    """Show the page in the user's browser, if there is a screen.

    The browser is given a private file that leads to the page: its command line, which other users
    of the machine can read, has no secret."""
    has_screen = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_screen:
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()


class _Server(uvicorn.Server):
    """Says when it answers, and treats an interruption as a normal exit."""

    def __init__(self, config: uvicorn.Config, app: Any, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app, self._ready, self.ended = app, ready, 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # uploads that end early
        with suppress(Exception):
            self.ended = await self._app.state.queue.close()  # ends the streams of progress too
        await super().shutdown(sockets=sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        wanted = [signal.SIGINT, signal.SIGTERM]
        wanted += [signal.SIGHUP] if hasattr(signal, "SIGHUP") else []
        before = {number: signal.signal(number, self._stop) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


class _Hurried(H11Protocol):
    """Closes a connection on which a request was begun and is not completed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._seen: object = None
        self._look_again()

    def _look_again(self) -> None:
        self.loop.call_later(_HURRY, self._look)

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self._seen is self.cycle:
            self.transport.close()
            return
        self._seen = self.cycle if is_idle else self
        self._look_again()


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        lifespan="on",
        timeout_graceful_shutdown=_PATIENCE,
        limit_concurrency=_MOST_CONNECTIONS,
        http=_Hurried,
        ws="none",
    )


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket on the port that is named; without one on the usual port, or on any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in (port,) if port is not None else (PORT, 0):
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, number))
            made.listen(100)
            return made
        except OSError as error:
            made.close()
            reason = error.strerror or str(error)
        except OverflowError:
            made.close()
            raise ParameterError("port", port, "it must be 0 to 65535") from None
    raise OutputError(f"to {host} port {port}", reason, remedy="choose another {port}")


def _roots(more: tuple[Path, ...]) -> tuple[Path, ...]:
    """The folders whose files may be named by path: where it was started, and the user's own."""
    given = (Path.cwd(), Path.home(), *more)
    return tuple(dict.fromkeys(path.expanduser().resolve() for path in given))
