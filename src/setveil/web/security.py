"""Who may ask: the token, the cookie, the Host and Origin of a request, and what a page may load.

The page is meant for one person on one machine. Other web sites that the same browser shows, and
other programs on the same machine, must not be able to use it:

- the address has a secret token; after its first use a cookie replaces it (HttpOnly, SameSite);
- the Host of a request must be this server's, so that no foreign name can be made to point here;
- a request that changes something must come from a page of this server: its Origin says so, and it
  carries a value that other sites cannot read;
- scripts use the token in a header instead: `Authorization: Bearer TOKEN`."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlencode

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse, RedirectResponse, Response
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
NO_TOKEN = (
    "This page needs its token. Open the full address that `setveil serve` printed in the "
    "terminal: it ends with ?token= and many letters. If you have opened it in this browser "
    "before, load this page again."
)


@dataclass(frozen=True)
class Secrets:
    """What only the user and the browser know."""

    token: str
    """In the address that is printed; new each time the page starts."""
    key: bytes
    """Signs cookies; kept, so that a tab stays signed in when the page starts again."""

    @property
    def cookie(self) -> str:
        return _signed(self.key, "cookie")

    @property
    def csrf(self) -> str:
        """A value in every form, which other sites cannot read."""
        return _signed(self.key, "csrf")


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

    def __init__(self, app: ASGIApp, secrets: Secrets, address: Address) -> None:
        self.app, self.secrets, self.address = app, secrets, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refused = self._answer(scope)
        await (refused or self.app)(scope, receive, _sealed(send, scope["path"]))

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
                return None
            return _refusal(403, "This is not the token of this page.")
        if "token" in query and scope["method"] in _SAFE:
            return self._signed_in(scope, query)
        if not _same(_cookies(headers).get(self.address.cookie, ""), self.secrets.cookie):
            return _refusal(403, NO_TOKEN)
        if scope["method"] in _SAFE:
            return None
        return self._unsafe(headers, query)

    def _is_foreign(self, headers: Headers) -> bool:
        """Whether a page of another site has sent this."""
        origin = headers.get("origin")
        if origin is not None:
            return origin != f"http://{headers['host']}"
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "")
        return site not in ("same-origin", "none") and mode != "navigate"

    def _signed_in(self, scope: Scope, query: QueryParams) -> Response:
        """The cookie for the token, and the same address without it."""
        if not _same(query["token"], self.secrets.token):
            return _refusal(403, NO_TOKEN)
        rest = urlencode([pair for pair in query.multi_items() if pair[0] != "token"])
        place = scope["path"] if scope["path"].startswith("/") else "/"
        place = "/" + place.lstrip("/\\") + (f"?{rest}" if rest else "")
        answer = RedirectResponse(place, status_code=303)
        answer.set_cookie(
            self.address.cookie, self.secrets.cookie, httponly=True, samesite="strict", path="/"
        )
        return answer

    def _unsafe(self, headers: Headers, query: QueryParams) -> Response | None:
        """A change must carry the Origin of this page, and its own value."""
        if headers.get("origin") is None:
            return _refusal(403, "A browser says where such a request comes from; this has not.")
        given = headers.get("x-csrf-token") or query.get("csrf")
        if given is not None:
            stale = "This form is too old. Load the page again."
            return None if _same(given, self.secrets.csrf) else _refusal(403, stale)
        if headers.get("content-type", "").split(";")[0] == "application/x-www-form-urlencoded":
            return None  # `form_of` checks the field of the form
        return _refusal(403, "This form lacks its check value. Load the page again.")


def is_csrf(given: str, secrets: Secrets) -> bool:
    """Whether a form carries the value of this page."""
    return _same(given, secrets.csrf)


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
