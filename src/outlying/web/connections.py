"""Connections: how many there are at most, who makes way for others, and what a head may hold.

A stranger is a connection that has shown neither token nor cookie. Strangers get a quarter of the
room, and one that opens more loses its oldest: so half-open connections only ever displace each
other, and whoever has the cookie finds room. `uvicorn` alone limits neither the number nor the age
of connections that have not sent a whole head; its `limit_concurrency` refuses everybody alike.
"""

from __future__ import annotations

import asyncio
import collections
import ipaddress
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

#: Bytes of the head of a request: a new object of 2,000 columns is an address of 80 KB.
LONGEST_HEAD = 256 << 10
MOST_LINES = 101
"""The lines of a head: a request line and 100 headers."""


class Crowd:
    """The connections that are open, the oldest first, and what limits their number."""

    def __init__(self, most: int) -> None:
        self._most, self._most_strangers = max(most, 16), max(most // 4, 8)
        self._known: dict[Visit, None] = {}
        self._strangers: dict[Visit, None] = {}
        self._by_peer: collections.Counter[str] = collections.Counter()
        self._strangers_by_peer: collections.Counter[str] = collections.Counter()

    def has_room(self, peer: str) -> bool:
        """Return whether one more connection of a peer fits; others are closed for it if need be.

        One peer has half of the room, so that there is some left for others.
        """
        if self._strangers_by_peer[peer] >= self._most_strangers // 2:
            self.close_stranger(peer)
        if len(self._strangers) >= self._most_strangers:
            self.close_stranger()
        has_many = self._by_peer[peer] >= self._most // 2
        is_full = len(self._known) + len(self._strangers) >= self._most
        if has_many and not (self.close_stranger(peer) or self._close_idle(peer)):
            return False
        return not is_full or has_many or self.close_stranger() or self._close_idle()

    def add(self, visit: Visit) -> None:
        """Count a connection, that of a stranger so far."""
        self._strangers[visit] = None
        self._by_peer[visit.peer] += 1
        self._strangers_by_peer[visit.peer] += 1

    def know(self, visit: Visit) -> None:
        """Count a connection among those that may come in."""
        if visit in self._strangers:
            del self._strangers[visit]
            _take_one(self._strangers_by_peer, visit.peer)
            self._known[visit] = None

    def remove(self, visit: Visit) -> None:
        """Forget a connection that is closed."""
        self.know(visit)
        if visit in self._known:
            del self._known[visit]
            _take_one(self._by_peer, visit.peer)

    def close_stranger(self, peer: str | None = None) -> bool:
        """Close the oldest connection of a stranger; return whether there was one."""
        return _closed(next((v for v in self._strangers if peer in (None, v.peer)), None))

    def _close_idle(self, peer: str | None = None) -> bool:
        return _closed(next((v for v in self._known if v.is_idle and peer in (None, v.peer)), None))


def _closed(visit: Visit | None) -> bool:
    if visit is not None:
        visit.drop()
    return visit is not None


def _take_one(counts: collections.Counter[str], peer: str) -> None:
    counts[peer] -= 1
    if not counts[peer]:
        del counts[peer]


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
            self._crowd.know(self)
            self._end_wait()

    def drop(self) -> None:
        """Close the connection at once; what was not sent yet is lost."""
        self._crowd.remove(self)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and wait for a head."""
        super().connection_made(transport)
        self._crowd.add(self)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_wait()
        self._crowd.remove(self)
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
