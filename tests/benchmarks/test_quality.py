"""The short version of benchmarks/quality: answers against known truths."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import outlying
from benchmarks.quality import __main__ as command
from benchmarks.quality import hics, stories
from benchmarks.quality.cases import Case, Premise, Target, best_f1, f1
from benchmarks.quality.metrics import thinned
from benchmarks.quality.ours import guess

SMALL = [
    kind
    for kind in stories.KINDS_ADDED
    if kind not in ("columns_100", "columns_200", "rows_100000", "rows_1000000")
]


def scores(case: Case, most: int | None = None) -> list[float]:
    """F1 of the first pair of each target."""
    explainer = outlying.Explainer(case.data)
    return [first_f1(explainer, target) for target in case.targets[:most]]


def first_f1(explainer: outlying.Explainer, target: Target) -> float:
    found = explainer.explain(row=target.row)
    assert found.pairs
    assert found.pairs[0].is_finding
    return best_f1([guess(found.pairs[0])], target.truths)


@pytest.mark.slow
@pytest.mark.parametrize("kind", stories.KINDS_CORE)
def test_core_stories_come_first(kind: str) -> None:
    found = [score for seed in range(8) for score in scores(stories.make(kind, seed))]
    assert sum(score == 1 for score in found) >= 0.97 * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SMALL)
def test_added_stories_come_first(kind: str) -> None:
    seeds = 1 if kind in ("columns_50", "rows_10000") else 4
    found = [score for seed in range(seeds) for score in scores(stories.make(kind, seed), 2)]
    assert sum(score == 1 for score in found) >= 0.9 * len(found)


@pytest.mark.slow
def test_hics_subspaces_are_named(shared_data: Path) -> None:
    for name, most in (("hics_010_002", None), ("hics_030_002", 5)):
        found = scores(hics.read(shared_data / "hics" / f"{name}.csv"), most)
        assert np.mean(found) >= 0.98


def holds(case: Case, premise: Premise, row: int) -> bool:
    value = case.data[premise.column][row]
    if premise.is_missing:
        return value is None or value != value  # NaN
    if premise.value is not None:
        return bool(value == premise.value)
    above = premise.low is None or value >= premise.low
    return bool(above and (premise.high is None or value <= premise.high))


@pytest.mark.parametrize("kind", [*stories.KINDS_CORE, *SMALL, stories.NONE])
def test_planted_tables_are_what_they_say(kind: str) -> None:
    case, again = stories.make(kind, 1), stories.make(kind, 1)
    for name, values in case.data.items():
        assert len(values) == case.rows
        np.testing.assert_array_equal(values, again.data[name])
    assert case.targets == again.targets
    for target in case.targets:
        assert bool(target.truths) == (kind != stories.NONE)
        for truth in target.truths:
            assert truth.columns <= set(case.data)
            assert all(holds(case, premise, target.row) for premise in truth.premises)


def test_f1_and_thinning() -> None:
    assert f1(frozenset("ab"), frozenset("abc")) == pytest.approx(0.8)
    case = stories.make("masking", 0)
    fewer = thinned(case, 0)
    assert fewer.rows == pytest.approx(0.9 * case.rows, abs=1)
    for before, after in zip(case.targets, fewer.targets, strict=True):
        for name, values in case.data.items():
            np.testing.assert_array_equal(
                values[[before.row]], fewer.data[name][[after.row]], strict=True
            )


@pytest.mark.slow
def test_the_short_benchmark_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "quality.md"
    given = ["--short", "--no-peers", "--only", "planted", "--jobs", "1", "-o", str(report)]
    monkeypatch.setattr(sys, "argv", ["quality", *given])
    assert command.main() == 0
    assert "## Planted stories" in report.read_text(encoding="utf-8")
    content = json.loads(report.with_suffix(".json").read_text(encoding="utf-8"))
    for kind in content["figures"]["planted"].values():
        assert kind["outlying"]["f1"] == 1
    assert "The other tools are left out" in capsys.readouterr().err
