"""detect(): its result, detectors of other libraries, given scores, what is refused."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

import outlying
from tests.detect.tables import numbers


def test_an_odd_combination_of_two_columns_is_found() -> None:
    rng = np.random.default_rng(0)
    city = ["A"] * 100 + ["B"] * 100
    temp = np.where(np.array(city) == "A", rng.normal(30, 1, 200), rng.normal(5, 1, 200))
    temp[7] = 5.2
    assert 7 in outlying.detect({"city": city, "temp": temp}, top=3).positions


def test_two_copies_of_an_odd_row_are_found() -> None:
    table = numbers()
    for column in table.values():
        column[[3, 9]] = 8.0
    assert outlying.detect(table, top=2).positions == [3, 9]
    detection = outlying.detect(table, top=2, detector="feature-bagging")
    assert detection.positions == [3, 9]
    assert [item.votes for item in detection.rows] == [50, 50]


def test_a_gap_among_few_is_odd_and_gaps_everywhere_are_not() -> None:
    table: dict[str, Any] = {name: column.round() for name, column in numbers(300, 4).items()}
    table["x0"][5] = np.nan
    everywhere = numbers(300, 4)
    everywhere["x1"][::2] = np.nan
    assert np.isfinite(outlying.detect(everywhere).scores).all()
    assert outlying.detect(table).scores[5] > np.median(outlying.detect(table).scores)


def test_the_result_and_its_views() -> None:
    table: dict[str, Any] = {**numbers(50, 2), "key": [f"k{place}" for place in range(50)]}
    table["x0"][4] = 30.0
    detection = outlying.detect(table, top=3, detector="feature-bagging")
    first = detection.rows[0]
    assert (first.row, first.rank) == (4, 1)
    assert dict(first.values)["key"] == "k4"
    assert detection.scores.shape == (50,)
    assert not detection.scores.flags.writeable
    assert np.argmax(detection.scores) == 4
    assert [skipped.name for skipped in detection.population.skipped_columns] == ["key"]
    content = json.loads(detection.to_json())
    assert content == json.loads(json.dumps(detection.to_dict()))
    assert content["flagged"][0]["row"] == 5
    assert content["flagged"][0]["values"]["x0"] == 30.0
    assert content["detection"]["bagging"]["combine"] == "rank"
    frame = detection.to_frame()
    told = ["column", "value", "expected", "where", "why", "sentence"]
    names = ["row", "name", *told, "word", "rank", "score", "votes", "remoteness"]
    assert list(frame.columns) == names
    assert frame["name"].tolist()[0] == "k4"
    assert frame["row"].tolist() == detection.positions
    text = str(detection)
    assert text.startswith("The first 3 of 50 rows of dict of arrays, ranked by feature bagging")
    assert "\n    4  k4   " in text
    assert outlying.detect(table, top=3, detector="feature-bagging") == detection


def test_flagged_rows_are_explained_by_an_explainer() -> None:
    table = numbers(80, 3)
    table["x0"][4] = 30.0
    explainer = outlying.Explainer(table)
    detection = outlying.detect(explainer, top=2)
    found = list(explainer.explain_many(rows=detection.positions))
    assert [findings.row for findings in found] == detection.positions
    assert found[0].pairs[0].property == "x0"


def test_ties_are_said() -> None:
    alike = {"a": ["x", "y"] * 20, "b": ["u", "u", "v", "v"] * 10}
    same = outlying.detect(alike, top=3, detector="feature-bagging")
    assert same.notes == ("All rows have the same score: none stands out.",)
    scores = [5.0, 4.0, 4.0, 4.0, 1.0]
    table = {"x": np.arange(5.0)}
    note = "{} the same score as the last one here, and {} later in the table."
    told = {1: (), 2: (note.format("2 more rows have", "come"),), 4: ()}
    told[3] = (note.format("1 more row has", "comes"),)
    for top, notes in told.items():
        assert outlying.detect(table, scores=scores, top=top).notes == notes


def test_a_column_of_dates_is_compared() -> None:
    days = np.arange("2024-01-01", "2024-04-10", dtype="datetime64[D]")
    days[9] = np.datetime64("2031-01-01")
    assert outlying.detect({"day": days, "x": np.arange(100) % 5}).positions[0] == 9


class LowIsOdd:
    """The interface of scikit-learn."""

    def fit(self, points: Any) -> LowIsOdd:
        self.shape = points.shape
        return self

    def score_samples(self, points: Any) -> Any:
        return -np.abs(points).max(axis=1)


class HighIsOdd:
    """The interface of PyOD."""

    def fit(self, points: Any) -> None:
        self.decision_scores_ = np.abs(points).max(axis=1)

    def decision_function(self, points: Any) -> Any:
        raise AssertionError("the scores are there already")


class Factor:
    """The interface of scikit-learn's LocalOutlierFactor."""

    def fit(self, points: Any) -> Factor:
        self.negative_outlier_factor_ = -np.abs(points).max(axis=1)
        return self


