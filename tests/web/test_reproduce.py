"""What a page offers to copy gives exactly what it shows: as a command, and as Python."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.serving import finished, opened, served

NAMES = ["it's", 'a "b", c', "$(touch x) é", "-n", "when"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose name and columns a shell would like to understand."""
    folder = tmp_path_factory.mktemp("our data")
    rng = np.random.default_rng(3)
    group = rng.integers(0, 3, 300)
    rows = [
        [
            f"g{g} '&'",
            f"{g * 10 + rng.normal():.3f}",
            str(rng.integers(0, 9)),
            f"{rng.normal():.3f}",
        ]
        for g in group
    ]
    rows[16][1] = "55.5"
    dates = [f"2024-0{1 + number % 9}-11" for number in range(300)]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    lines = [
        ",".join(f'"{cell}"' for cell in (*row, day)) for row, day in zip(rows, dates, strict=True)
    ]
    (folder / "a b's.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    parts = folder / "parts"
    parts.mkdir()
    text = (folder / "a b's.csv").read_text(encoding="utf-8").splitlines()
    for number, some in enumerate((text[1:150], text[150:])):
        (parts / f"{number}.csv").write_text("\n".join([text[0], *some]) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with served(folder / "a b's.csv", folder / "parts") as server, server.client() as found:
        opened(found, "a-b-s")
        yield found


def job_of(client: httpx.Client, kind: str, body: dict[str, Any], table: str = "a-b-s") -> str:
    answer = client.post(f"/api/v1/tables/{table}/{kind}", json=body)
    job = finished(client, answer.json())
    assert job["state"] == "done", job
    return str(job["id"])


def run_both(client: httpx.Client, job: str, folder: Path) -> tuple[str, str]:
    said = client.get(f"/api/v1/jobs/{job}/reproduce").json()
    shell = f'outlying() {{ "{sys.executable}" -m outlying "$@"; }}; {said["command"]}'

    def output(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    found = output("/bin/bash", "-c", shell), output(sys.executable, "-c", said["python"])
    assert not (folder / "x").exists()
    return found


@pytest.mark.parametrize(
    "body",
    [
        {
            "row": 17,
            "options": {
                "max_conditions": 2,
                "min_support": 0.05,
                "exclude": ["-n"],
                "types": {"$(touch x) é": "categorical"},
            },
        },
        {
            "object": {
                "it's": "g1 '&'",
                'a "b", c': 44.25,
                "$(touch x) é": "5",
                "-n": None,
                "when": "2024-03-11",
            },
            "options": {},
        },
    ],
    ids=["row", "object"],
)
def test_an_explanation_is_reproduced(
    client: httpx.Client, folder: Path, body: dict[str, Any]
) -> None:
    job = job_of(client, "explanations", body)
    shown = client.get(f"/api/v1/jobs/{job}/export?format=json").text
    command, python = run_both(client, job, folder)
    assert command == shown
    assert python == shown


def test_a_detection_is_reproduced(client: httpx.Client, folder: Path) -> None:
    body = {"top": 2, "options": {"exclude": ["when", 'a "b", c'], "top": 3}}
    job = job_of(client, "detections", body)
    shown = client.get(f"/api/v1/jobs/{job}/export?format=json").text
    command, python = run_both(client, job, folder)
    assert command == shown
    found = [item["objects"][0] for item in json.loads(python)]
    told = json.loads(shown)["objects"]
    assert found == [{k: v for k, v in item.items() if k != "detection"} for item in told]


def test_rows_of_a_stream_are_named_by_their_values(client: httpx.Client, folder: Path) -> None:
    opened(client, "parts")
    rows = client.get("/api/v1/tables/parts/rows", params={"search": "55.5"}).json()["rows"]
    body = {"row": rows[0]["row"], "options": {}}
    job = job_of(client, "explanations", body, "parts")
    shown = client.get(f"/api/v1/jobs/{job}/export?format=json").text
    command, python = run_both(client, job, folder)
    assert command == shown
    assert python == shown
    assert json.loads(shown)["objects"][0]["key"]
