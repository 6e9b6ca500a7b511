"""Texts that are numbers and dates are read alike from every source, in memory and as a stream."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import outlying
from outlying.options import Engine
from tests.carriers import CARRIERS, Values, write_delimited

KEYS = ("k000005", "k000007", "k000009")


def values(rows: int) -> Values:
    rng = np.random.default_rng(3)
    amounts = [f"${x:,.2f}" for x in rng.gamma(2, 1000, rows)]
    amounts[5], amounts[7], amounts[11] = "n.a.", "$99,000.00", "NA"
    days = zip(rng.integers(1, 29, rows), rng.integers(1, 13, rows), strict=True)
    return {
        "key": [f"k{n:06d}" for n in range(rows)],
        "amount": amounts,
        "when": [f"{day:02d}/{month:02d}/2020" for day, month in days],
        "share": [f"{x:.1f} %" for x in rng.normal(50, 8, rows)],
        "city": rng.choice(np.array(["A", "B", "C"]), rows).tolist(),
    }


def answers(data: Any, **options: Any) -> list[str]:
    found = []
    for key in KEYS:
        result = outlying.explain(data, where={"key": key}, **options).to_dict()
        del result["source"]
        for item in result["objects"]:
            del item["row"], item["key"]
        found.append(json.dumps(result))
    return found


@pytest.mark.parametrize("carrier", CARRIERS)
def test_every_source(carrier: str, tmp_path: Path) -> None:
    given = values(300)
    data = CARRIERS[carrier](tmp_path, given, pa.table(given))
    assert answers(data) == answers(given)


def people(rows: int) -> Values:
    """Return texts as people write them: bounds, scales, durations, months in words."""
    rng = np.random.default_rng(5)
    lab = [f"{x:.1f}" if x > 0.6 else "<0.6" for x in rng.gamma(2, 1.2, rows)]
    sizes, minutes = rng.gamma(2, 4e5, rows), rng.integers(5, 300, rows)
    return {
        "key": [f"k{n:06d}" for n in range(rows)],
        "lab": lab,
        "size": [f"{x / 1e6:.1f}M" if x > 1e6 else f"{x / 1e3:.0f}k" for x in sizes],
        "took": [f"{n // 60}h {n % 60}m" if n > 60 else f"{n}m" for n in minutes],
        "when": [f"{n % 28 + 1}. März {2000 + n % 20}" for n in range(rows)],
        "city": rng.choice(np.array(["A", "B", "C"]), rows).tolist(),
    }


def write_workbook(path: Path, given: Values) -> Path:
    pytest.importorskip("openpyxl")
    pd.DataFrame(given).to_excel(path, index=False)
    return path


def write_sqlite(path: Path, given: Values) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as connected:
        pd.DataFrame(given).to_sql("t", connected, index=False)
    return path


SOURCES = CARRIERS | {
    "excel": lambda folder, given, _: write_workbook(folder / "t.xlsx", given),
    "sqlite": lambda folder, given, _: write_sqlite(folder / "t.sqlite", given),
}


@pytest.mark.parametrize("source", SOURCES)
def test_what_people_write(source: str, tmp_path: Path) -> None:
    given = people(300)
    data = SOURCES[source](tmp_path, given, pa.table(given))
    assert answers(data) == answers(given)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_what_people_write_is_said(engine: Engine, tmp_path: Path) -> None:
    path = write_delimited(tmp_path / "t.csv", people(300))
    found = outlying.explain(path, where={"key": KEYS[0]}, engine=engine)
    notes = {note.split("'")[1]: note for note in found.notes if note.startswith("Column")}
    assert "rows hold a bound such as '<0.6'" in notes["lab"]
    assert re.search(r"read as numbers, '[0-9.]+M' as [0-9,]{9}", notes["size"])
    assert "read as durations, '10m' as 0:10:00" in notes["took"]
    assert "read as dates, '1. März 2000' as 2000-03-01" in notes["when"]


def test_notes() -> None:
    notes = outlying.explain(values(300), where={"key": KEYS[0]}).notes
    assert notes[0].startswith("Column 'amount' was read as numbers, '$1,")
    assert notes[0].endswith("; 1 row holds no number: 'n.a.'; 'NA' (1 row) counts as missing.")
    assert notes[1] == "Column 'when' was read as day/month/year; 13/03/2020 fits no other order."
    assert notes[2].startswith("Column 'share' was read as numbers, '")


def test_a_text_among_numbers_is_what_stands_out() -> None:
    found = outlying.explain(values(300), where={"key": "k000005"})
    assert found.pairs[0].property == "amount (written as)"
    assert "amount = n.a. is the only text in a column of 298 numbers" in str(found)
    assert found.object["amount"] == "n.a."
    assert outlying.explain(values(300), where={"key": "k000011"}).object["amount"] is None


@pytest.mark.parametrize("rows", [300, 20_000])
def test_streams(rows: int, tmp_path: Path) -> None:
    given = values(rows)
    path = write_delimited(tmp_path / "t.csv", given)
    parquet = tmp_path / "t.parquet"
    pd.DataFrame(given).to_parquet(parquet)
    streamed = answers(path, engine="duckdb")
    assert answers(parquet, engine="duckdb") == streamed
    assert answers(pl.DataFrame(given).lazy()) == streamed
    in_memory = answers(given)
    assert [rounded(json.loads(text)) for text in in_memory] == [
        rounded(json.loads(text)) for text in streamed
    ]


def rounded(value: Any) -> Any:
    """Drop the last digits, in which sums over batches may differ from sums over all rows."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def test_row_order(tmp_path: Path) -> None:
    frame = pd.DataFrame(values(300))
    other = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    assert answers(other) == answers(frame)
    other.to_parquet(tmp_path / "t.parquet")
    assert answers(tmp_path / "t.parquet", engine="duckdb") == answers(frame)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("amount", [99000, "99000", "$99,000.00", "99,000"])
