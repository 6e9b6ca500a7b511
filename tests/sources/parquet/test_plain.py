"""Parquet files that Arrow reads hold what the engine reads in them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from outlying.errors import SourceError
from outlying.sources import paths
from outlying.sources.local import Field
from outlying.sources.parquet import plain
from outlying.sources.parquet.streaming import ParquetFeeder

ROWS = 3000
NAMES = ["a.b", 'quo"ted', "white space", "Ünï", "%", "`", "a"]


def feeder_of(*files: Path) -> ParquetFeeder:
    return ParquetFeeder(paths.find(files))


def written(path: Path, table: pa.Table, **options: Any) -> Path:
    pq.write_table(table, path, row_group_size=700, **options)
    return path


def many(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    return pa.array([values[place % len(values)] for place in range(ROWS)], kind)


def by_engine(feeder: ParquetFeeder, fields: Sequence[Field]) -> dict[str, list[Any]]:
    """Read with the engine, whatever the columns are."""
    batches = list(super(ParquetFeeder, feeder)._read(fields))
    return columns(batches, fields)


def by_arrow(feeder: ParquetFeeder, fields: Sequence[Field]) -> dict[str, list[Any]]:
    batches = list(plain.batches("t", [file.path for file in feeder.files.files], fields))
    for batch in batches:
        for field, array in zip(fields, batch.columns, strict=True):
            assert array.type == field.comes or pa.types.is_dictionary(array.type)
    return columns(batches, fields)


def columns(batches: Sequence[pa.RecordBatch], fields: Sequence[Field]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {field.name: [] for field in fields}
    for batch in batches:
        for field, array in zip(fields, batch.columns, strict=True):
            found[field.name] += array.to_pylist()
    return {name: sorted(map(repr, values)) for name, values in found.items()}


def is_read_alike(*paths: Path) -> bool:
    feeder = feeder_of(*paths)
    fields = feeder.shape.fields
    assert plain.are_plain(list(paths), fields)
    return by_arrow(feeder, fields) == by_engine(feeder, fields)


@pytest.mark.parametrize(
    "kind",
    [
        *(getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)),
        pa.float32(),
        pa.float64(),
    ],
    ids=str,
)
def test_numbers(tmp_path: Path, kind: pa.DataType) -> None:
    values = [0, 1, None, 100, 7]
    special = [float("nan"), -0.0, float("inf"), 0.1] if pa.types.is_floating(kind) else []
    table = pa.table({"x": many([*values, *special], kind)})
    assert is_read_alike(written(tmp_path / "t.parquet", table))


def test_booleans_and_texts(tmp_path: Path) -> None:
    table = pa.table(
        {
            "flag": many([True, None, False], pa.bool_()),
            "few": many(["a", None, "", "Zürich", "'\"\\"], pa.string()),
            "many": pa.array([f"text {place}" for place in range(ROWS)], pa.large_string()),
            "coded": many(["x", None, "y"], pa.string()).dictionary_encode(),
            "coded numbers": many([7, None, 9], pa.int64()).dictionary_encode(),
            "none": many([None], pa.string()),
        }
    )
    assert is_read_alike(written(tmp_path / "t.parquet", table))
    assert is_read_alike(written(tmp_path / "u.parquet", table, use_dictionary=False))


def test_few_texts_stay_dictionaries(tmp_path: Path) -> None:
    texts = {"few": many(["a", "b"], pa.string()), "many": pa.array(map(str, range(ROWS)))}
    path = written(tmp_path / "t.parquet", pa.table(texts), use_dictionary=["few"])
    feeder = feeder_of(path)
    (batch, *_) = plain.batches("t", [path], feeder.shape.fields)
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
    assert is_read_alike(path)
    feeder = feeder_of(path)
    found = by_arrow(feeder, feeder.shape.fields)["x"]
    assert found.count("None") == ROWS - sum(
        number is not None and abs(number) < 2 ** (kind.bit_width - 1) - 1
        for number in (values[place % len(values)] for place in range(ROWS))
    )


def test_odd_names_and_several_files(tmp_path: Path) -> None:
    table = pa.table({name: pa.array(range(place, ROWS)[:50]) for place, name in enumerate(NAMES)})
    paths = [written(tmp_path / f"{n}.parquet", table.slice(n * 10, 10)) for n in range(3)]
    assert is_read_alike(*paths)


def test_no_rows(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([], pa.int64()), "t": pa.array([], pa.string())})
    assert is_read_alike(written(tmp_path / "t.parquet", table))


@pytest.mark.parametrize(
    "array",
    [
        pa.array([dt.timedelta(1)], pa.duration("us")),
        pa.array([dt.datetime(2020, 1, 1)], pa.timestamp("ms")),
        pa.array([1], pa.decimal128(5, 2)),
        pa.array([np.float16(1)], pa.float16()),
        pa.array([dt.time(1)], pa.time64("us")),
    ],
    ids=lambda array: str(array.type),
)
def test_other_columns_are_left_to_the_engine(tmp_path: Path, array: pa.Array) -> None:
    path = written(tmp_path / "t.parquet", pa.table({"x": array, "y": pa.array([1])}))
    fields = feeder_of(path).shape.fields
    assert not plain.are_plain([path], fields)
    assert plain.are_plain([path], [field for field in fields if field.name == "y"])


def test_files_that_lack_a_column_are_left_to_the_engine(tmp_path: Path) -> None:
    full = written(tmp_path / "a.parquet", pa.table({"x": [1], "y": [2]}))
    short = written(tmp_path / "b.parquet", pa.table({"x": [1]}))
    fields = feeder_of(full, short).shape.fields
    assert not plain.are_plain([full, short], fields)
    assert plain.are_plain([full, short], [field for field in fields if field.name == "x"])


def test_a_name_inside_a_record_is_no_column(tmp_path: Path) -> None:
    table = pa.table({"a": [{"b": 1}], "a.b": [2]})
    path = written(tmp_path / "t.parquet", table)
    fields = feeder_of(path).shape.fields
    assert [field.name for field in fields] == ["a.b"]
    assert not plain.are_plain([path], fields)


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_texts_that_are_no_texts_are_refused(tmp_path: Path, use_dictionary: bool) -> None:
    bytes_ = pa.array([b"\xff\xfe"] * 10, pa.binary()).cast(pa.string(), safe=False)
    table = pa.table({"x": pa.Array.from_buffers(pa.string(), 10, bytes_.buffers())})
    path = written(tmp_path / "t.parquet", table, use_dictionary=use_dictionary)
    fields = feeder_of(path).shape.fields
    with pytest.raises(SourceError, match="cannot be read"):
        list(plain.batches("t", [path], fields))


def test_damaged_pages_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", pa.table({"x": np.random.default_rng(1).random(ROWS)}))
    fields = feeder_of(path).shape.fields
    content = bytearray(path.read_bytes())
    content[4:2000] = bytes(1996)
    path.write_bytes(content)
    with pytest.raises(SourceError, match="damaged: cannot be read"):
        list(plain.batches("damaged", [path], fields))
