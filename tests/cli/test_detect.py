"""`outlying detect`: the answers of Python as text, JSON and JSON lines, explained where asked."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.cli import commands
from outlying.errors import installed_as
from tests.conftest import Run

QUICK = ("--explain",)


BAGS = ("--detector", "feature-bagging")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A small table with a hot row, and scores that say otherwise."""
    rng = np.random.default_rng(5)
    city = ["A"] * 60 + ["B"] * 90
    temp = np.where(np.array(city) == "A", rng.normal(30, 1, 150), rng.normal(5, 1, 150))
    temp[20] = 80
    cells = enumerate(zip(city, temp, strict=True))
    lines = [f"r{i},{c},{t:.3f},{i % 7},{'' if i == 3 else i / 10}" for i, (c, t) in cells]
    path = tmp_path / "weather.csv"
    path.write_text("\n".join(["id,city,temp,day,score", *lines]) + "\n")
    return path


def lines_of(text: str) -> list[dict[str, Any]]:
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_json_is_that_of_python(run: Run, table: Path) -> None:
    args = ("--top", 4, "--exclude", "score", "--format", "json")
    code, out, err = run("detect", table, *args)
    assert (code, err) == (0, "")
    detection = outlying.detect(table, top=4, exclude=["score"])
    assert json.loads(out) == detection.to_dict()
    bags = (*BAGS, "--rounds", 9, "--combine", "votes", "--seed", 2)
    code, out, err = run("detect", table, *args, *bags)
    assert (code, err) == (0, "")
    options: dict[str, Any] = {"rounds": 9, "combine": "votes", "seed": 2}
    detection = outlying.detect(
        table, top=4, exclude=["score"], detector="feature-bagging", **options
    )
    assert json.loads(out) == detection.to_dict()
    assert detection.rows[0].row == 20


def test_json_lines_are_the_same_in_other_clothes(run: Run, table: Path) -> None:
    whole = json.loads(run("detect", table, "--top", 3, "--format", "json")[1])
    header, *rows = lines_of(run("detect", table, "--top", 3, "--format", "jsonl")[1])
    assert rows == whole.pop("flagged")
    assert header == whole


def test_text_shows_the_rows(run: Run, table: Path, tmp_path: Path) -> None:
    code, out, err = run("detect", table, "--top", 2, "--exclude", "score,day", "--no-derive")
    assert (code, err) == (0, "")
    assert " ".join(out.split()).startswith(f"1 of 150 rows of {table} is exceptional:")
    assert "\n   21  r20  temp = 80, expected " in out
    assert "Row 1 is line 2 of the file." in out
    assert out.endswith("`outlying explain` about one.\n")
    file = tmp_path / "out.txt"
    same = ("detect", table, "--top", 2, "--exclude", "score,day", "--no-derive", "-o", file)
    assert run(*same) == (0, "", "")
    assert file.read_text() == out


def test_a_column_of_scores(run: Run, table: Path) -> None:
    args = ("detect", table, "--score-column", "score", "--top", 2, "--format", "json")
    high = json.loads(run(*args)[1])
    assert [item["row"] for item in high["flagged"]] == [150, 149]
    assert high["detection"]["detector"] == "the column 'score'"
    assert "score" in [item["name"] for item in high["skipped_columns"]]
    low = json.loads(run(*args, "--lowest")[1])
    assert [item["row"] for item in low["flagged"]] == [1, 2]
    assert any("1 row has no score" in note for note in low["detection"]["notes"])


