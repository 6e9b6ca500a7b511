"""The same table gives the same answer through every source, digit by digit."""

from __future__ import annotations

import io
import json
import lzma
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import outlying
import outlying.sources
from outlying.sources.arrow_arrays import form_of
from outlying.sources.passes import collected
from tests.carriers import column_values, write_ipc, write_orc
from tests.workbooks import write_ods, write_xlsx

DATA = resources.files("outlying") / "data"
CSV = Path(str(DATA / "patients.csv"))
PATIENT = json.loads((DATA / "patient.json").read_text(encoding="utf-8"))
DATES = ["examined", "last_ecg"]


def as_pandas(folder: Path) -> Any:
    frame = pd.read_csv(CSV)
    for name in DATES:
        frame[name] = pd.to_datetime(frame[name]).dt.date
    return frame


def as_arrow(folder: Path) -> Any:
    return pacsv.read_csv(CSV, convert_options=pacsv.ConvertOptions(strings_can_be_null=True))


def as_texts(folder: Path) -> pa.Table:
    """Return the table as its file has it, every cell a text."""
    names = as_arrow(folder).column_names
    texts = pacsv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
    )
    return pacsv.read_csv(CSV, convert_options=texts)


def texts_of(folder: Path) -> list[list[Any]]:
    columns = as_texts(folder).to_pydict()
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


def written_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def parquet_of_texts(folder: Path) -> Path:
    pq.write_table(as_texts(folder), folder / "t.parquet")
    return folder / "t.parquet"


def as_polars(folder: Path) -> Any:
    return pl.read_csv(CSV, try_parse_dates=True)


def as_dict(folder: Path) -> Any:
    table = as_arrow(folder)
    return {name: table[name].to_pylist() for name in table.column_names}


def copied(folder: Path, name: str, copy_format: str) -> Path:
    path = folder / name
    with duckdb.connect() as connected:
        connected.execute(f"COPY (FROM read_csv('{CSV}')) TO '{path}' ({copy_format})")
    return path


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def rows_of(folder: Path) -> list[list[Any]]:
    columns = as_dict(folder)
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


SOURCES: dict[str, Callable[[Path], Any]] = {
    "path": lambda folder: CSV,
    "text path": lambda folder: str(CSV),
    "tsv": lambda folder: copied(folder, "p.tsv", "FORMAT csv, DELIMITER '\t'"),
    "gzip": lambda folder: copied(folder, "p.csv.gz", "FORMAT csv, COMPRESSION gzip"),
    "parquet": lambda folder: copied(folder, "p.parquet", "FORMAT parquet"),
    "json lines": lambda folder: copied(folder, "p.jsonl", "FORMAT json"),
    "feather": lambda folder: write_ipc(folder / "p.feather", as_arrow(folder), "zstd"),
    "ipc stream": lambda folder: write_ipc(folder / "p.arrows", as_arrow(folder)),
    "orc": lambda folder: write_orc(folder / "p.orc", as_arrow(folder)),
    "xlsx": lambda folder: write_xlsx(folder / "p.xlsx", {"patients": rows_of(folder)}),
    "ods": lambda folder: write_ods(folder / "p.ods", {"patients": rows_of(folder)}),
    "open file": lambda folder: io.BytesIO(CSV.read_bytes()),
    "xz": lambda folder: written(folder / "p.csv.xz", lzma.compress(CSV.read_bytes())),
    "pandas": as_pandas,
    "pandas nullable": lambda folder: as_pandas(folder).convert_dtypes(),
    "pandas arrow": lambda folder: as_arrow(folder).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": as_polars,
    "arrow": as_arrow,
    "dict": as_dict,
    # texts alone: a source that knows no types
    "arrow of texts": as_texts,
    "parquet of texts": parquet_of_texts,
    "pandas of texts": lambda folder: pd.read_csv(CSV, dtype=str),
    "pandas of objects": lambda folder: pd.read_csv(CSV, dtype=object),
    "polars of texts": lambda folder: pl.read_csv(CSV, infer_schema=False),
    "dict of texts": lambda folder: as_texts(folder).to_pydict(),
    "json of texts": lambda folder: written_lines(folder / "t.jsonl", as_texts(folder).to_pylist()),
    "xlsx of texts": lambda folder: write_xlsx(folder / "t.xlsx", {"p": texts_of(folder)}),
    "feather of texts": lambda folder: write_ipc(folder / "t.feather", as_texts(folder), "zstd"),
}
#: The same as streams.
STREAMS: dict[str, Callable[[Path], Any]] = {
    "csv": lambda folder: CSV,
    "parquet": SOURCES["parquet"],
    "parquet of texts": parquet_of_texts,
    "lazy polars of texts": lambda folder: pl.read_csv(CSV, infer_schema=False).lazy(),
    "orc": SOURCES["orc"],
}


def answer(data: Any) -> str:
    findings = outlying.explain(data, object=PATIENT)
    result = findings.to_dict()
    del result["source"]
    return json.dumps(result)


@pytest.mark.parametrize("source", SOURCES)
def test_same_answer(source: str, tmp_path: Path) -> None:
    assert answer(SOURCES[source](tmp_path)) == answer(CSV)


@pytest.mark.parametrize("source", STREAMS)
def test_same_columns_as_a_stream(source: str, tmp_path: Path) -> None:
    found = collected(outlying.scan(STREAMS[source](tmp_path)))
    expected = outlying.sources.read(CSV)
    assert found.names == expected.names
    for name in expected.names:
        one, other = (sorted(map(repr, column_values(t, name))) for t in (found, expected))
        assert (one, found.column(name).form) == (other, expected.column(name).form)
    forms = {
        field.name: form_of(field.type)
        for field in outlying.scan(STREAMS[source](tmp_path)).schema()
    }
    assert forms.keys() == set(expected.names)
    assert all(forms[n] in (expected.column(n).form, "number") for n in expected.names)


def test_an_array_and_a_dict_of_numbers_agree() -> None:
    table: pa.Table = as_arrow(Path())
    names = ["height_cm", "weight_kg", "temperature_c"]
    frame = table.select(names).to_pandas()
    array = frame.to_numpy()
    as_array = outlying.explain(array, row=7)
    as_columns = outlying.explain({f"x{i}": frame[name] for i, name in enumerate(names)}, row=7)
    assert as_array.pairs == as_columns.pairs
