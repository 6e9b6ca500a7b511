"""Many rows on the command line: the same answers, streamed, and continued after any death."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlying
from outlying.cli import resume as jsonlines
from outlying.cli import terminal
from outlying.cli.options import Naming, numbers
from outlying.errors import RowError
from outlying.search.evaluation import Exact, Outcome
from outlying.sources import read
from outlying.table.columns import numeric_column
from outlying.table.table import Table
from outlying.table.targets import Targets, marked_rows
from tests.conftest import Run

QUICK = ("--exclude", "odd")
SMALL = read({"a": list(range(60))})
ROWS = ("--rows", "58-60,3,58", *QUICK)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A small table with three rows that are cold for their city, which `odd` marks."""
    rng = np.random.default_rng(5)
    city = ["A"] * 60 + ["B"] * 90
    temp = np.where(np.array(city) == "A", rng.normal(30, 1, 150), rng.normal(5, 1, 150))
    temp[57:60] = 5.2
    odd = ["yes" if 57 <= row < 60 else "No" for row in range(150)]
    cells = enumerate(zip(city, temp, odd, strict=True))
    lines = [f"r{i},{c},{t:.3f},{i % 7},{mark}" for i, (c, t, mark) in cells]
    path = tmp_path / "weather.csv"
    path.write_text("\n".join(["id,city,temp,day,odd", *lines]) + "\n")
    return path


def parsed(text: str) -> list[dict[str, Any]]:
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


# --- naming many rows -----------------------------------------------------------------------


def test_json_holds_what_each_row_gives_alone(run: Run, table: Path) -> None:
    code, out, err = run("explain", table, *ROWS, "--format", "json")
    assert (code, err) == (0, "")
    whole = json.loads(out)
    alone = [
        json.loads(run("explain", table, "--row", row, *QUICK, "--format", "json")[1])
        for row in (58, 59, 60, 3, 58)
    ]
    assert whole["objects"] == [one["objects"][0] for one in alone]
    assert list(whole) == [*alone[0], "patterns"]
    assert {name: whole[name] for name in alone[0] if name != "objects"} == {
        name: value for name, value in alone[0].items() if name != "objects"
    }
    assert [story["sentence"] for story in whole["patterns"]] == [
        "4 of 5: Temp does not fit the city",
        "1 of 5: Nothing odd",
    ]
    assert whole["patterns"][0]["rows"] == [58, 59, 60, 58]


def test_text_is_that_of_each_row_and_the_stories(run: Run, table: Path, tmp_path: Path) -> None:
    code, out, err = run("explain", table, *ROWS)
    assert (code, err) == (0, "")
    rows = (58, 59, 60, 3)
    alone = [run("explain", table, "--row", row, *QUICK, "--quiet")[1] for row in rows]
    rule = "-" * 88
    assert out.split(f"\n{rule}\n\n")[:4] == alone
    assert out.split(f"{rule}\n\n")[-1].startswith(
        "What they share:\n  4 of 5: Temp does not fit the city (rows 58, 59, 60, 58)\n"
        "  1 of 5: Nothing odd (row 3)\n\n- id was not compared: it differs in every row."
    )
    assert out.count("was not compared") == 1
    assert run("explain", table, *ROWS, "-o", tmp_path / "out.txt") == (0, "", "")
    assert (tmp_path / "out.txt").read_text() == out


def test_json_lines_are_the_same_in_other_clothes(run: Run, table: Path) -> None:
    whole = json.loads(run("explain", table, *ROWS, "--format", "json")[1])
    code, out, err = run("explain", table, *ROWS, "--format", "jsonl")
    assert (code, err) == (0, "")
    header, *objects, last = parsed(out)
    assert objects == whole["objects"]
    assert last == {"patterns": whole["patterns"]}
    for name in ("schema", "source", "rows", "columns", "skipped_columns", "options"):
        assert header[name] == whole[name]
    assert header["version"] == outlying.__version__
    assert header["targets"] == {"count": 5, "rows": [58, 59, 60, 3, 58], "objects": None}


