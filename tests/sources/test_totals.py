"""A last row of totals is left out, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlying.sources import read
from tests.workbooks import write_xlsx

ROWS: list[list[object]] = [
    ["north", 3, 1.5],
    ["south", 4, 2.25],
    ["east", 5, 0.0],
    ["west", 6, 4.0],
]
HEADER: list[object] = ["region", "units", "amount"]


def csv_of(path: Path, rows: list[list[object]]) -> Path:
    path.write_text("\n".join(",".join(map(str, row)) for row in [HEADER, *rows]) + "\n")
    return path


@pytest.mark.parametrize("word", ["Total", "TOTAL:", "Grand total", "Summe", "Итого"])
def test_totals_are_left_out_and_named(word: str, tmp_path: Path) -> None:
    rows = [*ROWS, [word, 18, 7.75]]
    tables = [read(csv_of(tmp_path / "t.csv", rows))]
    tables.append(read(write_xlsx(tmp_path / "t.xlsx", {"a": [HEADER, *rows]})))
    for table in tables:
        assert table.rows == 4
        assert table.column("region").labels == ("east", "north", "south", "west")  # type: ignore[union-attr]
        note = f"The last row was left out: it holds totals (region = {word}, units = 18)."
        assert note in table.notes


@pytest.mark.parametrize(
    "last",
    [
        ["Total", 17, 7.7],  # adds up in no column
        ["centre", 18, 7.75],  # no word says so
        ["Totalled", 18, 7.75],
        ["Total", "", ""],
    ],
)
def test_other_rows_stay(last: list[object], tmp_path: Path) -> None:
    table = read(csv_of(tmp_path / "t.csv", [*ROWS, last]))
    assert (table.rows, table.notes) == (5, ())


def test_a_row_of_totals_further_up_stays(tmp_path: Path) -> None:
    rows = [*ROWS, ["Total", 18, 7.75], ["centre", 1, 1.0]]
    assert read(csv_of(tmp_path / "t.csv", rows)).rows == 6


def test_sums_beyond_floating_point_are_no_totals(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("name,size\n" + "".join(f"n{k},1.7e308\n" for k in range(30)) + "total,1e308\n")
    assert read(path).rows == 31
