"""The yardsticks of the benchmark of rankings, and the tables it makes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from benchmarks.ranking import clean, groups, masking, metrics, rankers, report, run, small
from benchmarks.ranking.cases import Case, Ranked, Recipe, Settings, Wrong, load_ranker

RECIPE = Recipe("groups", "a kind", 0, "choose")


def _case(rows: int, *wrong: int) -> Case:
    frame = pd.DataFrame({"x": np.arange(rows, dtype=np.float64)})
    return Case.of(frame, {row: Wrong(f"error {row}", "x") for row in wrong})


def test_average_precision_is_the_mean_precision_down_to_each_wrong_row() -> None:
    scores = np.array([9.0, 8.0, 7.0, 6.0, np.nan])
    wrong = np.array([True, False, True, False, True])
    assert metrics.average_precision(scores, wrong) == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)


def test_rows_with_the_same_score_are_reached_together() -> None:
    wrong = np.array([True, False, False, False])
    assert metrics.average_precision(np.zeros(4), wrong) == pytest.approx(1 / 4)
    assert metrics.auc(np.zeros(4), wrong) == 0.5


def test_nothing_to_find_has_no_figure() -> None:
    assert metrics.average_precision(np.zeros(3), np.zeros(3, dtype=np.bool_)) is None
    assert metrics.auc(np.zeros(3), np.zeros(3, dtype=np.bool_)) is None


def test_an_outcome_tells_ranks_calls_and_columns() -> None:
    ranked = Ranked(
        scores=np.array([0.0, 5.0, 9.0, np.nan]),
        exceptional=np.array([False, False, True, False]),
        columns=[None, "x", "y", None],
    )
    found = metrics.outcome(RECIPE, "m:f", _case(4, 1, 2), ranked, 0.5)
    assert found.ranks == (("error 1", 2), ("error 2", 1))
    assert found.kind_ranks == {"error 2": 1, "error 1": 2}
    assert (found.called, found.exceptional, found.named) == ((False, True), 1, 0.5)
    assert found.ap == 1.0
    assert found.ap_by_kind == {"error 1": 1.0, "error 2": 1.0}


def test_other_wrong_rows_do_not_count_against_gross_ones() -> None:
    case = _case(4, 0, 2)
    case.wrong[0] = dataclasses.replace(case.wrong[0], is_gross=False)
    found = metrics.outcome(RECIPE, "m:f", case, Ranked(np.array([3.0, 1.0, 2.0, 0.0])), 0.0)
    assert found.ap_gross == 1.0


def test_a_ranking_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="scores has 3 entries for 4 rows"):
        metrics.outcome(RECIPE, "m:f", _case(4, 1), Ranked(np.zeros(3)), 0.0)


@pytest.mark.parametrize("kind", groups.KINDS)
def test_tables_with_groups_know_their_wrong_cells(kind: str) -> None:
    recipe = Recipe("groups", kind, 1, "report")
    case, again = groups.make(recipe, Settings()), groups.make(recipe, Settings())
    assert len(case.wrong) == 8
    assert {wrong.column for wrong in case.wrong.values()} <= set(case.data.columns)
    pd.testing.assert_frame_equal(case.data, again.data)
    assert not groups.clean(kind, np.random.default_rng(0), 300).wrong


def test_halves_share_no_table() -> None:
    recipes = groups.recipes(Settings(seeds=3))
    assert {recipe.seed % 2 for recipe in recipes if recipe.half == "choose"} == {0}
    assert {recipe.seed % 2 for recipe in recipes if recipe.half == "report"} == {1}
    assert len(set(recipes)) == len(recipes) == 6 * len(groups.KINDS)


def test_made_tables_have_the_rows_they_promise() -> None:
    settings = Settings(large=False, seeds=1)
    cases = {
        recipe.kind: suite.make(recipe, settings)
        for suite in (clean, masking, small)
        for recipe in suite.recipes(settings)
    }
    assert cases["normal, 2,000"].rows == 2_000
    assert len(cases["30 x 1e9"].wrong) == 35
    assert cases["90 accounts x 60"].rows == 5_400
    assert not [kind for kind in cases if "100,000" in kind]


def test_a_report_tells_what_a_plain_ranker_does() -> None:
    settings = Settings(halves=("choose",))
    tasks = [
        run.Task(recipe, settings, (f"{rankers.__name__}:robust_z",), read=1)
        for recipe in masking.recipes(settings)[:1]
    ]
    (done,) = run.run(tasks, jobs=1)
    assert not done.failures
    text = report.section("masking", done.outcomes)
    assert "| robust_z | choose | 1 x 999 | 1 | 6 | 1.000 | 5 | 6 |" in text
    assert any("PLANTED code in value; odd value" in line for line in done.lines)


def test_a_ranker_that_fails_is_told() -> None:
    settings = Settings(halves=("choose",))
    task = run.Task(masking.recipes(settings)[0], settings, ("builtins:float",), read=0)
    (done,) = run.run([task], jobs=1)
    assert not done.outcomes
    assert done.failures[0].startswith("builtins:float on 1 x 999: TypeError")


def test_a_ranker_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="ranker 'nowhere:rank': give MODULE:FUNCTION"):
        load_ranker("nowhere:rank")
