"""Workbooks: what their cells become, where the table is on a sheet, hostile files."""

from __future__ import annotations

import datetime as dt
import json
import random
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import outlying
from outlying.errors import ColumnError, MissingExtraError, OptionError, SourceError
from outlying.sources import copies, excel, read
from outlying.sources.copies import InputFile
from outlying.table.table import Table
from tests.carriers import column_values
from tests.conftest import Run
from tests.workbooks import Sheets, raw_ods, raw_xlsx, write_ods, write_xlsx

HEADER = ["n", "x", "day", "flag", "word"]
ROWS: list[list[Any]] = [
    [1, 1.5, dt.date(2024, 2, 29), True, "a"],
    [2, None, dt.date(1999, 1, 1), False, "b"],
    [None, -2.0, None, None, None],
]


def rows_of(table: Table) -> list[list[Any]]:
    columns = [column_values(table, name) for name in table.names]
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.fixture
def sheet(tmp_path: Path) -> Any:
    def read_rows(rows: Sequence[Sequence[Any]], merged: Sequence[str] = ()) -> Table:
        return read(write_xlsx(tmp_path / "t.xlsx", {"one": rows}, merged))

    return read_rows


class TestCells:
    @pytest.mark.parametrize("name", ["t.xlsx", "t.ods", "t.bin"])
    def test_types(self, tmp_path: Path, name: str) -> None:
        write = write_ods if name == "t.ods" else write_xlsx
        table = read(write(tmp_path / name, {"one": [HEADER, *ROWS]}))
        assert (table.names, rows_of(table), table.notes) == (HEADER, ROWS, ())
        forms = ["integer", "number", "date", "boolean", "text"]
        assert [column.form for column in table.columns] == forms

    def test_moments_times_and_durations(self, sheet: Any) -> None:
        moment = dt.datetime(2024, 2, 29, 8, 30, 1)
        table = sheet(
            [
                ["moment", "time", "duration"],
                [moment, dt.time(8, 30), dt.timedelta(hours=36)],
                [dt.datetime(2024, 3, 1), dt.time(23, 59, 59), dt.timedelta(minutes=1)],
            ]
        )
        assert [column.form for column in table.columns] == ["datetime", "time", "duration"]
        assert rows_of(table)[0] == [moment, dt.time(8, 30), dt.timedelta(hours=36)]
        assert rows_of(table)[1][0] == dt.datetime(2024, 3, 1)

    def test_numbers_and_texts_in_one_column_are_categories(self, sheet: Any) -> None:
        table = sheet([["id", "n"], ["A1", 1], [17, 2], [2.5, 3]])
        assert column_values(table, "id") == ["A1", "17", "2.5"]
        assert table.notes == ("Column 'id': mixed values (float, int, str) were taken as texts.",)


