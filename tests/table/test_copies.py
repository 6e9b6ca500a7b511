"""Columns that are no evidence: row numbers and copies, told exactly, in memory and in streams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import outlying
from outlying.table.columns import Column, categorical_column, numeric_column
from outlying.table.selection import copies_in, counts_rows

ROWS = 60


def frame(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    celsius = rng.normal(20, 5, rows).round(2)
    city = rng.choice(np.array(["Bonn", "Köln", "Trier", "Worms"]), rows)
    return pd.DataFrame(
        {
            "key": [f"k{n:06d}" for n in range(rows)],
            "nr": rng.permutation(rows) + 1,
            "celsius": celsius,
            "fahrenheit": celsius * 1.8 + 32,
            "city": city,
            "plate": pd.Series(city).map({"Bonn": "BN", "Köln": "K", "Trier": "TR", "Worms": "WO"}),
            "load": rng.gamma(2.0, 30.0, rows),
        }
    )


def skipped(data: Any, **options: Any) -> dict[str, str]:
    found = outlying.explain(data, where={"key": "k000003"}, derive=False, **options)
    return {item.name: item.reason for item in found.population.skipped_columns}


WHY = {
    "nr": "counts the rows",
    "fahrenheit": "is 'celsius' on another scale",
    "plate": "says the same as 'city' in other words",
}


def test_row_numbers_and_copies_are_left_out() -> None:
    found = skipped(frame())
    del found["key"]
    assert found == WHY


@pytest.mark.parametrize("rows", [ROWS, 20_000])
def test_the_same_in_a_stream(rows: int, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame(rows).to_parquet(path)
    assert skipped(path, engine="duckdb") == skipped(path)


@pytest.mark.parametrize("rows", [100, 20_000])  # in fewer, a fifth of all is too few to tell
def test_one_row_that_differs_is_evidence(rows: int, tmp_path: Path) -> None:
    table = frame(rows)
    table.loc[3, "fahrenheit"] += 20
    table.loc[5, "plate"] = "WO" if table["plate"][5] != "WO" else "K"
    table.loc[7, "nr"] = table["nr"][8]
    table.to_parquet(tmp_path / "t.parquet")
    for engine in ("memory", "duckdb"):
        assert set(skipped(tmp_path / "t.parquet", engine=engine)) == {"key"}
    found = outlying.explain(table, row=3)
    assert {"celsius", "fahrenheit"} <= set(found.stories[0].columns)


def test_a_declared_type_keeps_a_column() -> None:
    found = skipped(
        frame(), types={"nr": "numeric", "fahrenheit": "numeric", "plate": "categorical"}
    )
    assert set(found) == {"key"}


def test_a_new_object_may_break_a_copy() -> None:
    table = frame()
    own = {name: table[name][9] for name in table} | {"fahrenheit": 99.0, "nr": None}
    found = outlying.explain(table, object=own, derive=False)
    assert {item.name for item in found.population.skipped_columns} == {"key", "nr", "plate"}
    assert found.stories[0].culprit == "fahrenheit"


def test_few_rows_count_nothing() -> None:
    assert not counts_rows(numeric_column("a", [1, 2, 3], "integer"))
    assert counts_rows(numeric_column("a", range(20), "integer"))
    assert not counts_rows(numeric_column("a", range(20)))
    assert not counts_rows(numeric_column("a", [*range(19), 18], "integer"))


def test_two_groups_are_no_copies_unless_they_are_the_same() -> None:
    flags = [0.0, 1.0] * 20
    columns: list[Column] = [
        numeric_column("a", flags),
        numeric_column("b", [2 * flag + 5 for flag in flags]),
        numeric_column("c", flags),
        categorical_column("d", ["no", "yes"] * 20),
        categorical_column("e", ["x", "y"] * 20),
        categorical_column("f", ["yes", "no"] * 20),
    ]
    assert [(copy.name, copy.original) for copy in copies_in(columns)] == [("c", "a")]


def test_gaps_must_be_in_the_same_rows() -> None:
    values = np.arange(40.0) ** 2
    gaps = np.where(np.arange(40) == 7, np.nan, values)
    assert copies_in([numeric_column("a", values), numeric_column("b", gaps)]) == []
    assert len(copies_in([numeric_column("a", gaps), numeric_column("b", -gaps)])) == 1


def test_one_row_unlike_all_others_is_evidence_for_it() -> None:
    table = frame().assign(flag=0)
    table.loc[11, "flag"] = 1
    assert outlying.explain(table, row=11).pairs[0].property == "flag"
    others = outlying.explain(table, row=12)
    assert all("flag" not in story.columns for story in others.stories if story.exceptional)


def coded(rows: int) -> pd.DataFrame:
    """Return cities with their numbers in the order of the alphabet, and grades with theirs."""
    table = frame(rows)[["key", "city", "load"]]
    grade = pd.Series(["good", "fair", "poor"] * rows)[:rows]
    number = table["city"].map({"Bonn": 1, "Köln": 2, "Trier": 3, "Worms": 4})
    order = grade.map({"good": 1, "fair": 2, "poor": 3})
    return table.assign(number=number, grade=grade, order=order)


@pytest.mark.parametrize("rows", [ROWS, 20_000])
def test_numbers_that_count_categories_are_left_out(rows: int, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    coded(rows).to_parquet(path)
    for engine in ("memory", "duckdb"):
        found = skipped(path, engine=engine)
        assert found.pop("key")
        assert found == {"number": "only numbers the texts of 'city'"}
        assert set(skipped(path, engine=engine, types={"number": "numeric"})) == {"key"}


@pytest.mark.parametrize("rows", [ROWS, 20_000])
def test_numbers_that_their_texts_hold_say_more(rows: int, tmp_path: Path) -> None:
    number = np.arange(rows) * 7 % 9 + 1
    texts = pd.Series(number).astype(str)
    table = frame(rows)[["key", "load"]].assign(
        number=number, grade="Grade " + texts, floor=texts + ". floor"
    )
    path = tmp_path / "t.parquet"
    table.to_parquet(path)
    for engine in ("memory", "duckdb"):
        assert set(skipped(path, engine=engine)) == {"key", "floor"}  # as grade does


def test_a_number_is_a_range_where_its_texts_are_too_few() -> None:
    """Nine years of a school have 22 rows each: too few for a context, three of them are not."""
    year = np.arange(198) % 9 + 1
    height = 110 + 7.0 * year + np.random.default_rng(1).normal(0, 2, 198).round(1)
    height[8] = 121.0
    table = {"class": [f"Year {item}" for item in year], "year": year, "height": height}
    story = outlying.explain(table, row=8).stories[0]
    assert (story.culprit, story.columns) == ("height", ("height", "year"))


@pytest.mark.parametrize("rows", [ROWS, 20_000])
def test_a_wrong_number_of_a_category_is_evidence(rows: int, tmp_path: Path) -> None:
    table = coded(rows)
    table.loc[5, "number"] = table["number"][5] % 4 + 1
    path = tmp_path / "t.parquet"
    table.to_parquet(path)
    for engine in ("memory", "duckdb"):
        assert set(skipped(path, engine=engine)) == {"key"}
    found = outlying.explain(table, row=5)
    assert set(found.stories[0].columns) == {"city", "number"}


def test_numbers_with_gaps_do_not_count_categories() -> None:
    texts = categorical_column("a", ["x", "y", "z"] * 20)
    for numbers in ([1, 2, 4], [2, 3, 4], [2, 1, 3], [1, 1, 2]):
        assert copies_in([texts, numeric_column("b", numbers * 20, "integer")]) == []
    right = numeric_column("b", [0, 1, 2] * 20, "integer")
    assert [copy.name for copy in copies_in([texts, right])] == ["b"]
    assert copies_in([texts, numeric_column("b", [0, 1, 2] * 20)]) == []  # not whole
    gaps = numeric_column("b", [0, 1, 2] * 19 + [0, 1, np.nan], "integer")
    assert copies_in([texts, gaps]) == []


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_of_equal_columns_the_first_stays(names: tuple[str, str]) -> None:
    load = frame(ROWS)["load"].to_numpy()
    first, second = names
    found = outlying.explain({first: load, second: load, "n": np.arange(ROWS) % 7}, row=1)
    assert [item.name for item in found.population.skipped_columns] == [second]
