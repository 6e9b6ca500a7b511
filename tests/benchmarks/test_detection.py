"""The yardstick of the benchmark of detection, and the report it writes."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from benchmarks import detection


def test_auc_counts_pairs_and_halves_ties() -> None:
    odd = np.array([True, False, False, True, False])
    scores = np.array([3.0, 1.0, 3.0, 0.0, 2.0])
    pairs = [(a, b) for a in scores[odd] for b in scores[~odd]]
    expected = np.mean([1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs])
    assert detection.auc(scores, odd) == pytest.approx(expected)


def test_the_rounds_are_combined_in_every_way() -> None:
    table = detection.large_table(60, 4)
    table["c00"][5] += 50
    found = detection.ours("kth-neighbour", rounds=20)(table)
    assert list(found) == ["rank, kth-neighbour", "votes, kth-neighbour", "sum, kth-neighbour"]
    for scores in found.values():
        assert 5 in np.argsort(-scores)[:3]


def test_dirty_tables_know_their_wrong_rows(tmp_path: Path) -> None:
    folder = tmp_path / "dirty" / "numeric" / "sizes"
    folder.mkdir(parents=True)
    (folder / "clean.csv").write_text("size\n1\n2\n3\n", encoding="utf-8")
    cells = "data_row,column,wrong,right\n2,size,900,2\n3,size,800,3\n"
    (folder / "wrong_cells.csv").write_text(cells, encoding="utf-8")
    found = list(itertools.islice(detection.dirty_tables(tmp_path, copies=2), 2))
    wrong = {(int(np.argmax(known.odd)), float(max(known.data["size"]))) for known in found}
    assert wrong == {(1, 900.0), (2, 800.0)}
    assert {known.kind for known in found} == {"a wrong cell, numeric"}


def test_the_report_holds_every_figure() -> None:
    results = {
        "paper": {"votes, radius": {"ecoli 223": [1, 1, 4]}},
        "quality": {"ours": {"blobs": 0.9, "wine": 0.7}},
        "strength": {"strength": {"blobs": 0.75}},
        "dirty": {"strength": {"a wrong cell, numeric": 0.875}},
        "choices": {"defaults": {"blobs": 0.5}},
        "speed": [{"rows": 1000, "columns": 3, "method": "ours", "seconds": 1.25, "mb": 40.0}],
    }
    text = detection.report(results)
    assert "| votes, radius | 2 times, 1, 4 |" in text
    assert "| mean of the kinds | 0.800 |" in text
    assert "| a wrong cell, numeric | 0.875 |" in text
    assert "| 1,000 | 3 | ours | 1.2 | 40 |" in text
