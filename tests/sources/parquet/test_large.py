"""Large Parquet files: what Arrow reads is what the engine reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.sources.parquet import large, reading
from outlying.table.table import Table

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")

ROWS = 1000


def columns() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    gaps = rng.random(ROWS) < 0.1
    numbers = rng.normal(size=ROWS)
    numbers[:3] = np.nan, np.inf, -0.0
    labels = pa.array(rng.choice(["b", "a", "ä", ""], ROWS), mask=gaps)
    unused = pa.DictionaryArray.from_arrays(
        rng.integers(0, 2, ROWS).astype(np.int32), ["yes", "no", "never"]
    )
    return {
        "double": numbers,
        "gaps": pa.array(rng.normal(size=ROWS), mask=gaps),
        "float": rng.normal(size=ROWS).astype(np.float32),
        "whole": rng.integers(-5, 5, ROWS),
        "small": pa.array(rng.integers(0, 200, ROWS).astype(np.uint8), mask=gaps),
        "huge": rng.integers(2**60, 2**62, ROWS),
        "label": labels,
        "unused": unused,
        "key": [f"k{place}" for place in range(ROWS)],
        "none": pa.nulls(ROWS, pa.float64()),
        "empty": pa.nulls(ROWS, pa.string()),
        "flag": rng.random(ROWS) < 0.5,
        "day": pa.array(rng.integers(0, 9999, ROWS).astype(np.int32)).cast(pa.date32()),
        "list": [[1]] * ROWS,
    }


def described(table: Table) -> list[Any]:
    return [
        (column.name, column.form, [column.value(row) for row in range(table.rows)])
        for column in table.columns
    ]


@pytest.mark.parametrize("size", [100, ROWS])  # row groups with dictionaries of their own
def test_arrow_and_the_engine_agree(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns()), path, row_group_size=size)
    monkeypatch.setattr(reading, "LEAST_CELLS", 10**12)
    expected = outlying.Explainer(path, infinite="missing").table
    monkeypatch.setattr(reading, "LEAST_CELLS", 0)
    found = outlying.Explainer(path, infinite="missing").table
    assert repr(described(found)) == repr(described(expected))
    assert found.names == expected.names
    assert found.notes == expected.notes


def test_arrow_reads_numbers_and_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns()), path)
    monkeypatch.setattr(reading, "LEAST_CELLS", 0)
    seen: list[int] = []
    read = large.read

    def noted(*given: Any) -> Any:
        found = read(*given)
        seen.extend(found)
        return found

    monkeypatch.setattr(large, "read", noted)
    outlying.Explainer(path, infinite="missing")
    names = list(columns())
    assert [names[place] for place in seen] == [
        *("double", "gaps", "float", "whole", "small", "huge", "label", "key", "none"),
    ]