class TestLayout:
    def test_titles_and_empty_rows(self, sheet: Any) -> None:
        table = sheet([["Report 2024"], [], ["a", "b"], [1, "x"], [], [2, "y"], [], []], ["A1:B1"])
        assert rows_of(table) == [[1, "x"], [2, "y"]]
        assert table.notes == (
            "A line above the table was left out: 'Report 2024'.",
            "1 empty row was left out.",
        )

    def test_a_header_of_merged_cells(self, sheet: Any) -> None:
        table = sheet(
            [["city", 2023, None, 2024, None], [None, "Q1", "Q2", "Q1", "Q2"], ["A", 1, 2, 3, 4]],
            ["A1:A2", "B1:C1", "D1:E1"],
        )
        assert table.names == ["city", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"]
        assert rows_of(table) == [["A", 1, 2, 3, 4]]
        assert table.notes == ()

    def test_merged_cells_of_rows_count_for_each(self, sheet: Any) -> None:
        table = sheet([["city", "n"], ["A", 1], [None, 2], ["B", 3]], ["A2:A3"])
        assert rows_of(table) == [["A", 1], ["A", 2], ["B", 3]]
        assert table.notes == ("The value of merged cells is taken for each of them.",)

    def test_no_header(self, sheet: Any) -> None:
        table = sheet([[1, 2.5], [2, 3.5]])
        assert (table.names, table.rows) == (["column0", "column1"], 2)
        assert "No header line was found" in table.notes[0]

    def test_columns_without_a_name(self, sheet: Any) -> None:
        table = sheet([[None, "a", None, None, "b"], [None, 1, 5, None, 2], [None, 2, 6, None, 3]])
        assert table.names == ["a", "column C", "b"]

    def test_one_column(self, sheet: Any) -> None:
        assert rows_of(sheet([["a"], [1], [2]])) == [[1], [2]]

    def test_refusals(self, sheet: Any, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="sheet 'one' is empty"):
            sheet([])
        with pytest.raises(SourceError, match="there are no rows, only column names"):
            sheet([["a", "b"]])
        with pytest.raises(ColumnError, match="columns 1 and 2 are both called 'a'"):
            sheet([["a", "a"], [1, 2]])


class TestSheets:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        sheets: Sheets = {"A": [["a"], [1], [2]], "B": [["b"], [3], [4]], "it's": [["c"], [5], [6]]}
        return write_xlsx(tmp_path / "t.xlsx", sheets)

    def test_the_first_is_taken_and_said(self, path: Path) -> None:
        table = read(path)
        note = """Sheet 'A' was read; the others are 'B', "it's" (the option sheet names one)."""
        assert (table.names, table.notes) == (["a"], (note,))

    def test_by_name(self, path: Path, run: Run) -> None:
        assert (read(path, sheet="B").names, read(path, sheet="B").notes) == (["b"], ())
        findings = outlying.explain(path, row=0, sheet="it's")
        assert dict(findings.object) == {"c": 5}
        call = ("explain", path, "--row", 1, "--sheet", "B", "--format", "json")
        assert json.loads(run(*call)[1])["columns"] == ["b"]
        assert run("detect", path, "--sheet", "B", "--top", 1)[0] == 0

    def test_refusals(self, path: Path, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="unknown sheet 'C'; known: 'A', 'B'"):
            read(path, sheet="C")
        csv = tmp_path / "t.csv"
        csv.write_text("a\n1\n2\n")
        with pytest.raises(OptionError, match="the option sheet is for workbooks"):
            read(csv, sheet="A")


class TestHostile:
    """What would take all memory, or end the process, is refused in time."""

    def test_cells_that_are_far_apart(self, tmp_path: Path) -> None:
        far = '<row r="1048576"><c r="XFD1048576"><v>5</v></c></row>'
        path = raw_xlsx(tmp_path / "t.xlsx", f'<row r="1"><c r="A1"><v>1</v></c></row>{far}')
        with pytest.raises(SourceError, match=r"t\.xlsx: .*needs more than 4,096 MiB of memory"):
            read(path)

    def test_cells_that_are_repeated(self, tmp_path: Path) -> None:
        cell = '<table:table-cell table:number-columns-repeated="2000000000" {}/>'
        row = '<table:table-row table:number-rows-repeated="1000000">{}</table:table-row>'
        value = 'office:value-type="float" office:value="1"'
        table = f'<table:table table:name="one">{row.format(cell.format(value))}</table:table>'
        with pytest.raises(SourceError, match=r"t\.ods: .*(?:needs more than|limit exceeded)"):
            read(raw_ods(tmp_path / "t.ods", table))

    def test_an_archive_that_grows(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = raw_xlsx(tmp_path / "t.xlsx", " " * (1 << 23))
        monkeypatch.setattr(copies, "BOUNDS", copies.UnpackingBounds(1 << 20))
        with pytest.raises(SourceError, match=r"bytes would take 8,3\d\d,\d\d\d bytes"):
            read(path)

    def test_an_archive_that_lies(self, tmp_path: Path) -> None:
        """Sizes in an archive are claims: the process that opens it has limits of its own."""
        path = raw_xlsx(tmp_path / "t.xlsx", "<row>" + "<c><v>1</v></c>" * 4_000_000 + "</row>")
        limits = excel.OpeningLimits(memory=200 << 20)
        with pytest.raises(SourceError, match="needs more than 200 MiB of memory"):
            excel.read(InputFile("t.xlsx", path, ".xlsx"), limits=limits)

    def test_a_file_that_takes_too_long(self, tmp_path: Path) -> None:
        path = raw_xlsx(tmp_path / "t.xlsx", "<row>" + "<c><v>1</v></c>" * 4_000_000 + "</row>")
        limits = excel.OpeningLimits(seconds=0.01, seconds_per_megabyte=0)
        with pytest.raises(SourceError, match="takes longer than 0 seconds to open"):
            excel.read(InputFile("t.xlsx", path, ".xlsx"), limits=limits)

    def test_merged_cells_that_overlap(self, tmp_path: Path) -> None:
        rows: list[list[Any]] = [["a", "b"], *([n, n] for n in range(100))]
        path = write_xlsx(tmp_path / "t.xlsx", {"one": rows}, ["A2:B90", "A3:B91", "A4:B92"])
        with pytest.raises(SourceError, match="sheet 'one': merged cells overlap"):
            read(path)

    @pytest.mark.parametrize("name", ["t.xlsx", "t.xls", "t.ods", "t.xlsb"])
    def test_what_is_no_workbook(self, tmp_path: Path, name: str) -> None:
        good = write_xlsx(tmp_path / "good.xlsx", {"one": [HEADER, *ROWS]}).read_bytes()
        path = tmp_path / name
        for content in (b"a,b\n1,2\n", good[:-30], good[: len(good) // 2], b"PK\3\4" + bytes(99)):
            path.write_bytes(content)
            with pytest.raises(SourceError, match=f"{name}: cannot be read"):
                read(path)

    def test_another_archive(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
            archive.writestr("t.csv", "a,b\n1,2\n" * 99)
        with pytest.raises(SourceError, match="if it is an archive, unpack it and give the file"):
            read(tmp_path / "t.zip")

    def test_damaged_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        good, draw = write_xlsx(tmp_path / "t.xlsx", {"one": [HEADER, *ROWS]}), random.Random(3)
        content = good.read_bytes()
        for _ in range(25):
            changed = bytearray(content)
            for _ in range(draw.choice([1, 4, 16])):
                changed[draw.randrange(len(changed))] = draw.choice([0, 127, 255])
            good.write_bytes(changed)
            try:
                read(good)
            except (SourceError, ColumnError):
                continue

    def test_the_missing_extra(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write_xlsx(tmp_path / "t.xlsx", {"one": [HEADER, *ROWS]})
        monkeypatch.setitem(sys.modules, "python_calamine", None)
        with pytest.raises(MissingExtraError, match=r"pip install '.*\[excel\]'"):
            read(path)
