"""A server in a process of its own, as users start it; and clients that may come in."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

PATIENTS = Path(__file__).parents[1] / "src" / "outlying" / "data" / "patients.csv"


@dataclasses.dataclass
class Served:
    """A running server."""

    address: str  # with the token
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        return self.address.split("/?")[0]

    @property
    def token(self) -> str:
        return self.address.rpartition("token=")[2]

    def client(self) -> httpx.Client:
        """A program that knows the token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.origin, headers=headers, timeout=60)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)


@contextlib.contextmanager
def served(
    *sources: str | Path, options: tuple[str, ...] = (), folder: Path | None = None, **env: str
) -> Iterator[Served]:
    """Serve some sources until the end of the block; `folder` is where temporary files go."""
    command = [sys.executable, "-m", "outlying", "serve", *map(str, sources), "--no-browser"]
    given = os.environ | env | ({} if folder is None else {"TMPDIR": str(folder)})
    process = subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=given
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline().strip()
        assert re.fullmatch(r"http://\S+/\?token=\S+", line), line + process.stderr.read()
        yield Served(line, process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()


def descendants(pid: int) -> list[int]:
    """Return all processes below one."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [below for child in map(int, children) for below in (child, *descendants(child))]


def finished(client: httpx.Client, job: dict[str, Any], seconds: float = 60) -> dict[str, Any]:
    """Wait until a job is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        now: dict[str, Any] = client.get(f"/api/v1/jobs/{job['id']}").json()
        if now["state"] in ("done", "failed", "cancelled"):
            return now
        time.sleep(0.02)
    raise AssertionError(f"still {now['state']} after {seconds} s: {now}")


def opened(client: httpx.Client, table: str) -> dict[str, Any]:
    """Open a table, and wait until it is read."""
    job = client.post(f"/api/v1/tables/{table}/open").json()
    assert finished(client, job)["state"] == "done"
    found: dict[str, Any] = client.get(f"/api/v1/tables/{table}").json()
    return found


def uploaded(client: httpx.Client, name: str, content: bytes) -> tuple[dict[str, Any], str]:
    """Upload a file; return the reading job when it is over, and the table's id."""
    answer = client.post("/api/v1/tables", params={"name": name}, content=content)
    assert answer.status_code == 202, answer.text
    found = answer.json()
    return finished(client, found["job"]), found["table"]["id"]
