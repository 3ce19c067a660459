"""Who may ask: the token, the cookie, the Host and Origin of a request, and what a page may load.

The page is meant for one person on one machine. Other web sites that the same browser shows, and
other programs on the same machine, must not be able to use it:

- the address has a secret ticket, which works once; then a cookie replaces it (HttpOnly, SameSite);
- the key of cookies is new at every start and after everything was deleted, and is never written;
- the Host of a request must be this server's, so that no foreign name can be made to point here;
- a request that changes something must come from a page of this server: its Origin says so, and it
  carries a value that other sites cannot read;
- scripts use a token in a header instead: `Authorization: Bearer TOKEN`. It is in a private file.

Nothing of this is ever in the command line of a process, which other users could read."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import socket
from asyncio import wait_for
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ANY = ("0.0.0.0", "::")
MOST_TICKETS = 8
_PATIENCE = 60  # seconds between two blocks of a request
NO_TICKET = (
    "This browser is not signed in to this page, or was signed in before it was started again. "
    "Run the command setveil serve in a terminal once more: it finds the page that is running, "
    "prints its address, and opens it. Each such address works once."
)
CHECKED = "setveil.checked"
"""Marks a request whose right to change something is known from its headers."""


class Secrets:
    """What only the user and the browser know."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        """For scripts, in a header."""
        self.tickets: list[str] = []
        """Each signs a browser in, once; the newest last."""
        self.renew()

    def renew(self) -> None:
        """Sign every browser out."""
        self._key = secrets.token_bytes(32)

    def new_ticket(self) -> str:
        """One more ticket; only the newest few are kept."""
        self.tickets = [*self.tickets[1 - MOST_TICKETS :], secrets.token_urlsafe(32)]
        return self.tickets[-1]

    def uses(self, given: str) -> bool:
        """Whether this is a ticket; it is none from now on."""
        left = [ticket for ticket in self.tickets if not _same(ticket, given)]
        found, self.tickets = len(left) < len(self.tickets), left
        return found

    @property
    def cookie(self) -> str:
        return _signed(self._key, "cookie")

    @property
    def csrf(self) -> str:
        """A value in every form, which other sites cannot read."""
        return _signed(self._key, "csrf")


@dataclass(frozen=True)
class Address:
    """Where the page is."""

    host: str
    port: int

    @property
    def url(self) -> str:
        named = "127.0.0.1" if self.host in _ANY else self.host
        return f"http://{f'[{named}]' if ':' in named else named}:{self.port}"

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers share cookies between the ports of a machine."""
        return f"setveil_{self.port}"

    def is_host(self, given: str) -> bool:
        """Whether the Host of a request is this server."""
        name, _, port = given.rpartition(":") if not given.endswith("]") else (given, "", "80")
        if (port or "80") != str(self.port):
            return False
        name = name.lower()
        if name in _LOOPBACK or name.strip("[]") == self.host.lower():
            return True
        if self.host not in _ANY:
            return False
        return _is_number(name) or name in {socket.gethostname().lower(), socket.getfqdn().lower()}


