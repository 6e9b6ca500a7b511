"""The command line as a person uses it, in a real process where that matters."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outlying
from outlying.kernel.library import describe_kernel
from tests.conftest import Run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A small table in which the last row is cold for its city."""
    rng = np.random.default_rng(5)
    city = ["A"] * 60 + ["B"] * 90
    temp = np.where(np.array(city) == "A", rng.normal(30, 1, 150), rng.normal(5, 1, 150))
    temp[59] = 5.2
    lines = [f"r{i},{c},{t:.3f},{i % 7}" for i, (c, t) in enumerate(zip(city, temp, strict=True))]
    path = tmp_path / "weather.csv"
    path.write_text("\n".join(["id,city,temp,day", *lines]) + "\n")
    return path


def test_text_names_the_story_and_echoes_the_row(run: Run, table: Path) -> None:
    code, out, err = run("explain", table, "--row", 60, "--no-derive")
    assert (code, err) == (0, "")
    assert "Row 60 (line 61), id = r59, of" in out
    assert "id=r59" in out
    told = " ".join(out.split())
    assert "1. temp = 5.2, expected " in told
    assert " where city = A. None of the other 59 rows there has a value this" in told
    assert "Elsewhere in the table 5.2 is common." in told
    assert "id was not compared: it differs in every row. (--type id=categorical compares" in told
    assert "\x1b" not in out  # no colours where nobody looks


def test_json_is_the_documented_contract(run: Run, table: Path) -> None:
    code, out, _ = run("explain", table, "--row", 60, "--format", "json")
    result = json.loads(out)
    assert code == 0
    assert list(result) == [
        "schema",
        "source",
        "rows",
        "columns",
        "skipped_columns",
        "derived_columns",
        "relations",
        "options",
        "objects",
    ]
    assert (result["schema"], result["source"], result["rows"]) == (3, str(table), 150)
    assert result["columns"] == ["city", "temp", "day"]
    assert [item["name"] for item in result["skipped_columns"]] == ["id"]
    found = result["objects"][0]
    assert found["row"] == 60
    assert found["values"] == {"id": "r59", "city": "A", "temp": 5.2, "day": 3}
    pair = next(item for item in found["pairs"] if item["property"] == "temp")
    assert pair["conditions"] == [
        {"attribute": "city", "kind": "equals", "low": None, "high": None, "value": "A"}
    ]
    assert (pair["property"], pair["group_size"], pair["support"]) == ("temp", 60, 0.4)
    same = outlying.explain(str(table), row=59)
    assert json.loads(same.to_json()) == result


def test_three_ways_to_name_the_row(run: Run, table: Path, tmp_path: Path) -> None:
    by_row = json.loads(run("explain", table, "--row", 60, "--format", "json")[1])
    by_where = json.loads(run("explain", table, "--where", "id=r59", "--format", "json")[1])
    by_two = json.loads(
        run("explain", table, "--where", "temp=5.2", "--where", "city=A", "--format", "json")[1]
    )
    assert by_row == by_where == by_two
    file = tmp_path / "new.json"
    file.write_text(json.dumps({"city": "A", "temp": 5.2, "day": 3}))
    new = json.loads(run("explain", table, "--object", file, "--format", "json")[1])
    assert new["objects"][0]["row"] is None
    groups = {pair["property"]: pair["group_size"] for pair in new["objects"][0]["pairs"]}
    assert groups["temp"] == 61
    assert new["rows"] == 150


def test_object_from_standard_input(table: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "outlying", "explain", str(table), "--object", "-"],
        input='{"city": "A", "temp": 5.2, "day": null}',
        capture_output=True,
        text=True,
        check=True,
    )
    assert "The new row against" in done.stdout
    assert "day=(empty)" in done.stdout


def test_options_reach_the_search(run: Run, table: Path) -> None:
    args = ("--columns", "city,temp", "--type", "city=categorical", "--min-support", "0.2")
    more = ("--max-conditions", "1", "--measure", "relative", "--top", "1", "--seed", "3")
    words = ("explain", table, "--row", 60, "--preset", "paper", "--format", "json")
    _, out, _ = run(*words, *args, *more)
    result = json.loads(out)
    assert result["columns"] == ["city", "temp"]
    assert result["options"]["measure"] == "relative"
    assert result["options"]["seed"] == 3
    assert len(result["objects"][0]["pairs"]) == 1


