"""Rows that have names: the index of a pandas frame, and columns that count or name rows."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import outlying
from outlying.options import Engine


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"x": rng.normal(size=80), "g": rng.choice(np.array(["a", "b"]), 80)})
    table.loc[17, "x"] = 9.0
    return table


def test_labels_name_rows() -> None:
    table = frame().set_axis([f"A{n}" for n in range(80)])
    found = outlying.explain(table, index="A17")
    assert found.row == 17
    assert found.key == (("index", "A17"),)
    assert str(found).startswith("Row 17, index = A17, of pandas DataFrame")
    assert found.to_dict()["objects"][0]["key"] == {"index": "A17"}
    assert "index = A17" in found.to_html()
    assert outlying.explain(table, where={"index": "A17"}).row == 17
    assert (
        outlying.explain(table, row=17).pairs
        == found.pairs
        == outlying.explain(frame(), row=17).pairs
    )


def test_several_levels() -> None:
    table = frame()
    table.index = pd.MultiIndex.from_arrays([table["g"], range(80)], names=["g", None])
    found = outlying.explain(table, index=(table["g"].iloc[17], 17))
    assert found.row == 17
    assert [name for name, _ in found.key] == ["g (index)", "index 1"]
    with pytest.raises(outlying.RowError, match=r"has 1 values, the index .* has 2"):
        outlying.explain(table, index="a")


def test_dates() -> None:
    table = frame().set_axis(pd.date_range("2020-01-01", periods=80, name="day"))
    assert outlying.explain(table, index=dt.datetime(2020, 1, 18)).row == 17
    assert outlying.explain(table, where={"day": "2020-01-18"}).row == 17


def test_a_plain_index_names_nothing() -> None:
    assert outlying.explain(frame(), row=17).key == ()
    with pytest.raises(outlying.RowError, match="no index"):
        outlying.explain(frame(), index=17)
    assert outlying.explain(frame()[10:], index=17).row == 7


def test_labels_that_are_not_there_or_twice() -> None:
    table = frame().set_axis(["A"] * 80)
    with pytest.raises(outlying.RowError, match="80 rows have index = A"):
        outlying.explain(table, index="A")
    with pytest.raises(outlying.RowError, match="no row has index = B"):
        outlying.explain(table, index="B")
    with pytest.raises(outlying.OptionError, match="exactly one of"):
        outlying.explain(table, index="A", row=3)


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_column_without_a_name(name: str, engine: Engine, tmp_path: Path) -> None:
    frame().set_axis([f"A{n}" for n in range(80)]).rename_axis(name).to_csv(tmp_path / "t.csv")
    found = outlying.explain(tmp_path / "t.csv", where={name: "A17"}, engine=engine)
    assert found.key == ((name, "A17"),)
    assert found.pairs[0].property == "x"
    assert "names the rows" in str(found)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_column_without_a_name_further_on_is_evidence(engine: Engine, tmp_path: Path) -> None:
    extra = [9_999 if n == 17 else 50 + n % 7 for n in range(80)]
    table = frame().assign(extra=extra, more=[n % 5 for n in range(80)])
    names = ["" if name in ("extra", "more") else name for name in table]
    table.to_csv(tmp_path / "t.csv", index=False, header=names)
    found = outlying.explain(tmp_path / "t.csv", where={"x": 9.0}, engine=engine)
    place = list(table).index("extra") + 1
    assert f"column {place}" in {pair.property for pair in found.pairs}
    table = table.rename(columns={"extra": "Unnamed: 2"})
    assert "Unnamed: 2" in {pair.property for pair in outlying.explain(table, row=17).pairs}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_texts_that_rows_share_do_not_name_them(engine: Engine, tmp_path: Path) -> None:
    groups = ["north" if n % 2 else "south" for n in range(80)]
    frame().set_axis(groups).rename_axis("").to_csv(tmp_path / "t.csv")
    found = outlying.explain(tmp_path / "t.csv", where={"x": 9.0}, engine=engine)
    assert not [item for item in found.population.skipped_columns if item.name == ""]


def test_an_index_that_was_written_to_a_file(tmp_path: Path) -> None:
    frame().set_axis([f"A{n}" for n in range(80)]).to_csv(tmp_path / "t.csv")
    assert outlying.explain(tmp_path / "t.csv", index="A17").row == 17


def test_row_numbers_name_rows(tmp_path: Path) -> None:
    frame().assign(nr=range(1, 81)).to_csv(tmp_path / "t.csv", index=False)
    found = outlying.explain(tmp_path / "t.csv", row=17)
    assert found.key == (("nr", 18),)
    assert "Row 17, nr = 18," in str(found)


def test_a_stream_has_no_index(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(outlying.RowError, match="no index"):
        outlying.explain(tmp_path / "t.csv", index="A", engine="duckdb")