def test_json_lines_of_a_single_row(run: Run, table: Path) -> None:
    args = ("explain", table, "--where", "id=r59", *QUICK)
    header, one, last = parsed(run(*args, "--format", "jsonl")[1])
    assert header["targets"]["rows"] == [60]
    assert one == json.loads(run(*args, "--format", "json")[1])["objects"][0]
    assert last["patterns"][0]["sentence"] == "1 of 1: Temp does not fit the city"


def test_rows_from_files_and_standard_input(
    run: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "# the odd ones\n58-60, 3\r\n\n   58\n"
    file = tmp_path / "rows.txt"
    file.write_text(content)
    expected = run("explain", table, *ROWS, "--format", "jsonl")[1]
    rest = (*QUICK, "--format", "jsonl")
    assert run("explain", table, "--rows-file", file, *rest)[1] == expected
    monkeypatch.setattr(sys, "stdin", io.StringIO(content))
    assert run("explain", table, "--rows-file", "-", *rest)[1] == expected
    twice = run("explain", table, "--rows", "58-60,3", "--rows", "58", *rest)[1]
    assert twice == expected


def test_a_column_marks_the_rows(run: Run, table: Path) -> None:
    args = ("--where-true", "odd", "--format", "json")
    code, out, err = run("explain", table, *args)
    assert (code, err) == (0, "")
    whole = json.loads(out)
    assert [item["row"] for item in whole["objects"]] == [58, 59, 60]
    assert "odd" not in whole["columns"]
    assert {"name": "odd", "reason": "names the rows to explain"} in whole["skipped_columns"]
    without = run("explain", table, "--row", 58, "--exclude", "odd", *args[2:])[1]
    assert whole["objects"][0]["pairs"] == json.loads(without)["objects"][0]["pairs"]
    typed = run("explain", table, *args, "--type", "odd=categorical", "--exclude", "day")
    assert json.loads(typed[1])["columns"] == ["city", "temp"]


def test_new_objects(run: Run, table: Path, tmp_path: Path) -> None:
    items = [
        {"city": "A", "temp": 5.2, "day": 3, "odd": "No"},
        {"city": "B", "temp": 5.0, "day": 4, "odd": "No"},
    ]
    file = tmp_path / "new.jsonl"
    file.write_text("\n\n".join(json.dumps(item) for item in items))
    rest = ("--format", "json")
    whole = json.loads(run("explain", table, "--objects", file, *rest)[1])
    for place, item in enumerate(items):
        one = tmp_path / "one.json"
        one.write_text(json.dumps(item))
        alone = json.loads(run("explain", table, "--object", one, *rest)[1])
        assert whole["objects"][place] == alone["objects"][0]
    assert [story["rows"] for story in whole["patterns"]] == [[1], [2]]
    assert "(object 1)" in run("explain", table, "--objects", file)[1]


def test_an_object_may_bring_a_column_into_play(run: Run, tmp_path: Path) -> None:
    table, file = tmp_path / "t.csv", tmp_path / "new.jsonl"
    table.write_text("a,b\n" + "\n".join(f"{i % 7},1" for i in range(20)))
    file.write_text('{"a": 1, "b": 1}\n{"a": 1, "b": 2}\n')
    rest = ("--format", "json")
    whole = json.loads(run("explain", table, "--objects", file, *rest)[1])
    assert whole["columns"] == ["a"]
    assert "columns" not in whole["objects"][0]
    assert whole["objects"][1]["columns"] == ["a", "b"]
    assert whole["objects"][1]["skipped_columns"] == []


@pytest.mark.parametrize("form", ["json", "jsonl", "text"])
def test_text_that_no_encoding_takes(run: Run, tmp_path: Path, form: str) -> None:
    path, target = tmp_path / "t.jsonl", tmp_path / "out"
    items = [{"a": "x\ud800" if row % 2 else "y\u2028", "n": row} for row in range(30)]
    path.write_text("\n".join(json.dumps(item) for item in items))
    for name in ("--rows", "--row"):
        args = ("explain", path, name, 2, "--format", form, "-o", target)
        assert run(*args) == (0, "", "")
        assert "x\\ud800" in target.read_text(encoding="utf-8")


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 9)), min_size=1, max_size=8))
def test_numbers_and_ranges(ranges: list[tuple[int, int]]) -> None:
    text = ", ".join(f"{low}-{low + more}" if more else str(low) for low, more in ranges)
    expected = [row - 1 for low, more in ranges for row in range(low, low + more + 1)]
    assert list(numbers(text, "--rows", SMALL)) == expected


