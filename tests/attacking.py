"""Clients that mean no good: connections that send half of what they should, or take nothing."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable

import httpx

from tests.serving import Served, opened, uploaded

TABLES = "/api/v1/tables"
Held = contextlib.ExitStack
"""What holds connections open."""


def connected(server: Served, sent: bytes = b"", *, buffer: int | None = None) -> socket.socket:
    """Connect, send some bytes, and do nothing more; `buffer` bytes are taken from the server."""
    found = socket.socket()
    if buffer is not None:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    found.settimeout(20)
    found.connect(("127.0.0.1", port_of(server)))
    found.sendall(sent)
    return found


def port_of(server: Served) -> int:
    return int(server.origin.rpartition(":")[2])


def head(server: Served, line: str, *more: str, ends: bool = True, knows: bool = True) -> bytes:
    """Write the head of a request."""
    lines = [f"{line} HTTP/1.1", f"Host: 127.0.0.1:{port_of(server)}", *more]
    lines += [f"Authorization: Bearer {server.token}"] * knows
    return ("\r\n".join(lines) + "\r\n" + "\r\n" * ends).encode()


def closed(connection: socket.socket, trickle: bytes = b"", seconds: float = 20) -> bytes:
    """Wait until the server closes a connection; return what it said before."""
    said, end = b"", time.monotonic() + seconds
    connection.settimeout(0.3)
    with connection, contextlib.suppress(ConnectionError):
        while time.monotonic() < end:
            try:
                part = connection.recv(1 << 16)
            except TimeoutError:
                connection.sendall(trickle)
                continue
            if not part:
                return said
            said += part
    assert time.monotonic() < end, "still open"
    return said


def half_open(server: Served, client: httpx.Client, held: Held) -> None:
    for _ in range(50):
        held.enter_context(connected(server, b"GET / HTTP/1.1\r\n"))


def explaining(_: Served, client: httpx.Client, held: Held) -> None:
    opened(client, "patients")
    client.post(f"{TABLES}/patients/detections", json={"top": 200})


def waiting(server: Served, client: httpx.Client, held: Held) -> None:
    opened(client, "patients")
    held.enter_context(connected(server, head(server, "GET /t/patients/odd.json?top=200")))


def listening(server: Served, client: httpx.Client, held: Held) -> None:
    opened(client, "patients")
    job = client.post(f"{TABLES}/patients/detections", json={"top": 200}).json()
    held.enter_context(connected(server, head(server, f"GET /api/v1/jobs/{job['id']}/events")))


def uploading(server: Served, _: httpx.Client, held: Held) -> None:
    sent = head(server, f"POST {TABLES}?name=a.csv", "Content-Length: 100000") + b"a,b\n"
    held.enter_context(connected(server, sent))


def reading_slowly(server: Served, client: httpx.Client, held: Held) -> None:
    rows = b"a,b\n" + b"".join(b"%d,%s%d\n" % (n, b"x" * 5000, n) for n in range(2000))
    _, table = uploaded(client, "wide.csv", rows)
    asked = head(server, f"GET {TABLES}/{table}/rows?limit=500")
    held.enter_context(connected(server, asked * 4, buffer=4096))


def searching(server: Served, client: httpx.Client, held: Held) -> list[socket.socket]:
    rows = b"a,b,c\n" + b"".join(b"%d,t%d,%d\n" % (n, n * 7919, n % 977) for n in range(200_000))
    job, table = uploaded(client, "long.csv", rows)
    assert job["state"] == "done"
    path = f"{TABLES}/{table}/rows?sort=b&offset=9999&search="
    asked = [head(server, f"GET {path}{number}") for number in range(20)]
    return [held.enter_context(connected(server, each)) for each in asked]


STATES: dict[str, Callable[[Served, httpx.Client, Held], object]] = {
    "half-open connections": half_open,
    "a running explanation": explaining,
    "somebody who waits for its result": waiting,
    "somebody who follows its progress": listening,
    "an upload in progress": uploading,
    "a slow reader": reading_slowly,
    "20 searches": searching,
}
"""What a server may be busy with when it is told to end."""
