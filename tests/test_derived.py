"""Derived columns: found, blamed on their column, and the same through every source."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import outlying
from outlying.options import Engine

TYPO, TWICE, PATTERN, KEY, SIGN, NIGHT, USUAL = 17, 30, 40, 50, 60, 70, 101
CLAIMS = {
    TYPO: ("city", "city = CHATHMA looks like a misspelling of CHATHAM ("),
    TWICE: ("licence", "is the only one that occurs twice"),
    PATTERN: ("licence", "licence = AB 12 has a rare pattern, AA 99 instead of AA-99999"),
    KEY: ("number", "is the only one that occurs twice"),
    SIGN: ("name", "has a character that is odd in this column"),
    NIGHT: ("when", "12:00, expected "),
}


def table(rows: int) -> pd.DataFrame:
    """Return payments late in the evening, with something wrong in a few rows."""
    rng = np.random.default_rng(5)
    city = rng.choice(["CHATHAM", "LEXINGTON", "BROOKLYN", "Room 12", "Room 13"], rows).astype(
        object
    )
    city[TYPO] = "CHATHMA"
    licence = np.array([f"AB-{code}" for code in 10_000 + rng.permutation(rows)], dtype=object)
    licence[TWICE], licence[PATTERN] = licence[TWICE + 1], "AB 12"
    number = 100 + rng.permutation(rows)
    number[KEY] = number[KEY + 1]
    words = rng.choice(["Anna", "Maria", "Peter", "Johanna"], (rows, 2))
    name = np.array([f"{one} {two[0]}{place:x}" for place, (one, two) in enumerate(words)], object)
    name[SIGN] = "Jos\ufffd Maria"
    minutes = rng.normal(23 * 60, 100, rows).astype(int) % 1440
    minutes[NIGHT] = 12 * 60
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, rows)
    return pd.DataFrame(
        {
            "place": np.arange(rows),
            "city": city,
            "licence": licence,
            "number": number,
            "name": name,
            "when": (days.astype("datetime64[m]") + minutes).astype("datetime64[us]"),
            "amount": rng.gamma(3.0, 10.0, rows).round(2),
        }
    )


@pytest.fixture(scope="module")
def small() -> outlying.Explainer:
    return outlying.Explainer(table(700), exclude=["place"])


@pytest.mark.parametrize("row", CLAIMS)
def test_what_is_wrong_is_named_first(small: outlying.Explainer, row: int) -> None:
    found = small.explain(row=row)
    column, claim = CLAIMS[row]
    story = found.stories[0]
    assert story.exceptional
    assert claim.replace("99999", "9999") in story.sentence.replace("99999", "9999")
    assert (story.culprit, story.columns) == (column, (column,))
    assert story.headline.column == column
    assert story.headline.property.startswith(f"{column} (")
    blame = found.blame
    assert max(blame, key=lambda name: blame[name]) == column
    assert set(blame) == {"city", "licence", "number", "name", "when", "amount"}


def test_the_contract(small: outlying.Explainer) -> None:
    content = small.explain(row=NIGHT).to_dict()
    names = {item["name"]: item["column"] for item in content["derived_columns"]}
    assert names["when (hour)"] == "when"
    assert names["licence (pattern)"] == "licence"
    assert "licence" in content["columns"]
    assert not content["skipped_columns"]
    pair = content["objects"][0]["pairs"][0]
    assert (pair["property"], pair["column"], pair["value"]) == ("when (hour)", "when", "12:00:00")
    (low, high), *_ = pair["typical"]
    assert low > high  # across midnight
    assert any(note.startswith("Also compared: ") for note in content["objects"][0]["notes"])


def test_no_value_is_the_context_of_its_own_part(small: outlying.Explainer) -> None:
    parent = {item.name: item.column for item in small.population.derived_columns}
    for found in small.explain_many(rows=range(0, 60, 3), workers=1):
        for story in found.stories:
            for pair in story.pairs:
                names = [pair.property, *(each.attribute for each in pair.conditions)]
                columns = [parent.get(name, name) for name in names]
                assert len(set(columns)) == len(columns)


def test_without_them() -> None:
    rows = table(300)
    explainer = outlying.Explainer(rows, derive=False)
    assert explainer.population.derived_columns == ()
    some = outlying.Explainer(rows, exclude=["when (hour)", "place"])
    names = [item.name for item in some.population.derived_columns]
    assert "when (hour)" not in names
    assert "when (weekday)" in names
    assert outlying.Explainer(rows, preset="paper").population.derived_columns == ()
    with pytest.raises(outlying.ColumnError, match=r"nowhere \(hour\)"):
        outlying.Explainer(rows, exclude=["nowhere (hour)"])


def test_a_column_of_the_same_name_comes_first() -> None:
    rows = table(300).assign(**{"when (hour)": 1.0})
    rows.loc[0, "when (hour)"] = 2.0
    names = [item.name for item in outlying.Explainer(rows).population.derived_columns]
    assert "when (hour)" not in names


def bare(found: outlying.Findings) -> dict[str, Any]:
    """Return what must be the same: all but the name of the row, and how much was searched."""
    entry = found.to_dict()["objects"][0]
    return {key: entry[key] for key in ("values", "stories", "pairs", "blame")}


def test_the_order_of_rows_makes_no_difference() -> None:
    rows = table(400)
    mixed = rows.sample(frac=1.0, random_state=3).reset_index(drop=True)
    first, second = (outlying.Explainer(each, exclude=["place"]) for each in (rows, mixed))
    for place in (TYPO, TWICE, NIGHT, USUAL):
        where = {"place": place}
        assert bare(first.explain(where=where)) == bare(second.explain(where=where))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[outlying.Explainer]:
    """Return the same table in memory and as a stream that is too large to be drawn as a whole."""
    path: Path = tmp_path_factory.mktemp("large") / "t.parquet"
    table(20_000).to_parquet(path, row_group_size=3_000)
    return [
        outlying.Explainer(path, engine=engine, exclude=["place"])
        for engine in ("memory", "duckdb")
    ]


def test_streams_say_the_same(both: list[outlying.Explainer]) -> None:
    memory, stream = both
    assert stream.population.derived_columns == memory.population.derived_columns
    wheres = [{"place": place} for place in (*CLAIMS, USUAL)]
    in_memory = [bare(memory.explain(where=where)) for where in wheres]
    streamed = [bare(each) for each in stream.explain_many(where=wheres, workers=2)]
    assert in_memory == streamed


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"city": "LEXINGTNO"},
        {"licence": "AB-10001", "number": 101},
        {"when": dt.datetime(2024, 3, 3, 11, 50)},
        {"city": None, "when": None},
    ],
)
def test_new_objects_do_the_same(both: list[outlying.Explainer], changes: dict[str, Any]) -> None:
    usual = {
        "city": "BROOKLYN",
        "licence": "AB-99999",
        "number": 99_999,
        "name": "Anna Mff",
        "when": dt.datetime(2024, 3, 3, 23, 50),
        "amount": 20.0,
    }
    memory, stream = (each.explain(object={**usual, **changes}) for each in both)
    assert memory.population == stream.population
    assert [story.sentence for story in memory.stories] == [s.sentence for s in stream.stories]
    assert [story.culprit for story in memory.stories] == [s.culprit for s in stream.stories]
    assert memory.blame == pytest.approx(stream.blame)


def times(rows: int) -> pd.DataFrame:
    """Return evenings that end after midnight, as times of day, and one in the morning."""
    rng = np.random.default_rng(8)
    seconds = rng.normal(22.5 * 3600, 4_000, rows).astype(int) % 86_400
    seconds[NIGHT] = 6 * 3600 + 12
    at = [dt.time(s // 3600, s // 60 % 60, s % 60) for s in seconds.tolist()]
    return pd.DataFrame(
        {
            "key": [f"k{place:06d}" for place in range(rows)],
            "at": at,
            "again": at,
            "amount": rng.gamma(3.0, 10.0, rows).round(2),
        }
    )


@pytest.mark.parametrize("rows", [400, 20_000])
def test_times_of_day_are_compared_on_a_circle(rows: int, tmp_path: Path) -> None:
    found = times(rows)
    found.to_parquet(tmp_path / "t.parquet", row_group_size=3_000)
    found.to_csv(tmp_path / "t.csv", index=False)
    late = found["key"][int(np.argmin([time.hour * 60 + time.minute for time in found["at"]]))]
    told = []
    ways: tuple[tuple[str, Engine], ...] = (
        ("t.parquet", "memory"),
        ("t.parquet", "duckdb"),
        ("t.csv", "memory"),
    )
    for name, engine in ways:
        explainer = outlying.Explainer(tmp_path / name, engine=engine)
        odd, usual = (explainer.explain(where={"key": key}) for key in ("k000070", late))
        told.append((bare(odd), bare(usual)))
        assert odd.pairs[0].property == "at (hour)"
        assert odd.pairs[0].value == dt.time(6, 0, 12)
        assert odd.stories[0].culprit == "at"
        assert "In at, 23:50 is close to 00:10." in odd.notes
        assert not usual.exceptional
        assert not any(pair.unusual for pair in usual.pairs)
    assert told[0] == told[1] == told[2]


def test_times_of_day_within_a_day_are_no_circle() -> None:
    found = times(100).assign(at=[dt.time(8 + n % 9, n % 60) for n in range(100)])
    explained = outlying.explain(found, row=3, exclude=["again", "key"])
    assert explained.population.derived_columns == ()