@given(st.text(max_size=12))
def test_any_text_is_rows_or_an_error_that_says_so(text: str) -> None:
    said = "--rows: "
    try:
        assert all(0 <= row < 60 for row in numbers(text, "--rows", SMALL))
    except RowError as error:
        said = str(error)
    assert said.startswith("--rows: ")


MARKS: list[tuple[list[Any], list[int]]] = [
    ([True, False, None], [0]),
    ([0, 1, 2, None], [1, 2]),
    ([0.0, 1.0, 0.0], [1]),
    (["True", "FALSE", " yes ", "no", "Y", "n", "on", "off", "1", "0", None], [0, 2, 4, 6, 8]),
]


@pytest.mark.parametrize(("cells", "rows"), MARKS)
def test_marks(cells: list[Any], rows: list[int]) -> None:
    assert marked_rows(read({"m": cells}), "m") == rows


NO_MARKS: list[tuple[list[Any], list[str]]] = [
    ([1, -1, 1], ["'m'", "'-1'", "data row 2", "1 and 0", "--rows"]),
    ([0.0, 0.7], ["'0.7'", "data row 2"]),
    (["yes", "perhaps"], ["'perhaps'", "data row 2"]),
    ([np.datetime64("2024-05-17", "D")], ["2024-05-17", "data row 1"]),
    ([0, None], ["marks no row"]),
    ([None, None], ["marks no row"]),
]


@pytest.mark.parametrize(("cells", "said"), NO_MARKS)
def test_what_is_no_mark(cells: list[Any], said: list[str]) -> None:
    with pytest.raises(RowError) as error:
        Naming("where_true", "m").request(read({"m": cells}), is_streamed=False)
    assert all(part in str(error.value) for part in said)


# --- errors ---------------------------------------------------------------------------------

RESUME = ("--format", "jsonl", "-o", "{out}", "--resume")
BAD: list[tuple[str, list[object], list[str]]] = [
    ("two ways", ["--rows", "1", "--row", 1], ["--row and --rows", "exactly one"]),
    ("three ways", ["--rows", "1", "--where-true", "odd", "--objects", "x"], ["exactly one"]),
    ("not a number", ["--rows", "1,x"], ["--rows", "'x'", "3,17,40-60"]),
    ("open range", ["--rows", "5-"], ["'5-'"]),
    ("backwards", ["--rows", "9-5"], ["backwards", "5-9"]),
    ("row 0", ["--rows", "0-5"], ["row 0", "1 to 150"]),
    ("too large", ["--rows", "1-999999999999999"], ["row 999999999999999", "1 to 150"]),
    ("no rows", ["--rows", ","], ["--rows names no row"]),
    ("no rows file", ["--rows-file", "gone.txt"], ["gone.txt", "No such file"]),
    ("bad rows file", ["--rows-file", "{words}"], ["line 2 of", "'three'"]),
    ("empty rows file", ["--rows-file", "{blank}"], ["blank.txt names no row"]),
    ("binary rows file", ["--rows-file", "{binary}"], ["binary.txt", "UTF-8"]),
    ("unknown mark", ["--where-true", "od"], ["did you mean 'odd'"]),
    ("no marks", ["--where-true", "city"], ["'city'", "'A'", "data row 1"]),
    ("no objects file", ["--objects", "gone.jsonl"], ["objects from gone.jsonl"]),
    ("empty objects", ["--objects", "{blank}"], ["holds no object"]),
    ("bad JSON", ["--objects", "{torn}"], ["line 2 of", "valid JSON"]),
    ("not an object", ["--objects", "{list}"], ["line 1 of", "JSON list"]),
    ("bad object", ["--objects", "{short}"], ["line 3 of", "no value for 'day'"]),
    ("infinite object", ["--objects", "{endless}"], ["line 1 of", "infinite"]),
    ("workers", ["--rows", "1", "--workers", 0], ["workers is 0"]),
    ("resume text", ["--rows", "1", "--resume", "-o", "{out}"], ["--format jsonl -o FILE"]),
    ("resume nowhere", ["--rows", "1", "--resume", "--format", "jsonl"], ["-o FILE"]),
    ("resume pipe", ["--rows", "1", *RESUME[:3], "-", "--resume"], ["-o FILE"]),
    ("resume stdin", ["--objects", "-", *RESUME], ["standard input", "save them"]),
    ("resume stdin object", ["--object", "-", *RESUME], ["standard input"]),
    ("unwritable", ["--rows", "1", *RESUME[:3], "{table}/x/o"], ["cannot write"]),
    ("folder", ["--rows", "1", *RESUME[:3], "{folder}"], ["directory"]),
]