class Guard:
    """Refuses every request that is not the user's, and says what a page may load."""

    def __init__(
        self, app: ASGIApp, secrets: Secrets, address: Address, signed_in: Callable[[], None]
    ) -> None:
        self.app, self.secrets, self.address = app, secrets, address
        self._tell_signed_in = signed_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refused = self._answer(scope)
        sealed = _sealed(send, scope["path"])
        try:
            await (refused or self.app)(scope, _in_time(receive), sealed)
        except TimeoutError:
            await _refusal(408, "This request took too long.")(scope, receive, sealed)

    def _answer(self, scope: Scope) -> Response | None:
        """What to answer instead of the app: a refusal, or the cookie for the token."""
        headers, query = Headers(scope=scope), QueryParams(scope["query_string"])
        if not self.address.is_host(headers.get("host", "")):
            return _refusal(421, "This is not the address of this page.")
        if self._is_foreign(headers):
            return _refusal(403, "This request comes from another web site.")
        if scope["path"].startswith("/static/"):
            return None
        bearer = headers.get("authorization", "")
        if bearer.startswith("Bearer "):
            if _same(bearer.removeprefix("Bearer "), self.secrets.token):
                scope[CHECKED] = True
                return None
            return _refusal(403, "This is not the token of this page.")
        if "token" in query and scope["method"] in _SAFE:
            return self._signed_in(scope, headers, query)
        if not _same(_cookies(headers).get(self.address.cookie, ""), self.secrets.cookie):
            return _unknown(headers)
        if scope["method"] in _SAFE:
            return None
        return self._unsafe(scope, headers, query)

    def _is_foreign(self, headers: Headers) -> bool:
        """Whether a page of another site has sent this."""
        origin = headers.get("origin")
        if origin is not None:
            return origin != f"http://{headers['host']}"
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "")
        return site not in ("same-origin", "none") and mode != "navigate"

    def _signed_in(self, scope: Scope, headers: Headers, query: QueryParams) -> Response:
        """The cookie for a ticket, and the same address without it."""
        known = _same(_cookies(headers).get(self.address.cookie, ""), self.secrets.cookie)
        if not known and not self.secrets.uses(query["token"]):
            return _unknown(headers)
        if not known:
            self._tell_signed_in()
        rest = urlencode([pair for pair in query.multi_items() if pair[0] != "token"])
        place = "/" + quote(scope["path"].lstrip("/\\"))
        answer = _onward(f"{place}?{rest}" if rest else place)
        set_cookie(answer, self.address, self.secrets)
        return answer

    def _unsafe(self, scope: Scope, headers: Headers, query: QueryParams) -> Response | None:
        """A change must carry the Origin of this page, and its own value."""
        if headers.get("origin") is None:
            return _refusal(403, "A browser says where such a request comes from; this has not.")
        given = headers.get("x-csrf-token") or query.get("csrf")
        if given is not None:
            scope[CHECKED] = _same(given, self.secrets.csrf)
            stale = "This form is too old. Load the page again."
            return None if scope[CHECKED] else _refusal(403, stale)
        if headers.get("content-type", "").split(";")[0] == "application/x-www-form-urlencoded":
            return None  # `form_of` checks the field of the form
        return _refusal(403, "This form lacks its check value. Load the page again.")


def may_change(request: Request, form: Mapping[str, str]) -> bool:
    """Whether a request that changes something carries the value of this page."""
    checked: bool = request.scope.get(CHECKED, False)
    return checked or _same(form.get("csrf", ""), request.app.state.secrets.csrf)


def set_cookie(answer: Response, address: Address, secrets: Secrets) -> None:
    """Keep a browser signed in."""
    value = secrets.cookie
    answer.set_cookie(address.cookie, value, httponly=True, samesite="strict", path="/")


def _in_time(receive: Receive) -> Receive:
    """Gives up on a request whose next block does not come."""
    whole = False

    async def received() -> Message:
        nonlocal whole
        if whole:
            return await receive()
        message = await wait_for(receive(), _PATIENCE)
        whole = not message.get("more_body", False)
        return message

    return received


def _sealed(send: Send, path: str) -> Send:
    """Adds the headers that every answer has."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            if "cache-control" not in headers:
                is_static = path.startswith("/static/")
                headers["cache-control"] = "no-cache" if is_static else "no-store"
        await send(message)

    return sealed


def _refusal(status: int, words: str) -> Response:
    return PlainTextResponse(f"{words}\n", status_code=status)


def _unknown(headers: Headers) -> Response:
    """What a browser without the cookie sees: what happened, and how to get in."""
    if "text/html" not in headers.get("accept", ""):
        return _refusal(403, NO_TICKET)
    title = "Please open this page from the terminal"
    return _bare(title, f"<h1>{title}</h1><p>{NO_TICKET}</p>", 403)


def _onward(place: str) -> Response:
    """A page that leads on by itself.

    A redirect would not do: a browser that came here from a file does not send the cookie, which
    it has just got, to where it is redirected, because the file has asked for it."""
    where = escape(place)
    lead = f'<meta http-equiv="refresh" content="0; url={where}">'
    return _bare("setveil", f'{lead}<p><a href="{where}">Open setveil</a></p>', 200)


def _bare(title: str, content: str, status: int) -> Response:
    """A page without anything of the user."""
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
    look = '<link rel="stylesheet" href="/static/style.css">'
    return HTMLResponse(f"{head}{look}<main>{content}</main></html>", status_code=status)


def _cookies(headers: Headers) -> Mapping[str, str]:
    try:
        found = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in found.items()}


def _signed(key: bytes, use: str) -> str:
    return hmac.new(key, use.encode(), hashlib.sha256).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _is_number(name: str) -> bool:
    """Whether a host is a number, which no name server can point elsewhere."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
