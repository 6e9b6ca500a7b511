"""Rows out: odd cells as Parquet, as code, and in the workbook that they are of."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pyarrow.parquet as pq
import pytest

from tests.conftest import Run
from tests.workbooks import write_xlsx

FAR, FIT = 7, 40


def lines() -> list[list[Any]]:
    random = np.random.default_rng(2)
    kind = random.choice(["a", "b"], 300).tolist()
    size = [round({"a": 50.0, "b": 5.0}[k] + random.normal(0, 1), 2) for k in kind]
    size[FAR], kind[FIT], size[FIT] = 9000.0, "a", 5.0
    return [[k, s, f"n{place % 40}"] for place, (k, s) in enumerate(zip(kind, size, strict=True))]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "my sizes.csv"
    path.write_text("\n".join(["kind,size,note", *(",".join(map(str, x)) for x in lines())]))
    return path


def test_the_list_of_odd_cells_as_parquet(run: Run, table: Path, tmp_path: Path) -> None:
    file = tmp_path / "odd.parquet"
    assert run(table, "--format", "parquet", "-o", file) == (0, "", "")
    found = {row["row"]: row for row in pq.read_table(file).to_pylist()}
    assert set(found) == {FAR + 1, FIT + 1}
    first = found[FAR + 1]
    assert (first["column"], first["value"], first["story"]) == ("size", 9000.0, 1)
    assert first["exceptional"] is True
    assert first["strength"] > 5
    assert run("explain", table, "--rows", "8", "--format", "parquet", "-o", file)[0] == 0
    assert pq.read_table(file)["row"].to_pylist() == [FAR + 1]


@pytest.mark.parametrize("command", ["detect", "explain"])
def test_sql_selects_the_odd_rows_of_the_file(run: Run, table: Path, command: str) -> None:
    rows = [] if command == "detect" else ["--rows", f"{FAR + 1},{FIT + 1}"]
    code, out, err = run(command, table, *rows, "--as", "sql")
    assert (code, err) == (0, "")
    conditions = [part.splitlines() for part in out.strip().split("\n\n")]
    assert all(comment.startswith("-- size = ") for comment, _ in conditions)
    where = " OR ".join(f"({condition})" for _, condition in conditions)
    query = f"SELECT size FROM read_csv('{table}') WHERE {where} ORDER BY size"  # noqa: S608
    with duckdb.connect() as connection:
        assert connection.execute(query).fetchall() == [(5.0,), (9000.0,)]


def test_checks_and_filters(run: Run, table: Path) -> None:
    assert "{{ ref('my_sizes') }}" in run(table, "--as", "dbt")[1]
    assert len(json.loads(run(table, "--as", "gx")[1])["expectations"]) == 2
    for dialect in ("pandas", "polars", "pandera"):
        ast.parse(run(table, "--as", dialect)[1])
    code, _, err = run(table, "--as", "sql", "--json")
    assert code == 2
    assert "--as sql is a format of its own" in err


def test_a_workbook_comes_back_with_its_odd_cells_marked(run: Run, tmp_path: Path) -> None:
    rows = lines()
    sheet: list[list[Any]] = [
        ["Sizes of all kinds"],
        ["kind", "size", "note"],
        *rows[:20],
        [None],
        *rows[20:],
    ]
    source = write_xlsx(tmp_path / "sizes.xlsx", {"empty": [], "sizes": sheet})
    before, file = source.read_bytes(), tmp_path / "odd.xlsx"
    code, _, err = run(source, "--sheet", "sizes", "--format", "xlsx", "-o", file)
    assert (code, err) == (0, "")
    assert source.read_bytes() == before
    book = openpyxl.load_workbook(file)
    assert book.sheetnames == ["empty", "sizes", "odd cells"]
    marked = {cell.coordinate: cell for row in book["sizes"] for cell in row if cell.comment}
    assert set(marked) == {f"B{3 + FAR}", f"B{3 + FIT + 1}"}
    cell = marked[f"B{3 + FAR}"]
    assert cell.value == 9000.0
    assert "expected" in cell.comment.text
    assert cell.fill.fgColor.rgb == "FFFFD7B5"
    assert book["sizes"]["A1"].value == "Sizes of all kinds"
    assert book["odd cells"]["A1"].value == "row"
    assert {row[0].value for row in book["odd cells"].iter_rows(min_row=2)} == {FAR + 1, FIT + 1}
    code, _, err = run(source, "--sheet", "sizes", "--format", "xlsx", "-o", source)
    assert code == 2
    assert "same file" in err
    assert source.read_bytes() == before
