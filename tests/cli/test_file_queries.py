"""`--query` over files: joins of what it names, and not a byte of anything else."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Run

JOIN = "FROM 'orders.csv' JOIN 'customers.csv' USING (customer)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Orders of customers, one of them in a city of other amounts; and a file that is secret."""
    rng = np.random.default_rng(3)
    lines = [f"{place},c{place % 10},{rng.normal(50, 2):.2f}" for place in range(400)]
    lines[7] = "7,c7,900.00"
    (tmp_path / "orders.csv").write_text("\n".join(["id,customer,amount", *lines]) + "\n")
    cities = [f"c{place},{'north' if place % 2 else 'south'}" for place in range(10)]
    (tmp_path / "customers.csv").write_text("\n".join(["customer,city", *cities]) + "\n")
    (tmp_path / "secret.csv").write_text("word\nhush\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_are_joined_and_searched(run: Run, folder: Path) -> None:
    code, out, err = run("--query", JOIN)
    assert (code, err) == (0, "")
    assert out.startswith("1 of 400 rows of orders.csv and customers.csv is exceptional:")
    assert "amount = 900, expected " in out
    code, out, _ = run(
        "explain", "--query", f"{JOIN} WHERE amount < 1000", "--where", "id=7", "--json"
    )
    found = json.loads(out)
    assert (code, found["rows"]) == (0, 400)
    assert set(found["objects"][0]["values"]) == {"id", "customer", "amount", "city"}
    assert sorted(path.name for path in folder.iterdir()) == [
        "customers.csv",
        "orders.csv",
        "secret.csv",
    ]


@pytest.mark.parametrize(
    "query",
    [
        "FROM read_csv('secret.csv')",
        "FROM read_text('secret.csv')",
        "FROM glob('*.csv')",
        "SELECT (SELECT content FROM read_text('secret.csv')) AS x FROM 'orders.csv'",
        "FROM 'orders.csv', read_csv('secret.csv')",
        "COPY (FROM 'orders.csv') TO 'out.csv'",
        "ATTACH 'out.db'",
        "FROM 'orders.csv'; FROM 'secret.csv'",
        "SELECT 1",
        "FROM nothing",
        "not sql at all",
    ],
)
def test_nothing_else_is_read_or_written(run: Run, folder: Path, query: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = run("detect", "--query", query)
    assert (code, out) == (2, "")
    assert "hush" not in out + err
    assert "Traceback" not in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_is_wrong_is_said(run: Run, folder: Path) -> None:
    assert "there is no such file" in run("detect", "--query", "FROM 'order.csv'")[2]
    assert "names no file" in run("detect", "--query", "SELECT 1")[2]
    assert "Only SELECT statements" in run("detect", "--query", "DROP TABLE x")[2]
    assert "which table?" in run("detect")[2]
    code, _, err = run("detect", "orders.csv", "--query", "FROM 'orders.csv'")
    assert code == 2
    assert "--table and --query are for databases; give no source where a query names" in err
    code, _, err = run("detect", "--query", JOIN, "-o", "customers.csv")
    assert code == 2
    assert "is the same file as" in err
    assert (folder / "customers.csv").read_text().startswith("customer,city")
