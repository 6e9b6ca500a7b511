"""What is said of the same rows by other columns blames the same cell; of other rows, another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import outlying


def told_of(data: pd.DataFrame, folder: Path) -> list[tuple[tuple[str, ...], str]]:
    """Return columns and culprits of the stories on row k000000, in memory and streamed alike."""
    path = folder / "t.parquet"
    data.assign(key=[f"k{n:06d}" for n in range(len(data))]).to_parquet(path)
    memory, stream = (
        outlying.explain(path, where={"key": "k000000"}, engine=engine)
        for engine in ("memory", "duckdb")
    )
    told = [(story.columns, story.culprit) for story in memory.stories]
    assert told == [(story.columns, story.culprit) for story in stream.stories]
    return told


@pytest.mark.parametrize("size", [100, 1_000])
def test_groups_of_one_size_are_not_the_same_rows(size: int, tmp_path: Path) -> None:
    """A plan of experiments: each machine and each operator have as many rows, all set to 20."""
    machine, operator = np.repeat(np.arange(6), size), np.tile(np.arange(6), size)
    settings = np.random.default_rng(1).choice(np.array([20, 30, 40]), 6 * size)
    setting = np.where((machine == 0) | (operator == 0), 20, settings)
    setting[0] = 40
    table = pd.DataFrame({"setting": setting})
    table["machine"] = np.array(["M1", "M2", "M3", "M4", "M5", "M6"])[machine]
    table["operator"] = np.array(["Ann", "Bob", "Cid", "Dee", "Eve", "Fay"])[operator]
    told = [columns for columns, _ in told_of(table, tmp_path)]
    assert told[:2] == [("machine", "setting"), ("operator", "setting")]


@pytest.mark.parametrize("size", [100, 1_000])
def test_a_label_and_what_it_follows_from_blame_the_same_cell(size: int, tmp_path: Path) -> None:
    """The width does not fit the label, nor the length beside it: which comes first is open."""
    rng = np.random.default_rng(2)
    kind = np.repeat(np.arange(3), size)
    table = pd.DataFrame({"length": 10.0 * kind + rng.uniform(0, 1, 3 * size)})
    table["width"] = rng.normal(5, 0.2, 3 * size) + 3 * kind
    table["kind"] = np.array(["ash", "birch", "cedar"])[kind]
    table.loc[0, "width"] = 8.0
    told = [(("kind", "width"), "width"), (("length", "width"), "width")]
    assert sorted(told_of(table, tmp_path)) == told
