"""Files and databases from others read nothing but themselves, unless their reader allows it."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outlying
from outlying.errors import OptionError, SourceError
from tests.conftest import Run
from tests.feeding import rows_of
from tests.serving import served, uploaded

REFUSED = "may read nothing but itself, and this names something else"
#: What a view can name that is not in its database.
VIEWS = {
    "text": "SELECT * FROM read_text('{folder}/secret.csv')",
    "names": "SELECT * FROM glob('{folder}/*')",
    "cells": "SELECT * FROM read_csv('{folder}/secret.csv')",
    "bare": "SELECT * FROM '{folder}/secret.csv'",
    "macro": "SELECT * FROM others()",
    "within": "SELECT a FROM t WHERE a IN (SELECT a FROM read_csv('{folder}/secret.csv'))",
}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,666\n2,667\n")
    return path


@pytest.fixture
def database(tmp_path: Path, secret: Path) -> Path:
    path = tmp_path / "views.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE t AS SELECT 1 AS a")
        made.execute(f"CREATE MACRO others() AS TABLE FROM read_text('{secret}')")
        for name, query in VIEWS.items():
            made.execute(f"CREATE VIEW {name} AS {query.format(folder=tmp_path)}")
    return path


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_other_files_is_refused(database: Path, run: Run, view: str) -> None:
    with pytest.raises(SourceError, match=f"{REFUSED}; .*add allow_external=True"):
        rows_of(outlying.scan(database, table=view))
    with pytest.raises(SourceError, match=REFUSED):
        rows_of(outlying.scan(database, query=f"SELECT * FROM {view}"))  # noqa: S608
    code, out, err = run("explain", database, "--table", view, "--where", "a=1")
    assert (code, out) == (2, "")
    assert "add --allow-external" in err
    assert "Traceback" not in err


@pytest.mark.usefixtures("secret")
def test_the_name_of_a_table_is_no_file(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(database.parent)
    for name in ("secret.csv", str(database.parent / "secret.csv")):
        with pytest.raises(SourceError, match=REFUSED):
            outlying.scan(database, table=name)
    frame = pa.table({"a": [1]})
    with pytest.raises(SourceError, match="unknown table 'frame'"):
        outlying.scan(database, table="frame")
    assert frame.num_rows


def test_whoever_trusts_a_file_allows_it(database: Path, run: Run) -> None:
    found = outlying.scan(database, table="cells", allow_external=True)
    assert rows_of(found) == [(1, 666), (2, 667)]
    where = ("--where", "a=1")
    assert run("explain", database, "--table", "cells", *where, "--allow-external")[0] == 0
    with pytest.raises(OptionError, match=r"allow_external is 'yes'; allowed: True or False"):
        outlying.scan(database, table="cells", allow_external="yes")
    with pytest.raises(OptionError, match="allow_external is for DuckDB files"):
        outlying.explain(database.parent / "secret.csv", row=0, allow_external=True)


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with served() as server, server.client() as found:
        yield found


@pytest.mark.parametrize("view", ["text", "names"])
def test_an_upload_shows_no_file_of_the_server(
    client: httpx.Client, database: Path, view: str
) -> None:
    with duckdb.connect(str(database)) as made:
        for name in {*VIEWS, "t"} - {view}:
            made.execute(f"DROP {'TABLE' if name == 't' else 'VIEW'} {name}")
    job, table = uploaded(client, "views.duckdb", database.read_bytes())
    client.delete(f"/api/v1/tables/{table}")
    assert job["state"] == "failed"
    assert REFUSED in str(job["error"])


def test_views_of_sqlite_call_nothing_outside(tmp_path: Path, secret: Path) -> None:
    path = tmp_path / "views.db"
    calls = [f"load_extension('{secret}')", f"readfile('{secret}')", "fts3_tokenizer('simple')"]
    with closing(sqlite3.connect(path)) as made, made:
        for place, call in enumerate(calls):
            made.execute(f"CREATE VIEW v{place} AS SELECT {call} AS a")
    for place in range(len(calls)):
        with pytest.raises(SourceError, match="cannot be read"):
            rows_of(outlying.scan(path, table=f"v{place}"))
    for query in (f"ATTACH '{secret}' AS other", f"SELECT load_extension('{secret}')"):
        with pytest.raises(SourceError):
            rows_of(outlying.scan(path, query=query))


# --- lakes, whose metadata name files ---------------------------------------------------------

TABLE = pa.table({"a": [1, 2, 3], "b": [4, 5, 6]})


@pytest.mark.parametrize("path", ["../other.parquet", "{}", "file://{}", "%2E%2E/other.parquet"])
def test_a_log_that_names_a_file_elsewhere(tmp_path: Path, path: str) -> None:
    deltalake = pytest.importorskip("deltalake")
    other = tmp_path / "other.parquet"
    pq.write_table(TABLE, other)
    deltalake.write_deltalake(tmp_path / "lake", TABLE)
    log = next((tmp_path / "lake" / "_delta_log").glob("*.json"))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"] |= {"path": path.format(other), "size": other.stat().st_size}
    log.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(SourceError, match="cannot be read"):
        rows_of(outlying.scan(tmp_path / "lake"))


def iceberg(folder: Path, **properties: str) -> Path:
    catalogs = pytest.importorskip("pyiceberg.catalog.memory")
    catalog = catalogs.InMemoryCatalog("test", warehouse=folder.as_uri())
    catalog.create_namespace("lake")
    table: Any = catalog.create_table("lake.t", TABLE.schema, properties=properties)
    table.append(TABLE)
    return folder / "lake" / "t"


@pytest.mark.parametrize("moved", ["data", "manifests", "all"])
def test_metadata_that_name_files_elsewhere(tmp_path: Path, moved: str, run: Run) -> None:
    elsewhere = tmp_path / "elsewhere"
    if moved == "data":
        path = iceberg(tmp_path, **{"write.data.path": elsewhere.as_uri()})
    else:
        path = iceberg(tmp_path)
        kept = path.rename(tmp_path / "kept")
        (path / "metadata").mkdir(parents=True)
        last = max((kept / "metadata").glob("*.metadata.json"))
        text = last.read_text()
        if moved == "manifests":
            kept.rename(elsewhere)
            text = text.replace(path.as_uri(), elsewhere.as_uri())
        else:
            text = text.replace(path.as_uri(), "s3://bucket")
        (path / "metadata" / last.name).write_text(text)
    with pytest.raises(SourceError, match="an Iceberg table " + REFUSED):
        outlying.scan(path)
    if moved == "data":
        assert len(rows_of(outlying.scan(path, allow_external=True))) == 3
        where = ("--where", "a=1", "--allow-external")
        assert run("explain", path, *where)[0] == 0


def test_metadata_that_name_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = iceberg(tmp_path)
    last = max((path / "metadata").glob("*.metadata.json"))
    content = json.loads(last.read_text())
    content["properties"] = {"py-io-impl": "named_by_a_table.Files"}
    last.write_text(json.dumps(content))
    (tmp_path / "named_by_a_table.py").write_text("raise SystemExit('ran')")
    monkeypatch.syspath_prepend(tmp_path)
    assert len(rows_of(outlying.scan(path))) == 3
    assert "named_by_a_table" not in sys.modules
