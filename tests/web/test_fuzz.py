"""Schemathesis finds no request that the API cannot answer; benchmarks/web/fuzz.py asks more."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from benchmarks.web.fuzz import document, fuzzed, known_ids
from tests.serving import Served


@pytest.mark.slow
def test_no_request_breaks_the_api(server: Served, client: httpx.Client, tmp_path: Path) -> None:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(document(client, known_ids(client))))
    calls = fuzzed(server, path, 1, "--phases", "fuzzing", "--max-examples", "6")
    assert calls > 50
    for table in client.get("/api/v1/tables").json()["tables"]:
        if table["is_upload"]:
            client.delete(f"/api/v1/tables/{table['id']}")
