"""Schemathesis on the OpenAPI document: no answer of 500 or more, whatever is asked.

    python -m benchmarks.web.fuzz [--calls 5000]

A server with the built-in table is asked by the document it gives itself; ids of tables and jobs
that exist are written into it, so that requests reach what is behind them. Rounds of Schemathesis
follow each other until there were that many calls.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx

from tests.serving import PATIENTS, Served, finished, opened, served

_FOUND = re.compile(r"(\d+) generated")


def known_ids(client: httpx.Client) -> dict[str, list[str]]:
    """Open the table, explain and detect; return the ids of what is there, and of nothing."""
    opened(client, "patients")
    path = "/api/v1/tables/patients"
    jobs = [
        client.post(f"{path}/explanations", json={"row": 17}).json(),
        client.post(f"{path}/detections", json={"top": 2}).json(),
    ]
    for job in jobs:
        finished(client, job, 300)
    return {"table": ["patients", "none"], "job": [*(job["id"] for job in jobs), "none"]}


def document(client: httpx.Client, ids: dict[str, list[str]]) -> dict[str, Any]:
    """Return the server's document, with ids that exist."""
    found: dict[str, Any] = client.get("/openapi.json").json()
    for operations in found["paths"].values():
        for operation in operations.values():
            for parameter in operation["parameters"]:
                if parameter["in"] == "path" and parameter["name"] in ids:
                    parameter["schema"] = {"enum": ids[parameter["name"]]}
    return found


def fuzzed(server: Served, path: Path, seed: int, *options: str) -> int:
    """Run one round; return the number of calls."""
    command = [Path(sys.executable).with_name("schemathesis"), "run", path, "--url", server.origin]
    given = ["-H", f"Authorization: Bearer {server.token}", "--checks", "not_a_server_error"]
    more = ["--seed", str(seed), "--request-timeout", "60", "--suppress-health-check", "all"]
    done = subprocess.run(
        [*map(str, command), *given, *more, *options],
        capture_output=True,
        text=True,
        cwd=path.parent,
    )
    calls = _FOUND.search(done.stdout)
    if done.returncode != 0 or calls is None:
        raise SystemExit(done.stdout[-5000:] + done.stderr[-2000:])
    return int(calls[1])


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--calls", type=int, default=5000)
    given = reader.parse_args()
    options = ("--max-seconds", "20", "--max-tables", "50")
    with (
        served(PATIENTS, options=options) as server,
        server.client() as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        path = Path(folder) / "openapi.json"
        path.write_text(json.dumps(document(client, known_ids(client))))
        calls, seed = 0, 1
        while calls < given.calls:
            calls += fuzzed(server, path, seed, "--max-examples", "40")
            seed += 1
            print(f"{calls:,} calls, none answered with 500 or more", flush=True)
            for table in client.get("/api/v1/tables").json()["tables"]:
                if table["is_upload"]:
                    client.delete(f"/api/v1/tables/{table['id']}")


if __name__ == "__main__":
    main()
