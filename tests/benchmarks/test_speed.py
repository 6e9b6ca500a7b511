"""The short version of benchmarks/speed: does it measure and report?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlying
from benchmarks.speed import __main__ as command
from benchmarks.speed import jobs, launch, memory, subspaces
from benchmarks.speed.checks import checks
from benchmarks.speed.lab import combined
from benchmarks.speed.measure import measured
from benchmarks.speed.parts import METHODS, STORIES
from benchmarks.speed.report import page
from benchmarks.speed.spec import Spec


def figure(seconds: float, **facts: Any) -> dict[str, Any]:
    stages = {"prepare": seconds / 4, "explain": 3 * seconds / 4}
    held = {"peak_mb": 20.0, "total_mb": 150.0, "children_mb": 10.0}
    return {"seconds": seconds, "cpu": 2 * seconds, "stages": stages, **held, "facts": facts}


def part(figures: dict[str, Any], *, is_short: bool = False) -> dict[str, Any]:
    about = {"machine": "A machine.", "sizes": "9 x 9.", "repeats": 3, "is_short": is_short}
    return {**about, "figures": figures}


def made_up() -> dict[str, dict[str, Any]]:
    one: dict[str, Any] = {}
    for kind in STORIES:
        one |= {
            f"{kind}/outlying": figure(0.5, right=True),
            f"{kind}/OutlierTree": figure(3, right=1, outlying=1),
            f"{kind}/IF + SHAP": {"error": "ModuleNotFoundError: No module named 'shap'"},
        }
    many = {"one": figure(1), "many": figure(30, answers="a", as_one_by_one=True)}
    many["many, 1 worker"] = figure(40, answers="b", as_one_by_one=True)
    million = {"small/outlying": figure(1), "large/outlying": figure(3)}
    million["large/OutlierTree"] = {"stopped": 120.0}
    judged = {"long/outlying": figure(1), "long/OutlierTree": figure(4)}
    judged |= {"large/outlying": figure(3), "large/OutlierTree": {"stopped": 120.0}}
    scaling = {
        f"{panel}/{method}/{size}": figure(size / 10)
        for panel, sizes in (("rows", (10, 100)), ("columns", (5, 9)), ("conditions", (1, 2)))
        for method in METHODS
        for size in sizes
    }
    wide = {
        "100/OutlierTree": figure(2),
        "100/outlying, one row": figure(4),
        "100/outlying, all outlying rows": figure(6),
        "100/command line": figure(5),
    }
    detection = {"wide/outlying": figure(14, right=9, outlying=10)}
    paper = {"ecoli": {"skipped": "--data names no folder with ecoli.csv"}}
    parts = {"one": one, "many": many, "million": million, "scaling": scaling, "paper": paper}
    parts |= {"judged": judged, "wide": wide, "detection": detection}
    return {name: part(figures) for name, figures in parts.items()}


def test_the_report_says_what_was_measured_and_what_was_not(tmp_path: Path) -> None:
    output = tmp_path / "speed.md"
    command.write(made_up(), output)
    text = output.read_text(encoding="utf-8")
    for said in (
        "| one row: time by that of OutlierTree | 0.17 | 0.08 | NO |",
        "| one row: time by that of IF + SHAP | - | 1 | not measured |",
        "| one row: peak memory | 160 MB | 400 MB | yes |",
        "| all rows of a long table: time by one fit of OutlierTree | 0.25 | 1 | yes |",
        "| all rows of a wide table: time by one fit of OutlierTree | - | 4 | not measured |",
        "| all rows of a large table: time by one fit of OutlierTree | 0.025 | 1 | yes |",
        "| one row of a large table: time by that of OutlierTree | 0.025 | 0.05 | yes |",
        "| one row: growth with ten times the rows | 3 | 4 | yes |",
        "| many rows: time by that of one | 30 | 6 | NO |",
        "| one row of a wide table, command line: time by one fit of OutlierTree | 2.5 | 2 | NO |",
        "| all outlying rows of a wide table: time by one fit of OutlierTree | 3 | 4 | yes |",
        "| every row of a wide table ranked | 14 s | 15 s | yes |",
        "| every row of a long table ranked | - s | 90 s | not measured |",
        "| outlying | 0.5 | 1 | prepare 0.12, explain 0.38 | 1 | 20 | 150 | 10 | yes |",
        "failed: ModuleNotFoundError: No module named 'shap'",
        "stopped after 120 s | - | - | more than 40 |",
        "not run: --data names no folder with ecoli.csv",
        "many: the same JSON by one worker and by several: NO.",
    ):
        assert said in text
    assert ("speed.svg" in text) == output.with_suffix(".svg").exists()


def test_short_runs_and_other_machines_are_marked() -> None:
    parts = {"million": part({"small/outlying": figure(1)}, is_short=True)}
    parts["one"] = part({}) | {"machine": "Another one."}
    text = page(parts, None)
    assert "A short run" in text
    assert "A machine." in text
    assert "Another one." in text
    assert "growth" not in text


def test_a_worker_measures_in_its_own_process() -> None:
    spec = Spec("explain", kind="category", rows=60, columns=3)
    run = launch.worker(spec, patience=60)
    assert 0 < run["seconds"] < 60
    assert 0 < run["cpu"] < 60
    assert 0 <= run["peak_mb"] < run["total_mb"]
    assert set(run["stages"]) == {"explain"}
    assert run["facts"]["right"] is True


def test_a_worker_that_fails_or_takes_too_long_says_so() -> None:
    spec = Spec("explain", kind="category", rows=60, columns=3, options={"measure": "paper"})
    assert "OptionError" in launch.worker(spec, patience=60)["error"]
    assert launch.worker(spec, patience=0.01) == {"stopped": 0.01}


def test_slow_runs_are_not_repeated() -> None:
    runs = iter([figure(1), figure(3), figure(2), figure(99)])
    assert combined(runs.__next__, 3)["seconds"] == 2
    assert combined(runs.__next__, 3)["runs"] == [99]


def test_memory_is_that_of_the_job() -> None:
    def job(_clock: object) -> Any:
        held = np.ones(8_000_000)
        return lambda: {"sum": float(held.sum())}

    if memory.settle() == memory.own_total() and not Path("/proc/self/clear_refs").exists():
        pytest.skip("the peak cannot be reset here")
    assert 55 < measured(job)["peak_mb"] < 90


def one_by_one(
    self: outlying.Explainer, *, rows: Sequence[int], workers: int | None = None
) -> Iterator[outlying.Findings]:
    for row in rows:
        yield self.explain(row=row)


def test_many_rows_are_compared_with_single_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(outlying.Explainer, "explain_many"):
        monkeypatch.setattr(outlying.Explainer, "explain_many", one_by_one, raising=False)
    spec = Spec("many", kind="subspaces", rows=200, columns=4, workers=1)
    facts = measured(jobs.many(spec))["facts"]
    assert facts["as_one_by_one"] is True
    assert facts["objects"] == facts["outlying"]
    assert facts["right"] > facts["outlying"] / 2


@pytest.mark.parametrize("job", ["detect", "strengths"])
def test_all_rows_are_ranked(job: str) -> None:
    spec = Spec(job, kind="subspaces", rows=200, columns=4, workers=1)
    facts = measured(jobs.JOBS[job](spec))["facts"]
    assert facts["right"] > facts["outlying"] / 2


def test_a_stream_is_ranked_in_a_few_scans(tmp_path: Path) -> None:
    spec = Spec("write", kind="category", rows=300, columns=4, path=str(tmp_path / "t.parquet"))
    measured(jobs.write(spec))
    facts = measured(jobs.detect_stream(Spec("detect_stream", path=spec.path)))["facts"]
    assert 1 <= facts["scans"] <= 3


def test_outliers_of_subspaces_are_ordinary_in_each_column() -> None:
    data, truths = subspaces.make(0, 1000, 30)
    assert len(data) == 30
    assert 6 * subspaces.OUTLIERS <= len(truths) <= 15 * subspaces.OUTLIERS
    for row, columns in truths.items():
        assert 2 <= len(columns) <= 5
        assert min(data[name][row] for name in columns) >= 0.5
        low = np.stack([data[name] for name in columns]).min(axis=0)
        assert set(np.flatnonzero(low >= 0.5)) == {one for one in truths if truths[one] == columns}
        assert all(np.mean(data[name] < data[name][row]) > 0.1 for name in columns)


def test_every_full_part_has_its_limits() -> None:
    assert all(check.is_met is None for name in made_up() for check in checks(name, {}))
