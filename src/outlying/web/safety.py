"""Who may ask: a token that becomes a cookie, an exact list of hosts, no request from elsewhere."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import hmac
import logging
import re
import secrets
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote_to_bytes, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

if TYPE_CHECKING:
    from outlying.web.serving import Visit

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD")
_MOST_FIELDS = 10_000  # of an address
_OWN_SITE = ("same-origin", "none")
_LOG = logging.getLogger("uvicorn.error")  # that of the server, which writes to standard error
UNEXPECTED = "something unexpected happened; the window of the server tells more"
_COME_IN = "open the address that `outlying serve` has printed: it holds the token"


@dataclasses.dataclass(frozen=True, slots=True)
class Credentials:
    """What lets a request in: the token, the names of this server, the cookie of this run."""

    token: str
    hosts: frozenset[str]
    origins: frozenset[str]
    port: int
    is_everywhere: bool = False  # whether it also goes by the address that a request came to
    session: str = dataclasses.field(default_factory=lambda: secrets.token_urlsafe(32))

    @classmethod
    def of(
        cls,
        token: str | None,
        names: Iterable[str],
        port: int,
        further: Iterable[str] = (),
        is_everywhere: bool = False,
    ) -> Credentials:
        """Return those for some names of this machine; `further` ones are those of a proxy."""
        hosts = {f"{bracketed(name)}:{port}".lower() for name in (*names, *further)}
        proxied = {bracketed(name).lower() for name in further}
        origins = {f"http://{host}" for host in hosts | proxied}
        origins |= {f"https://{host}" for host in proxied}
        own = token or secrets.token_urlsafe(24)
        return cls(own, frozenset(hosts | proxied), frozenset(origins), port, is_everywhere)

    def at(self, server: tuple[str, int | None] | None) -> Credentials:
        """Return what counts for a request to this address: a name may be led here by others."""
        if not self.is_everywhere or server is None:
            return self
        host = f"{bracketed(server[0])}:{self.port}".lower()
        hosts, origins = self.hosts | {host}, self.origins | {f"http://{host}"}
        return dataclasses.replace(self, hosts=hosts, origins=origins)

    @property
    def cookie(self) -> str:
        """The name of the cookie: servers at other ports of this machine have their own."""
        return f"outlying-{self.port}"


def bracketed(name: str) -> str:
    """Write a name or an address as it stands in the address of a page."""
    return f"[{name}]" if ":" in name else name


class Safety:
    """What stands around the whole application, and around what it says of its own failures."""

    def __init__(self, app: ASGIApp, credentials: Credentials) -> None:
        self._app, self._credentials, self._guesses = app, credentials, _Guesses()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks WebSocket
            return
        fenced = _Fenced(send)
        try:
            await (await self._refusal(scope) or self._app)(scope, receive, fenced)
        except asyncio.CancelledError:  # the server ends, and nobody is connected any more
            return
        except Exception:
            _LOG.exception("%s %s", scope["method"], ascii(scope["path"]))
            if fenced.has_begun and not fenced.has_ended:
                raise  # so that the connection is closed, and nobody waits for the rest
            if not fenced.has_begun:
                await _refused(scope, 500, UNEXPECTED)(scope, receive, fenced)

    async def _refusal(self, scope: Scope) -> Response | None:
        headers, known = Headers(scope=scope), self._credentials.at(scope.get("server"))
        if headers.get("host", "").lower() not in known.hosts:
            return _refused(scope, 403, "this server does not go by that name (Host)")
        if _is_hostile(scope):
            return _refused(scope, 400, "the address holds .. or a zero byte")
        if not _is_from_here(scope, headers, known):
            return _refused(scope, 403, "the request comes from another site (Origin)")
        if scope["method"] in _SAFE and b"token" in scope["query_string"]:
            try:
                query = parse_qsl(
                    scope["query_string"].decode("latin-1"),
                    keep_blank_values=True,
                    max_num_fields=_MOST_FIELDS,
                )
            except ValueError:
                return _refused(scope, 400, f"the address has more than {_MOST_FIELDS:,} fields")
            given = [value for name, value in query if name == "token"]
            if given:
                return await self._entered(scope, given[-1], query)
        if await self._is_known(scope, headers):
            return None
        return _refused(scope, 401, _COME_IN)

    async def _entered(self, scope: Scope, token: str, query: list[tuple[str, str]]) -> Response:
        """Turn the token of an address into a cookie, and lead to the address without it."""
        if not await self._is_right(scope, token):
            return _refused(scope, 401, f"the token is not that of this server; {_COME_IN}")
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["raw_path"].decode("latin-1").lstrip("/")  # never another host
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        answer.set_cookie(
            self._credentials.cookie, self._credentials.session, httponly=True, samesite="strict"
        )
        return answer

    async def _is_known(self, scope: Scope, headers: Headers) -> bool:
        token = _bearer(headers)
        if token is not None:
            return await self._is_right(scope, token)
        # what else the header of cookies holds may be anything, and much
        cookie = rf'(?:^|;)[ \t]*{re.escape(self._credentials.cookie)}="?([^;"]*)'
        values = re.findall(cookie, headers.get("cookie", ""))
        return _let_in(scope, any(_same(value, self._credentials.session) for value in values))

    async def _is_right(self, scope: Scope, token: str) -> bool:
        """Return whether a token is right; whoever has guessed waits, also for the right one."""
        visit = _visit(scope)
        peer = (scope.get("client") or ("",))[0] if visit is None else visit.peer
        if visit is None or not visit.is_known:
            await asyncio.sleep(self._guesses.delay(peer))
        is_right = _same(token, self._credentials.token)
        if not is_right:
            self._guesses.add(peer)
        return _let_in(scope, is_right)


class _Guesses:
    """Wrong tokens of each peer: after a few of them, each further one takes longer."""

    _FREE, _LONGEST, _MEMORY, _PEERS = 3, 4.0, 60.0, 1000

    def __init__(self) -> None:
        self._wrong: collections.OrderedDict[str, tuple[int, float]] = collections.OrderedDict()

    def delay(self, peer: str) -> float:
        """Return the seconds that a token of a peer waits before it is looked at."""
        count = self._count(peer)
        return min(self._LONGEST, 2.0 ** (count - self._FREE) / 8) if count >= self._FREE else 0.0

    def add(self, peer: str) -> None:
        """Take note of a wrong token; it is forgotten after a minute without another."""
        self._wrong[peer] = min(self._count(peer) + 1, 99), time.monotonic()
        self._wrong.move_to_end(peer)
        while len(self._wrong) > self._PEERS:
            self._wrong.popitem(last=False)

    def _count(self, peer: str) -> int:
        count, last = self._wrong.get(peer, (0, 0.0))
        return count if time.monotonic() - last < self._MEMORY else 0


def _visit(scope: Scope) -> Visit | None:
    """Return the connection of a request, where the server counts them."""
    return (scope.get("state") or {}).get("visit")


def _let_in(scope: Scope, is_right: bool) -> bool:
    visit = _visit(scope)
    if is_right and visit is not None:
        visit.know()
    return is_right


def _bearer(headers: Headers) -> str | None:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _is_hostile(scope: Scope) -> bool:
    """Return whether an address holds what has no meaning here, and has harmed others."""
    path = unquote_to_bytes(scope["raw_path"])
    is_climbing = b"\\" in path or b".." in path.split(b"/")
    return is_climbing or b"\0" in path or b"\0" in unquote_to_bytes(scope["query_string"])


def _is_from_here(scope: Scope, headers: Headers, credentials: Credentials) -> bool:
    """Return whether a request may change something: browsers tell, programs show the token."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    is_navigation = headers.get("sec-fetch-mode") == "navigate"
    if scope["method"] in _SAFE:
        return site in (None, *_OWN_SITE) or (is_navigation and site is not None)
    if origin is not None and origin.lower() not in credentials.origins:
        return False
    if site is not None and site not in _OWN_SITE:
        return False
    return origin is not None or site is not None or _bearer(headers) is not None


def _refused(scope: Scope, status: int, why: str) -> Response:
    if scope["path"].startswith("/api/") or scope["path"].endswith(".json"):
        return JSONResponse({"error": why}, status)
    said = f"Refused: {why}" if status < 500 else why.capitalize()
    return PlainTextResponse(f"{said}.\n", status)


class _Fenced:
    """Sends an answer with the headers that fence it in."""

    def __init__(self, send: Send) -> None:
        self._send, self.has_begun, self.has_ended = send, False, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)
        if message["type"] == "http.response.body":
            self.has_ended = not message.get("more_body", False)
