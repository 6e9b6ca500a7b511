"""Parquet files hold in memory and as a stream what Arrow says they hold."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outlying
from outlying.errors import SourceError
from outlying.sources import read
from tests.carriers import column_values, same
from tests.feeding import Collect, rows_of

ROWS = 3000
NAMES = ["a.b", 'quo"ted', "white space", "Ünï", "%", "`", "a"]


def written(path: Path, table: pa.Table, **options: Any) -> Path:
    pq.write_table(table, path, row_group_size=700, **options)
    return path


def many(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    return pa.array([values[place % len(values)] for place in range(ROWS)], kind)


def is_read_as_it_is(path: Path, table: pa.Table) -> bool:
    """Whether a file gives the columns of its table; a stream has the same cells."""
    found, expected = read(path), read(table)
    columns = zip(found.columns, expected.columns, strict=True)
    streamed = rows_of(outlying.scan(path))
    cells = [[None if x != x else x for x in c.to_pylist()] for c in table.columns]
    are_same = streamed == sorted(zip(*cells, strict=True), key=repr)
    return are_same and all(same(one, other) for one, other in columns)


@pytest.mark.parametrize(
    "kind",
    [
        *(getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)),
        pa.float32(),
        pa.float64(),
        pa.decimal128(5, 2),
    ],
    ids=str,
)
def test_numbers(tmp_path: Path, kind: pa.DataType) -> None:
    values = [0, 1, None, 100, 7]
    special = [float("nan"), -0.0, float("inf"), 0.1] if pa.types.is_floating(kind) else []
    table = pa.table({"x": many([*values, *special], kind)})
    assert is_read_as_it_is(written(tmp_path / "t.parquet", table), table)


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_other_types(tmp_path: Path, use_dictionary: bool) -> None:
    moments = [dt.datetime(2020, 1, 1), None, dt.datetime(1960, 1, 1, 5, 30)]
    table = pa.table(
        {
            "flag": many([True, None, False], pa.bool_()),
            "few": many(["a", None, "", "Zürich", "'\"\\", "\x00x", "a\nb"], pa.string()),
            "many": pa.array([f"text {place}" for place in range(ROWS)], pa.large_string()),
            "coded": many(["x", None, "y"], pa.string()).dictionary_encode(),
            "none": many([None], pa.string()),
            "date": many([dt.date(2020, 2, 29), None], pa.date32()),
            "ms": many(moments, pa.timestamp("ms")),
            "zoned": many(moments, pa.timestamp("us", "UTC")),
            "wait": many([dt.timedelta(1), None], pa.duration("us")),
            "clock": many([dt.time(1), None], pa.time64("us")),
        }
    )
    path = written(tmp_path / "t.parquet", table, use_dictionary=use_dictionary)
    assert is_read_as_it_is(path, table)


def test_few_texts_stay_dictionaries(tmp_path: Path) -> None:
    texts = {"few": many(["a", "b"], pa.string()), "many": pa.array(map(str, range(ROWS)))}
    path = written(tmp_path / "t.parquet", pa.table(texts), use_dictionary=["few"])
    batch = outlying.scan(path).fold(Collect(), ["few", "many"], None)[0]
    assert [pa.types.is_dictionary(kind) for kind in batch.schema.types] == [True, False]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.date32(), [0, None, -5, 20_000, 2**31 - 1, 1 - 2**31]),
        (pa.timestamp("us"), [0, None, 10**15, 2**63 - 1, 1 - 2**63]),
        (pa.timestamp("us", "UTC"), [0, None, 10**15]),
    ],
    ids=str,
)
def test_moments_that_are_infinite_are_missing(
    tmp_path: Path, kind: pa.DataType, values: list[int | None]
) -> None:
    whole = pa.int32() if kind.bit_width == 32 else pa.int64()
    path = written(tmp_path / "t.parquet", pa.table({"x": many(values, whole).view(kind)}))
    known = sum(
        number is not None and abs(number) < 2 ** (kind.bit_width - 1) - 1
        for number in (values[place % len(values)] for place in range(ROWS))
    )
    assert column_values(read(path), "x").count(None) == ROWS - known


def test_odd_names_and_several_files(tmp_path: Path) -> None:
    table = pa.table({name: pa.array(range(place, ROWS)[:50]) for place, name in enumerate(NAMES)})
    paths = [written(tmp_path / f"{n}.parquet", table.slice(n * 10, 10)) for n in range(5)]
    assert rows_of(outlying.scan(paths)) == sorted(zip(*table.to_pydict().values(), strict=True),
                                                   key=repr)  # fmt: skip


def test_no_rows(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([], pa.int64()), "t": pa.array([], pa.string())})
    path = written(tmp_path / "t.parquet", table)
    assert rows_of(outlying.scan(path)) == []
    with pytest.raises(SourceError, match="there are no rows"):
        read(path)


def test_a_name_inside_a_record_is_no_column(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", pa.table({"a": [{"b": 1}], "a.b": [2]}))
    assert rows_of(outlying.scan(path)) == [(2,)]
    assert [column.name for column in read(path).skipped] == ["a"]


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_texts_that_are_no_texts_are_refused(tmp_path: Path, use_dictionary: bool) -> None:
    bytes_ = pa.array([b"\xff\xfe"] * 10, pa.binary()).cast(pa.string(), safe=False)
    table = pa.table({"x": pa.Array.from_buffers(pa.string(), 10, bytes_.buffers())})
    path = written(tmp_path / "t.parquet", table, use_dictionary=use_dictionary)
    for reading in (lambda: read(path), lambda: rows_of(outlying.scan(path))):
        with pytest.raises(SourceError, match=r"'x' holds text that is not UTF-8 in row 0"):
            reading()


def test_damaged_pages_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", pa.table({"x": np.random.default_rng(1).random(ROWS)}))
    content = bytearray(path.read_bytes())
    content[4:2000] = bytes(1996)
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"t\.parquet: cannot be read"):
        read(path)


def test_types_of_several_files_are_put_together(tmp_path: Path) -> None:
    kinds = [pa.int32(), pa.float64(), pa.decimal128(5, 2), pa.null()]
    for place, kind in enumerate(kinds):
        values = pa.nulls(1) if pa.types.is_null(kind) else pa.array([float(place)]).cast(kind)
        written(tmp_path / f"{place}.parquet", pa.table({"x": values}))
    assert rows_of(outlying.scan(tmp_path)) == [(0.0,), (1.0,), (2.0,), (None,)]
