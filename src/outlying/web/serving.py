"""The server: a socket, the door's token, one line that says where it is, and a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import ipaddress
import logging
import os
import socket
import time
import webbrowser
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import uvicorn

from outlying.errors import OptionError
from outlying.web.app import application
from outlying.web.connections import Crowd, Visit, peer_of
from outlying.web.limits import Limits
from outlying.web.safety import Door
from outlying.web.service import Service
from outlying.web.sourcing import Sourcing
from outlying.web.workspace import Workspace

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
            door = Door.of(settings.token, _names(settings), port, settings.names, everywhere)
            service = Service(workspace, settings.limits, sources)
            token = quote(door.token, safe="")
            address = f"http://{_shown_host(settings.host)}:{port}{settings.path}?token={token}"
            config = uvicorn.Config(
                application(service, door, is_local=settings.is_local),
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