def test_rows_are_found_by_what_cells_mean(amount: object, engine: Engine, tmp_path: Path) -> None:
    path = write_delimited(tmp_path / "t.csv", values(300))
    found = outlying.explain(path, where={"amount": amount}, engine=engine)
    assert found.object["key"] == "k000007"
    text = outlying.explain(path, where={"amount": "n.a."}, engine=engine)
    assert text.object["key"] == "k000005"


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_declared_types(engine: Engine, tmp_path: Path) -> None:
    path = write_delimited(tmp_path / "t.csv", values(300))
    with pytest.raises(outlying.ColumnError, match=r"'amount' .* holds 'n\.a\.'"):
        outlying.explain(path, where={"key": KEYS[1]}, types={"amount": "numeric"}, engine=engine)
    found = outlying.explain(
        path, where={"key": KEYS[1]}, types={"amount": "categorical"}, engine=engine
    )
    assert found.object["amount"] == "$99,000.00"
    share = outlying.explain(
        path, where={"key": KEYS[1]}, types={"share": "numeric"}, engine=engine
    )
    assert isinstance(share.object["share"], float)


def test_new_objects_may_be_written_for_people() -> None:
    given = values(300)
    new = {"amount": "$5,000.50", "when": "24/12/2020", "share": 50.0, "city": "A"}
    found = outlying.explain(given, object=new)
    assert found.object["amount"] == 5000.5
    odd = outlying.explain(given, object=new | {"amount": "what?"})
    assert odd.pairs[0].property == "amount (written as)"


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "\nSEP=;\n", "sep=;\nSales of 2023"])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_first_line_for_excel_says_what_divides_fields(
    first: str, engine: Engine, tmp_path: Path
) -> None:
    body = "".join(f"k{n};Oslo;{n % 28 + 1:02d}.02.2023;{300 + n},37\n" for n in range(60))
    path = tmp_path / "t.csv"
    path.write_text(f"{first}\nkey;Ort;Datum;Betrag\n{body}")
    found = outlying.explain(path, where={"key": "k7"}, engine=engine)
    cells = {name: str(value) for name, value in found.values}
    assert cells == {"key": "k7", "Ort": "Oslo", "Datum": "2023-02-08", "Betrag": "307.37"}


