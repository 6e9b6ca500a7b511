"""Which columns are judged, and which only say with which rows: `properties=` and `contexts=`."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outlying

ODD, FAR = 7, 9


def table(rows: int = 1_200) -> dict[str, Any]:
    """A temperature that does not fit its city, a number that is far off, and what follows one."""
    random = np.random.default_rng(5)
    city = random.choice(["A", "B", "C"], rows)
    city[ODD] = "A"
    temp = np.select([city == "A", city == "B"], [25.0, 5.0], 15.0) + random.normal(0, 1, rows)
    load = 3 * temp + random.normal(0, 1, rows)
    width = random.normal(0, 1, rows)
    temp[ODD], load[ODD], width[FAR] = 5.0, 15.0, 12.0
    return {"city": city, "temp": temp, "load": load, "width": width}


def exceptional(data: Any, **options: Any) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Each exceptional row with its odd cell, and the columns that the story tells of."""
    found = outlying.detect(data, **options)
    return {
        int(item.row): (item.findings.stories[0].culprit, item.findings.stories[0].columns)
        for item in found.rows
        if item.row is not None and item.findings is not None
    }


def test_all_columns_are_judged_and_give_context_unless_said_otherwise() -> None:
    found = exceptional(table())
    assert set(found) == {ODD, FAR}
    assert found[FAR] == ("width", ("width",))


@pytest.mark.parametrize("judged", ["temp", "city"])
def test_what_only_gives_context_is_never_the_odd_one(judged: str) -> None:
    found = exceptional(table(), properties=[judged])
    assert set(found) == {ODD}
    assert found[ODD][0] == judged
    told = outlying.explain(table(), row=ODD, properties=[judged])
    assert {cell.column for cell in told.odd_cells} == {judged}
    assert {name for name, share in told.blame.items() if share} == {judged}


def test_rows_are_compared_by_the_columns_that_may_give_context() -> None:
    data = table()
    assert set(exceptional(data, contexts=["width"])) == {FAR}
    found = exceptional(data, properties=["temp"], contexts=["city"])
    assert found == {ODD: ("temp", ("city", "temp"))}
    assert exceptional(data, properties=["load"], contexts=["width"]) == {}


def test_the_evidence_against_a_column_does_not_depend_on_what_else_is_judged() -> None:
    data = table()
    alone = outlying.Explainer(data, properties=["width"]).strengths()
    among = outlying.Explainer(data).strengths()
    assert alone[FAR] == among[FAR]
    assert np.all(alone <= among + 1e-9)


def test_the_method_of_the_paper_knows_them_too() -> None:
    given: dict[str, Any] = {"preset": "paper", "measure": "relative", "min_outlierness": 0.5}
    told = outlying.explain(table(300), row=ODD, properties=["temp"], contexts=["city"], **given)
    assert {pair.property for pair in told.pairs} == {"temp"}
    assert {name for pair in told.pairs for name in pair.others} <= {"city"}


def test_a_stream_says_the_same(tmp_path: Path) -> None:
    pq.write_table(pa.table(table()), tmp_path / "t.parquet")
    options: dict[str, Any] = {"properties": ["temp"], "contexts": ["city"]}
    data = outlying.Explainer(tmp_path / "t.parquet", engine="duckdb", **options)
    streamed = outlying.detect(data)
    (first,) = [item for item in streamed.rows if item.word == "exceptional"]
    assert first.reason is not None
    assert first.reason.column == "temp"
    assert dict(first.values)["temp"] == 5.0


@pytest.mark.parametrize("option", ["properties", "contexts"])
def test_a_column_that_is_not_there_is_refused(option: str) -> None:
    unknown: dict[str, Any] = {option: ["tmp"]}
    nothing: dict[str, Any] = {option: []}
    with pytest.raises(outlying.ColumnError, match=r"unknown column 'tmp'.*temp"):
        outlying.explain(table(), row=0, **unknown)
    with pytest.raises(outlying.OptionError, match=f"{option} is empty"):
        outlying.explain(table(), row=0, **nothing)