@pytest.fixture
def files(tmp_path: Path, table: Path) -> dict[str, Path]:
    good = '{"city": "A", "temp": 1, "day": 2, "odd": "No"}'
    texts = {
        "words.txt": "1\n2, three\n",
        "blank.txt": "\n \n",
        "torn.txt": good + '\n{"city": \n',
        "list.txt": "[1]\n",
        "short.txt": good + '\n\n{"city": "A", "temp": 1, "odd": "No"}\n',
        "endless.txt": good.replace("1,", "Infinity,"),
    }
    made = {"table": table, "folder": tmp_path / "folder", "out": tmp_path / "out.jsonl"}
    made["folder"].mkdir()
    made["binary"] = tmp_path / "binary.txt"
    made["binary"].write_bytes(b"\xff\xfe1")
    for name, content in texts.items():
        made[name.split(".")[0]] = tmp_path / name
        (tmp_path / name).write_text(content)
    return made


@pytest.mark.parametrize(("name", "args", "said"), BAD, ids=[case[0] for case in BAD])
def test_bad_input(
    run: Run, files: dict[str, Path], name: str, args: list[object], said: list[str]
) -> None:
    filled = [arg.format(**files) if isinstance(arg, str) else arg for arg in args]
    before = sorted(path.name for path in files["table"].parent.iterdir())
    code, out, err = run("explain", files["table"], *filled)
    assert (code, out) == (2, "")
    for part in said:
        assert part in err
    assert "Traceback" not in err
    assert len(err) < 1000
    assert sorted(path.name for path in files["table"].parent.iterdir()) == before


# --- continuing -----------------------------------------------------------------------------


@pytest.fixture
def whole(run: Run, table: Path, tmp_path: Path) -> tuple[Path, bytes]:
    """A complete file of JSON lines, taken away again, and what it held."""
    target = tmp_path / "out.jsonl"
    assert run("explain", table, *ROWS, "--format", "jsonl", "-o", target) == (0, "", "")
    content = target.read_bytes()
    target.unlink()
    return target, content


def test_a_file_is_what_goes_to_standard_output(
    run: Run, table: Path, whole: tuple[Path, bytes]
) -> None:
    assert run("explain", table, *ROWS, "--format", "jsonl")[1].encode() == whole[1]
    assert sorted(path.name for path in table.parent.iterdir()) == ["weather.csv"]


