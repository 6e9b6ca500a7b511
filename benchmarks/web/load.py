"""Load: clients that page, sort and explain at the same time, from a process of their own.

    python -m benchmarks.web.load [--rows 1000000] [--seconds 60] [--clients 20]

A table of ROWS x 20 is served. Each client pages through it: most requests are for the next rows,
some sort by another column, some jump far into the sorted table. Two more clients let rows be
explained, one after the other, all the time. Told are errors, times of paging (all of them, and
those of each kind) and the memory of the server and its workers: before, after the load, and after
the same load once more, which must not need more.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import http.client
import multiprocessing
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import numpy as np

from tests.serving import Served, descendants, finished, opened, served

ROWS_PATH = "/api/v1/tables/big/rows"
_REST = 5.0  # seconds after which memory is looked at


def table(path: Path, rows: int) -> None:
    """Write a table of 14 numbers and 6 categories, a few values odd."""
    import pyarrow
    import pyarrow.parquet

    rng = np.random.default_rng(7)
    group = rng.integers(0, 4, rows)
    columns: dict[str, Any] = {
        f"x{place}": group * place + rng.normal(size=rows) for place in range(14)
    }
    words = np.array(["alpha", "beta", "gamma", "delta"])
    columns |= {f"c{place}": words[(group + rng.integers(0, 2, rows)) % 4] for place in range(6)}
    for row in range(0, rows, max(1, rows // 200)):
        columns["x5"][row] += 40
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


class Client(threading.Thread):
    """One client who looks around in the table."""

    def __init__(self, server: tuple[str, str], number: int, rows: int, end: float) -> None:
        super().__init__()
        self._origin, self._token = server
        self._random, self._rows, self._end = random.Random(number), rows, end
        self.times: dict[str, list[float]] = collections.defaultdict(list)
        self.errors: list[str] = []

    def run(self) -> None:
        """Ask for one page after the other."""
        headers = {"Authorization": f"Bearer {self._token}"}
        address = self._origin.removeprefix("http://")
        with contextlib.closing(http.client.HTTPConnection(address, timeout=30)) as connection:
            given: dict[str, Any] = {"offset": 0, "limit": 50}
            while time.monotonic() < self._end:
                kind = self._next(given)
                begin = time.perf_counter()
                connection.request("GET", f"{ROWS_PATH}?{urlencode(given)}", headers=headers)
                answer = connection.getresponse()
                content = answer.read()
                self.times[kind].append(time.perf_counter() - begin)
                if answer.status != 200 or content.count(b'"row":') != 50:
                    self.errors.append(f"{answer.status} {content[:200]!r}")
                time.sleep(self._random.uniform(0.1, 0.5))  # a person looks

    def _next(self, given: dict[str, Any]) -> str:
        dice = self._random.random()
        if dice < 0.1:
            given |= {"offset": 0, "sort": self._column(), "order": "desc"}
            return "sort"
        if dice < 0.2:
            given["offset"] = self._random.randrange(self._rows - 100)
            return "jump"
        given["offset"] = min(given["offset"] + 50, self._rows - 100)
        return "next"

    def _column(self) -> str:
        return f"{self._random.choice('xxc')}{self._random.randrange(6)}"


class Asker(threading.Thread):
    """A client who lets rows be explained, one after the other."""

    def __init__(self, server: tuple[str, str], first: int, rows: int, end: float) -> None:
        super().__init__()
        self._origin, self._token = server
        self._row, self._rows, self._end = first, rows, end
        self.times: list[float] = []
        self.errors: list[str] = []

    def run(self) -> None:
        """Explain one row after the other."""
        headers = {"Authorization": f"Bearer {self._token}"}
        with httpx.Client(base_url=self._origin, headers=headers, timeout=60) as client:
            while time.monotonic() < self._end:
                self._row = 1 + (self._row + 7919) % self._rows
                begin = time.perf_counter()
                path = "/api/v1/tables/big/explanations"
                job = finished(client, client.post(path, json={"row": self._row}).json(), 300)
                if job["state"] != "done":
                    self.errors.append(f"{job['state']}: {job['error']}")
                self.times.append(time.perf_counter() - begin)


def load(server: tuple[str, str], rows: int, clients: int, seconds: float, out: Any) -> None:
    """Be all clients, in a process of their own."""
    end = time.monotonic() + seconds
    pagers = [Client(server, number, rows, end) for number in range(clients)]
    askers = [Asker(server, number * 1000, rows, end) for number in range(2)]
    for thread in (*pagers, *askers):
        thread.start()
    for thread in (*pagers, *askers):
        thread.join()
    times: dict[str, list[float]] = collections.defaultdict(list)
    for pager in pagers:
        for kind, some in pager.times.items():
            times[kind] += some
    explained = [each for asker in askers for each in asker.times]
    errors = [*(e for each in pagers for e in each.errors), *(e for a in askers for e in a.errors)]
    out.send((dict(times), explained, errors))


def memory(server: Served) -> tuple[int, int]:
    """Return the megabytes of the server, and of its workers; what they map from files apart."""

    def resident(pid: int) -> int:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) >> 10
        return 0

    pid = server.process.pid
    return resident(pid), sum(map(resident, descendants(pid)))


def told(name: str, times: list[float]) -> Iterator[str]:
    """Say how long some requests took."""
    if times:
        ordered = sorted(times)
        p95 = ordered[int(0.95 * (len(ordered) - 1))]
        middle = statistics.median(ordered)
        yield (
            f"{name:8s} {len(times):6d} requests, median {1000 * middle:5.0f} ms, "
            f"p95 {1000 * p95:5.0f} ms, longest {1000 * ordered[-1]:5.0f} ms"
        )


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--rows", type=int, default=1_000_000)
    reader.add_argument("--seconds", type=float, default=60)
    reader.add_argument("--clients", type=int, default=20)
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        table(path, given.rows)
        with served(path) as server, server.client() as client:
            begin = time.perf_counter()
            opened(client, "big")
            print(f"read in {time.perf_counter() - begin:.1f} s")
            finished(client, client.post("/api/v1/tables/big/explanations", json={"row": 1}).json())
            before = memory(server)
            print(f"memory before: server {before[0]:,} MB, workers {before[1]:,} MB")
            for turn in ("first", "second"):
                report(*under_load(server, given))
                time.sleep(_REST)
                own, workers = memory(server)
                print(f"memory after the {turn}: server {own:,} MB, workers {workers:,} MB")


def under_load(server: Served, given: argparse.Namespace) -> tuple[Any, ...]:
    """Let another process be all clients, and return what it has seen."""
    ours, theirs = multiprocessing.Pipe()
    address = server.origin, server.token
    work = address, given.rows, given.clients, given.seconds, theirs
    process = multiprocessing.get_context("spawn").Process(target=load, args=work)
    process.start()
    found: tuple[Any, ...] = ours.recv()
    process.join()
    return found


def report(times: dict[str, list[float]], explained: list[float], errors: list[str]) -> None:
    """Say what the clients have seen."""
    print(f"{len(errors)} errors", *errors[:5])
    paging = [each for some in times.values() for each in some]
    for line in (*told("paging", paging), *told("explain", explained)):
        print(line)
    for kind, some in sorted(times.items()):
        print(*told(f"  {kind}", some))


if __name__ == "__main__":
    main()
