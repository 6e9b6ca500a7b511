"""Connections that mean no good: too many, half open, without an end; and signals meanwhile."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests import attacking
from tests.attacking import TABLES, Held, closed, connected, head, searching
from tests.serving import PATIENTS, Served, served, uploaded

ROOM = 16  # connections of the servers here: eight of them for strangers, four for each peer
TABLE = b"a,b\n" + b"".join(b"%d,%d\n" % (n, n % 3) for n in range(30))


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """A server with little room, and little patience."""
    options = ("--max-connections", str(ROOM), "--max-pause", "3", "--max-tables", "3")
    with served(options=options) as found:
        yield found


def test_half_open_connections_leave_room(server: Served) -> None:
    """Strangers displace each other; whoever has token or cookie comes in, and stays in."""
    with server.client() as known, contextlib.ExitStack() as held:
        assert known.get(TABLES).status_code == 200
        for _ in range(8 * ROOM):
            held.enter_context(connected(server, b"GET / HTTP/1.1\r\n"))
        assert known.get(TABLES).status_code == 200  # by the same connection
        for _ in range(3):
            with server.client() as another:
                assert another.get(TABLES).status_code == 200
                held.enter_context(connected(server))


def test_those_who_may_come_in_have_limits_too(server: Served) -> None:
    """Connections that wait for nothing make way; those at work do not."""
    ask = head(server, f"GET {TABLES}")
    post = head(server, f"POST {TABLES}/none/explanations", "Content-Length: 9")
    with contextlib.ExitStack() as held:
        for _ in range(ROOM):
            idle = held.enter_context(connected(server, ask))
            assert idle.recv(99).startswith(b"HTTP/1.1 200")
        busy = []
        for _ in range(ROOM // 2):
            busy.append(held.enter_context(connected(server, post)))
            time.sleep(0.1)
        assert closed(connected(server, ask)) == b""
        for connection in busy:
            connection.sendall(b'{"row":1}')
            assert connection.recv(99).startswith(b"HTTP/1.1 404")


@pytest.mark.parametrize(
    ("sent", "trickle"),
    [
        (b"", b""),
        (b"GET / HTTP/1.1\r\n", b"X: y\r\n"),
        (b"POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n", b"x"),  # is refused, and goes on
    ],
    ids=["nothing", "a head", "a body"],
)
def test_strangers_do_not_stay(server: Served, sent: bytes, trickle: bytes) -> None:
    closed(connected(server, sent), trickle)


def test_a_head_that_does_not_end_is_not_waited_for_even_with_a_token(server: Served) -> None:
    with server.client() as client:
        assert client.get(TABLES).status_code == 200
        whole, half = head(server, f"GET {TABLES}"), head(server, f"GET {TABLES}", ends=False)
        said = closed(connected(server, whole + half), b"X: y\r\n")
        assert said.startswith(b"HTTP/1.1 200")
        assert said.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["Cookie: " + "a=b;" * 150_000], "256 KB"),
        (['Cookie: a="' + "\\134" * 150_000 + '"'], "256 KB"),
        ([f"X-{number}: 1" for number in range(101)], "100 headers"),
        (["X: 1"] * 100_000, "100 headers"),
    ],
)
def test_a_head_is_limited(server: Served, more: list[str], said: str) -> None:
    answer = closed(connected(server, head(server, "GET /", *more, knows=False)))
    assert answer.startswith(b"HTTP/1.1 431")
    assert said.encode() in answer


def test_a_head_behind_a_request_is_limited_too(server: Served) -> None:
    """The first is refused while its body comes; the second follows in the same bytes."""
    first = head(server, "POST /", "Content-Length: 2", knows=False)
    with connected(server, first) as connection:
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 40")
        connection.sendall(b"{}" + head(server, "GET /", *["X: 1"] * 5000, knows=False))
        assert b"HTTP/1.1 431" in closed(connection)


def test_a_long_address_and_many_cookies_are_fine(server: Served) -> None:
    """A new object of 2,000 columns is a long address; cookies of other ports come along."""
    cookie = httpx.get(server.address).headers["set-cookie"].split(";")[0]
    values = "&".join(f"v.column{number}={number}" + "0" * 60 for number in range(2000))
    theirs = "; ".join(f'other{number}="\\"{number}' for number in range(500))
    for address, status in (
        (f"/index.json?{values}", b"200"),
        (f"/index.json?token=x&{'a&' * 20_000}", b"400"),
    ):
        given = f"Cookie: {theirs}; {cookie}; last=1", "Connection: close"
        asked = head(server, f"GET {address}", *given, knows=False)
        assert closed(connected(server, asked)).split()[1] == status


def test_uploads_count_from_their_first_byte(server: Served) -> None:
    """Three are being sent, so that there is no room for a fourth, nor for an endless one."""
    post = head(server, f"POST {TABLES}?name=a.csv", "Content-Length: 100000")
    form = "Content-Type: multipart/form-data; boundary=x"
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\n'
    with server.client() as client:
        sending = [connected(server, post + b"a,b\n") for _ in range(2)]
        sending.append(
            connected(server, head(server, f"POST {TABLES}", form, "Content-Length: 9999") + part)
        )
        time.sleep(0.5)
        refused = client.post(TABLES, params={"name": "b.csv"}, content=TABLE)
        assert refused.status_code == 429
        assert "being sent" in refused.json()["error"]
        assert closed(connected(server, post + b"a,b\n"), b"1,2\n").startswith(b"HTTP/1.1 429")
        for connection in sending:
            said = closed(connection, b"1,2\n")
            assert said.startswith(b"HTTP/1.1 408")
            assert b"--max-pause" in said
        _, table = uploaded(client, "c.csv", TABLE)
        assert client.delete(f"{TABLES}/{table}").status_code == 200
        assert client.get(TABLES).json() == {"tables": []}


def test_wrong_tokens_wait_and_cookies_do_not() -> None:
    with served() as server, httpx.Client(base_url=server.origin) as inside:
        assert inside.get("/", params={"token": server.token}).status_code == 303
        for _ in range(7):
            assert httpx.get(f"{server.origin}/?token=wrong").status_code == 401
        waiting = connected(server, head(server, "GET /?token=wrong", knows=False))
        right = connected(server, head(server, f"GET {TABLES}"))
        assert inside.get(TABLES).status_code == 200  # answered before both of them
        for connection in (waiting, right):
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)
            connection.settimeout(20)
        assert waiting.recv(99).startswith(b"HTTP/1.1 401")
        assert right.recv(99).startswith(b"HTTP/1.1 200")
        waiting.close()
        right.close()


@pytest.mark.skipif(sys.platform != "linux", reason="sets limits of another process")
def test_without_descriptors_the_server_waits_in_silence() -> None:
    import resource

    with served() as server, contextlib.ExitStack() as held:
        pid = server.process.pid
        used = max(int(path.name) for path in Path(f"/proc/{pid}/fd").iterdir())
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 8, used + 8))
        for _ in range(60):
            held.enter_context(connected(server))
        before = _processor_time(pid)
        time.sleep(1)
        assert _processor_time(pid) - before < 0.5  # it does not spin
        held.close()
        with server.client() as client:
            assert client.get(TABLES).status_code == 200
        assert server.stop() == 0
        assert server.process.stderr is not None
        assert len(server.process.stderr.read().splitlines()) <= 1


def _processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


# --- signals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep_busy", attacking.STATES.values(), ids=attacking.STATES.keys())
def test_a_signal_ends_the_server_in_every_state(
    keep_busy: Callable[[Served, httpx.Client, Held], object], tmp_path: Path
) -> None:
    with (
        served(PATIENTS, folder=tmp_path) as server,
        server.client() as client,
        contextlib.ExitStack() as held,
    ):
        keep_busy(server, client, held)
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(5) == 0
        assert server.process.stderr is not None
        assert server.process.stderr.read() == ""
        assert not list(tmp_path.iterdir())


def test_a_table_is_removed_while_it_is_searched() -> None:
    with served() as server, server.client() as client, contextlib.ExitStack() as held:
        asking = searching(server, client, held)
        (table,) = client.get(TABLES).json()["tables"]
        assert client.delete(f"{TABLES}/{table['id']}").status_code == 200
        for connection in asking:
            assert connection.recv(99).split()[1] in (b"200", b"400", b"404", b"409")
        assert uploaded(client, "again.csv", TABLE)[0]["state"] == "done"
        assert server.stop() == 0
        assert server.process.stderr is not None
        assert server.process.stderr.read() == ""
