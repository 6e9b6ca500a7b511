"""Blame: one number for each cell of a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.errors import OptionError, RowError


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    """Row 0 has a wild weight, row 1 a cold day in a warm city; others are ordinary."""
    rng = np.random.default_rng(5)
    city = np.repeat(["A", "B"], 100).astype(object)
    temp = np.where(city == "A", rng.normal(30, 1, 200), rng.normal(5, 1, 200))
    weight = rng.normal(70, 3, 200)
    weight[0], temp[1] = 700.0, 5.0
    return {"weight": weight, "id": [f"k{i}" for i in range(200)], "city": city, "temp": temp}


def test_a_lone_culprit_has_all_the_blame(table: dict[str, Any]) -> None:
    findings = outlying.explain(table, row=0)
    assert list(findings.blame) == ["weight", "city", "temp"]  # as in the table, the id left out
    assert findings.stories[0].culprit == "weight"
    blamed = findings.blame
    assert blamed["weight"] == max(blamed.values()) > 2
    assert (blamed["city"], blamed["temp"]) == (0, 0)


def test_the_sides_of_a_relation_share_it(table: dict[str, Any]) -> None:
    findings = outlying.explain(table, row=1)
    assert set(findings.stories[0].columns) == {"city", "temp"}
    assert findings.blame["city"] == findings.blame["temp"] > 2
    assert findings.blame["weight"] == 0


def test_nobody_is_to_blame_where_nothing_reaches_the_threshold(table: dict[str, Any]) -> None:
    quiet = outlying.explain(table, row=3, preset="paper", min_outlierness=1.0)
    assert quiet.stories
    assert set(quiet.blame.values()) == {0}


def test_the_matrix_holds_what_each_row_gives(table: dict[str, Any]) -> None:
    explainer = outlying.Explainer(table)
    seen: list[tuple[int, int]] = []
    rows = [1, 150, 0, 1]
    found = explainer.blame(rows, progress=lambda *step: seen.append(step))
    assert found.dtype == np.float64
    assert found.shape == (4, len(explainer.population.columns))
    for line, row in zip(found, rows, strict=True):
        assert line.tolist() == list(explainer.explain(row=row).blame.values())
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    everything = explainer.blame(workers=2)
    assert np.array_equal(everything[rows], found)
    assert everything.shape == (200, 3)


def test_rows_are_checked(table: dict[str, Any], tmp_path: Path) -> None:
    explainer = outlying.Explainer(table)
    with pytest.raises(RowError, match=r"rows\[1\]: row 999 does not exist"):
        explainer.blame([3, 999])
    assert explainer.blame([]).shape == (0, 3)
    (tmp_path / "a.csv").write_text("x\n1\n2\n3\n")
    with pytest.raises(OptionError, match=r"blame\(\) needs all rows in memory"):
        outlying.Explainer(tmp_path / "a.csv", engine="duckdb").blame()