def test_a_run_is_continued_from_any_byte(
    run: Run, table: Path, whole: tuple[Path, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, content = whole
    partial = target.with_name("out.jsonl.partial")
    asked: list[int] = []
    explain = Exact.outcome

    def counted(self: Exact) -> Outcome:
        asked.append(self.row + 1)
        return explain(self)

    monkeypatch.setattr(Exact, "outcome", counted)
    ends = [place + 1 for place, byte in enumerate(content) if byte == ord("\n")]
    cuts = {0, 1, ends[0] - 1, len(content) - 1, len(content), *ends}
    cuts |= {(low + high) // 2 for low, high in itertools.pairwise(ends)}
    for cut in sorted(cuts):
        partial.write_bytes(content[:cut])
        asked.clear()
        code, out, _ = run("explain", table, *ROWS, *RESUME[:3], target, "--resume")
        assert (code, out) == (0, "")
        assert target.read_bytes() == content
        assert not partial.exists()
        done = max(0, sum(end <= cut for end in ends[:-1]) - 1)
        assert asked == [58, 59, 60, 3, 58][done:]
        target.unlink()


def test_objects_are_continued(run: Run, table: Path, tmp_path: Path) -> None:
    file, target = tmp_path / "new.jsonl", tmp_path / "out"
    item = {"city": "A", "temp": 5.2, "day": 3, "odd": "No"}
    file.write_text("".join(json.dumps(item | {"temp": n}) + "\n" for n in range(4)))
    args = ("explain", table, "--objects", file, *RESUME[:3], target)
    assert run(*args)[0] == 0
    content = target.read_bytes()
    target.rename(tmp_path / "out.partial")
    (tmp_path / "out.partial").write_bytes(content[: 2 * len(content) // 3])
    assert run(*args, "--resume")[0] == 0
    assert target.read_bytes() == content
    file.write_text(file.read_text().replace("0", "9", 1))
    code, _, err = run(*args, "--resume")
    assert (code, "the rows or objects to explain changed" in err) == (2, True)


def test_only_the_same_question_is_continued(
    run: Run, table: Path, whole: tuple[Path, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, content = whole
    partial = target.with_name("out.jsonl.partial")
    partial.write_bytes(content[:-100])
    where = (*RESUME[:3], target)
    code, _, err = run("explain", table, *ROWS, *where)
    assert code == 2
    assert "--resume" in err
    assert f"delete {partial}" in err
    assert "nothing is lost" in err
    cases: list[tuple[tuple[object, ...], str]] = [
        ((*ROWS, "--top", 3), "top was 10, now 3"),
        (("--rows", "58-60,3,59", *QUICK), "the rows or objects to explain changed"),
        ((*ROWS, "--exclude", "day"), 'exclude was ["odd"], now ["odd", "day"]'),
    ]
    for args, said in cases:
        code, _, err = run("explain", table, *args, *where, "--resume")
        assert (code, said in err, f"delete {partial}" in err) == (2, True, True)
        assert len(err) < 1000
    monkeypatch.setattr(outlying, "__version__", "9.9")
    assert 'now "9.9"' in run("explain", table, *ROWS, *where, "--resume")[2]
    assert partial.read_bytes() == content[:-100]


def test_another_table_is_not_continued(run: Run, table: Path, whole: tuple[Path, bytes]) -> None:
    target, content = whole
    target.with_name("out.jsonl.partial").write_bytes(content[:-100])
    table.write_text(table.read_text().replace("r0,A,", "r0,B,"))
    code, out, err = run("explain", table, *ROWS, *RESUME[:3], target, "--resume")
    assert (code, out) == (2, "")
    assert "the content of the table changed" in err
    assert not target.exists()


def test_a_complete_file_is_left_alone(run: Run, table: Path, whole: tuple[Path, bytes]) -> None:
    target, content = whole
    target.write_bytes(content)
    args = ("explain", table, *RESUME[:3], target, "--resume")
    code, out, err = run(*args, *ROWS)
    assert (code, out) == (0, "")
    assert "complete already" in err
    assert run(*args, *ROWS, "--top", 2)[0] == 2
    target.write_bytes(content[: content.rindex(b'{"patterns"')])
    code, _, err = run(*args, *ROWS)
    assert (code, "not a complete result" in err) == (2, True)
    target.write_text("precious\n")
    code, _, err = run(*args, *ROWS)
    assert (code, "line 1 of" in err) == (2, True)
    assert target.read_text() == "precious\n"
    assert sorted(path.name for path in table.parent.iterdir()) == ["out.jsonl", "weather.csv"]
    assert run(*args[:-1], *ROWS)[0] == 0  # without --resume it is replaced when complete
    assert target.read_bytes() == content


DAMAGES: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("not JSON", lambda content: content.replace(b'{"row": 59', b'{"row" 59')),
    ("another row", lambda content: content.replace(b'{"row": 59', b'{"row": 99')),
    ("a number", lambda content: content.replace(b'{"row": 59', b'7\n{"row": 59')),
    ("no pairs", lambda content: content.replace(b'"pairs"', b'"pears"')),
    ("no header", lambda content: content[content.index(b"\n") + 1 :]),
    ("nulls", lambda content: content[:-300] + b"\0" * 200 + b"\n"),
    ("too many", lambda content: content + content[content.index(b'{"row": 3,') :]),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGES, ids=[case[0] for case in DAMAGES])
def test_a_damaged_file_is_not_continued(
    run: Run,
    table: Path,
    whole: tuple[Path, bytes],
    name: str,
    damage: Callable[[bytes], bytes],
) -> None:
    target, content = whole
    partial = target.with_name("out.jsonl.partial")
    damaged = damage(content[: content.rindex(b'{"patterns"')])
    partial.write_bytes(damaged)
    code, out, err = run("explain", table, *ROWS, *RESUME[:3], target, "--resume")
    assert (code, out) == (2, "")
    assert "is not what a run of outlying writes" in err
    assert "Traceback" not in err
    assert partial.read_bytes() == damaged


def test_two_runs_do_not_write_one_file(run: Run, table: Path, whole: tuple[Path, bytes]) -> None:
    target, _ = whole
    with jsonlines.Partial.beside(str(target), resume=False):
        code, _, err = run("explain", table, *ROWS, *RESUME[:3], target, "--resume")
    assert (code, "another run is still writing" in err) == (2, True)


def test_the_fingerprint_sees_every_change() -> None:
    base: dict[str, list[Any]] = {"a": [1.0, 2.0, None], "b": ["x", "y", None]}
    variants = [
        base,
        base | {"a": [1.0, 2.5, None]},
        base | {"a": [1.0, None, 2.0]},
        base | {"a": [True, False, None]},
        base | {"b": ["x", "z", None]},
        base | {"b": ["y", "x", None]},
        {"a": base["a"], "c": base["b"]},
        {"b": base["b"], "a": base["a"]},
    ]
    seen = {jsonlines.fingerprint(read(variant)) for variant in variants}
    assert len(seen) == len(variants)
    quiet, other = np.array([np.nan, 1.0]), np.array([-np.nan, 1.0])
    tables = [Table((numeric_column("a", cells),), 2, "x") for cells in (quiet, other)]
    assert jsonlines.fingerprint(tables[0]) == jsonlines.fingerprint(tables[1])


# --- real processes -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose rows take a moment each."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    body = "\n".join(",".join(f"{x:.4f}" for x in row) for row in rng.normal(size=(400, 10)))
    path.write_text(",".join(f"c{i}" for i in range(10)) + "\n" + body + "\n")
    return path


def command(table: Path, target: Path, *more: str) -> list[str]:
    start = [sys.executable, "-m", "outlying", "explain", str(table), "--rows", "1-40"]
    return [*start, "--format", "jsonl", "-o", str(target), *more]


def start(args: list[str], lines: int, partial: Path) -> subprocess.Popen[str]:
    """Start a run and wait until it has written so many lines."""
    running = subprocess.Popen(args, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while time.monotonic() < until and running.poll() is None:
        if partial.exists() and partial.read_bytes().count(b"\n") >= lines:
            break
        time.sleep(0.005)
    return running


@pytest.fixture(scope="module")
def straight(wide: Path) -> bytes:
    """What a run writes that nothing disturbs."""
    target = wide.with_name("straight.jsonl")
    subprocess.run(command(wide, target), check=True)
    return target.read_bytes()


def test_killed_at_several_moments(wide: Path, straight: bytes, tmp_path: Path) -> None:
    target, partial = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    survived: list[bytes] = []
    for lines in (1, 2, 9, 25):
        running = start(command(wide, target, "--resume"), lines, partial)
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=30)
        assert running.returncode == -signal.SIGKILL, "the run was to take longer than this"
        survived.append(partial.read_bytes())
    assert not target.exists()
    done = subprocess.run(command(wide, target, "--resume"), stderr=subprocess.PIPE, check=True)
    assert b"of 40 are explained already" in done.stderr
    assert target.read_bytes() == straight
    for content in survived:
        assert straight.startswith(content)
    assert not partial.exists()


def test_interrupt_says_how_to_continue(wide: Path, tmp_path: Path) -> None:
    target, partial = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    running = start(command(wide, target), 3, partial)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert f"of 40 are explained in {partial}; the same command with --resume continues" in err
    assert "Traceback" not in err
    assert partial.exists()


def test_a_full_disk_loses_nothing(wide: Path, straight: bytes, tmp_path: Path) -> None:
    target, partial = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    small = 15_000
    done = subprocess.run(
        command(wide, target),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (small, small)),
        check=False,
    )
    assert done.returncode == 2
    assert f"cannot write {partial}" in done.stderr
    assert "--resume continues" in done.stderr
    assert "Traceback" not in done.stderr
    assert partial.stat().st_size == small
    subprocess.run(command(wide, target, "--resume"), stderr=subprocess.PIPE, check=True)
    assert target.read_bytes() == straight


def test_nothing_finished_leaves_nothing_behind(
    wide: Path, straight: bytes, tmp_path: Path
) -> None:
    head = straight.index(b"\n") + 1
    for small in (100, head, head + 10):
        done = subprocess.run(
            command(wide, tmp_path / "out"),
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (small, small)),  # noqa: B023
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr == f"Error: cannot write {tmp_path / 'out.partial'}: File too large\n"
        assert not [*tmp_path.iterdir()]


def test_lines_come_one_by_one(wide: Path) -> None:
    args = [arg.replace("1-40", "1-400") for arg in command(wide, Path("-"))]
    running = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    header, first = json.loads(running.stdout.readline()), json.loads(running.stdout.readline())
    assert running.poll() is None  # still at work on the others
    assert (header["targets"]["count"], first["row"]) == (400, 1)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "of 400 were explained and written" in err


def test_a_reader_who_has_seen_enough(wide: Path) -> None:
    args = command(wide, Path("-"))
    running = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.readline()
    running.stdout.close()
    said = running.stderr.read()
    running.stderr.close()
    running.wait(timeout=30)
    assert b"Traceback" not in said


# --- progress -------------------------------------------------------------------------------


def test_progress_is_for_terminals_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "_PATIENCE", -1.0)
    with terminal.progress_line() as line:
        line.objects(1, 4)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with terminal.progress_line() as line:
        line.objects(3, 4, before=2)
        line.step(1, 2)
    said = capsys.readouterr().err
    assert "3 of 4 explained, about" in said
    assert " 50% of this step" in said
    assert said.endswith("\r")


def test_remaining_time_in_words() -> None:
    said = [terminal.duration(seconds) for seconds in (0.2, 40, 200, 9_000)]
    assert said == ["about 1 s", "about 40 s", "about 3 min", "about 2.5 h"]


# --- marks, in memory and in a stream -------------------------------------------------------


@pytest.mark.parametrize(
    "marks",
    [
        ["0", "1", "2", ""],
        ["0.0", "1.0", "3.0", ""],
        ["no", " Yes", "ON", ""],
        ["false", "true", "true", ""],
    ],
    ids=["numbers", "floats", "words", "flags"],
)
def test_a_stream_explains_the_rows_that_are_marked_in_memory(
    run: Run, tmp_path: Path, marks: list[str]
) -> None:
    path = tmp_path / "marks.csv"
    rows = [f"{row % 7},{row % 5},{marks[row % 4 if row < 8 else 0]}" for row in range(60)]
    path.write_text("\n".join(["a,b,flag", *rows]) + "\n")
    found = {}
    for engine in ("memory", "duckdb"):
        args = ("--where-true", "flag", "--engine", engine, "--format", "json")
        code, out, err = run("explain", path, *args)
        assert (code, err) == (0, "")
        objects = json.loads(out)["objects"]
        found[engine] = sorted(json.dumps(item["pairs"]) for item in objects)
    assert len(found["memory"]) == 4
    assert found["duckdb"] == found["memory"]


@pytest.mark.parametrize(
    ("mark", "said"),
    [("-1", "holds '-1'"), ("0.5", "holds '0.5'"), ("maybe", "holds 'maybe'"), ("0", "no row")],
)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_what_is_no_mark_is_refused_by_every_engine(
    run: Run, tmp_path: Path, mark: str, said: str, engine: str
) -> None:
    path = tmp_path / "marks.csv"
    path.write_text("a,flag\n" + "".join(f"{row % 7},0\n" for row in range(40)) + f"1,{mark}\n")
    code, _, err = run("explain", path, "--where-true", "flag", "--engine", engine)
    assert code == 2
    assert "--where-true: column 'flag'" in err
    assert said in err


def test_rows_of_a_stream_are_not_named_by_numbers_of_data_rows(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    rows = [f"{row % 7},{row % 5},{int(row in (20, 30))}" for row in range(40)]
    path.write_text("\n".join(["a,b,flag", *rows]) + "\n")
    args = ("explain", path, "--where-true", "flag")
    told = {engine: run(*args, "--engine", engine)[1] for engine in ("memory", "duckdb")}
    assert "rows 21, 31)" in told["memory"]
    assert "rows 1, 2 of those above)" in told["duckdb"]


# --- links, and names that no file can have -------------------------------------------------


@pytest.mark.parametrize("form", ["json", "jsonl", "html", "text"])
def test_a_link_stays_and_what_it_points_to_is_written(
    run: Run, table: Path, tmp_path: Path, form: str
) -> None:
    real, link = tmp_path / "folder" / "real", tmp_path / "link"
    real.parent.mkdir()
    link.symlink_to(real)
    for before in (None, "stale"):
        if before is not None:
            real.write_text(before)
        assert run("explain", table, *ROWS, "--format", form, "-o", link)[0] == 0
        assert link.is_symlink()
        assert len(real.read_text()) > 100
    assert [path.name for path in real.parent.iterdir()] == ["real"]


@pytest.mark.parametrize("form", ["json", "jsonl"])
@pytest.mark.parametrize(
    ("name", "said"),
    [("loop", "circle"), ("", "without a name"), (".", "directory"), ("x" * 300, "too long")],
    ids=["loop", "none", "folder", "long"],
)
def test_where_nothing_can_be_written(
    run: Run,
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    name: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("other")
    Path("other").symlink_to("loop")
    before = sorted(path.name for path in tmp_path.iterdir())
    code, out, err = run("explain", table, *ROWS, "--format", form, "-o", name)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_name_as_long_as_names_can_be(run: Run, table: Path, tmp_path: Path) -> None:
    target = tmp_path / ("x" * 255)
    assert run("explain", table, *ROWS, "--format", "json", "-o", target)[0] == 0
    assert target.exists()


# --- several runs on one file ---------------------------------------------------------------


def test_runs_that_continue_one_file_at_once(
    table: Path, whole: tuple[Path, bytes], tmp_path: Path
) -> None:
    target, content = whole
    target.with_name("out.jsonl.partial").write_bytes(content[: len(content) // 2])
    command = [sys.executable, "-m", "outlying", "explain", table, *ROWS, *RESUME[:3], target]
    runs = [
        subprocess.Popen([*map(str, command), "--resume"], stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [run.communicate()[1] for run in runs]
    assert target.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "weather.csv"]
    for run, err in zip(runs, said, strict=True):
        assert "Traceback" not in err
        assert run.returncode == 0 or "another run is still writing" in err


def test_a_file_that_was_renamed_while_waiting_is_not_written_to(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with contextlib.ExitStack() as first:
        ours = first.enter_context(jsonlines.Partial.beside(str(target), resume=True))
        ours.begin({"schema": 1}, Targets(()))
        started = threading.Event()

        def wait() -> None:
            started.set()
            with jsonlines.Partial.beside(str(target), resume=True) as other:
                seen.append(other.is_new and other.path.exists())

        seen: list[bool] = []
        waiting = threading.Thread(target=wait)
        waiting.start()
        started.wait()
        time.sleep(0.2)
        ours.finish()
    waiting.join()
    assert seen == [True]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
