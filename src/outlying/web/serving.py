"""The server: its application, a socket, one line that says where it is, and a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import hashlib
import ipaddress
import logging
import mimetypes
import os
import socket
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from importlib import resources
from typing import Any
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from outlying.errors import OptionError, OutlyingError
from outlying.web import api, page_frame, pages
from outlying.web.connections import Crowd, Visit, peer_of
from outlying.web.limits import LimitError, Limits, NotFoundError, NotReadyError, SlowError
from outlying.web.payloads import Answer
from outlying.web.processes import warm_up
from outlying.web.safety import UNEXPECTED, Credentials, Safety
from outlying.web.service import Service
from outlying.web.sourcing import Sourcing, Workspace

_STATUS: dict[type[Exception], int] = {NotFoundError: 404, NotReadyError: 409}


def application(service: Service, credentials: Credentials, *, is_local: bool = True) -> ASGIApp:
    """Put the parts together; what keeps others out is outermost: no answer goes around it.

    `is_local`: readers are at this machine, so that what they open does not leave it.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        warm_up(service.workspace.folder)
        try:
            yield
        finally:
            service.close()

    app = Starlette(
        routes=[*api.ROUTES, Route("/static/{name}", _asset), *pages.ROUTES],
        exception_handlers={
            OutlyingError: _answer_error,
            HTTPException: _http_error,
            ClientDisconnect: _gone,
            Exception: _unexpected,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.service, app.state.assets, app.state.is_local = service, _assets(), is_local
    return Safety(app, credentials)


def _assets() -> dict[str, tuple[bytes, str, str]]:
    """Read the files of pages once: no name from an address ever reaches the file system."""
    folder = resources.files("outlying.web") / "static"
    found = {}
    for file in folder.iterdir():
        if file.is_file():
            content = file.read_bytes()
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            found[file.name] = content, kind, f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    return found


async def _asset(request: Request) -> Response:
    found = request.app.state.assets.get(request.path_params["name"])
    if found is None:
        raise NotFoundError("there is no such file")
    content, kind, tag = found
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


async def _answer_error(request: Request, error: Exception) -> Response:
    """Say what went wrong in words, and with the status that fits."""
    status = error.status if isinstance(error, LimitError) else _STATUS.get(type(error), 400)
    said = error.shell_message() if isinstance(error, OutlyingError) else str(error)
    answer = _answer(request, status, said)
    if isinstance(error, SlowError):
        answer.headers["Connection"] = "close"
    return answer


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    answer = _answer(request, status, str(getattr(error, "detail", error)))
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer


async def _gone(_: Request, error: Exception) -> Response:  # noqa: ARG001 - as all are called
    """Say nothing where nobody listens: a reader has gone back while a file was sent."""
    return Response(status_code=400)


async def _unexpected(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Say that something failed, and nothing of how: the log of the server has it."""
    return _answer(request, 500, UNEXPECTED)


def _answer(request: Request, status: int, said: str) -> Response:
    path, is_form = request.url.path, "text/html" in request.headers.get("accept", "")
    is_of_api = path.startswith("/api/") and not (is_form and request.method == "POST")
    if is_of_api or path.endswith(".json"):
        return Answer({"error": said}, status)
    return page_frame.error_page(request, status, said)


# --- the server ------------------------------------------------------------------------------

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
_SHORTEST_TOKEN = 16  # characters
_QUEUE = 1024  # connections that the system holds until they are accepted
_BREATH = 0.05  # seconds between two attempts
_GRACE = 1.0  # seconds in which answers end that were begun before the signal
_LOG = logging.getLogger("uvicorn.error")
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - only with a token that was chosen


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """How to serve; a port of 0 is any that is free."""

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    names: tuple[str, ...] = ()  # more names that the server goes by, as behind a proxy
    opens_browser: bool = True
    path: str = "/"
    limits: Limits = dataclasses.field(default_factory=Limits)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can ask."""
        return is_loopback(self.host) and not self.names

    def check(self) -> None:
        """Refuse to be seen by other machines unless that was clearly meant."""
        if not is_loopback(self.host) and not self.token:
            raise OptionError(
                f"--host {self.host} lets other machines in: choose a --token that they need"
            )
        is_fit = self.token is None or self.token.isprintable()
        if self.token is not None and (len(self.token) < _SHORTEST_TOKEN or not is_fit):
            said = f"allowed: {_SHORTEST_TOKEN} or more printable characters"
            raise OptionError(f"--token is too short; {said}, or none for a random one")


def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine only."""
    if host in _LOOPBACK:
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def serve(
    sources: Sequence[tuple[Sourcing, Any]], settings: Settings, say: Callable[[str], None]
) -> None:
    """Serve until a signal comes; `say` is told the address once it answers."""
    settings.check()
    before = os.umask(0o077)
    try:
        with Workspace() as workspace, _listening(settings) as listening:
            port = int(listening.getsockname()[1])
            everywhere = settings.host in _EVERYWHERE
            credentials = Credentials.of(
                settings.token, _names(settings), port, settings.names, everywhere
            )
            service = Service(workspace, settings.limits, sources)
            token = quote(credentials.token, safe="")
            address = f"http://{_shown_host(settings.host)}:{port}{settings.path}?token={token}"
            config = uvicorn.Config(
                application(service, credentials, is_local=settings.is_local),
                log_level="error",
                access_log=False,
                server_header=False,
                lifespan="on",
                ws="none",
                http="h11",
                loop="asyncio",
                timeout_graceful_shutdown=1,
            )
            announce = functools.partial(_announced, address, settings, say)
            server = _Server(config, settings.limits, announce)
            try:
                server.run(sockets=[listening])
            finally:
                service.close()
    finally:
        os.umask(before)


class _Server(uvicorn.Server):
    """A server that says when it answers, counts who comes, and ends whoever stays."""

    def __init__(
        self, config: uvicorn.Config, limits: Limits, announce: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._crowd, self._pause = Crowd(_affordable(limits.connections)), limits.pause
        self._announce, self._accepting = announce, list[asyncio.Task[None]]()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])  # connections are accepted here
        if self.started:
            for listening in sockets or ():
                listening.setblocking(False)
                self._accepting.append(asyncio.create_task(self._accept(listening)))
            self._announce()

    async def _accept(self, listening: socket.socket) -> None:
        """Take in connections as long as there is room; asyncio's own servers take in all."""
        loop, has_told = asyncio.get_running_loop(), False
        while True:
            try:
                connected, address = await loop.sock_accept(listening)
            except OSError as error:  # no descriptors, or no memory: nothing to do but wait
                if not has_told:
                    _LOG.error("cannot accept connections for now: %s", error.strerror)
                has_told = True
                await asyncio.sleep(0 if self._crowd.close_stranger() else _BREATH)
                continue
            await self._admit(connected, peer_of(address))

    async def _admit(self, connected: socket.socket, peer: str) -> None:
        if not self._crowd.has_room(peer):
            connected.close()
            await asyncio.sleep(0)  # others are served meanwhile
            return

        def visit() -> Visit:
            state = self.server_state, self.lifespan.state
            return Visit(self.config, *state, self._crowd, peer, self._pause)

        try:
            await asyncio.get_running_loop().connect_accepted_socket(visit, connected)
        except OSError:  # it is gone already
            connected.close()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End every connection: politely at first, then without waiting for the other end."""
        for task in self._accepting:
            task.cancel()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await self._emptied(_GRACE)
        for connection in list(self.server_state.connections):
            if isinstance(connection, Visit):
                connection.drop()
        await self._emptied(_GRACE / 2)
        for running in list(self.server_state.tasks):
            running.cancel()
        await self._emptied(_GRACE / 2)
        await super().shutdown(sockets)

    async def _emptied(self, seconds: float) -> None:
        """Wait until nobody is connected and nothing is answered, but no longer than that."""
        end = time.monotonic() + seconds
        state = self.server_state
        while (state.connections or state.tasks) and time.monotonic() < end:
            await asyncio.sleep(_BREATH)


def _affordable(connections: int) -> int:
    """Return how many connections there may be: half of all descriptors are for other files."""
    try:
        import resource
    except ImportError:  # Windows, where there is no such limit
        return connections
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return connections if most == resource.RLIM_INFINITY else min(connections, most // 2)


def _announced(address: str, settings: Settings, say: Callable[[str], None]) -> None:
    say(address)
    if settings.opens_browser:
        webbrowser.open(address)


def _listening(settings: Settings) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        address = settings.host, settings.port
        return socket.create_server(address, family=family, backlog=_QUEUE)
    except OSError as error:
        reason = error.strerror or error
        raise OptionError(
            f"cannot listen at {settings.host}, port {settings.port}: {reason}; try --port 0"
        ) from None


def _names(settings: Settings) -> list[str]:
    """Return the names that requests may use for this server."""
    names = ["127.0.0.1", "localhost", "::1"]
    if settings.host in _EVERYWHERE:
        own = socket.gethostname()
        names.append(own)
        with contextlib.suppress(OSError):
            names += [str(found[4][0]) for found in socket.getaddrinfo(own, None)]
    else:
        names.append(settings.host)
    return names


def _shown_host(host: str) -> str:
    if host in _EVERYWHERE:
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
