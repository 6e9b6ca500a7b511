"""Ranking all rows by strength: which come first, which are exceptional, and why."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from benchmarks.planted import plant
from outlying.detect.strength import Ranking, combination_line
from outlying.search.evidence import Standing
from tests import strategies
from tests.detect.tables import numbers


def weather(rows: int = 400) -> dict[str, Any]:
    """A cold day in a hot city, a storm, and a day on which all is a little odd."""
    rng = np.random.default_rng(0)
    city = np.repeat(["A", "B"], rows // 2)
    temp = np.where(city == "A", rng.normal(30, 1, rows), rng.normal(5, 1, rows))
    wind = rng.normal(10, 2, rows)
    table = {"city": city, "temp": temp, "wind": wind}
    table |= {f"x{place}": rng.normal(size=rows) for place in range(4)}
    for place in range(4):
        table[f"x{place}"][9] = 2.3
    temp[9], wind[9] = 32.2, 14.7
    temp[7], wind[150] = 5.2, 40.0
    return table


def test_the_first_rows_are_exceptional_and_say_why() -> None:
    detection = outlying.detect(weather(), top=5)
    assert detection.exceptional[:2] == (7, 150)
    assert set(detection.exceptional) <= {7, 150, 9} | set(detection.positions)
    first, second = detection.rows[:2]
    assert (first.row, first.rank, first.word) == (7, 1, "exceptional")
    assert (second.row, second.rank, second.word) == (150, 2, "exceptional")
    assert first.reason is not None
    assert second.reason is not None
    assert (first.reason.column, first.reason.value) == ("temp", 5.2)
    assert str(first.reason).startswith("temp = 5.2, expected ")
    assert str(first.reason).endswith(" where city = A")
    assert second.reason.column == "wind"
    assert str(second.reason).startswith("wind = 40, expected ")
    assert (first.reason.why, second.reason.why) == ("Temp does not fit the city", "Unusual wind")


def test_a_row_that_is_odd_all_over_is_in_the_second_list() -> None:
    detection = outlying.detect(weather(), top=3)
    assert 9 not in detection.exceptional
    assert detection.combination_scores is not None
    assert int(np.argmax(detection.combination_scores)) == 9
    assert detection.unusual_combinations[0] == 9
    first = detection.combinations[0]
    assert (first.row, first.rank) == (9, 1)
    assert len(first.columns) == 3
    assert dict(first.values)["x0"] == 2.3
    known = {*detection.exceptional, *(item.row for item in detection.rows if item.word)}
    assert known.isdisjoint(item.row for item in detection.combinations)


def test_scores_are_the_strengths_of_what_explain_finds() -> None:
    explainer = outlying.Explainer(weather(200))
    detection = outlying.detect(explainer, top=200)
    strengths = explainer.strengths()
    assert np.maximum(detection.scores, 0.0).tolist() == strengths.tolist()
    assert not np.isnan(detection.scores).any()
    scores = [item.score for item in detection.rows]
    assert scores == sorted(detection.scores.tolist(), reverse=True)
    for item, findings in zip(
        detection.rows, explainer.explain_many(rows=detection.positions), strict=True
    ):
        assert findings.strength == pytest.approx(max(item.score, 0.0))
        assert findings.exceptional == (item.word == "exceptional")
        assert findings.unusual == (item.word == "unusual")
        assert (item.reason is None) == (item.score <= 0)
        if item.reason is not None:
            assert item.reason.column == findings.stories[0].culprit
    words = [item.word for item in detection.rows]
    assert words.count("exceptional") == len(detection.exceptional)
    assert words.count("unusual") == len(detection.unusual)
    assert detection.exceptional + detection.unusual == tuple(
        item.row for item in detection.rows if item.word
    )


def test_text_shows_what_stands_out_first_then_what_is_odd_all_over() -> None:
    detection = outlying.detect(weather(), top=3)
    text = " ".join(detection.text(all=True).split())
    count = len(detection.exceptional)
    assert text.startswith(f"{count} of 400 rows of dict of arrays are exceptional")
    order = [text.index(said) for said in ("7 temp = 5.2", "150 wind = 40")]
    order += [text.index("No single value is odd in these rows"), text.index("row 9: mostly ")]
    assert order == sorted(order)
    assert "No single value" not in str(detection)


def test_all_exceptional_rows_are_told_by_default_and_unusual_ones_if_asked_for() -> None:
    found = outlying.detect(weather())
    assert tuple(found.positions) == found.exceptional
    assert all(item.findings is not None and item.findings.exceptional for item in found.rows)
    said = f"{len(found.unusual)} rows are merely unusual: unusual=True shows them."
    assert said in str(found)
    more = outlying.detect(weather(), unusual=True)
    assert tuple(more.positions) == (*found.exceptional, *found.unusual)
    assert f"{len(found.unusual)} more are unusual, the oddest first:" in more.text(all=True)
    assert repr(found).startswith("<Detection: ")
    assert len(repr(found)) < 200
    assert len(repr(found.rows[0].findings)) < 300


def test_a_table_without_odd_rows_says_so() -> None:
    even = outlying.detect({"a": ["x", "y"] * 40, "b": [1.0, 2.0, 3.0, 4.0] * 20}, top=3)
    assert even.exceptional == even.unusual == even.unusual_combinations == ()
    assert str(even) == "No row of dict of arrays is exceptional (80 rows)."
    ordinary = outlying.detect(numbers(300, 3), top=4)
    assert ordinary.exceptional == ()
    assert str(ordinary).startswith("No row of dict of arrays is exceptional (300 rows).\n\n")
    assert "expected" not in str(ordinary)
    assert [item.word for item in ordinary.rows] == ["unusual"] * 4


def test_json_has_words_reasons_and_counts() -> None:
    detection = outlying.detect(weather(), top=3)
    content = json.loads(detection.to_json())
    told = content["detection"]
    assert told["detector"] == "strength"
    assert told["exceptional"] == len(detection.exceptional)
    assert told["unusual"] == len(detection.unusual)
    assert told["combinations"][0]["row"] == 10
    first = content["flagged"][0]
    assert (first["row"], first["word"]) == (8, "exceptional")
    assert first["reason"]["sentence"] == str(detection.rows[0].reason)
    frame = detection.to_frame()
    assert frame["column"].tolist()[:2] == ["temp", "wind"]
    assert frame["sentence"].tolist()[0] == str(detection.rows[0].reason)
    assert frame["value"].tolist()[0] == 5.2
    assert frame["where"].tolist()[0] == "city = A"
    assert frame["why"].tolist()[0] == "Temp does not fit the city"


def test_strength_sees_what_is_odd_in_its_context_only() -> None:
    """Among columns of noise, no distance sees it."""
    planted = plant("category", 1, rows=300, noise=4)
    found = outlying.detect(planted.data, top=5)
    assert planted.row in found.positions
    assert found.settings.to_dict()["detector"] == "strength"


def test_auto_is_another_name_of_strength() -> None:
    table = numbers(60, 3)
    assert outlying.detect(table, detector="auto") == outlying.detect(table, detector="strength")
    assert outlying.detect(table).settings.detector == "strength"


def test_the_order_of_rows_and_workers_change_nothing() -> None:
    planted = plant("interval", 2, rows=150, noise=2)
    alone = outlying.detect(planted.data, workers=1)
    assert outlying.detect(planted.data, workers=2) == alone
    order = np.random.default_rng(0).permutation(150)
    shuffled = {name: cells[order] for name, cells in planted.data.items()}
    again = outlying.detect(shuffled, workers=1)
    assert again.scores == pytest.approx(alone.scores[order])
    assert [order[row] for row in again.exceptional] == list(alone.exceptional)


def test_options_of_bagging_are_not_for_strength() -> None:
    message = 'feature bagging only; add detector="feature-bagging"'
    for name in ("strength", "auto"):
        with pytest.raises(outlying.OptionError, match=message):
            outlying.detect({"a": [1.0, 2.0, 9.0]}, rounds=5, detector=name)


# --- the ranking ----------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0, 3.0, 9.0, 20.0]), st.floats(-2, 30)), min_size=2
    )
)
def test_a_ranking_is_what_sorting_gives(rows: list[tuple[float, float]]) -> None:
    strengths, combinations = (np.array(each) for each in zip(*rows, strict=True))
    standing = Standing.of(strengths)
    ranking = Ranking.of(strengths, combinations, standing)
    slow = sorted(range(len(rows)), key=lambda row: (-rows[row][0], -rows[row][1], row))
    assert ranking.order.tolist() == slow
    exceptional = [row for row in slow if 0 < rows[row][0] >= standing.exceptional]
    others = [row for row in slow if row not in exceptional and rows[row][0] > standing.unusual]
    assert ranking.exceptional.tolist() == exceptional
    assert ranking.unusual.tolist() == others
    line = combination_line(combinations, len(rows))
    odd = sorted((row for row in slow if rows[row][1] >= line), key=lambda row: -rows[row][1])
    assert sorted(ranking.odd_all_over.tolist()) == sorted(odd)


@settings(max_examples=25)
@given(table=strategies.tables(max_rows=14))
def test_whatever_the_table_every_row_has_a_score(table: strategies.Table) -> None:
    try:
        detection = outlying.detect(dict(table), top=3)
    except outlying.ColumnError:
        return  # no column takes part
    assert np.isfinite(detection.scores).all()
    assert len(detection.rows) == min(3, len(detection.scores))
    assert str(detection)
