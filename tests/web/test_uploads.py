"""Uploads that nobody means well: a clear error each time, and the server lives on."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.serving import finished, served, uploaded

_HTML = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    """A server that allows little."""
    options = ("--max-upload", "4", "--max-rows", "1000", "--max-columns", "50")
    more = ("--max-tables", "4", "--max-seconds", "20")
    with served(options=(*options, *more)) as server, server.client() as found:
        yield found
        assert found.get("/api/v1/tables").status_code == 200


def said(client: httpx.Client, name: str, content: bytes) -> str:
    """Upload a file that cannot be read, and return the reason."""
    job, table = uploaded(client, name, content)
    client.delete(f"/api/v1/tables/{table}")
    assert job["state"] == "failed", job
    return str(job["error"])


def test_a_file_that_is_too_large_is_refused(client: httpx.Client) -> None:
    for content in (b"a" * (5 << 20), iter([b"a" * (1 << 20)] * 5)):
        answer = client.post("/api/v1/tables", params={"name": "a.csv"}, content=content)
        assert answer.status_code == 413
        assert "--max-upload" in answer.json()["error"]
    form = client.post("/api/v1/tables", files={"file": ("a.csv", b"a" * (6 << 20))})
    assert form.status_code == 413


def test_a_line_without_an_end_is_refused(client: httpx.Client) -> None:
    assert "longer than" in said(client, "line.csv", b"x" * (3 << 20))


def test_rows_and_columns_are_limited(client: httpx.Client) -> None:
    rows = b"a,b\n" + b"1,2\n" * 1001
    assert "--max-rows" in said(client, "rows.csv", rows)
    names = ",".join(f"c{place}" for place in range(51))
    cells = ",".join("1" for _ in range(51))
    wide = f"{names}\n{cells}\n{cells}\n".encode()
    assert "--max-columns" in said(client, "wide.csv", wide)


def test_a_bomb_does_not_explode(client: httpx.Client) -> None:
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * (1 << 20), 6)
    assert len(bomb) < 1 << 16
    assert said(client, "bomb.csv.gz", bomb)


def test_lies_are_refused(client: httpx.Client) -> None:
    import pyarrow
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"a": list(range(99))}), out)
    content = bytearray(out.getvalue())
    content[60:-8:7] = b"\xff" * len(content[60:-8:7])
    assert "lying.parquet" in said(client, "lying.parquet", bytes(content))
    footer = b"PAR1" + b"\0" * 99 + b"\xff\xff\xff\xffPAR1"
    told = said(client, "footer.parquet", footer)
    assert "footer.parquet" in told
    assert "outlying-serve" not in told  # where our files are is nobody's business
    assert "not.xlsx" in said(client, "not.xlsx", b"PK\3\4" + b"\0" * 99)
    assert "no.csv" in said(client, "no.csv", b"")


def test_html_stays_text(client: httpx.Client) -> None:
    quoted = '"' + _HTML.replace('"', '""') + '{}"'
    lines = [",".join(quoted.format(place) for place in range(3))]
    lines += [
        ",".join(quoted.format(f"{row % 3}{place}") for place in range(3)) for row in range(60)
    ]
    job, table = uploaded(client, f"{_HTML.replace('/', '')}.csv", "\n".join(lines).encode())
    assert job["state"] == "done", job
    explain = f"/api/v1/tables/{table}/explanations"
    found = finished(client, client.post(explain, json={"row": 1}).json())
    for path in ("/", f"/t/{table}", f"/t/{table}/row/1", f"/t/{table}/new", f"/t/{table}/odd"):
        page = client.get(path)
        assert page.status_code == 200, page.text
        assert "<script>alert" not in page.text
    assert found["state"] == "done"
    for form in ("html", "csv"):
        address = f"/api/v1/jobs/{found['id']}/export?format={form}"
        content = client.get(address).text
        assert form == "csv" or "<script>alert" not in content
    client.delete(f"/api/v1/tables/{table}")


def test_a_database_is_asked_for_one_of_its_tables(client: httpx.Client, tmp_path: Path) -> None:
    path = tmp_path / "visits.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as base:
        for name in ("visits", "other"):
            base.execute(f"CREATE TABLE {name} (a INTEGER, b TEXT)")
            rows = [(number, f"x{number % 3}") for number in range(40)]
            base.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)  # noqa: S608
        base.commit()
    assert "other, visits" in said(client, "visits.sqlite", path.read_bytes())
    given = {"name": "visits.sqlite", "table": "visits"}
    found = client.post("/api/v1/tables", params=given, content=path.read_bytes()).json()
    assert finished(client, found["job"])["state"] == "done"
    address = f"/api/v1/tables/{found['table']['id']}"
    assert client.get(address).json()["rows"] == 40
    client.delete(address)


def test_halves_of_characters_are_shown(client: httpx.Client) -> None:
    rows = [{"n\ud800": n, "t": f"x{n % 3}\udc00"} for n in range(30)]
    job, table = uploaded(client, "halves.jsonl", "\n".join(map(json.dumps, rows)).encode())
    assert job["state"] == "done", job
    address = f"/api/v1/tables/{table}"
    assert client.get(address).json()["columns"][0]["name"] == "n\ud800"
    found = client.get(f"{address}/rows", params={"search": "x1"}).json()
    assert found["rows"][0]["values"] == [1, "x1\udc00"]
    job = finished(client, client.post(f"{address}/explanations", json={"row": 3}).json())
    assert client.get(job["result"]).status_code == 200
    client.delete(address)


def test_tables_are_limited(client: httpx.Client) -> None:
    content = b"a,b\n" + b"".join(b"%d,%d\n" % (n, n % 3) for n in range(30))
    tables = [uploaded(client, f"{number}.csv", content)[1] for number in range(4)]
    answer = client.post("/api/v1/tables", params={"name": "x.csv"}, content=content)
    assert answer.status_code == 429
    assert "--max-tables" in answer.json()["error"]
    page = client.post(
        "/api/v1/tables", files={"file": ("x.csv", content)}, headers={"Accept": "text/html"}
    )
    assert page.status_code == 429
    assert page.headers["content-type"].startswith("text/html")
    assert "--max-tables" in page.text
    for table in tables:
        client.delete(f"/api/v1/tables/{table}")


def test_uploads_that_fail_make_way(client: httpx.Client) -> None:
    for number in range(6):
        assert uploaded(client, f"empty{number}.csv", b"")[0]["state"] == "failed"
    names = [table["id"] for table in client.get("/api/v1/tables").json()["tables"]]
    assert names == ["empty2", "empty3", "empty4", "empty5"]
    job, _ = uploaded(client, "fine.csv", b"a,b\n" + b"1,2\n3,4\n" * 20)
    assert job["state"] == "done"
    for table in client.get("/api/v1/tables").json()["tables"]:
        client.delete(f"/api/v1/tables/{table['id']}")


def test_a_spreadsheet_computes_nothing() -> None:
    from outlying.render.tables import safe_cell

    assert safe_cell("=1+1") == "'=1+1"
    assert safe_cell("@x") == "'@x"
    assert (safe_cell(-1.5), safe_cell("fine")) == (-1.5, "fine")


def test_all_files_are_private(tmp_path: Path) -> None:
    with served(folder=tmp_path) as server, server.client() as client:
        uploaded(client, "a.csv", b"a,b\n1,2\n3,4\n5,6\n")
        (folder,) = tmp_path.glob("outlying-serve-*")
        for path in (folder, *folder.rglob("*")):
            assert path.stat().st_mode & 0o077 == 0
        names = {path.name for path in folder.iterdir()}
        assert all(name == "lock" or name[0].isdigit() for name in names)
    assert not list(tmp_path.iterdir())
