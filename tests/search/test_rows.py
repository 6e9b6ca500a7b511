"""What is told of rows by the model of their table, in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import outlying
from outlying.search import memory


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    """Row 0 is a cold day in a warm city, row 1 far too heavy, row 2 lacks what all others have."""
    rng = np.random.default_rng(5)
    city = np.repeat(["A", "B"], 150).astype(object)
    temp = np.where(city == "A", rng.normal(30, 1, 300), rng.normal(5, 1, 300))
    weight = rng.normal(70, 3, 300)
    temp[0], weight[1], weight[2] = 5.0, 700.0, np.nan
    return {"city": city, "temp": temp, "weight": weight}


def test_numbers_are_those_of_all_rows(table: dict[str, Any]) -> None:
    pair = next(
        item
        for story in outlying.explain(table, row=0).stories
        for item in story.pairs
        if item.property == "temp"
    )
    inside = np.sort(table["temp"][table["city"] == "A"])
    assert (pair.group_size, pair.known) == (150, 150)
    near = np.abs(inside[:, None] - inside) <= pair.reach
    assert pair.rarity == pytest.approx(near.sum(axis=1).mean() / pair.near)
    assert pair.near == np.count_nonzero(np.abs(inside - 5.0) <= pair.reach)


def test_one_extreme_cell_does_not_hide_another(table: dict[str, Any]) -> None:
    """The window of a group is as wide as its rows are spread, whatever one of them holds."""
    wild = table | {"temp": np.where(np.arange(300) == 9, 1e9, table["temp"])}
    found = outlying.explain(wild, row=0)
    assert set(found.stories[0].columns) == {"city", "temp"}
    assert found.pairs[0].rarity > 50


def test_a_value_that_is_alone_in_the_table_needs_no_context(table: dict[str, Any]) -> None:
    headline = outlying.explain(table, row=1).pairs[0]
    assert (headline.property, headline.conditions) == ("weight", ())
    assert headline.exceptional


def test_a_missing_value_that_all_others_have(table: dict[str, Any]) -> None:
    found = outlying.explain(table, row=2).pairs[0]
    assert (found.property, found.value) == ("weight", None)


def test_a_value_where_others_have_none() -> None:
    rng = np.random.default_rng(1)
    left = rng.random(400) < 0.4
    ends = np.where(left, rng.normal(2020, 2, 400), np.nan)
    left[7], ends[7] = False, 2021.5
    data = {"state": np.where(left, "left", "employed").astype(object), "end": ends}
    found = outlying.explain(data, row=7)
    told = [item for story in found.stories for item in story.pairs if item.property == "end"]
    assert found.exceptional
    assert any(item.typical == ("missing",) and item.value == 2021.5 for item in told)


@pytest.mark.parametrize(
    ("change", "column"),
    [({"city": "C"}, "city"), ({"temp": None}, "temp"), ({"weight": -1e300}, "weight")],
)
def test_a_new_object_holds_what_no_row_does(
    table: dict[str, Any], change: dict[str, Any], column: str
) -> None:
    new = {name: values[40] for name, values in table.items()} | change
    found = outlying.explain(table, object=new)
    assert found.stories[0].culprit == column
    assert found.stands_out


def test_rows_that_were_not_drawn_are_judged(
    table: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MOST_ROWS", 200)
    monkeypatch.setattr(memory, "BATCH", 70)
    explainer = outlying.Explainer(table)
    strengths = explainer.strengths()
    assert len(strengths) == 300
    assert set(np.argsort(-strengths)[:2]) <= {0, 1, 2}
    for row in range(0, 300, 30):
        found = explainer.explain(row=row)
        assert found.strength == pytest.approx(strengths[row])
        assert any("200 of the 300 rows" in note for note in found.notes)
    assert len(explainer.combination_scores()) == 300


def test_all_rows_make_the_model_if_that_is_asked_for(
    table: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = outlying.explain(table, row=0)
    monkeypatch.setattr(memory, "MOST_ROWS", 200)
    drawn, exact = (outlying.explain(table, row=0, exact=is_exact) for is_exact in (False, True))
    assert exact.stories == whole.stories
    assert not any("200 of the 300 rows" in note for note in exact.notes)
    assert any("200 of the 300 rows" in note for note in drawn.notes)


def test_a_model_that_was_given_up_is_made_again(table: dict[str, Any]) -> None:
    explainer = outlying.Explainer(table)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explainer.prepare(stop)
    assert explainer.explain(row=0).stories


def test_closest_of_a_row_may_be_that_a_value_is_known() -> None:
    rng = np.random.default_rng(0)
    rare = np.where(np.arange(60) < 9, rng.normal(0, 1, 60), np.nan)
    explainer = outlying.Explainer({"rare": rare, "usual": rng.normal(0, 1, 60)})
    (row, *_) = np.flatnonzero(explainer.strengths()[:9] == 0).tolist()
    found = explainer.explain(row=row)
    assert not found.strength
    assert "rare" in {pair.column for pair in found.pairs}