class Boundary(LowIsOdd):
    """Scores by a decision function only."""

    score_samples = None  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> Any:
        if name == "score_samples":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def decision_function(self, points: Any) -> Any:
        return -np.abs(points).max(axis=1)


@pytest.mark.parametrize("kind", [LowIsOdd, HighIsOdd, Factor, Boundary])
def test_detectors_of_other_libraries(kind: Any) -> None:
    table: dict[str, Any] = numbers(60, 3)
    table["x1"][11] = 40.0
    table["x2"][3] = np.nan
    table["label"] = ["a", "b", "c"] * 20
    detection = outlying.detect(table, detector=kind(), top=2)
    first = detection.rows[0]
    assert (first.row, first.votes, first.remoteness) == (11, None, None)
    assert first.score == detection.scores.max()
    assert detection.settings.bagging is None
    assert kind.__name__ in detection.settings.detector


def test_a_detector_sees_numbers_without_gaps() -> None:
    table: dict[str, Any] = numbers(60, 2)
    table["x1"][3] = np.nan
    table["label"] = ["a", "b", "c"] * 20
    detector = LowIsOdd()
    outlying.detect(table, detector=detector)
    assert detector.shape == (60, 1 + 2 + 3)


class Blind:
    def fit(self, points: Any) -> None:
        pass


class Short(HighIsOdd):
    def fit(self, points: Any) -> None:
        self.decision_scores_ = np.zeros(3)


@pytest.mark.parametrize(
    ("detector", "message"),
    [
        (
            Blind(),
            r"detector is .*Blind.*allowed: 'strength', 'feature-bagging', or a detector",
        ),
        ("lof", "detector is 'lof'; allowed: 'strength'"),
        (LowIsOdd, "detector is <class"),
        (None, "detector is None"),
        (Short(), r"the detector: the scores have the shape \(3,\); needed is one .* 60 rows"),
    ],
)
def test_what_is_no_detector(detector: Any, message: str) -> None:
    with pytest.raises(outlying.OptionError, match=message):
        outlying.detect(numbers(60, 2), detector=detector)


def test_scores_of_ones_own() -> None:
    table = numbers(20, 2)
    scores = np.arange(20.0)
    scores[19] = np.nan
    detection = outlying.detect(table, scores=scores, top=3)
    assert detection.positions == [18, 17, 16]
    assert detection.notes == ("1 row has no score and cannot be ranked.",)
    assert outlying.detect(table, scores=list(scores), lowest=True, top=2).positions == [0, 1]
    assert len(outlying.detect(table, scores=scores, top=50).rows) == 19


def test_scores_of_a_column_which_is_not_compared() -> None:
    table = {**numbers(20, 2), "score": np.arange(20)}
    detection = outlying.detect(table, scores="score", top=1)
    assert detection.positions == [19]
    assert detection.population.columns == ("x0", "x1")
    assert [item.name for item in detection.population.skipped_columns] == ["score"]
    assert detection.settings.detector == "the column 'score'"
    explainer = outlying.Explainer(table, exclude=["score"])
    assert outlying.detect(explainer, scores="score", top=1).positions == [19]


