"""Texts read as codes: the same columns as text by text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import outlying
from outlying import sources
from outlying.sources.parquet import texts
from outlying.table.table import Table

ROWS = 500


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    odd = np.array(["a", "", "A", "ä", "\x00x", "'; DROP TABLE", "1", "a\nb", None], dtype=object)
    frame = pd.DataFrame(
        {
            "odd": rng.choice(odd, ROWS),
            "many": [f"text {place}" for place in range(ROWS)],
            "none": pd.Series([None] * ROWS, dtype="string"),
            "one": ["same"] * ROWS,
            "number": rng.normal(size=ROWS),
            "kind": pd.Categorical(rng.choice(["x", "y"], ROWS)),
        }
    )
    path = tmp_path / "texts.parquet"
    frame.to_parquet(path, index=False)
    return path


def cells(table: Table) -> dict[str, object]:
    return {column.name: [column.value(row) for row in range(ROWS)] for column in table.columns}


@pytest.mark.parametrize("most", [1, 100, 10_000])
def test_codes_give_the_same_columns(
    path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = sources.read(path)
    monkeypatch.setattr(texts, "LEAST_ROWS", 1)
    monkeypatch.setattr(texts, "MOST_KINDS", most)
    as_codes = sources.read(path)
    assert cells(as_codes) == cells(plain)
    assert as_codes.notes == plain.notes
    for one, other in zip(as_codes.columns, plain.columns, strict=True):
        assert type(one) is type(other)
        if not one.is_numeric and not other.is_numeric:
            assert (one.labels, one.codes.tolist()) == (other.labels, other.codes.tolist())
            assert one.codes.dtype == other.codes.dtype


def test_answers_are_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = outlying.explain(path, row=3).to_json()
    monkeypatch.setattr(texts, "LEAST_ROWS", 1)
    assert outlying.explain(path, row=3).to_json() == plain
