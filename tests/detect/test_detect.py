"""Detection: the same as the slow twin, whatever the order and the units; and what it finds."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import outlying
from benchmarks.planted import plant
from outlying.detect import api as detect_api
from outlying.detect import bagging, nearest
from outlying.detect.coordinates import MOST_LABELS, Coordinates
from outlying.options import Bagging
from outlying.sources import read
from outlying.table.columns import Column, categorical_column, numeric_column
from outlying.table.sampling import sample_rows
from tests import naive, naive_detect, strategies

ROUNDS = 6


def numbers(rows: int = 200, columns: int = 6, seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    return {f"x{place}": rng.normal(size=rows) for place in range(columns)}


def summaries(detection: outlying.Detection) -> list[dict[str, Any]]:
    return [item.summary() for item in detection.rows]


# --- the twin -------------------------------------------------------------------------------


def floats(table: strategies.Table) -> strategies.Table:
    """The columns that take part, with numbers as the twin knows them."""
    return {name: cells for name, cells in table.items() if naive.takes_part(cells)}


def rounds_of(names: list[str], seed: int) -> list[list[str]]:
    ordered = sorted(names)
    drawn_places = bagging.subsets(len(ordered), ROUNDS, seed)
    return [[ordered[place] for place in places] for places in drawn_places]


@settings(max_examples=120)
@given(
    table=strategies.tables(max_rows=14),
    base=st.sampled_from(["kth-neighbour", "radius"]),
    combine=st.sampled_from(["rank", "votes", "sum"]),
    scale=st.sampled_from(["deviation", "range"]),
    count=st.integers(1, 6),
    radius=st.sampled_from([None, 0.3, 1.0]),
    seed=st.integers(0, 50),
)
def test_the_slow_twin_agrees(
    table: strategies.Table,
    base: str,
    combine: str,
    scale: str,
    count: int,
    radius: float | None,
    seed: int,
) -> None:
    compared = floats(table)
    assume(compared)
    radius = radius if base == "radius" else None
    options: dict[str, Any] = {"base": base, "combine": combine, "scale": scale, "radius": radius}
    rows = len(next(iter(table.values())))
    found = outlying.detect(
        dict(table), top=rows, rounds=ROUNDS, neighbours=count, seed=seed, **options
    )
    slow = naive_detect.detect(
        compared, rounds_of(list(compared), seed), [range(rows)] * ROUNDS, count, **options
    )
    for item in found.rows:
        assert item.remoteness == pytest.approx(slow[item.row].remoteness, rel=1e-6, abs=1e-8)
        assert item.votes == slow[item.row].votes
        assert item.score == pytest.approx(slow[item.row].score, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("digits", [9, 0])  # with copies in many rounds
@pytest.mark.parametrize("base", ["kth-neighbour", "radius"])
def test_the_slow_twin_agrees_on_a_sample(
    base: str, digits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bagging, "LEAST_REFERENCES", 12)
    monkeypatch.setattr(bagging, "MOST_COMPARED", 1)
    columns = {
        name: list(map(float, cells.round(digits))) for name, cells in numbers(40, 4).items()
    }
    found = outlying.detect(columns, rounds=ROUNDS, base=base, top=40)
    table = read(columns)
    sample = bagging.Sample.of(table.columns, Coordinates.of(table.columns), Bagging(rounds=ROUNDS))
    parts = [[int(row) for row in sample.rows_of(part)] for part in range(ROUNDS)]
    slow = naive_detect.detect(columns, rounds_of(list(columns), 0), parts, base=base)
    assert all(len(set(part)) == 12 for part in parts)
    assert parts[0] != parts[1]
    for item in found.rows:
        assert item.score == pytest.approx(slow[item.row].score)
        assert item.votes == slow[item.row].votes
    assert found.notes == (
        "Each of the 6 rounds scored all 40 rows by their distance to 12 of them, drawn by what "
        "they hold: 40 in all.",
    )


def test_rare_labels_count_as_one_and_it_is_said() -> None:
    labels = [f"v{place:02d}" for place in range(40)]
    cells = [*labels, *labels[5:30], *labels[8:28]]
    table: strategies.Table = {
        "label": [*cells],
        "x": [float(place % 7) for place in range(len(cells))],
    }
    options: dict[str, Any] = {"types": {"label": "categorical"}, "rounds": ROUNDS}
    found = outlying.detect(table, top=len(cells), **options)
    rounds = rounds_of(["label", "x"], 0)
    slow = naive_detect.detect(table, rounds, [range(len(cells))] * ROUNDS)
    assert len(labels) > MOST_LABELS
    assert [item.score for item in found.rows] == pytest.approx(
        [slow[item.row].score for item in found.rows]
    )
    assert found.notes == ("column 'label': its rare labels count as one label in the comparison",)


# --- the attributes of a round --------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "sizes"), [(1, {1}), (2, {1, 2}), (3, {1, 2}), (4, {2, 3}), (9, {4, 5, 6, 7, 8})]
)
def test_a_round_sees_half_of_the_attributes_to_all_but_one(
    attributes: int, sizes: set[int]
) -> None:
    drawn_sets = list(bagging.subsets(attributes, 300, seed=1))
    assert {len(chosen) for chosen in drawn_sets} == sizes
    assert {place for chosen in drawn_sets for place in chosen} == set(range(attributes))
    assert all(len(set(chosen)) == len(chosen) for chosen in drawn_sets)
    assert drawn_sets == list(bagging.subsets(attributes, 300, seed=1))
    if attributes > 1:
        assert drawn_sets != list(bagging.subsets(attributes, 300, seed=2))


def test_sizes_are_drawn_evenly() -> None:
    sizes = [len(chosen) for chosen in bagging.subsets(9, 5000, seed=0)]
    assert np.bincount(sizes)[4:] == pytest.approx(np.full(5, 1000), rel=0.1)


# --- what must not matter -------------------------------------------------------------------


@settings(max_examples=60)
@given(
    table=strategies.tables(),
    order=st.randoms(use_true_random=False),
    combine=st.sampled_from(["rank", "votes", "sum"]),
    base=st.sampled_from(["kth-neighbour", "radius"]),
)
def test_the_order_of_rows_changes_no_score(
    table: strategies.Table, order: Any, combine: str, base: str
) -> None:
    assume(any(naive.takes_part(cells) for cells in table.values()))
    rows = len(next(iter(table.values())))
    places = list(range(rows))
    order.shuffle(places)
    shuffled = {name: [cells[old] for old in places] for name, cells in table.items()}
    options: dict[str, Any] = {"rounds": ROUNDS, "combine": combine, "base": base}
    before = outlying.detect(dict(table), **options)
    after = outlying.detect(shuffled, **options)
    assert after.scores.tolist() == before.scores[places].tolist()


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("combine", ["rank", "votes", "sum"])
def test_orders_and_units_change_no_rank(
    sampled: bool, combine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sampled:
        monkeypatch.setattr(bagging, "LEAST_REFERENCES", 20)
        monkeypatch.setattr(bagging, "MOST_COMPARED", 1)
    planted = plant("category", 3, rows=250, noise=6).data
    order = np.random.default_rng(0).permutation(250)
    options: dict[str, Any] = {"combine": combine, "top": 250, "rounds": 20}
    before = outlying.detect(planted, **options)
    turned = dict(reversed(planted.items()))
    assert summaries(outlying.detect(turned, **options)) == summaries(before)
    shuffled = {name: column[order] for name, column in planted.items()}
    assert outlying.detect(shuffled, **options).scores.tolist() == before.scores[order].tolist()
    factors = iter([1e9, 0.3048, 1e-3, 1.8, 7e3] * 10)
    scaled = {
        name: column if column.dtype == object else column.astype(float) * next(factors)
        for name, column in planted.items()
    }
    after = outlying.detect(scaled, **options)
    assert after.positions == before.positions
    assert after.scores == pytest.approx(before.scores, abs=1e-8)


def test_huge_and_tiny_numbers() -> None:
    table = numbers(60, 3)
    before = outlying.detect(table, top=60).positions
    table["x0"] = table["x0"] * 1e307
    table["x1"] = table["x1"] * 1e-300
    assert outlying.detect(table, top=60).positions == before
    with pytest.raises(outlying.OptionError, match=r"'x0'.*allowed: up to 1e\+100"):
        outlying.detect(table, scale="none")


def test_the_same_seed_gives_the_same_bytes_and_another_other_rounds() -> None:
    table = numbers()
    first = outlying.detect(table).to_json()
    assert outlying.detect(table, workers=1).to_json() == first
    assert outlying.detect(table, seed=1).to_json() != first


def copied(rare: int, common: int, rows: int) -> tuple[strategies.Table, np.ndarray[Any, Any]]:
    """A table of few distinct rows, the first of which come once each, and which row is which."""
    rng = np.random.default_rng(0)
    kinds = np.array([[a, b, c] for a in "abcd" for b in "uvw" for c in "xyz"])
    which = np.concatenate((np.arange(rare), rare + rng.integers(0, common, rows - rare)))
    table = {name: list(map(str, kinds[which][:, k])) for k, name in enumerate("abc")}
    table["a"][:rare] = ["odd"] * rare
    return {name: list(cells) for name, cells in table.items()}, which


def test_copies_have_the_same_score_in_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """A common row is not odd only because a few of its many copies were drawn."""
    monkeypatch.setattr(bagging, "LEAST_REFERENCES", 100)
    monkeypatch.setattr(bagging, "MOST_COMPARED", 1)
    table, which = copied(0, 30, 3000)
    detection = outlying.detect(dict(table), detector="feature-bagging")
    assert "100 of them" in detection.notes[0]
    for kind in range(30):
        assert len(set(detection.scores[which == kind].tolist())) == 1
    order = np.random.default_rng(1).permutation(3000)
    shuffled = {name: [cells[old] for old in order] for name, cells in table.items()}
    again = outlying.detect(shuffled, detector="feature-bagging")
    assert again.scores.tolist() == detection.scores[order].tolist()


@pytest.mark.parametrize(("rare", "common"), [(2, 20), (1, 1)])
@pytest.mark.parametrize("combine", ["rank", "votes", "sum"])
@pytest.mark.parametrize("base", ["kth-neighbour", "radius"])
def test_a_table_of_few_distinct_rows_needs_no_sample(
    base: str, combine: str, rare: int, common: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _ = copied(rare, common, 1500)
    options: dict[str, Any] = {"base": base, "combine": combine, "top": rare}
    whole = outlying.detect(dict(table), **options)
    monkeypatch.setattr(bagging, "LEAST_REFERENCES", 140)
    monkeypatch.setattr(bagging, "MOST_COMPARED", 1)
    found = outlying.detect(dict(table), **options)
    assert found == whole
    assert found.scores.tolist() == whole.scores.tolist()
    assert sorted(found.positions) == list(range(rare))
    assert found.rows[0].votes
    assert found.notes == ()


def test_copies_are_drawn_one_by_one() -> None:
    """In a table of few distinct rows, a sample still holds all of them."""
    columns = [categorical_column("a", ["x", "y", "z", "w"] * 500)]
    evenly = sample_rows(columns, 2000, 100)
    assert np.bincount(evenly % 4) == pytest.approx(np.full(4, 25), abs=12)
    assert len(set(evenly.tolist())) == 100


# --- what it finds --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("combine", ["rank", "votes", "sum"])
def test_planted_rows_are_found(seed: int, combine: str) -> None:
    planted = plant("global", seed, rows=500, noise=5)
    assert planted.row in outlying.detect(planted.data, combine=combine).positions


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


PAPER = [("ecoli", 223, ["site"]), ("yeast", 990, ["name", "site"])]


@pytest.mark.parametrize("combine", ["rank", "votes", "sum"])
@pytest.mark.parametrize(("name", "row", "exclude"), PAPER)
def test_rows_of_the_paper_come_first(
    name: str, row: int, exclude: list[str], combine: str, shared_data: Path
) -> None:
    detection = outlying.detect(shared_data / f"{name}.csv", exclude=exclude, combine=combine)
    assert detection.rows[0].row + 1 == row


def test_the_papers_row_of_cloud_is_first_in_its_own_units_only(shared_data: Path) -> None:
    path = shared_data / "cloud.csv"
    raw = outlying.detect(path, scale="none", combine="votes")
    assert raw.rows[0].row + 1 == 354
    assert 354 - 1 in outlying.detect(path, top=40).positions


# --- the result -----------------------------------------------------------------------------


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
    names = ["row", "rank", "score", "votes", "remoteness", "strength", "rarer_than"]
    assert list(frame.columns) == names
    assert frame["row"].tolist() == detection.positions
    text = str(detection)
    assert text.startswith("What is odd in ")
    assert "1. row 4: " in text
    assert "key=k4" in text
    assert outlying.detect(table, top=3, detector="feature-bagging") == detection


def test_flagged_rows_are_explained_by_an_explainer() -> None:
    table = numbers(80, 3)
    table["x0"][4] = 30.0
    explainer = outlying.Explainer(table, references=0)
    detection = outlying.detect(explainer, top=2)
    found = list(explainer.explain_many(rows=detection.positions))
    assert [findings.row for findings in found] == detection.positions
    assert found[0].pairs[0].property == "x0"


def test_progress_counts_the_rounds() -> None:
    seen: list[tuple[int, int]] = []
    outlying.detect(numbers(50, 6), rounds=5, progress=lambda *step: seen.append(step))
    assert seen == [(place, 5) for place in range(5)]


def test_few_rows_have_few_neighbours_and_it_is_said() -> None:
    detection = outlying.detect({"x": [1.0, 2.0, 50.0]}, detector="feature-bagging")
    assert detection.positions[0] == 2
    assert len(detection.rows) == 3
    assert detection.notes == (
        "There are few rows: the number of neighbours is 1, half of the other rows, not 5.",
    )


def test_ties_are_said() -> None:
    same = outlying.detect({"a": ["x", "y"] * 20, "b": ["u", "u", "v", "v"] * 10}, top=3)
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


# --- detectors of other libraries, and scores ------------------------------------------------


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
            r"detector is .*Blind.*allowed: 'auto', 'strength', 'feature-bagging', or a detector",
        ),
        ("lof", "detector is 'lof'; allowed: 'auto'"),
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


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"top": 0}, outlying.OptionError, "top is 0; allowed: a whole number, at least 1"),
    ({"rounds": 0}, outlying.OptionError, "rounds is 0"),
    ({"neighbours": 2.5}, outlying.OptionError, "neighbours is 2.5"),
    ({"base": "knn"}, outlying.OptionError, "base is 'knn'; allowed: 'kth-neighbour' or 'radius'"),
    ({"combine": "mean"}, outlying.OptionError, "allowed: 'rank' or 'votes' or 'sum'"),
    ({"scale": "iqr"}, outlying.OptionError, "allowed: 'deviation' or 'range' or 'none'"),
    ({"seed": -1}, outlying.OptionError, "seed is -1"),
    ({"radius": 1.0}, outlying.OptionError, 'needs base="radius"'),
    ({"radius": 0, "base": "radius"}, outlying.OptionError, "radius is 0; allowed: a number above"),
    ({"radius": "x", "base": "radius"}, outlying.OptionError, "radius is 'x'"),
    ({"neighbors": 3}, outlying.OptionError, "did you mean 'neighbours'"),
    ({"workers": 0}, outlying.OptionError, "workers is 0"),
    ({"lowest": True}, outlying.OptionError, "give scores="),
    ({"scores": "x9"}, outlying.ColumnError, "unknown column 'x9'"),
    ({"scores": "label"}, outlying.ColumnError, "column 'label' holds no numbers"),
    ({"scores": [1.0, 2.0]}, outlying.OptionError, r"shape \(2,\).*30 rows"),
    ({"scores": ["a"] * 30}, outlying.OptionError, "the scores are not numbers"),
    ({"scores": [np.inf] * 30}, outlying.OptionError, "row 0 .counted from 0. is infinite"),
    ({"scores": [np.nan] * 30}, outlying.OptionError, "no row has a score"),
    ({"scores": range(30), "rounds": 3}, outlying.OptionError, "rounds cannot be used here"),
    ({"scores": range(30), "lowest": 1}, outlying.OptionError, "lowest is 1"),
    ({"scores": range(30), "detector": LowIsOdd()}, outlying.OptionError, "both scores and"),
    ({"detector": LowIsOdd(), "seed": 3}, outlying.OptionError, "seed cannot be used here"),
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


# --- the library ----------------------------------------------------------------------------


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    with pytest.raises(outlying.MissingExtraError, match=r"pip install 'outlying\[detect\]'"):
        outlying.detect(numbers(), detector="feature-bagging")
    assert len(outlying.detect(numbers(), top=3).rows) == 3
    assert outlying.detect(numbers(), scores=np.arange(200)).positions[0] == 199


def test_import_loads_no_index() -> None:
    code = "import sys, outlying; print([m for m in sys.modules if m.split('.')[0] == 'scipy'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_ends_it_without_a_crash(workers: int) -> None:
    code = (
        "import numpy as np, outlying\n"
        "table = {f'x{i}': np.random.default_rng(i).normal(size=40_000) for i in range(12)}\n"
        "say = lambda done, total: print(done, flush=True)\n"
        f"outlying.detect(table, rounds=1000, workers={workers}, progress=say)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        while child.stdout.readline().strip() != "1":
            assert child.poll() is None
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert child.returncode == -signal.SIGINT


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).normal(size=(500, 3))
    alone = nearest.nearest_distances(points, np.arange(500), 4, 1)
    monkeypatch.setattr(nearest, "_AT_ONCE", 500 * 7)
    for workers in (1, 3):
        assert (nearest.nearest_distances(points, np.arange(500), 4, workers) == alone).all()


def test_a_row_is_not_its_own_neighbour() -> None:
    points = np.array([[0.0], [1.0], [1.0], [5.0]])
    everything = nearest.nearest_distances(points, np.arange(4), 2, 1)
    assert everything.tolist() == [[1, 1], [0, 1], [0, 1], [4, 4]]
    some = nearest.nearest_distances(points, np.array([0, 1, 2]), 2, 1)
    assert some[3].tolist() == [4, 4]


@pytest.mark.parametrize("drawn_rows", [[0, 1, 2, 4], [3, 0, 4, 2], [1, 3, 4, 0]])
def test_which_of_several_copies_is_drawn_does_not_matter(drawn_rows: list[int]) -> None:
    points = np.array([[0.0], [1.0], [1.0], [1.0], [5.0]])
    found = nearest.nearest_distances(points, np.array(drawn_rows), 2, 1)
    assert found.tolist() == [[1, 1], [0, 0], [0, 0], [0, 0], [4, 4]]


def test_coordinates_of_mixed_columns() -> None:
    columns: list[Column] = [
        numeric_column("n", [0.0, 2.0, np.nan, 2.0]),
        categorical_column("c", ["a", "b", None, "a"]),
    ]
    points = Coordinates.of(columns).points()
    steps = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    spread = np.std([0, 2, 2])
    assert steps[0, 1] == pytest.approx((2 / spread) ** 2 + 1)
    assert steps[0, 2] == pytest.approx((2 / spread) ** 2 + 0.5 + 0.5)
    assert steps[1, 2] == pytest.approx(0.5 + 0.5)
    assert steps[1, 3] == pytest.approx(1)


def test_settings_have_the_documented_defaults() -> None:
    assert Bagging.of() == Bagging()
    assert Bagging().combine == "rank"


# --- by strength ----------------------------------------------------------------------------


def test_strength_ranks_by_the_strongest_finding() -> None:
    """Odd in its context only, among columns of noise: no distance sees it."""
    planted = plant("category", 1, rows=300, noise=4)
    found = outlying.detect(planted.data, detector="strength", top=5, workers=1)
    assert planted.row in found.positions
    strengths = outlying.Explainer(planted.data, references=0).strengths(workers=1)
    for item in found.rows:
        assert item.score >= strengths[item.row]
        assert item.score in strengths
    assert found.settings.to_dict()["detector"] == "strength"
    text = " ".join(str(found).split())
    for item in found.rows:
        assert item.strength == strengths[item.row]
        if item.score > strengths[item.row]:
            assert f"are rarer all together than those of {item.rarer_than} rows" in text
        else:
            assert f"score {item.score:.2f}, the strength of its strongest finding" in text
    assert any(item.score > strengths[item.row] for item in found.rows)


def test_every_row_of_a_small_table_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    table = numbers(60, 3)
    assert outlying.detect(table).settings.detector == "strength"
    assert outlying.detect(table, rounds=3).settings.detector == "feature-bagging"
    monkeypatch.setattr(detect_api, "MOST_EXPLAINED", 60 * 3**1.5 - 1)
    large = outlying.detect(table)
    assert large.settings.detector == "feature-bagging"
    assert large.notes[0].startswith("To explain each of 60 rows of 3 columns would take long")
    assert outlying.detect(table, detector="strength").notes == ()


def test_many_small_surprises_add_up() -> None:
    """A row that is a little rare in every column comes before rows that are rare in one."""
    rng = np.random.default_rng(0)
    table = {f"c{place}": rng.normal(size=400) for place in range(8)}
    for column in table.values():
        column[5] = 2.4
    scores = outlying.Explainer(table).oddness(workers=1)
    assert scores[5] == scores.max()


def test_strengths_are_the_same_by_several_processes_and_in_any_order() -> None:
    planted = plant("interval", 2, rows=150, noise=2)
    alone = outlying.Explainer(planted.data).strengths(workers=1)
    assert np.array_equal(outlying.Explainer(planted.data).strengths(workers=2), alone)
    order = np.random.default_rng(0).permutation(150)
    shuffled = {name: cells[order] for name, cells in planted.data.items()}
    assert outlying.Explainer(shuffled).strengths(workers=1) == pytest.approx(alone[order])
    assert np.isfinite(alone).all()


def test_options_of_bagging_are_not_for_strength() -> None:
    with pytest.raises(outlying.OptionError, match="feature bagging only"):
        outlying.detect({"a": [1.0, 2.0, 9.0]}, detector="strength", rounds=5)
