"""The server: a socket, the door's token, one line that says where it is, and a clean end."""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
import os
import socket
import webbrowser
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import uvicorn

from outlying.errors import OptionError
from outlying.web.app import application
from outlying.web.limits import Limits
from outlying.web.safety import Door
from outlying.web.service import Service
from outlying.web.sourcing import Sourcing
from outlying.web.workspace import Workspace

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
#: Bytes of the head of a request: a new object of 2,000 columns is an address of 80 KB.
_LONGEST_ADDRESS = 1 << 20
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
        if self.token is not None and (len(self.token) < 8 or not self.token.isprintable()):
            raise OptionError("--token is too short; allowed: 8 or more printable characters")


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
                h11_max_incomplete_event_size=_LONGEST_ADDRESS,
                timeout_graceful_shutdown=1,
            )
            server = _Server(config, lambda: _announced(address, settings, say))
            try:
                server.run(sockets=[listening])
            finally:
                service.close()
    finally:
        os.umask(before)


class _Server(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


def _announced(address: str, settings: Settings, say: Callable[[str], None]) -> None:
    say(address)
    if settings.opens_browser:
        webbrowser.open(address)


def _listening(settings: Settings) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        return socket.create_server((settings.host, settings.port), family=family)
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