def test_names_with_commas_and_equals_signs(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    rows = "\n".join(f"{i},{i * i % 11},{i % 2}" for i in range(30))
    path.write_text('"a,b",c=d,e\n' + rows + "\n")
    code, out, err = run(
        "explain", path, "--where", "a,b=7", "--exclude", "a,b", "--format", "json"
    )
    assert (code, err) == (0, "")
    assert json.loads(out)["columns"] == ["c=d", "e"]
    assert json.loads(out)["objects"][0]["row"] == 8
    assert run("explain", path, "--where", "c=d=5", "--where", "e=0", "--where", "a,b=4")[0] == 0


def test_output_file_appears_whole(run: Run, table: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    code, out, _ = run("explain", table, "--row", 60, "--format", "json", "-o", target)
    assert (code, out) == (0, "")
    assert json.loads(target.read_text())["schema"] == 3
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_failed_run_leaves_the_old_output(run: Run, table: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("precious")
    assert run("explain", table, "--row", 9999, "-o", target)[0] == 2
    assert target.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "weather.csv"]


def test_demo_tells_its_stories(run: Run) -> None:
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    assert "outlying explain FILE.csv --row 17" in out


def test_demo_files_can_be_saved(run: Run, tmp_path: Path) -> None:
    assert run("demo", "--save", tmp_path)[0] == 0
    args = ("explain", tmp_path / "patients.csv", "--object", tmp_path / "patient.json")
    code, out, _ = run(*args)
    assert code == 0
    assert "cells are exceptional:" in out


def test_version_help_and_completion(run: Run) -> None:
    assert (
        run("--version")[1].strip()
        == f"outlying, version {outlying.__version__}\n{describe_kernel()}"
    )
    assert "Explain why a row of SOURCE is odd" in run("explain", "--help")[1]
    assert "_OUTLYING_COMPLETE" in run("completion", "bash")[1]
    assert "_OUTLYING_COMPLETE" in run("completion", "fish")[1]


def test_completion_completes() -> None:
    env = os.environ | {
        "_OUTLYING_COMPLETE": "zsh_complete",
        "COMP_WORDS": "outlying expl",
        "COMP_CWORD": "1",
    }
    code = "import sys; sys.argv = ['outlying']; from outlying.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert "explain" in done.stdout


BAD: list[tuple[str, list[object], list[str]]] = [
    ("missing file", ["explain", "nowhere.csv", "--row", 1], ["nowhere.csv"]),
    ("empty file", ["explain", "{empty}", "--row", 1], ["empty.csv", "empty"]),
    ("header only", ["explain", "{header}", "--row", 1], ["header.csv", "no row"]),
    ("one row", ["explain", "{one}", "--row", 1], ["one row only", "at least two"]),
    ("directory", ["explain", "{folder}", "--row", 1], ["directory"]),
    ("not UTF-8", ["explain", "{latin}", "--row", 1], ["latin.csv", "UTF-8", "--encoding cp1252"]),
    ("truncated Parquet", ["explain", "{parquet}", "--row", 1], ["cut.parquet"]),
    ("doubled names", ["explain", "{doubled}", "--row", 1], ["'a'"]),
    ("infinite", ["explain", "{infinite}", "--row", 1], ["'x'", "data row 2", "missing"]),
    ("row 0", ["explain", "{table}", "--row", 0], ["row 0", "1 to 150"]),
    ("row too large", ["explain", "{table}", "--row", 151], ["row 151", "1 to 150"]),
    ("no row named", ["explain", "{table}"], ["--row", "--where", "--object"]),
    ("two ways", ["explain", "{table}", "--row", 1, "--where", "id=r1"], ["exactly one"]),
    ("nobody", ["explain", "{table}", "--where", "id=r999"], ["no row", "r999"]),
    ("ambiguous", ["explain", "{table}", "--where", "city=A"], ["60 rows", "city = A"]),
    ("where type", ["explain", "{table}", "--where", "temp=cold"], ["'temp'", "a number"]),
    ("where column", ["explain", "{table}", "--where", "tmp=1"], ["did you mean 'temp'"]),
    ("where form", ["explain", "{table}", "--where", "temp"], ["COLUMN=VALUE"]),
    ("exclude unknown", ["explain", "{table}", "--row", 1, "--exclude", "cty"], ["'city'"]),
    ("columns unknown", ["explain", "{table}", "--row", 1, "--columns", "dy"], ["'day'"]),
    ("type unknown", ["explain", "{table}", "--row", 1, "--type", "day=words"], ["'words'"]),
    (
        "type misfit",
        ["explain", "{table}", "--row", 1, "--type", "city=numeric"],
        ["'city'", "'A'"],
    ),
    ("all excluded", ["explain", "{table}", "--row", 1, "--columns", "id"], ["no column is left"]),
    ("bad support", ["explain", "{table}", "--row", 1, "--min-support", "7.5"], ["a share"]),
    (
        "bad choice",
        ["explain", "{table}", "--row", 1, "--measure", "shap"],
        ["measure", "relative"],
    ),
    ("bad number", ["explain", "{table}", "--row", "x"], ["--row", "integer"]),
    ("unwritable", ["explain", "{table}", "--row", 1, "-o", "{table}/x/out.txt"], ["cannot write"]),
    ("output folder", ["explain", "{table}", "--row", 1, "-o", "{folder}"], ["directory"]),
    ("no object", ["explain", "{table}", "--object", "gone.json"], ["gone.json"]),
    ("not JSON", ["explain", "{table}", "--object", "{table}"], ["valid JSON"]),
    ("not an object", ["explain", "{table}", "--object", "{list}"], ["one object"]),
    ("unknown key", ["explain", "{table}", "--object", "{unknown}"], ["'tmp'", "'temp'"]),
    ("missing key", ["explain", "{table}", "--object", "{short}"], ["no value for 'day'", "null"]),
    ("wrong type", ["explain", "{table}", "--object", "{words}"], ["'temp'", "'cold'", "a number"]),
    ("infinite object", ["explain", "{table}", "--object", "{endless}"], ["'temp'", "infinite"]),
    ("unknown command", ["explane", "x"], ["explane"]),
]


@pytest.fixture
def bad_files(tmp_path: Path, table: Path) -> dict[str, Path]:
    texts = {
        "empty.csv": b"",
        "header.csv": b"a,b\n",
        "one.csv": b"a,b\n1,2\n",
        "latin.csv": b"a,b\n1,\x81t\xe9\n2,x\n",
        "doubled.csv": b"a,b,a\n1,2,3\n4,5,6\n",
        "infinite.csv": b"x,y\n1,2\ninf,3\n4,5\n",
        "list.json": b"[1, 2]",
        "unknown.json": b'{"city": "A", "tmp": 1, "day": 2}',
        "short.json": b'{"city": "A", "temp": 1}',
        "words.json": b'{"city": "A", "temp": "cold", "day": 2}',
        "endless.json": b'{"city": "A", "temp": Infinity, "day": 2}',
    }
    files = {"table": table, "folder": tmp_path / "folder", "parquet": tmp_path / "cut.parquet"}
    for name, content in texts.items():
        files[name.split(".")[0]] = tmp_path / name
        (tmp_path / name).write_bytes(content)
    files["folder"].mkdir()
    pq.write_table(pa.table({"a": list(range(1000))}), files["parquet"])
    files["parquet"].write_bytes(files["parquet"].read_bytes()[:200])
    return files


@pytest.mark.parametrize(("name", "args", "said"), BAD, ids=[case[0] for case in BAD])
def test_bad_input(
    run: Run, bad_files: dict[str, Path], name: str, args: list[object], said: list[str]
) -> None:
    filled = [arg.format(**bad_files) if isinstance(arg, str) else arg for arg in args]
    code, out, err = run(*filled)
    assert (code, out) == (2, "")
    for part in said:
        assert part in err
    assert "Traceback" not in err
    assert len(err) < 1000


def test_messages_are_all_different(run: Run, bad_files: dict[str, Path]) -> None:
    said: dict[str, Any] = {}
    for name, args, _ in BAD:
        filled = [arg.format(**bad_files) if isinstance(arg, str) else arg for arg in args]
        said[name] = run(*filled)[2]
    doubled = {name: text for name, text in said.items() if list(said.values()).count(text) > 1}
    assert doubled == {}


def test_interrupt_is_clean(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.csv"
    body = "\n".join(",".join(f"{x:.4f}" for x in row) for row in rng.normal(size=(3000, 40)))
    path.write_text(",".join(f"c{i}" for i in range(40)) + "\n" + body + "\n")
    args = ["explain", str(path), "--row", "1", "-o", str(tmp_path / "o")]
    args += ["--preset", "paper", "--scales", "several", "--min-support", "5"]  # takes long
    running = subprocess.Popen(
        [sys.executable, "-m", "outlying", *args], stderr=subprocess.PIPE, text=True
    )
    waited_until = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < waited_until:
        time.sleep(0.05)  # until the temporary output is there: then the work has begun
    time.sleep(3)  # on a busy machine, libraries are still being imported after one second
    assert running.poll() is None, "the search was to take longer than this"
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130, err
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert sorted(item.name for item in tmp_path.iterdir()) == ["wide.csv"]


def test_hostile_text_is_harmless_on_a_terminal(run: Run, tmp_path: Path) -> None:
    evil = "\x1b[31mred\u202e"
    data = {evil: ["x", "y"] * 20, "n": list(range(40))}
    path = tmp_path / "evil.parquet"
    pq.write_table(pa.table(data), path)
    _, out, err = run("explain", path, "--row", 3)
    assert err == ""
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\\x1b[31mred\\u202e" in out
    assert json.loads(run("explain", path, "--row", 3, "--format", "json")[1])["columns"][0] == evil


def test_all_shows_what_is_folded(run: Run, table: Path) -> None:
    args = ("explain", table, "--row", 60)
    short, whole = run(*args)[1], run(*args, "--all")[1]
    assert " ".join(short.split()).startswith("Row 60 (line 61), id = r59, of ")
    assert "outlierness" not in short
    assert "outlierness 0." in whole
    for form in ("json", "jsonl", "html"):
        code, _, err = run(*args, "--all", "--format", form, "-o", table.with_suffix(".out"))
        assert (code, "--all is for text" in err) == (2, True)
    listed = run("detect", table, "--all")[1]
    assert "more are unusual" in listed
    assert "more are unusual" not in run("detect", table)[1]
    assert "outlierness 0." in run("detect", table, "--top", 1, "--explain", "--all")[1]
    assert "outlierness 0." in run("demo", "--all")[1]


PYTHON_TERMS = re.compile(r"\b(row|exclude|infinite|exact|search|references|top|text|types)[=(]")


@pytest.mark.parametrize("args", [["--row", 3], ["--row", 60], ["--row", 60, "--top", 1]])
def test_the_command_line_has_no_terms_of_python(run: Run, table: Path, args: list[object]) -> None:
    text = run("explain", table, *args, "--all")[1]
    assert not PYTHON_TERMS.search(text)
    assert "counted from 0" not in text


def test_errors_count_rows_as_the_user_does(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "infinite.csv"
    file.write_text("x,y\n1,a\ninf,b\n3,a\n")
    _, _, err = run("explain", file, "--row", 1)
    assert "in data row 2; correct it, leave the column out with --exclude, or treat" in err
    assert "as missing with --infinite missing" in err
    with pytest.raises(outlying.InfiniteValueError) as caught:
        outlying.explain(file, row=0)
    assert "in row 1 (counted from 0); correct it" in str(caught.value)
    assert "data row" not in str(caught.value)
    _, _, err = run("explain", file, "--row", 1, "--type", "y=numeric")
    assert "data row 1 holds 'a', not a number" in err


def test_the_papers_settings_on_the_command_line(run: Run, table: Path) -> None:
    words = ["explain", table, "--row", 1, "--format", "json"]
    code, out, err = run(*words, "--preset", "paper", "--top", 3)
    assert (code, err) == (0, "")
    assert json.loads(out)["options"] == outlying.Options.of(preset="paper", top=3).to_dict()
    code, out, _ = run(*words, "--preset", "paper", "--min-support", 40, "--bandwidth", "adaptive")
    assert code == 0
    assert json.loads(out)["options"]["bandwidth"] == "adaptive"
    assert json.loads(out)["options"]["min_support"] == 40
    assert json.loads(out)["options"]["measure"] == "paper"
    code, _, err = run(*words, "--bandwidth", "adaptive")
    assert (code, "bandwidth belongs to the paper's own method" in err) == (2, True)
