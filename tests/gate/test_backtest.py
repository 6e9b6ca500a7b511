"""How many rows each past day would have raised: judged by the rows before it, or by a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import outlying
from tests.conftest import Run

DAYS, EACH = 12, 60
WRONG = {5: 2, 9: 1}  # rows by day


def nights() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    day = np.repeat(np.arange(DAYS), EACH)
    city = rng.choice(["Rome", "Oslo"], len(day))
    heat = np.where(city == "Rome", 20.0, 5.0) + rng.normal(0, 1.5, len(day)).round(2)
    for number, count in WRONG.items():
        heat[number * EACH : number * EACH + count] = 99.0
    date = pd.Timestamp("2026-03-02") + pd.to_timedelta(day, "D")
    batch = [f"batch {chr(65 + number)}" for number in day]
    return pd.DataFrame({"date": date, "batch": batch, "city": city, "heat": heat})


@pytest.mark.parametrize("by", ["date", "batch"])
def test_each_day_is_judged_by_those_before_it(by: str) -> None:
    table = nights()
    found = outlying.backtest(table, by=by, exclude=["batch" if by == "date" else "date"])
    counts = {k: item.exceptional for k, item in enumerate(found.periods) if item.exceptional}
    assert counts == WRONG
    assert found.periods[0].exceptional is None
    assert [item.rows for item in found.periods] == [EACH] * DAYS
    assert {k for k, item in enumerate(found.periods) if item.is_alarm} == set(WRONG)
    some = outlying.backtest(table, by=by, max_exceptional=1, exclude=["batch"])
    assert sum(item.is_alarm for item in some.periods) == 1


def test_it_is_what_a_check_would_have_said() -> None:
    table = nights().drop(columns="batch")
    found = outlying.backtest(table, by="date")
    for number in (3, 5, 9):
        own, base = table[number * EACH :][:EACH], table[: number * EACH]
        checked = outlying.check(own, against=base)
        assert checked.exceptional == found.periods[number].exceptional


def test_the_order_of_rows_does_not_matter() -> None:
    table = nights()
    shuffled = table.sample(frac=1, random_state=1)
    assert outlying.backtest(shuffled, by="date") == outlying.backtest(table, by="date")


def test_many_days_are_weeks_and_the_first_are_only_compared_with() -> None:
    found = outlying.backtest(nights(), by="date", most=2)
    assert (found.kind, [item.name for item in found.periods]) == (
        "week",
        ["2026-03-02", "2026-03-09"],
    )
    last = outlying.backtest(nights(), by="batch", most=3)
    assert [item.name for item in last.periods] == ["batch J", "batch K", "batch L"]
    assert last.notes == ("the first 9 values are only compared with",)


def test_a_model_judges_all_of_them(tmp_path: Path) -> None:
    table = nights().drop(columns="batch")
    table[: 4 * EACH].to_csv(tmp_path / "base.csv", index=False)
    outlying.Explainer(tmp_path / "base.csv").save(tmp_path / "base.outlying")
    found = outlying.backtest(table, by="date", against=tmp_path / "base.outlying")
    assert {k: item.exceptional for k, item in enumerate(found.periods) if item.exceptional} == (
        WRONG
    )
    assert Path(str(found.against)).name == "base.csv"


def test_the_command(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "nights.csv"
    nights().drop(columns="batch").to_csv(path, index=False)
    code, out, err = run("check", str(path), "--backtest", "date")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "2 of 11 days would have raised an alarm, by 3 exceptional rows" in lines[0]
    assert len(lines) == 1 + DAYS
    assert lines[6].split()[:4] == ["2026-03-07", "60", "rows", "2"]
    code, out, _ = run("check", str(path), "--backtest", "date", "--format", "json")
    whole = json.loads(out)
    assert (code, len(whole["periods"]), whole["kind"]) == (0, DAYS, "day")
    code, out, _ = run("check", str(path), "--backtest", "date", "--quiet")
    assert (code, out.count("\n")) == (0, 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--backtest", "dat"), "did you mean 'date'"),
        (("--backtest", "date", "--format", "junit"), "text or json"),
        (("--backtest", "date", "--accept", "a.toml"), "--accept"),
    ],
)
def test_wrong_requests_are_refused(
    run: Run, tmp_path: Path, words: tuple[Any, ...], said: str
) -> None:
    path = tmp_path / "nights.csv"
    nights().to_csv(path, index=False)
    code, out, err = run("check", str(path), *words)
    assert (code, out) == (2, "")
    assert said in err


def test_rows_without_a_date_are_left_out_and_counted() -> None:
    table = nights()
    table.loc[:2, "date"] = pd.NaT
    found = outlying.backtest(table, by="date")
    assert found.periods[0].rows == EACH - 3
    assert found.notes == ("3 rows have no date and are left out",)
    with pytest.raises(outlying.OptionError, match="is empty"):
        outlying.backtest(table.assign(date=pd.NaT), by="date", types={"date": "datetime"})
