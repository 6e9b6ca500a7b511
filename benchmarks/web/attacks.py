"""Hostile connections: the server keeps answering those who may come in, and ends when told to.

    python -m benchmarks.web.attacks [--only NAME]

1,500 half-open connections, with the usual number of descriptors and with few; heads that come a
byte at a time; heads that are too large; uploads that do not end; signals in each state. All
traffic stays on this machine, and each attack ends by itself.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx

from benchmarks.web.hostile import Memory
from tests.attacking import STATES, TABLES, closed, connected, head
from tests.serving import PATIENTS, Served, served

_FEW = 64  # descriptors beyond those that are in use


class Others(threading.Thread):
    """People who may come in: how long they wait, by a connection they keep and by new ones."""

    def __init__(self, server: Served) -> None:
        super().__init__(daemon=True)
        self._server, self.is_over, self.failed = server, False, 0
        self.seconds: list[float] = []

    def run(self) -> None:
        """Ask ten times a second each way."""
        with self._server.client() as kept:
            while not self.is_over:
                with self._server.client() as new:
                    for client in (kept, new):
                        begin = time.perf_counter()
                        try:
                            self.failed += client.get(TABLES).status_code != 200
                        except httpx.HTTPError:
                            self.failed += 1
                        self.seconds.append(time.perf_counter() - begin)
                time.sleep(0.1)

    def __str__(self) -> str:
        middle, most = statistics.median(self.seconds), max(self.seconds)
        asked = f"others asked {len(self.seconds):,} times, {self.failed} failed"
        return f"{asked}; median {1000 * middle:.0f} ms, longest {1000 * most:.0f} ms"


@contextlib.contextmanager
def watched(*options: str) -> Iterator[tuple[Served, list[str]]]:
    """Serve, with others who ask meanwhile; what was found is printed at the end."""
    with served(PATIENTS, options=options) as server:
        others, memory, said = Others(server), Memory(server), list[str]()
        others.start()
        memory.start()
        yield server, said
        others.is_over = memory.is_over = True
        others.join()
        server.stop()
        assert server.process.stderr is not None
        words = len(server.process.stderr.read())
        said += [str(others), f"at most {memory.most:,} MB", f"{words:,} characters of log"]
        print("; ".join(said), flush=True)


def descriptors(server: Served) -> list[int]:
    """Return the descriptors that a server has in use."""
    return [int(path.name) for path in Path(f"/proc/{server.process.pid}/fd").iterdir()]


def half_open(*, few: bool = False) -> None:
    """Open 1,500 connections, send half of a head by each, and hold them for some seconds."""
    with watched() as (server, said), contextlib.ExitStack() as held:
        if few:
            most = max(descriptors(server)) + _FEW
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (most, most))
        begin = time.perf_counter()
        for _ in range(1500):
            with contextlib.suppress(OSError):
                held.enter_context(connected(server, b"GET / HTTP/1.1\r\n"))
        said.append(f"opened in {time.perf_counter() - begin:.1f} s")
        time.sleep(5)
        said.append(f"{len(descriptors(server))} descriptors in use")


def slow_heads() -> None:
    """Send a header a second by 100 connections, until the last of them is closed."""
    with watched() as (server, said):
        begin = time.perf_counter()
        threads = [
            threading.Thread(target=closed, args=(connected(server, b"GET /"), b"a", 60.0))
            for _ in range(100)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        said.append(f"all closed after {time.perf_counter() - begin:.1f} s")


def large_heads() -> None:
    """Send heads that are too large, or nearly so, without a token."""
    cases = {
        "a cookie of 600 KB": ['Cookie: a="' + "\\134" * 150_000 + '"'],
        "one of 250 KB": ['Cookie: a="' + "\\134" * 62_500 + '"'],
        "250 KB of small cookies": ["Cookie: " + "a=b;" * 62_500],
        "100,000 headers": ["X: 1"] * 100_000,
    }
    for title, more in cases.items():
        with watched() as (server, said):
            sent = head(server, "GET /", *more, "Connection: close", knows=False)
            begin, answers = time.perf_counter(), set[str]()
            count = 0
            while time.perf_counter() - begin < 5:
                answers.add(closed(connected(server, sent)).split()[1].decode())
                count += 1
            said.append(f"{title}: {count} times in 5 s, answered {', '.join(answers)}")


def endless_uploads() -> None:
    """Begin 60 uploads that do not end; some are sent a byte now and then."""
    with watched("--max-connections", "256") as (server, said):
        post = head(server, f"POST {TABLES}?name=a.csv", "Content-Length: 1000000")
        begin, answers = time.perf_counter(), list[str]()

        def upload() -> None:
            answers.append(
                closed(connected(server, post + b"a,b\n"), b"1", 60.0).split()[1].decode()
            )

        threads = [threading.Thread(target=upload) for _ in range(60)]
        for thread in threads:
            thread.start()
            time.sleep(0.01)
        for thread in threads:
            thread.join()
        counts = ", ".join(f"{answers.count(each)} x {each}" for each in sorted(set(answers)))
        said.append(f"{counts}; all over after {time.perf_counter() - begin:.1f} s")


def signals() -> None:
    """Tell a server to end in each state."""
    for title, keep_busy in STATES.items():
        with (
            tempfile.TemporaryDirectory() as folder,
            served(PATIENTS, folder=Path(folder)) as server,
            server.client() as client,
            contextlib.ExitStack() as held,
        ):
            keep_busy(server, client, held)
            time.sleep(0.3)
            begin = time.perf_counter()
            code = server.stop()
            seconds = time.perf_counter() - begin
            assert server.process.stderr is not None
            words, left = len(server.process.stderr.read()), len(list(Path(folder).iterdir()))
            print(f"{title}: {seconds:.1f} s, code {code}, {words} characters, {left} files left")


ATTACKS: dict[str, Callable[[], None]] = {
    "half-open": half_open,
    "half-open, few descriptors": lambda: half_open(few=True),
    "slow heads": slow_heads,
    "large heads": large_heads,
    "endless uploads": endless_uploads,
    "signals": signals,
}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--only", choices=list(ATTACKS))
    given = reader.parse_args()
    for title, attack in ATTACKS.items():
        if given.only in (None, title):
            print(f"{title}:", flush=True)
            attack()


if __name__ == "__main__":
    main()
