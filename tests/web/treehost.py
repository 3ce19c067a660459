"""A small page around the hierarchy panel, served on this machine, for tests and screenshots."""

from __future__ import annotations

import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

import setveil.web
from setveil.hierarchy.editing import TreeDraft
from setveil.hierarchy.tree import Hierarchy
from setveil.web.drafts import routes
from setveil.web.screens import render

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Hierarchy</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="csrf-token" content="secret">
<link rel="icon" href="data:,"><link rel="stylesheet" href="/host.css">
<link rel="stylesheet" href="/static/tree.css">
<script type="module" src="/static/tree.js"></script></head>
<body><main><h1>Hierarchy</h1>{panel}</main></body></html>"""
STYLE = """:root { color-scheme: light dark; --bg: #ffffff; --fg: #1b1f24; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171b; --fg: #e7eaee; } }
body { margin: 0; background: var(--bg); color: var(--fg); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 1rem; }"""


def flat(items: Iterable[object]) -> TreeDraft:
    """A draft of items below one root, which are those of the data."""
    labels = list(map(str, items))
    return TreeDraft(Hierarchy.from_paths([(item, "ALL") for item in labels]), labels)


def tree_panel(base_url: str, draft: TreeDraft) -> str:
    """The panel that a page with the style and the script of the tree shows."""
    return render("tree.html", {"base_url": base_url.rstrip("/"), "draft": draft})


@dataclass
class Host:
    """The application, and what happened to it."""

    draft: TreeDraft | None
    saved: list[dict[str, Any]] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    reports: list[bytes] = field(default_factory=list)
    """Violations of the content security policy."""
    address: str = ""

    def app(self) -> ASGIApp:
        def keep(request: Request, draft: TreeDraft) -> None:
            self.saved.append(json.loads(json.dumps(draft.log())))
            self.tokens.append(request.headers.get("x-csrf-token"))

        def page(_: Request) -> Response:
            assert self.draft is not None
            return HTMLResponse(PAGE.format(panel=tree_panel("/trees/1/", self.draft)))

        async def violated(request: Request) -> Response:
            self.reports.append(await request.body())
            return JSONResponse({})

        static = StaticFiles(directory=Path(setveil.web.__file__).parent / "static")
        inner = Starlette(
            routes=[
                Route("/", page),
                Route("/host.css", lambda _: Response(STYLE, media_type="text/css")),
                Route("/csp", violated, methods=["POST"]),
                Mount("/static", static),
                Mount("/trees/1", routes=routes(lambda _: self.draft, keep)),
            ]
        )
        return _with_policy(inner)

    def get(self, path: str, **words: object) -> Any:
        """The JSON answer to a request."""
        query = f"?{urlencode(words)}" if words else ""
        return self.ask(urllib.request.Request(f"{self.address}/trees/1/{path}{query}"))[1]

    def post(self, path: str, words: object) -> tuple[int, Any]:
        """The status and the JSON answer to something sent."""
        body = words if isinstance(words, bytes) else json.dumps(words).encode()
        request = urllib.request.Request(f"{self.address}/trees/1/{path}", body, method="POST")
        return self.ask(request)

    def edit(self, **words: object) -> tuple[int, Any]:
        """An edit of the tree as it is now, unless a version is given."""
        assert self.draft is not None
        return self.post("edit", {"version": self.draft.version, **words})

    @staticmethod
    def ask(request: urllib.request.Request) -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())


@contextmanager
def hosted(draft: TreeDraft | None) -> Iterator[Host]:
    """Serve a draft until the end of the block."""
    host, listener = Host(draft), socket.create_server(("127.0.0.1", 0))
    host.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(
        uvicorn.Config(host.app(), log_level="warning", lifespan="off", timeout_graceful_shutdown=2)
    )
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()  # the socket listens already, so requests wait until the server is ready
    try:
        yield host
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def _with_policy(inner: ASGIApp) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                policy = f"{POLICY}; report-uri /csp".encode()
                message["headers"].append((b"content-security-policy", policy))
            await send(message)

        await inner(scope, receive, sent)

    return app