BAGS = {"detector": "feature-bagging"}
BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"top": 0}, outlying.OptionError, "top is 0; allowed: a whole number, at least 1"),
    ({**BAGS, "rounds": 0}, outlying.OptionError, "rounds is 0"),
    ({**BAGS, "neighbours": 2.5}, outlying.OptionError, "neighbours is 2.5"),
    (
        {**BAGS, "base": "knn"},
        outlying.OptionError,
        "base is 'knn'; allowed: 'kth-neighbour' or 'radius'",
    ),
    ({**BAGS, "combine": "mean"}, outlying.OptionError, "allowed: 'rank' or 'votes' or 'sum'"),
    ({**BAGS, "scale": "iqr"}, outlying.OptionError, "allowed: 'deviation' or 'range' or 'none'"),
    ({**BAGS, "seed": -1}, outlying.OptionError, "seed is -1"),
    ({**BAGS, "radius": 1.0}, outlying.OptionError, 'needs base="radius"'),
    (
        {**BAGS, "radius": 0, "base": "radius"},
        outlying.OptionError,
        "radius is 0; allowed: a number above",
    ),
    ({**BAGS, "radius": "x", "base": "radius"}, outlying.OptionError, "radius is 'x'"),
    ({"neighbors": 3}, outlying.OptionError, "did you mean 'neighbours'"),
    ({"workers": 0}, outlying.OptionError, "workers is 0"),
    ({"lowest": True}, outlying.OptionError, "add scores="),
    ({"scores": "x9"}, outlying.ColumnError, "unknown column 'x9'"),
    ({"scores": "label"}, outlying.ColumnError, "column 'label' holds no numbers"),
    ({"scores": [1.0, 2.0]}, outlying.OptionError, r"shape \(2,\).*30 rows"),
    ({"scores": ["a"] * 30}, outlying.OptionError, "the scores are not numbers"),
    ({"scores": [np.inf] * 30}, outlying.OptionError, "row 0 .counted from 0. is infinite"),
    ({"scores": [np.nan] * 30}, outlying.OptionError, "no row has a score"),
    ({"scores": range(30), "rounds": 3}, outlying.OptionError, "rounds: for feature bagging only"),
    ({"scores": range(30), **BAGS}, outlying.OptionError, "scores rank by themselves"),
    ({"scores": range(30), "lowest": 1}, outlying.OptionError, "lowest is 1"),
    (
        {"scores": range(30), "detector": LowIsOdd()},
        outlying.OptionError,
        "scores rank by themselves",
    ),
    ({"detector": LowIsOdd(), "seed": 3}, outlying.OptionError, "seed: for feature bagging only"),
    ({"exclude": ["x0", "x1", "label"]}, outlying.ColumnError, "no column is left"),
]


@pytest.mark.parametrize(("options", "kind", "message"), BAD)
def test_what_is_wrong_is_said(
    options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    table: dict[str, Any] = {**numbers(30, 2), "label": ["a", "b"] * 15}
    with pytest.raises(kind, match=message):
        outlying.detect(table, **options)


def test_an_explainer_has_chosen_its_columns() -> None:
    with pytest.raises(outlying.OptionError, match="exclude: an Explainer has chosen"):
        outlying.detect(outlying.Explainer(numbers()), exclude=["x0"])


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    with pytest.raises(outlying.MissingExtraError, match=r"pip install '.*\[detect\]'"):
        outlying.detect(numbers(), detector="feature-bagging")
    assert len(outlying.detect(numbers(), top=3).rows) == 3
    assert outlying.detect(numbers(), scores=np.arange(200)).positions[0] == 199


def test_rows_of_which_the_same_is_told_are_shown_once() -> None:
    """Copies of a code for unknown do not crowd out what else there is."""
    rng = np.random.default_rng(5)
    heights = rng.normal(170, 8, 3000).round(1)
    heights[100:112], heights[7] = 999.0, 17.0
    found = outlying.detect({"height": heights.tolist()}, top=20)
    said = str(found)
    assert {*range(100, 112), 7} <= set(found.exceptional)
    assert len(found.to_dict()["flagged"]) == 20
    assert said.count("height = 999, expected") == 1
    assert "(the same in 11 more rows: 101, 102, 103," in " ".join(said.split())
    assert "110, ...)" in said
    assert "111" not in said  # ten are named
    assert "height = 17, expected" in said


def test_a_value_beyond_all_ranges_is_told_by_what_spans_them() -> None:
    """Between them it is told by the gap that it lies in."""
    rng = np.random.default_rng(6)
    sizes = np.append(rng.normal(60, 1, 400), rng.normal(180, 4, 1600)).round(1)
    sizes[7], sizes[9] = 999.0, 110.0
    rows = {item.row: item.reason for item in outlying.detect({"size": sizes.tolist()}, top=9).rows}
    far, between = rows[7], rows[9]
    assert far is not None
    assert between is not None
    low, _, high = far.expected.removeprefix("expected ").partition(" to ")
    assert 55 < float(low) < 62 < 178 < float(high) < 195
    assert between.expected.startswith("in a gap between")