def test_explained_rows_are_those_of_explain(run: Run, table: Path) -> None:
    args = ("detect", table, "--top", 2, "--exclude", "score", *QUICK, "--pairs", 2)
    code, out, err = run(*args, "--format", "json")
    assert (code, err) == (0, "")
    whole = json.loads(out)
    flagged = json.loads(run(*args[:6], "--format", "json")[1])["flagged"]
    rows = ",".join(str(item["row"]) for item in flagged)
    explain = ("explain", table, "--rows", rows, "--exclude", "score")
    alone = json.loads(run(*explain, "--top", 2, "--format", "json")[1])
    assert whole["patterns"] == alone["patterns"]
    for item, detected, plain in zip(whole["objects"], flagged, alone["objects"], strict=True):
        detected.pop("values")
        assert item.pop("detection") == detected
        assert item == plain
    header, *objects, last = lines_of(run(*args, "--format", "jsonl")[1])
    assert header["detection"] == whole["detection"]
    assert [item["detection"]["rank"] for item in objects] == [1, 2]
    assert last == {"patterns": whole["patterns"]}
    text = run(*args)[1]
    assert text.index("exceptional") < text.index("1. Row 21 (line 22), id = r20, of")
    assert text.index("1. Row 21 ") < text.index("What they share:")
    assert text.count("id was not compared") == 1, "once, not with each row"


