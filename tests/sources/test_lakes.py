"""Delta Lake and Iceberg tables: their rows, their past, what is damaged."""

from __future__ import annotations

import datetime as dt
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.table import StaticTable

import outlying
from outlying.errors import MissingExtraError, OptionError, OutlyingError, SourceError
from outlying.sources import read
from outlying.sources.registry import feeder_of
from tests.carriers import column_values
from tests.conftest import Run
from tests.feeding import Count, rows_of, types_of
from tests.sources.test_sources_agree import CSV as PATIENTS
from tests.sources.test_sources_agree import answer, as_arrow

ROWS = [(1, "x", dt.date(2024, 1, 1)), (2, None, dt.date(2024, 2, 1)), (3, "y", None)]
TABLE = pa.table(
    {
        "n": [1, 2, 3],
        "word": ["x", None, "y"],
        "day": [dt.date(2024, 1, 1), dt.date(2024, 2, 1), None],
        "lists": [[1], [2], [3]],
    }
)
MORE = TABLE.slice(0, 1)


def delta(folder: Path, *tables: pa.Table) -> Path:
    for table in tables:
        write_deltalake(folder / "delta", table, mode="append")
    return folder / "delta"


def iceberg(folder: Path, *tables: pa.Table) -> Path:
    catalog = InMemoryCatalog("test", warehouse=folder.as_uri())
    catalog.create_namespace("lake")
    table = catalog.create_table("lake.t", tables[0].schema)
    for rows in tables:
        table.append(rows)
    return folder / "lake" / "t"


LAKES: dict[str, Callable[..., Path]] = {"delta": delta, "iceberg": iceberg}
every_lake = pytest.mark.parametrize("lake", LAKES)


def snapshots(lake: str, path: Path) -> list[int]:
    if lake == "delta":
        return [0, 1]
    metadata = max((path / "metadata").glob("*.metadata.json"))
    return [found.snapshot_id for found in StaticTable.from_metadata(str(metadata)).snapshots()]


@every_lake
def test_rows(tmp_path: Path, lake: str) -> None:
    path = LAKES[lake](tmp_path, TABLE, MORE)
    for data in (path, str(path)):
        feeder: Any = feeder_of(data)
        assert rows_of(feeder) == sorted([*ROWS, ROWS[0]], key=repr)
        assert rows_of(feeder, ["day", "n"])[:2] == [(None, 3), (dt.date(2024, 1, 1), 1)]
        assert feeder.fold(Count(), [], None) == 4
        assert [column.name for column in feeder.skipped] == ["lists"]
        assert feeder.source == str(path)


@every_lake
def test_in_memory(tmp_path: Path, run: Run, lake: str) -> None:
    path = LAKES[lake](tmp_path, TABLE)
    table = read(path)
    assert sorted(column_values(table, "n")) == [1, 2, 3]
    assert (table.rows, [column.name for column in table.skipped]) == (3, ["lists"])
    assert outlying.explain(path, row=0, engine="memory").population.rows == 3
    assert run("detect", path, "--top", 1)[0] == 0


@every_lake
def test_time_travel(tmp_path: Path, run: Run, lake: str) -> None:
    path = LAKES[lake](tmp_path, TABLE, MORE)
    first, last = snapshots(lake, path)
    assert rows_of(outlying.scan(path, snapshot=first)) == sorted(ROWS, key=repr)
    assert rows_of(outlying.scan(path, snapshot=str(first))) == sorted(ROWS, key=repr)
    assert len(rows_of(outlying.scan(path, snapshot=last))) == 4
    assert len(rows_of(outlying.scan(path, snapshot="2100-01-01T00:00:00"))) == 4
    assert len(rows_of(outlying.scan(path, snapshot=dt.datetime(2100, 1, 1)))) == 4
    with pytest.raises(SourceError, match=r"there is no snapshot 99; the last"):
        outlying.scan(path, snapshot=99)
    with pytest.raises(SourceError, match=r"there is no snapshot 2001-01-01"):
        outlying.scan(path, snapshot="2001-01-01")
    for wrong in ("yesterday", -1, True, 1.5, [1], ""):
        with pytest.raises(OptionError, match=r"snapshot is .*; allowed: the number of a version"):
            outlying.scan(path, snapshot=wrong)
    call = ("explain", path, "--where", "n=1", "--format", "json")
    assert run(*call, "--snapshot", first)[0] == 0
    code, _, err = run(*call, "--snapshot", last)
    assert (code, "2 rows have n = 1" in err) == (2, True)


@every_lake
def test_what_is_written_later_does_not_matter(tmp_path: Path, lake: str) -> None:
    path = LAKES[lake](tmp_path, TABLE)
    feeder = outlying.scan(path)
    assert len(rows_of(feeder)) == 3
    if lake == "delta":
        write_deltalake(path, MORE, mode="overwrite")
        assert len(rows_of(outlying.scan(path))) == 1
    assert len(rows_of(feeder)) == 3


def test_tables_that_are_open(tmp_path: Path) -> None:
    opened = DeltaTable(delta(tmp_path, TABLE, MORE))
    assert len(rows_of(outlying.scan(opened))) == 4
    assert len(rows_of(outlying.scan(opened, snapshot=0))) == 3
    assert opened.version() == 1
    path = iceberg(tmp_path, TABLE)
    metadata = max((path / "metadata").glob("*.metadata.json"))
    assert len(rows_of(outlying.scan(StaticTable.from_metadata(str(metadata))))) == 3


def test_partitions_of_delta(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", TABLE, partition_by=["word"])
    assert rows_of(outlying.scan(tmp_path / "t"), ["n", "word"]) == [
        (1, "x"), (2, None), (3, "y"),
    ]  # fmt: skip
    assert types_of(outlying.scan(tmp_path / "t"))["word"] == "string"


@every_lake
def test_the_same_answer_as_from_a_file(tmp_path: Path, lake: str) -> None:
    assert answer(LAKES[lake](tmp_path, as_arrow(tmp_path))) == answer(PATIENTS)


@every_lake
def test_damaged_tables(tmp_path: Path, lake: str) -> None:
    good = LAKES[lake](tmp_path, TABLE, MORE)
    files = [path for path in good.rglob("*") if path.is_file()]
    assert len(files) >= 4
    refused = 0
    for file in files:
        content = file.read_bytes()
        for wrong in (b"", b"{}", content[: len(content) // 2], b"\xff" * len(content), None):
            if wrong is None:
                file.unlink()
            else:
                file.write_bytes(wrong)
            try:
                rows_of(outlying.scan(good))
            except OutlyingError:
                refused += 1
            file.write_bytes(content)
    assert refused >= 2 * len(files)


def test_a_log_without_a_table(tmp_path: Path) -> None:
    (tmp_path / "t" / "_delta_log").mkdir(parents=True)
    with pytest.raises(SourceError, match="t: cannot be read as a Delta Lake table: "):
        outlying.scan(tmp_path / "t")
    shutil.rmtree(tmp_path / "t")
    with pytest.raises(SourceError, match="no such file"):
        outlying.scan(tmp_path / "t")


@pytest.mark.parametrize(
    ("lake", "module"), [("delta", "deltalake"), ("iceberg", "pyiceberg.table")]
)
def test_the_missing_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lake: str, module: str
) -> None:
    path = LAKES[lake](tmp_path, TABLE)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"pip install '.+\[{lake}\]'"):
        outlying.scan(path)
