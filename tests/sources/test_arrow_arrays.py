"""Arrays change hands between Arrow and NumPy with all that is in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.sources import arrow_arrays as arrays

KINDS = st.sampled_from([pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.float64()])
GAPPY = st.lists(st.none() | st.integers(0, 100), max_size=40)


@given(GAPPY, KINDS, st.integers(0, 20), st.integers(0, 20))
def test_slices_with_gaps(
    values: list[int | None], kind: pa.DataType, start: int, length: int
) -> None:
    array = pa.array(values, kind).slice(start, length)
    wanted = values[start : start + length]
    missing = arrays.gaps(array)
    assert (missing is None) == (None not in wanted)
    marks = np.zeros(len(wanted), dtype=bool) if missing is None else missing
    assert marks.tolist() == [value is None for value in wanted]
    found = arrays.filled(array, 101)
    assert found.tolist() == [101 if value is None else value for value in wanted]
    assert found.dtype == np.dtype(kind.to_pandas_dtype())
    assert arrays.of_numbers(found, marks).equals(pa.array(wanted, kind))


def test_nothing_is_held() -> None:
    assert arrays.held(pa.nulls(3, pa.int32())).dtype == np.int32
    assert arrays.filled(pa.nulls(2, pa.int8()), -1).tolist() == [-1, -1]
    assert arrays.held(pa.array([], pa.float64())).tolist() == []


@given(st.lists(st.text(), max_size=10))
def test_texts(texts: list[str]) -> None:
    found = arrays.of_texts(texts)
    found.validate(full=True)
    assert found.to_pylist() == texts


@given(st.lists(st.booleans(), max_size=80))
def test_marks(marks: list[bool]) -> None:
    assert arrays.of_mask(np.array(marks, dtype=bool)).to_pylist() == marks


@pytest.mark.skipif(duckdb.__version__.startswith("1."), reason="DuckDB 1 imports pandas itself")
@pytest.mark.parametrize("engine", ["arrow", "engine"])
def test_a_stream_is_explained_without_pandas(tmp_path: Path, engine: str) -> None:
    rng = np.random.default_rng(1)
    rows = 20_000
    x = rng.normal(size=rows)
    text = np.array(["a", "b", "c"])[rng.integers(0, 3, rows)]
    columns = {"id": np.arange(rows), "x": x, "y": x + rng.normal(size=rows) / 9, "text": text}
    columns["flag"] = x > 0
    table = pa.table(columns)
    if engine == "engine":  # reads what Arrow does not
        table = table.append_column("wait", pa.array(np.arange(rows)).cast(pa.duration("us")))
    pq.write_table(table, tmp_path / "t.parquet")
    code = (
        "import sys, outlying; found = outlying.explain(outlying.scan(sys.argv[1]), "
        "where={'id': 5}); print(found.population.rows, 'pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "t.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(rows), "False"]
