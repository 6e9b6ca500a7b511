"""A real PostgreSQL server for tests: on loopback, with its files in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def _binaries() -> Path:
    """Find the programs, which Debian keeps out of the way; skip where they are not there."""
    found = shutil.which("initdb")
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found is None and not places:
        pytest.skip("PostgreSQL is missing; on Debian: apt-get install postgresql")
    return Path(found).resolve().parent if found else places[-1].parent


def _account() -> dict[str, Any]:
    """Return who may run the server, which refuses to be run by root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            known = pwd.getpwnam(name)
            return {"user": known.pw_uid, "group": known.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL cannot be run by root, and there is no account postgres or nobody")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started() -> Iterator[str]:
    """Start a server and give its address; skip with the reason where that is not possible."""
    binaries, account, port = _binaries(), _account(), _free_port()
    folder = Path(tempfile.mkdtemp(prefix="outlying-pg-"))
    data = str(folder / "data")
    if account:
        os.chown(folder, account["user"], account["group"])

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [str(binaries / program), "-D", data, *arguments],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            **account,
        )

    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    try:
        run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
