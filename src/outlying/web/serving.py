"""The server: a socket, one line that says where it is, who may stay connected, and a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import ipaddress
import logging
import os
import socket
import time
import webbrowser
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from outlying.errors import OptionError
from outlying.sources.copies import PrivateFolder
from outlying.web import ServerLimits
from outlying.web.api import application
from outlying.web.safety import Credentials, bracketed
from outlying.web.sourcing import Sourcing
from outlying.web.tables import Service

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
    limits: ServerLimits = dataclasses.field(default_factory=ServerLimits)

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
        token = self.token
        if token is not None and (len(token) < _SHORTEST_TOKEN or not token.isprintable()):
            said = f"allowed: {_SHORTEST_TOKEN} or more printable characters"
            raise OptionError(f"--token is too short; {said}, or none for a random one")


def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine only."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host == "localhost"


def serve(
    sources: Sequence[tuple[Sourcing, Any]], settings: Settings, say: Callable[[str], None]
) -> None:
    """Serve until a signal comes; `say` is told the address once it answers."""
    settings.check()
    before = os.umask(0o077)
    try:
        with PrivateFolder("serve") as folder, _listening(settings) as listening:
            port = int(listening.getsockname()[1])
            everywhere = settings.host in _EVERYWHERE
            credentials = Credentials.of(
                settings.token, _names(settings), port, settings.names, everywhere
            )
            service = Service(folder, settings.limits, sources)
            host = socket.gethostname() if everywhere else bracketed(settings.host)
            token = quote(credentials.token, safe="")
            address = f"http://{host}:{port}{settings.path}?token={token}"
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

            def announce() -> None:
                say(address)
                if settings.opens_browser:
                    webbrowser.open(address)

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
        self, config: uvicorn.Config, limits: ServerLimits, announce: Callable[[], None]
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


# --- connections -------------------------------------------------------------------------------
#
# A stranger is a connection that has shown neither token nor cookie. Strangers get a quarter of the
# room, and one that opens more loses its oldest: so half-open connections only ever displace each
# other, and whoever has the cookie finds room. `uvicorn` alone limits neither the number nor the
# age of connections that have not sent a whole head; its `limit_concurrency` refuses all alike.

#: Bytes of the head of a request: a new object of 2,000 columns is an address of 80 KB.
LONGEST_HEAD = 256 << 10
MOST_LINES = 101
"""The lines of a head: a request line and 100 headers."""


class Crowd:
    """The connections that are open, the oldest first, and what limits their number."""

    def __init__(self, most: int) -> None:
        self._most, self._most_strangers = max(most, 16), max(most // 4, 8)
        self.visits: dict[Visit, None] = {}

    def has_room(self, peer: str) -> bool:
        """Make room for a connection of a peer, who may have half of all; say if it fits."""
        if len(self._some(peer, is_known=False)) >= self._most_strangers // 2:
            self.close_stranger(peer)
        if len(self._some(None, is_known=False)) >= self._most_strangers:
            self.close_stranger()
        has_many = sum(visit.peer == peer for visit in self.visits) >= self._most // 2
        if has_many:
            return self._close_one(peer)
        return len(self.visits) < self._most or self._close_one()

    def _some(self, peer: str | None, *, is_known: bool) -> list[Visit]:
        """Return the connections of a peer, or of all: those of strangers, or the others."""
        return [v for v in self.visits if v.is_known == is_known and peer in (None, v.peer)]

    def close_stranger(self, peer: str | None = None) -> bool:
        """Close the oldest connection of a stranger; return whether there was one."""
        return _closed_first(self._some(peer, is_known=False))

    def _close_one(self, peer: str | None = None) -> bool:
        """Close a stranger, or else a connection that waits for nothing."""
        idle = [visit for visit in self._some(peer, is_known=True) if visit.is_idle]
        return self.close_stranger(peer) or _closed_first(idle)


def _closed_first(visits: Sequence[Visit]) -> bool:
    for visit in visits[:1]:
        visit.drop()
    return bool(visits)


def peer_of(address: Any) -> str:
    """Return who is at the other end: an address, of IPv6 the network of one customer."""
    host = str(address[0]).partition("%")[0]
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return host


class Visit(H11Protocol):
    """A connection: a head comes whole within `pause` seconds, as does a token or a cookie."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        crowd: Crowd,
        peer: str,
        pause: float,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "visit": self})
        self.conn = self._reader = _Reader(h11.SERVER, LONGEST_HEAD)
        self.peer, self.is_known = peer, False
        self._crowd, self._pause = crowd, pause
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def know(self) -> None:
        """Take note that token or cookie were shown."""
        if not self.is_known:
            self.is_known = True
            self._end_wait()

    def drop(self) -> None:
        """Close the connection at once; what was not sent yet is lost."""
        self._crowd.visits.pop(self, None)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and wait for a head."""
        super().connection_made(transport)
        self._crowd.visits[self] = None
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_wait()
        self._crowd.visits.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in what was sent; a head, or the rest of a body that nobody reads, ends in time."""
        if self._reader.excess:
            return  # refused; reading on lets the answer arrive
        super().data_received(data)
        if self.is_idle:
            self._wait()
        elif self.is_known:
            self._end_wait()

    def send_400_response(self, msg: str) -> None:
        """Refuse a head, and say why where it is too large."""
        if not self._reader.excess:
            super().send_400_response(msg)
            return
        said = f"Refused: the head of the request has more than {self._reader.excess}.\n".encode()
        head = (
            "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n"
            f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(said)}\r\n\r\n"
        )
        self.transport.write(head.encode() + said)
        self.transport.write_eof()
        self._wait()

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self._pause, self.drop)

    def _end_wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _Reader(h11.Connection):
    """Reads requests; a head that is too large is refused before it is taken apart."""

    excess = ""

    def next_event(self) -> Any:
        if self.their_state is h11.IDLE:
            self.excess = _excess(self.trailing_data[0])
            if self.excess:
                raise h11.RemoteProtocolError(self.excess, error_status_hint=431)
        return super().next_event()


def _excess(data: bytes) -> str:
    """Say what of a head is too much; it ends with an empty line, and may not be whole yet."""
    line = 0
    for _ in range(MOST_LINES + 1):
        end = data.find(b"\n", line)
        if end < 0 or data[line:end] in (b"", b"\r"):
            size = len(data) if end < 0 else end
            return f"{LONGEST_HEAD >> 10} KB" if size > LONGEST_HEAD else ""
        line = end + 1
    return f"{MOST_LINES - 1} headers"
