"""No result takes the place of what the command reads, by whatever name it is asked to."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow
import pytest

from tests.conftest import Run

ONE = ("--row", "3", "--references", "0")
FORMS = ("text", "json", "jsonl", "html")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with a table and files that name rows of it."""
    place = tmp_path / "here"
    (place / "parts").mkdir(parents=True)
    monkeypatch.chdir(place)
    rows = "".join(f"{row},{row * row % 7},{int(row == 3)}\n" for row in range(40))
    for name in ("p.csv", "parts/a.csv"):
        (place / name).write_text(f"a,b,odd\n{rows}")
    (place / "object.json").write_text(json.dumps({"a": 3, "b": 5, "odd": 0}))
    (place / "rows.txt").write_text("1\n2\n")
    (place / "keys.jsonl").write_text('{"a": 3}\n')
    with duckdb.connect("d.duckdb") as made:
        made.execute("CREATE TABLE t AS FROM 'p.csv'")
    with sqlite3.connect("s.db") as lite:
        lite.execute("CREATE TABLE t AS SELECT 3 AS a, 1 AS odd UNION SELECT 4, 0")
    lite.close()
    return place


def refused(run: Run, target: str | Path, read: str, *args: object) -> None:
    """Make sure that a command ends with a message that names both, and that nothing changes."""
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    code, out, err = run(*args, "-o", target)
    assert (code, out) == (2, "")
    assert f"cannot write {target}: it is the same file as {read}, which is read" in err
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "target", ["p.csv", "./p.csv", "../here/p.csv", "absolute", "soft", "hard"]
)
def test_the_table_by_any_name(run: Run, folder: Path, target: str, form: str) -> None:
    Path("soft").symlink_to("p.csv")
    os.link("p.csv", "hard")
    name = folder / "p.csv" if target == "absolute" else target
    refused(run, name, "p.csv", "explain", "p.csv", *ONE, "--format", form)
    refused(run, name, "p.csv", "detect", "p.csv", "--explain", "--format", form)


@pytest.mark.usefixtures("folder")
def test_every_file_that_a_command_reads(run: Run) -> None:
    for flag, name in (
        ("--object", "object.json"),
        ("--rows-file", "rows.txt"),
        ("--where-file", "keys.jsonl"),
        ("--objects", "object.json"),
    ):
        refused(run, name, name, "explain", "p.csv", flag, name)
    refused(run, "p.csv", "p.csv", "detect", "p.csv")
    for file in ("d.duckdb", "s.db"):
        refused(run, file, file, "explain", file, "--table", "t", "--where", "a=3")
    for source in ("parts", "parts/*.csv", "*"):
        where = ("--where-true", "odd")
        refused(run, "parts/a.csv", "parts/a.csv", "explain", source, *where)


@pytest.mark.usefixtures("folder")
def test_the_files_of_a_lake(run: Run) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake("lake", pyarrow.table({"a": [1, 2, 3], "odd": [0, 0, 1]}))
    for path in [*Path("lake").rglob("*.parquet"), *Path("lake/_delta_log").glob("*.json")]:
        refused(run, path, str(path), "explain", "lake", "--where-true", "odd")


@pytest.mark.usefixtures("folder")
def test_standard_input_is_a_file_too() -> None:
    before = Path("p.csv").read_bytes()
    command = [sys.executable, "-m", "outlying", "explain", "-", *ONE, "-o", "p.csv"]
    with Path("p.csv").open() as given:
        done = subprocess.run(command, stdin=given, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot write p.csv: it is the same file as standard input" in done.stderr
    assert Path("p.csv").read_bytes() == before


@pytest.mark.usefixtures("folder")
def test_lines_beside_a_result_are_no_input(run: Run) -> None:
    Path("p.csv").rename("out.partial")
    code, _, err = run("explain", "out.partial", *ONE, "--format", "jsonl", "-o", "out", "--resume")
    assert code == 2
    assert "cannot write out.partial: it is the same file as out.partial, which is read" in err


@pytest.mark.usefixtures("folder")
def test_other_files_are_written(run: Run) -> None:
    Path("parts/result.html").write_text("an older result")  # no part of the table
    where = ("explain", "parts", "--where-true", "odd", "--format", "html")
    assert run(*where, "-o", "parts/result.html")[0] == 0
    assert "<html" in Path("parts/result.html").read_text()
    assert run("explain", "p.csv", *ONE, "-o", "d.duckdb")[0] == 0  # not read


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "make",
    [
        lambda: Path("out.partial").symlink_to("precious"),
        lambda: Path("out.partial").symlink_to("nothing"),
        lambda: os.link("precious", "out.partial"),
        lambda: os.mkfifo("out.partial"),
    ],
    ids=["link", "link to nothing", "hard link", "pipe"],
)
@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_lines_are_not_written_through_a_link(
    run: Run, make: Callable[[], None], resume: tuple[str, ...]
) -> None:
    Path("precious").touch()
    make()
    code, out, err = run("explain", "p.csv", *ONE, "--format", "jsonl", "-o", "out", *resume)
    assert (code, out) == (2, "")
    assert "cannot write out.partial: it is a link or no ordinary file" in err
    assert Path("precious").read_bytes() == b""
    assert not Path("nothing").exists()
    assert not Path("out").exists()


def test_the_example_replaces_no_file_of_that_name(run: Run, tmp_path: Path) -> None:
    own = tmp_path / "patients.csv"
    own.write_text("my own\n")
    code, _, err = run("demo", "--save", tmp_path)
    assert (code, own.read_text()) == (2, "my own\n")
    assert f"{own} is there, and is not the example's" in err
    own.unlink()
    assert run("demo", "--save", tmp_path)[0] == run("demo", "--save", tmp_path)[0] == 0
