"""Results as dataframes: those of the library that the data came from, else of pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import outlying

DATA: dict[str, list[Any]] = {"key": [*range(40)], "x": [*[1.0, 2.0] * 19, 1.5, 90.0]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(DATA).write_csv("polars_2024.csv")
    return tmp_path


def test_the_name_of_a_file_does_not_matter(folder: Path) -> None:
    findings = outlying.explain("polars_2024.csv", row=39)
    assert findings.population.source == "polars_2024.csv"
    assert isinstance(findings.to_frame(), pd.DataFrame)
    streamed = outlying.explain(outlying.scan("polars_2024.csv"), where={"key": 39})
    assert isinstance(streamed.to_frame(), pd.DataFrame)
    assert isinstance(outlying.detect("polars_2024.csv", top=1).to_frame(), pd.DataFrame)


@pytest.mark.parametrize("data", [pl.DataFrame(DATA), pl.LazyFrame(DATA)], ids=type)
def test_polars_gives_polars(data: Any) -> None:
    assert isinstance(outlying.explain(data, where={"key": 39}).to_frame(), pl.DataFrame)


def test_detections_of_polars() -> None:
    assert isinstance(outlying.detect(pl.DataFrame(DATA), top=1).to_frame(), pl.DataFrame)


def test_the_library_is_no_part_of_the_json() -> None:
    one, other = pl.DataFrame(DATA), pd.DataFrame(DATA)
    found, expected = (outlying.explain(data, row=39).to_dict() for data in (one, other))
    assert found | {"source": ""} == expected | {"source": ""}
    assert "frame_library" not in found


def test_cells_of_numbers_and_of_labels_are_in_one_frame() -> None:
    city = ["Berlin", "Hamburg"] * 100
    heat = [20.0 + place % 7 for place in range(200)]
    city[4], heat[4] = "Berlim", 900.0
    frame = outlying.explain(pl.DataFrame({"city": city, "heat": heat}), row=4).to_frame()
    found = dict(frame.select("property", "ordinary_at").iter_rows())
    assert found["city (spelling)"] == "Berlin"
    assert 20 <= float(found["heat"]) <= 30
