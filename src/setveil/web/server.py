"""The server: it listens on this machine alone, says where once it answers, and ends cleanly."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from setveil.errors import OutputError, ParameterError
from setveil.web.app import make_app
from setveil.web.context import Settings
from setveil.web.places import Places
from setveil.web.security import Address, Secrets
from setveil.web.store import Store, usual_folder

PORT = 8737
"""The port if none is named; another one if it is taken."""
_PATIENCE = 2  # seconds for open connections when the page ends


@dataclass(frozen=True, kw_only=True)
class ServeJob:
    """Where the page is, and what it may do."""

    host: str = "127.0.0.1"
    port: int | None = None
    data_dir: Path | None = None
    files: tuple[Path, ...] = ()
    """More folders whose files may be named by path."""
    max_upload: int = 20_000_000_000


def serve(job: ServeJob, ready: Callable[[str], None]) -> None:
    """Serve the page until it is interrupted.

    Args:
        job: Where the page is, and what it may do.
        ready: Is called with the address, token included, as soon as the page answers.
    """
    before = os.umask(0o077)
    with ExitStack() as stack:
        stack.callback(os.umask, before)
        store = Store((job.data_dir or usual_folder()).expanduser().resolve())
        stack.callback(store.close)
        listening = stack.enter_context(_listen(job.host, job.port))
        address = Address(job.host, listening.getsockname()[1])
        known = Secrets(secrets.token_urlsafe(32), store.key)
        settings = Settings(job.max_upload, Places(_roots(job.files), store.folder))
        app = make_app(store, known, address, settings)
        url = f"{address.url}/?token={known.token}"
        _Server(_config(app), app, lambda: ready(url)).run(sockets=[listening])


def open_browser(url: str) -> None:
    """Show an address in the user's browser, if there is a screen."""
    has_screen = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_screen:
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


class _Server(uvicorn.Server):
    """Says when it answers, and takes an interruption as the end of the day, not as an error."""

    def __init__(self, config: uvicorn.Config, app: Any, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app, self._ready = app, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        with suppress(Exception):
            await self._app.state.queue.close()  # ends the streams of progress too
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