def test_an_interrupted_run_is_continued(
    run: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "why.jsonl"
    detect = ("detect", table, *BAGS, "--top", 3, *QUICK, "--workers", 1)
    args = (*detect, "--format", "jsonl", "-o", file)
    assert run(*args)[0] == 0
    expected = file.read_bytes()
    file.unlink()
    explained = outlying.Explainer.explained

    def interrupted(self: outlying.Explainer, *given: Any) -> Any:
        yield next(explained(self, *given))
        raise KeyboardInterrupt

    monkeypatch.setattr(outlying.Explainer, "explained", interrupted)
    code, _, err = run(*args)
    assert code == 130
    assert "1 of 3 are explained" in err
    monkeypatch.undo()
    rows = ("explain", table, "--rows", "1,2,3", "--format", "jsonl")
    code, _, err = run(*rows, "-o", file, "--resume")
    assert code == 2
    assert "the detection changed" in err
    code, _, err = run(*args, "--seed", 5, "--resume")
    assert "the detection changed" in err
    code, _, err = run(*args, "--resume")
    assert (code, err) == (0, "1 of 3 are explained already.\n")
    assert file.read_bytes() == expected


def test_interrupting_the_detection_writes_nothing(
    run: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "find_odd_rows", interrupted)
    file = tmp_path / "out.json"
    file.write_text("older")
    code, out, err = run("detect", table, "--format", "json", "-o", file)
    assert (code, out, err.strip()) == (130, "", "Interrupted; nothing was written.")
    assert file.read_text() == "older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "weather.csv"]


def test_interrupting_the_explanations_says_how_far(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explained = outlying.Explainer.explained

    def interrupted(self: outlying.Explainer, *given: Any) -> Any:
        yield next(explained(self, *given))
        raise KeyboardInterrupt

    monkeypatch.setattr(outlying.Explainer, "explained", interrupted)
    code, _, err = run("detect", table, *BAGS, "--top", 3, *QUICK)
    assert (code, err.strip()) == (130, "Interrupted; 1 of 3 were explained and written.")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--top", 0), "top is 0"),
        ((*BAGS, "--rounds", 0), "rounds is 0"),
        (("--rounds", 3), "--rounds: for feature bagging only; add --detector feature-bagging"),
        (("--lowest",), "add --score-column NAME"),
        (("--score-column", "scores"), "did you mean 'score'?"),
        (("--score-column", "city"), "holds no numbers"),
        (("--score-column", "score", "--rounds", 5), "--rounds: for feature bagging only"),
        (("--pairs", 3), "for --pairs rows must be explained: add --explain"),
        (("--resume",), "for --resume rows must be explained: add --explain"),
        (("--explain", "--resume"), "--resume continues a file of JSON lines"),
        (("--explain", "--pairs", 0), "pairs is 0; allowed: a whole number, at least 1"),
        ((*BAGS, "--radius", 1.0), "needs --base radius"),
        ((*BAGS, "--base", "radius", "--radius", -1), "radius is -1.0"),
        (("--exclude", "tmp"), "unknown column 'tmp'"),
        (("--workers", 0), "workers is 0"),
        (("--base", "lof"), "'lof' is not one of"),
    ],
)
def test_what_is_wrong_is_said_in_one_message(
    run: Run, table: Path, args: tuple[object, ...], message: str
) -> None:
    code, out, err = run("detect", table, *args)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_a_missing_library_is_said(run: Run, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    code, out, err = run("detect", table, "--detector", "feature-bagging")
    assert (code, out) == (2, "")
    assert f"pip install {installed_as('detect')}" in err
    assert run("detect", table)[0] == 0
    assert run("detect", table, "--score-column", "score")[0] == 0


def test_hostile_names_are_harmless(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "hostile.csv"
    evil = "\x1b[2J\u202eevil"
    rows = [f"{x:.3f},{y:.3f},{place}" for place, (x, y) in enumerate(rng.normal(size=(60, 2)))]
    path.write_text("\n".join([f"{evil},b,\x1b[31mscore", *rows]) + "\n")
    for args in ((), QUICK, ("--score-column", "\x1b[31mscore")):
        code, out, err = run("detect", path, "--top", 2, *args)
        assert (code, err) == (0, "")
        assert "\x1b" not in out
        assert "\u202e" not in out
    code, _, err = run("detect", path, "--score-column", "\x1b[31mscores")
    assert code == 2
    assert "\x1b" not in err


def test_help_names_every_option(run: Run) -> None:
    code, out, _ = run("detect", "--help")
    whole = run("detect", "--help-all")
    assert (code, whole[0]) == (0, 0)
    for name in outlying.options.BAGGING:
        assert f"--{name} " not in out
        assert f"--{name} " in whole[1]
    groups = ("Which rows:", "How strict:", "Columns:", "Reading:", "Output:", "Options:")
    assert [out.index(group) for group in groups] == sorted(out.index(group) for group in groups)


def test_by_strength(run: Run, table: Path) -> None:
    """The default: what is exceptional comes first, and each row with its reason."""
    code, out, err = run("detect", table, "--exclude", "score", "--no-derive", "--top", 2)
    assert (code, err) == (0, "")
    assert out.index("exceptional:") < out.index("   21  r20  temp = 80, expected ")
    for name in ("strength", "auto"):
        named = ("--exclude", "score", "--no-derive", "--top", 2, "--detector", name)
        assert run("detect", table, *named) == (0, out, "")
    code, _, err = run("detect", table, "--detector", "strength", "--rounds", 3)
    assert code == 2
    assert "--rounds: for feature bagging only; add --detector feature-bagging" in err
    code, _, err = run("detect", table, "--detector", "strength", "--score-column", "x")
    assert code == 2
    assert "leave --detector out" in err


def test_infinite_scores_may_count_as_missing(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("x,score\n1,2\n2,inf\n3,4\n5,3\n")
    code, _, err = run("detect", file, "--score-column", "score")
    assert (code, "the score of data row 2 is infinite" in err) == (2, True)
    args = ("--score-column", "score", "--infinite", "missing", "--format", "json")
    code, out, _ = run("detect", file, *args)
    assert [item["row"] for item in json.loads(out)["flagged"]] == [3, 4, 1]
    assert outlying.detect(file, scores="score", infinite="missing").positions == [2, 3, 0]


# --- where results go -----------------------------------------------------------------------


def test_a_pipe_is_written_to_and_not_replaced(run: Run, table: Path, tmp_path: Path) -> None:
    """As a device would be: run by root, a renamed file would destroy /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        code, out, err = run("detect", table, "--top", 1, "-o", pipe)
        written = os.read(reader, 100_000).decode()
        refused = run("detect", table, "--explain", "--format", "jsonl", "-o", pipe)
    finally:
        os.close(reader)
    assert (code, out, err) == (0, "", "")
    assert " of 150 rows of" in written
    assert (refused[0], refused[1]) == (2, "")
    assert "it is no ordinary file" in refused[2]
    assert pipe.is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted({table.name, "pipe"})


def test_a_link_stays_a_link(run: Run, table: Path, tmp_path: Path) -> None:
    link, target = tmp_path / "link.txt", tmp_path / "target.txt"
    link.symlink_to(target)
    assert run("detect", table, "--top", 1, "-o", link)[0] == 0
    assert link.is_symlink()
    assert " of 150 rows of" in target.read_text("utf-8")
