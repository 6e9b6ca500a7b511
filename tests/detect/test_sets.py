"""explain_set(): planted sets are found, the figures are those of loops, noise has no rule."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

import outlying
from outlying.detect.rules import chance, gain
from outlying.results.sets import RelationCondition
from outlying.table.table import Condition
from tests.conftest import Run


def planted(rows: int = 5_000, seed: int = 1) -> tuple[pd.DataFrame, Any, Any]:
    """Late are most evenings of one carrier, and most long ways from one airport."""
    random = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "carrier": random.choice(list("ABCDEF"), rows),
            "airport": random.choice([f"P{k}" for k in range(12)], rows),
            "hour": random.integers(0, 24, rows),
            "way": random.lognormal(6, 1, rows).round(),
            "weight": random.normal(70, 10, rows),
            **{f"x{k}": random.normal(0, 1, rows) for k in range(5)},
        }
    )
    data.loc[random.random(rows) < 0.1, "weight"] = np.nan
    first = (data["carrier"] == "B") & (data["hour"] >= 18)
    second = (data["way"] > 1500) & (data["airport"] == "P3")
    data["late"] = random.random(rows) < np.where(first | second, 0.85, 0.02)
    return data, first.to_numpy(), second.to_numpy()


def members(rule: outlying.Rule, data: pd.DataFrame) -> Any:
    """The rows of a rule, by loops over its conditions."""
    found = np.ones(len(data), dtype=bool)
    for item in rule.conditions:
        assert isinstance(item, Condition)
        cells = data[item.attribute]
        if item.kind == "missing":
            found &= cells.isna().to_numpy()
        elif item.kind == "equals":
            found &= (cells == item.value).to_numpy()
        else:
            found &= ((cells >= item.low) & (cells <= item.high)).to_numpy()
    return found


def test_planted_rules_are_found_and_nothing_else() -> None:
    data, first, second = planted()
    found = outlying.explain_set(data, where={"late": True})
    assert [{item.attribute for item in rule.conditions} for rule in found.rules] == [
        {"carrier", "hour"},
        {"airport", "way"},
    ]
    for rule, mask in zip(found.rules, (first, second), strict=True):
        own = members(rule, data)
        assert (own & mask).sum() / (own | mask).sum() > 0.95
    assert found.rows == data["late"].sum()


def test_the_figures_are_those_of_counting() -> None:
    data, *_ = planted()
    found, late = outlying.explain_set(data, where={"late": True}), data["late"].to_numpy()
    before = np.zeros(len(data), dtype=bool)
    for rule in found.rules:
        own = members(rule, data)
        assert (rule.rows, rule.hits) == (own.sum(), (own & late).sum())
        assert rule.new == (own & late & ~before).sum()
        before |= own
        assert rule.coverage == pytest.approx((own & late).sum() / late.sum())
        assert rule.precision == pytest.approx((own & late).sum() / own.sum())
        ratio = rule.precision / ((~own & late).sum() / (~own).sum())
        assert rule.risk_ratio == pytest.approx(ratio)
        low, high = rule.risk_interval
        assert high is not None
        assert low < ratio < high
        assert math.sqrt(low * high) == pytest.approx(ratio)
    assert found.covered == (before & late).sum()


def test_rows_and_masks_name_the_same_set_and_no_order_matters() -> None:
    data, *_ = planted(2_000)
    late = data.pop("late").to_numpy()
    found = outlying.explain_set(data, rows=late)
    assert found.rules
    rows = np.flatnonzero(late)
    assert outlying.explain_set(data, rows=rows.tolist()).rules == found.rules
    order = np.random.default_rng(2).permutation(len(data))
    shuffled = data.iloc[order, ::-1].reset_index(drop=True)
    assert outlying.explain_set(shuffled, rows=late[order]).rules == found.rules


def test_noise_has_no_rule() -> None:
    told = 0
    for seed in range(12):
        data, *_ = planted(1_500, seed)
        data["late"] = np.random.default_rng(seed).random(len(data)) < 0.1
        told += len(outlying.explain_set(data, where={"late": True}).rules)
    assert told == 0


def test_gaps_intervals_in_the_middle_and_whole_sets() -> None:
    random = np.random.default_rng(3)
    data = pd.DataFrame({"x": random.normal(0, 1, 2_000), "y": random.normal(0, 1, 2_000)})
    data.loc[random.random(2_000) < 0.1, "y"] = np.nan
    (rule,) = outlying.explain_set(data, rows=data["y"].isna().to_numpy()).rules
    assert str(rule.conditions[0]) == "y is empty"
    assert (rule.coverage, rule.precision, rule.risk_ratio) == (1.0, 1.0, None)
    inside = ((data["x"] > 0.3) & (data["x"] < 0.4)).to_numpy()
    (rule,) = outlying.explain_set(data, rows=inside).rules
    assert members(rule, data).tolist() == inside.tolist()
    assert "no other row is" in str(rule)


def test_relations_are_conditions() -> None:
    data, *_ = planted(3_000)
    random = np.random.default_rng(5)
    data["net"] = random.lognormal(4, 1, len(data)).round(2)
    data["tax"] = random.integers(0, 90, len(data))
    data["total"] = (data["net"] + data["tax"]).round(2)
    heat = random.normal(20, 5, len(data))
    data["heat"], data["cost"] = heat.round(2), (3 * heat + random.normal(0, 1, len(data))).round(2)
    wrong = random.random(len(data)) < 0.01
    data.loc[wrong, "total"] *= random.choice([0.5, 1.5], wrong.sum())
    dear = random.random(len(data)) < 0.01
    data.loc[dear, "cost"] += 12
    data["late"] = wrong & (data["carrier"] != "A")
    (rule,) = outlying.explain_set(data, where={"late": True}).rules
    (item,) = (item for item in rule.conditions if isinstance(item, RelationCondition))
    assert {item.attribute, *item.given} == {"net", "tax", "total"}
    assert (item.side, rule.rows, rule.hits) == ("off", wrong.sum(), data["late"].sum())
    data["late"] = dear
    found = outlying.explain_set(data, where={"late": True})
    (item,) = (item for item in found.rules[0].conditions if isinstance(item, RelationCondition))
    texts = (
        "cost is far more than expected, given heat",
        "heat is far less than expected, given cost",
    )
    assert str(item) in texts
    assert f"What columns say of others: {item.relation}." in found.text()
    jsonschema.validate(json.loads(found.to_json()), outlying.json_schema())
    content = found.to_dict()["rules"][0]["conditions"][0]
    assert (content["kind"], content["relation"]) == ("relation", item.relation)
    apart = outlying.explain_set(data, where={"late": True}, contexts=["heat", "net"])
    assert not apart.rules


def test_text_and_json() -> None:
    data, *_ = planted(2_000)
    found = outlying.explain_set(data, where={"late": True}, most=1)
    text = found.text()
    assert text == str(found)
    assert "1. carrier = B and hour is 18 to 23: " in text
    assert "groups; the figures allow for that" in text
    content = json.loads(found.to_json())
    assert content["set"]["rows"] == found.rows
    assert content["rules"][0]["sentence"] == str(found.rules[0])
    assert "late" not in content["columns"]
    none = outlying.explain_set(data, where={"late": True}, contexts=["weight"])
    assert "Nothing sets them apart" in none.text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "exactly one of rows= and where="),
        ({"rows": [1], "where": {"x": 1.0}}, "exactly one"),
        ({"rows": []}, "no row is in the set"),
        ({"rows": range(50)}, "every row is in the set"),
        ({"rows": [50]}, "positions from 0 to 49"),
        ({"rows": np.ones(3, dtype=bool)}, "a mask of 3 values"),
        ({"where": np.ones(3, dtype=bool)}, "masks are given as rows="),
        ({"where": {"y": 1}}, "unknown column 'y'"),
    ],
)
def test_wrong_sets_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(outlying.OutlyingError, match=said):
        outlying.explain_set({"x": np.arange(50.0), "z": np.arange(50.0) % 7}, **given)


def test_the_gain_of_a_group_is_a_likelihood_ratio() -> None:
    def told(hits: int, rows: int) -> float:
        rate = hits / rows
        return sum(n * math.log(p) for n, p in ((hits, rate), (rows - hits, 1 - rate)) if n)

    expected = told(30, 40) + told(20, 960) - told(50, 1000)
    assert float(gain(40, 30, 1000, 50)) == pytest.approx(expected)
    assert float(gain(40, 1, 1000, 50)) == 0.0
    assert chance(0.0) == 1.0
    assert chance(3.0) == pytest.approx(math.exp(-3.0))


def test_the_command(run: Run, tmp_path: Path) -> None:
    data, *_ = planted(2_000)
    path = tmp_path / "flights.csv"
    data.to_csv(path, index=False)
    code, out, err = run("compare", path, "--where-true", "late")
    assert (code, err) == (0, "")
    assert "1. carrier = B and hour is 18 to 23: " in out
    assert run("compare", path, "--where", "late=true")[1] == out
    content = json.loads(run("compare", path, "--where-true", "late", "--format", "json")[1])
    assert len(content["rules"]) >= 1
    rows = ",".join(str(row + 1) for row in np.flatnonzero(data["late"]))
    named = run("compare", path, "--rows", rows, "--exclude", "late")[1]
    assert named == out
    code, _, err = run("compare", path)
    assert code == 2
    assert "--where-true COLUMN" in err
    assert "--object" not in run("compare", "--help")[1] + err
    code, _, err = run("compare", path, "--row", "3")
    assert code == 2
    assert "--rows" in err
    assert run("compare", path, "--where-true", "late", "--engine", "duckdb")[1] == out
    code, _, err = run("compare", path, "--rows", "3", "--engine", "duckdb")
    assert code == 2
    assert "whose rows have no numbers" in err


def test_of_a_large_stream_rows_are_drawn(tmp_path: Path) -> None:
    data, *_ = planted(300_000)
    path = tmp_path / "flights.parquet"
    data[["carrier", "hour", "late"]].to_parquet(path)
    scan = outlying.scan(path)
    found = outlying.explain_set(scan, where={"late": True}, most=1)
    assert [str(item) for item in found.rules[0].conditions] == ["carrier = B", "hour is 18 to 23"]
    assert "among 262,144 rows that were drawn at random from 300,000" in found.text()
    content = found.to_dict()
    assert (content["rows"], content["set"]["drawn_from"]) == (262_144, 300_000)
    with pytest.raises(outlying.OptionError, match=r"where=\{column: value\}"):
        outlying.explain_set(scan, rows=[3])
