"""Odd rows of tables that are read as a stream: named by what they hold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import outlying
from tests.conftest import Run


def weather(rows: int, *, with_key: bool = True) -> pd.DataFrame:
    """A cold day in a hot city, a storm, and a day on which all is a little odd."""
    rng = np.random.default_rng(0)
    city = np.repeat(["A", "B"], rows // 2)
    temp = np.where(city == "A", rng.normal(30, 1, rows), rng.normal(5, 1, rows))
    frame = pd.DataFrame({"city": city, "temp": temp, "wind": rng.normal(10, 2, rows)})
    for place in range(6):
        frame[f"x{place}"] = rng.normal(size=rows)
        frame.loc[9, f"x{place}"] = 2.6
    frame.loc[7, "temp"], frame.loc[150, "wind"] = 5.2, 40.0
    if with_key:
        frame.insert(0, "id", [f"r{place}" for place in range(rows)])
    return frame


@pytest.fixture(params=[400, 6000])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A small stream, which is held in memory, and one of which rows are drawn."""
    if request.param > 400:
        request.getfixturevalue("few_drawn")
    path = tmp_path / "days"
    path.mkdir()
    frame = weather(request.param)
    half = len(frame) // 2
    frame[:half].to_csv(path / "a.csv", index=False)
    frame[half:].to_csv(path / "b.csv", index=False)
    return path


def test_the_first_rows_of_a_stream_are_named_and_say_why(folder: Path) -> None:
    detection = outlying.detect(folder, top=3)
    first, second = detection.rows[:2]
    assert (first.row, first.key, first.word) == (None, (("id", "r7"),), "exceptional")
    assert (second.key, second.word) == ((("id", "r150"),), "exceptional")
    assert first.reason is not None
    assert str(first.reason).startswith("temp = 5.2, expected ")
    assert dict(first.values)["temp"] == 5.2
    assert detection.counts is not None
    assert detection.counts.exceptional >= 2
    assert detection.positions == []
    assert [item.key for item in detection.combinations][:1] == [(("id", "r9"),)]
    assert "\n  r7    temp = 5.2, expected " in str(detection)
    content = json.loads(detection.to_json())
    assert (content["flagged"][0]["row"], content["flagged"][0]["key"]) == (None, {"id": "r7"})


def test_the_command_line_explains_them(folder: Path, run: Run) -> None:
    code, out, err = run("detect", folder, "--top", 2)
    assert (code, err) == (0, "")
    assert "\n  r7    temp = 5.2, expected " in out
    code, out, err = run("detect", folder, "--top", 2, "--explain", "--format", "json")
    assert (code, err) == (0, "")
    found = json.loads(out)["objects"]
    assert [item["key"] for item in found] == [{"id": "r7"}, {"id": "r150"}]
    assert [item["exceptional"] for item in found] == [True, True]
    code, _, err = run("detect", folder, "--score-column", "temp")
    assert code == 2
    assert "--score-column needs all rows in memory" in err
    code, _, err = run("detect", folder, "--detector", "feature-bagging")
    assert code == 2
    assert "detect needs all rows in memory" in err


def test_rows_without_a_name_are_shown_by_their_values(tmp_path: Path) -> None:
    weather(400, with_key=False).to_csv(tmp_path / "a.csv", index=False)
    detection = outlying.detect(tmp_path, top=1)
    assert detection.rows[0].key == ()
    assert "\n  what is odd\n  temp = 5.2" in str(detection)