def test_files_that_begin_on_other_lines_are_told_apart(tmp_path: Path) -> None:
    body = "key,n\n" + "".join(f"k{n},{n * n}\n" for n in range(30))
    (tmp_path / "d1.csv").write_text(body)
    (tmp_path / "d2.csv").write_text(f"Sales\n\n{body}")
    with pytest.raises(outlying.SourceError, match="divided by ',' below 2 other lines; write"):
        outlying.explain(tmp_path / "d*.csv", where={"key": "k7"})


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_new_objects_may_hold_what_texts_mean(engine: Engine, tmp_path: Path) -> None:
    """An ordinary row stays ordinary when it is given as an object: numbers need no style."""
    given = values(300)
    given["share"][3], given["when"][4] = "unknown", "31/02/2020"
    path = write_delimited(tmp_path / "t.csv", given)
    row = outlying.explain(path, where={"key": "k000020"}, engine=engine).object
    found = outlying.explain(path, object=row, engine=engine)
    assert found.object == row
    assert not any("written as" in pair.property for pair in found.pairs if pair.exceptional)
    assert "expected a number" not in str(found)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("share", "what?", "share = what? is the only text in a column of 300 numbers"),
        ("share", "45 $", "share = 45 $ is written unlike the other 300 numbers"),
        ("when", "31/02/2020", "when = 31/02/2020 is no date, in a column of 300 dates"),
        ("when", "02/25/2020", "when = 02/25/2020 is written unlike the other 300 dates"),
        ("amount", "what?", "amount = what? is one of 2 texts in a column of 298 numbers"),
    ],
)
def test_new_objects_may_be_wrong(
    name: str, text: str, said: str, engine: Engine, tmp_path: Path
) -> None:
    path = write_delimited(tmp_path / "t.csv", values(300))
    new = {"key": "k000300", "amount": 5000.5, "when": "24/12/2020", "share": 50.0, "city": "A"}
    found = outlying.explain(path, object=new | {name: text}, engine=engine)
    assert found.pairs[0].property == f"{name} (written as)"
    assert said in str(found)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_points_beside_decimal_commas_divide_thousands(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = [f"Land;{n % 9 + 1}.{100 + n};{n},5{n % 7};{n}.25" for n in range(60)]
    lines[3] = "Stadt;950;16,80;1.5"
    path.write_text("Ort;Einwohner;Steuer;Index\n" + "\n".join(lines) + "\n")
    found = outlying.explain(path, where={"Steuer": 5.55}, engine=engine)
    assert found.object["Einwohner"] == 6105
    assert found.object["Index"] == 5.25
    assert any(
        "'Einwohner': points were read as marks of thousands" in note for note in found.notes
    )


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_points_that_may_divide_thousands_are_told(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = [f"{n % 9 + 1}.{100 + n},0.{100 + n},{n}.25,{n}" for n in range(60)]
    path.write_text("load,share,index,count\n" + "\n".join(lines) + "\n")
    found = outlying.explain(path, where={"count": 5}, engine=engine)
    assert found.object["load"] == 6.105
    doubts = [note for note in found.notes if "points were read as decimal" in note]
    assert doubts == [
        "Column 'load': points were read as decimal points, though they may mark thousands."
    ]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_bound_is_shown_as_it_is_written(engine: Engine, tmp_path: Path) -> None:
    cells = [f"{value:.2f}" for value in np.random.default_rng(1).normal(50, 3, 500)]
    cells[7], cells[40] = "<0.06", "0.07"
    path = tmp_path / "lab.csv"
    path.write_text("\n".join(["key,lab", *(f"k{k},{cell}" for k, cell in enumerate(cells))]))
    for row, cell in ((7, "<0.06"), (40, "0.07")):
        (told,) = outlying.explain(path, where={"key": f"k{row}"}, engine=engine).pairs[:1]
        assert told.sentence.startswith(f"lab = {cell}, expected 4")
    new = tmp_path / "new.csv"
    new.write_text("key,lab\nk900,<0.03\nk901,51.2\n")
    told = outlying.Explainer(new, against=path).explain(row=0).pairs[0]
    assert told.sentence.startswith("lab = <0.03, expected 4")
