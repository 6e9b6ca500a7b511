"""The Python surface: what a user passes and what comes back."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import outlying
from benchmarks.planted import KINDS, plant
from outlying import (
    ColumnError,
    InfiniteValueError,
    ObjectError,
    OptionError,
    RowError,
    SourceError,
)


@pytest.fixture(scope="module")
def weather() -> dict[str, Any]:
    """City B is cold, city A is warm; row 0 is a cold day in A."""
    rng = np.random.default_rng(0)
    city = np.where(np.arange(400) < 160, "A", "B").astype(object)
    temp = np.where(city == "A", rng.normal(30, 1, 400), rng.normal(5, 1, 400))
    temp[0] = 5.2
    return {"city": city, "temp": temp, "noise": rng.normal(size=400)}


def pair(findings: outlying.Findings, name: str) -> outlying.Pair:
    told = [item for story in findings.stories for item in story.pairs]
    return next(item for item in told if item.property == name)


def test_the_story_in_full(weather: dict[str, Any]) -> None:
    findings = outlying.explain(weather, row=0)
    found = pair(findings, "temp")
    assert found.conditions == (outlying.Condition("city", "equals", value="A"),)
    assert found.value == 5.2
    assert (found.group_size, found.known, found.support) == (160, 160, 0.4)
    assert found.exceptional
    assert found.outlierness >= 0.9
    assert found.rarity == pytest.approx(1 / (1 - found.outlierness))
    assert found.tail == pytest.approx(1 / 160)
    assert found.lift > 1.5
    assert found.overall_outlierness < 0.5
    assert len(found.typical) == 1
    ranges: Any = found.typical
    low, high = ranges[0]
    assert 26 < low < 29 < 31 < high < 34
    assert found.sentence.startswith("temp = 5.2, expected 2")
    assert found.sentence.endswith(
        " where city = A. None of the other 159 rows there has a value this small. "
        "Elsewhere in the table 5.2 is common."
    )
    assert str(found) == found.sentence
    assert findings.exceptional


def facts(item: outlying.Pair) -> tuple[object, ...]:
    """What does not depend on whether the object is a row of the table."""
    return item.property, item.conditions, item.rarity, item.tail, item.group_size, item.typical


def test_row_where_and_object_agree(weather: dict[str, Any]) -> None:
    explainer = outlying.Explainer(weather)
    by_row = explainer.explain(row=0)
    assert explainer.explain(where={"temp": 5.2}) == by_row
    assert explainer.explain(where={"temp": 5.2, "city": "A"}) == by_row
    assert explainer.explain(row=np.int64(0)) == by_row  # type: ignore[arg-type]
    others = {name: column[1:] for name, column in weather.items()}
    new = outlying.explain(others, object={name: column[0] for name, column in weather.items()})
    assert [facts(item) for item in new.pairs] == [facts(item) for item in by_row.pairs]
    assert new.strength == pytest.approx(by_row.strength, abs=0.5)  # it is no row of the table
    assert (new.row, new.population.rows) == (None, 399)


def test_findings_are_immutable_values(weather: dict[str, Any]) -> None:
    findings = outlying.explain(weather, row=0)
    assert pickle.loads(pickle.dumps(findings)) == findings  # noqa: S301
    findings.object["city"] = "C"
    assert findings.object["city"] == "A"
    with pytest.raises(AttributeError):
        findings.stories = ()  # type: ignore[misc]
    assert isinstance(findings.pairs, tuple)


def test_json_and_dict(weather: dict[str, Any]) -> None:
    findings = outlying.explain(weather, row=0)
    assert json.loads(findings.to_json()) == findings.to_dict()
    assert findings.to_json(indent=2).startswith('{\n  "schema": 3')
    assert findings.to_dict()["objects"][0]["row"] == 1


def test_frames_of_what_the_user_has(weather: dict[str, Any]) -> None:
    from_pandas = outlying.explain(pd.DataFrame(weather), row=0).to_frame()
    from_polars = outlying.explain(
        pl.DataFrame({name: list(column) for name, column in weather.items()}), row=0
    ).to_frame()
    assert isinstance(from_pandas, pd.DataFrame)
    assert isinstance(from_polars, pl.DataFrame)
    assert list(from_pandas["property"]) == from_polars["property"].to_list()
    assert "sentence" in from_pandas.columns


def test_print_reads_well(weather: dict[str, Any]) -> None:
    text = str(outlying.explain(weather, row=0))
    assert text.startswith("Row 0 of dict of arrays (400 rows)\n  city=A  temp=5.2")
    assert max(len(line) for line in text.splitlines()) <= 88
    assert " 1. " in text


def test_nothing_reaches_the_threshold() -> None:
    rng = np.random.default_rng(3)
    data = {
        "a": rng.uniform(size=300),
        "b": rng.uniform(size=300),
        "c": rng.choice(["x", "y"], 300),
    }
    findings = outlying.explain(data, row=5)
    assert not findings.exceptional
    assert findings.pairs
    assert all(not item.exceptional and item.outlierness < 0.9 for item in findings.pairs)
    names = [item.property for item in findings.pairs]
    assert len(set(names)) == len(names)
    assert str(findings).count("out of the ordinary") == 1


def test_nothing_stands_out_at_all() -> None:
    findings = outlying.explain({"a": ["x", "y", "x", "y"]}, row=0)
    assert findings.pairs == ()
    assert "No value of this row is rare, whatever rows it is compared with." in findings.notes
    assert "\n\nNothing in this row is out of the ordinary.\n\n" in str(findings)


def test_missing_where_others_are_not() -> None:
    rng = np.random.default_rng(1)
    ward = np.where(np.arange(300) % 3 == 0, "heart", "skin").astype(object)
    ecg: list[float | None] = [
        None if w == "skin" else float(x) for w, x in zip(ward, rng.normal(size=300), strict=True)
    ]
    ecg[30] = None
    findings = outlying.explain({"ward": ward, "ecg": ecg}, row=30)
    found = pair(findings, "ecg")
    assert found.value is None
    assert found.conditions == (outlying.Condition("ward", "equals", value="heart"),)
    assert found.typical == ("known",)
    assert found.sentence.startswith(
        "ecg is empty; it is filled in the other 99 rows where ward = heart."
    )
    given_gap = pair(findings, "ward")
    assert given_gap.conditions == (outlying.Condition("ecg", "missing"),)
    assert "where ecg is empty" in given_gap.sentence
    assert found.to_dict()["value"] is None


def test_every_skipped_column_has_its_reason() -> None:
    data = {
        "id": [f"k{i}" for i in range(40)],
        "same": [7] * 40,
        "empty": [None] * 40,
        "nested": [[1]] * 40,
        "x": [*range(39), 900],
    }
    findings = outlying.explain(data, row=39)
    reasons = {item.name: item.reason for item in findings.population.skipped_columns}
    assert set(reasons) == {"id", "same", "empty", "nested"}
    assert reasons["id"] == "differs in every row"
    assert reasons["same"] == "is 7 in every row"
    assert reasons["empty"] == "is empty in every row"
    assert findings.population.columns == ("x",)
    assert findings.object["id"] == "k39"
    used = outlying.explain(data, row=39, types={"id": "categorical"})
    assert "id" in used.population.columns


def test_a_constant_column_counts_where_the_object_differs() -> None:
    data = {"unit": ["mm"] * 60, "x": list(range(60))}
    findings = outlying.explain(data, object={"unit": "inch", "x": 30})
    assert pair(findings, "unit").conditions == ()
    assert pair(findings, "unit").exceptional


def test_codes_as_categories_and_texts_as_numbers() -> None:
    rng = np.random.default_rng(0)
    data = {
        "zip": rng.choice([10115, 20095], 200),
        "text": [f"{x:.2f}" for x in rng.normal(size=200)],
    }
    findings = outlying.explain(data, row=0, types={"zip": "categorical", "text": "numeric"})
    assert findings.population.columns == ("zip", "text")
    assert findings.object["zip"] in ("10115", "20095")
    assert isinstance(findings.object["text"], float)


def test_dates_times_and_durations_are_shown_as_such() -> None:
    rng = np.random.default_rng(0)
    day = dt.datetime(2024, 1, 1)
    data: dict[str, Any] = {
        "when": [day + dt.timedelta(days=float(x)) for x in rng.normal(0, 3, 120)],
        "date": [(day + dt.timedelta(days=int(x))).date() for x in rng.normal(0, 9, 120)],
        "clock": [dt.time(9, int(x)) for x in rng.integers(0, 50, 120)],
        "took": [dt.timedelta(seconds=float(x)) for x in rng.normal(60, 5, 120)],
        "price": [Decimal(f"{x:.2f}") for x in rng.normal(100, 5, 120)],
    }
    data["when"][7] = dt.datetime(2025, 6, 1, 12, 30)
    data["took"][7] = dt.timedelta(hours=3)
    findings = outlying.explain(data, row=7)
    when, took = pair(findings, "when"), pair(findings, "took")
    assert when.value == dt.datetime(2025, 6, 1, 12, 30)
    assert took.value == dt.timedelta(hours=3)
    assert "when = 2025-06-01 12:30, expected 2023-12-27 19:05 to 2024-" in when.sentence
    assert "took = 3:00:00, expected " in took.sentence
    ranges: Any = when.typical
    assert isinstance(ranges[0][0], dt.datetime)
    plain = findings.to_dict()["objects"][0]
    assert plain["values"]["when"] == "2025-06-01T12:30:00"
    assert plain["values"]["took"] == "P0DT3H0M0S"
    json.dumps(plain)


def test_infinite_values(weather: dict[str, Any]) -> None:
    temp = weather["temp"].copy()
    temp[17] = np.inf
    data = weather | {"temp": temp}
    with pytest.raises(InfiniteValueError, match=r"'temp'.*row 17") as caught:
        outlying.explain(data, row=0)
    assert (caught.value.column, caught.value.row) == ("temp", 17)
    findings = outlying.explain(data, row=0, infinite="missing")
    assert "Column 'temp': an infinite value counts as missing." in findings.notes
    outlying.explain(data, row=0, exclude=["temp"])
    outlying.explain(data, row=0, columns=["city", "noise"])
    new = outlying.explain(
        weather, object={"city": "A", "temp": np.inf, "noise": 0.0}, infinite="missing"
    )
    assert pair(new, "temp").value is None
    with pytest.raises(InfiniteValueError, match="in the object"):
        outlying.explain(weather, object={"city": "A", "temp": -np.inf, "noise": 0.0})


def test_top_cuts_and_says_so(weather: dict[str, Any]) -> None:
    data = weather | {"noise": np.append(50.0, weather["noise"][1:])}
    whole = outlying.explain(data, row=0, top=100)
    cut = outlying.explain(data, row=0, top=1)
    assert cut.pairs == whole.pairs[:1]
    assert len(whole.stories) == whole.found > 1
    assert "Only the strongest finding is given." in cut.notes
    assert "A higher top shows more findings." in str(cut)
    assert not any("strongest" in note for note in whole.notes)


def test_the_papers_measure_says_its_limit(weather: dict[str, Any]) -> None:
    findings = outlying.explain(weather, row=0, preset="paper")
    assert any("cannot exceed 0.46" in note for note in findings.notes)


def test_no_conditions_at_all(weather: dict[str, Any]) -> None:
    findings = outlying.explain(weather, row=0, max_conditions=0)
    assert all(item.conditions == () for item in findings.pairs)


def test_same_property_and_attributes_once(weather: dict[str, Any]) -> None:
    findings = outlying.explain(weather, row=0, top=1000)
    seen = [(p.property, tuple(c.attribute for c in p.conditions)) for p in findings.pairs]
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        ({}, OptionError, "exactly one"),
        ({"row": 0, "where": {"city": "A"}}, OptionError, "exactly one"),
        ({"row": 400}, RowError, "positions 0 to 399"),
        ({"row": -1}, RowError, "row -1"),
        ({"row": "first"}, RowError, "'first'"),
        ({"where": {}}, RowError, "empty"),
        ({"where": {"city": "A"}}, RowError, "160 rows have city = A"),
        ({"where": {"city": "C"}}, RowError, "no row has city = C"),
        ({"where": {"cty": "A"}}, ColumnError, "did you mean 'city'"),
        ({"where": {"temp": "cold"}}, RowError, "'temp' expects a number"),
        ({"object": {"city": "A"}}, ObjectError, "no value for 'temp', 'noise'"),
        ({"object": {"city": "A", "temp": 1, "noise": 0, "x": 1}}, ObjectError, "'x'"),
        ({"object": {"city": 3, "temp": 1, "noise": 0}}, ObjectError, "'city' is 3 (int)"),
        ({"object": {"city": "A", "temp": True, "noise": 0}}, ObjectError, "expects a number"),
        ({"row": 0, "exclude": ["city", "temp", "noise"]}, ColumnError, "no column is left"),
        ({"row": 0, "columns": ["citty"]}, ColumnError, "'city'"),
        ({"row": 0, "types": {"city": "numeric"}}, ColumnError, "'A'"),
    ],
)
def test_clear_errors(
    weather: dict[str, Any], call: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as caught:
        outlying.explain(weather, **call)
    assert said in str(caught.value)


def test_one_row_is_not_enough() -> None:
    with pytest.raises(SourceError, match="at least two"):
        outlying.explain({"a": [1.0]}, row=0)


def test_a_new_object_may_lack_what_is_not_compared(weather: dict[str, Any]) -> None:
    data = weather | {"id": [f"d{i}" for i in range(400)]}
    outlying.explain(data, object={"city": "A", "temp": 5.2, "noise": None})
    outlying.explain(data, object={"temp": 5.2, "noise": 0.0}, exclude=["city"])
    outlying.explain(data, object={"temp": 5.2}, columns=["temp"])


def test_huge_and_tiny_units() -> None:
    rng = np.random.default_rng(0)
    base = np.append(rng.normal(size=200), 40.0)
    expected = outlying.explain({"x": base}, row=200).pairs[0]
    for unit in (1e-300, 1e-150, 1e150, 1e300):
        found = outlying.explain({"x": base * unit}, row=200).pairs[0]
        assert found.rarity == pytest.approx(expected.rarity, rel=1e-9)


def test_a_value_far_beyond_all_that_were_drawn() -> None:
    """Of large tables rows are drawn: their scale is their own."""
    table = {"x": np.random.default_rng(1).normal(size=16_500)}
    found = outlying.explain(table, object={"x": 1e300})
    assert [(pair.property, pair.value) for pair in found.pairs] == [("x", 1e300)]
    assert found.pairs[0].rarity > 15_000  # of the others, nearly all are near a typical one
    table["x"][3] = 1e300
    for row in range(3):
        assert outlying.explain(table, row=row).object["x"] == table["x"][row]


def test_numbers_without_any_between() -> None:
    """No border fits between neighbouring floats; what they are is told all the same."""
    rng = np.random.default_rng(5)
    whole = 2**53 - rng.integers(0, 6, 50)
    found = outlying.explain({"a": whole, "b": rng.normal(size=50)}, row=0)
    assert found.object["a"] == whole[0]
    whole = 2**53 - rng.integers(0, 6, 20_000)
    for row in range(6):
        for pair in outlying.explain({"a": whole}, row=row).pairs:
            assert pair.tail > 0.1, "the object is one of the rows at least as rare"


@pytest.mark.parametrize("kind", KINDS)
def test_typical_holds_nine_tenths_and_not_the_object(kind: str) -> None:
    planted = plant(kind, 3, rows=300, noise=4)
    for found in outlying.explain(planted.data, row=planted.row, top=50, derive=False).pairs:
        rows = np.ones(300, dtype=bool)
        for condition in found.conditions:
            column = planted.data[condition.attribute]
            if condition.kind == "interval":
                rows &= (column >= condition.low) & (column <= condition.high)
            else:
                rows &= column == condition.value
        assert rows.sum() == found.group_size
        column = planted.data[found.property]
        if column.dtype == object:
            assert np.mean([value in found.typical for value in column[rows]]) >= 0.9
            assert found.value not in found.typical
            continue
        ranges: Any = found.typical
        inside = sum(((column[rows] >= a) & (column[rows] <= b)).sum() for a, b in ranges)
        assert inside >= 0.9 * found.known
        assert not any(a <= found.value <= b for a, b in ranges)
        assert all(b < c for (_, b), (c, _) in itertools.pairwise(ranges))


def test_progress_is_reported(weather: dict[str, Any]) -> None:
    seen: list[tuple[int, int]] = []
    outlying.explain(weather, row=0, progress=lambda done, total: seen.append((done, total)))
    assert seen
    assert all(0 <= done <= total for done, total in seen)


@pytest.mark.parametrize("long", [99_999_999_999_999_999, 10**23 - 1])
def test_one_long_number_among_amounts_is_exceptional(long: int, tmp_path: Path) -> None:
    """A key that got stuck must not take the column away from all rows."""
    amounts = [100 + place % 37 for place in range(80)]
    amounts[7] = long
    names = [f"row {place}" for place in range(80)]
    path = tmp_path / "t.csv"
    lines = (f"{name},{amount}\n" for name, amount in zip(names, amounts, strict=True))
    path.write_text("name,amount\n" + "".join(lines))
    for data in ({"name": names, "amount": amounts}, path, outlying.scan(path)):
        found = outlying.explain(data, where={"name": "row 7"})
        assert found.stories[0].exceptional
        assert found.stories[0].columns == ("amount",)
        assert not any("beyond 2**53" in note for note in found.notes)


@pytest.mark.parametrize("row", [True, False, np.True_, 1.0, np.array(True), np.array([1]), "1"])
def test_what_is_no_position_is_refused(row: Any) -> None:
    with pytest.raises(RowError, match="allowed: a position, a whole number from 0"):
        outlying.explain({"x": [1.0, 2.0, 3.0]}, row=row)


def test_values_are_told_apart_in_words() -> None:
    """Large numbers that differ in their last digits must not look the same."""
    numbers = [1e16 + 2 * (place % 3) for place in range(60)]
    said = outlying.explain({"x": [*numbers, 1e16 + 64]}, row=60).stories[0].headline.sentence
    assert "x = 10,000,000,000,000,064, expected 10,000,000,000,000,000 to" in said
    assert "1e+16" not in said


def test_dates_before_year_one_are_shown_as_dates() -> None:
    days = np.array(["2024-01-01"] * 40, dtype="datetime64[D]") + np.arange(40)
    days[3] = np.datetime64("0000-01-01")
    found = outlying.explain({"day": days}, row=3)
    assert "day = 0000-01-01" in found.stories[0].headline.sentence
    assert "e+16" not in str(found)


def test_a_new_category_counts_like_one_that_a_single_row_has() -> None:
    rng = np.random.default_rng(4)
    table = {"kind": ["c", *rng.choice(["a", "b"], 299).tolist()], "x": rng.normal(size=300)}
    explainer = outlying.Explainer(table)
    known, new = (explainer.explain(object={"kind": kind, "x": 0.1}) for kind in "cd")
    assert new.pairs[0].property == known.pairs[0].property == "kind"
    assert new.pairs[0].strength >= known.pairs[0].strength - 0.1


def test_a_code_for_unknown_is_not_part_of_what_is_expected() -> None:
    rng = np.random.default_rng(5)
    income = np.where(rng.random(1000) < 0.06, -999.0, np.round(rng.normal(30_000, 4_000, 1000)))
    income[3] = 3_000_000
    found = outlying.explain({"income": income}, row=3)
    assert "expected 2" in str(found.stories[0])
    assert "-999" not in str(found.stories[0])
