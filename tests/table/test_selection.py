"""Columns that take no part: the reasons, from whatever counts they follow."""

from __future__ import annotations

import numpy as np
import pytest

from outlying.options import Options
from outlying.sources import read
from outlying.table import selection
from outlying.table.selection import ColumnSummary, optional_columns, select_any, skipped_column
from outlying.table.table import SkipReason

MANY = 100_001


@pytest.mark.parametrize(
    ("summary", "why", "words"),
    [
        (ColumnSummary(10, 10, None, None), SkipReason.EMPTY, "is empty in every row"),
        (
            ColumnSummary(10, 0, 3.5, None),
            SkipReason.CONSTANT,
            "is 3.5 in every row",
        ),
        (
            ColumnSummary(10, 0, False, None),
            SkipReason.CONSTANT,
            "is false in every row",
        ),
        (ColumnSummary(1000, 0, None, 901), SkipReason.IDENTIFIER, "differs in nearly every row"),
        (
            ColumnSummary(2 * MANY, 0, None, MANY),
            SkipReason.TOO_MANY_TEXTS,
            "has 100,001 different texts, too many to compare",
        ),
        (
            ColumnSummary(10**9, 0, None, 123_456, is_exact=False),
            SkipReason.TOO_MANY_TEXTS,
            "has about 123,000 different texts",
        ),
    ],
)
def test_reasons_are_said(summary: ColumnSummary, why: SkipReason, words: str) -> None:
    for is_streamed in (False, True):
        found = skipped_column("a", summary, is_declared=False, is_streamed=is_streamed)
        assert found is not None
        is_limit = is_streamed and why is SkipReason.TOO_MANY_TEXTS  # no declared type helps
        assert found.why is (SkipReason.TOO_MANY_IN_STREAM if is_limit else why)
        assert ("whatever type is declared" in found.reason) == is_limit
        assert found.reason.startswith(words)
        assert found.to_dict() == {"name": "a", "reason": found.reason}


@pytest.mark.parametrize(
    "summary",
    [
        ColumnSummary(10, 9, None, None),
        ColumnSummary(1000, 0, None, 900),
        ColumnSummary(19, 0, None, 19),
        ColumnSummary(10**6, 0, None, 100_000),
    ],
)
def test_other_columns_take_part(summary: ColumnSummary) -> None:
    assert skipped_column("a", summary, is_declared=False, is_streamed=True) is None


@pytest.mark.parametrize(
    "summary", [ColumnSummary(1000, 0, None, 901), ColumnSummary(10**6, 0, None, MANY)]
)
def test_declared_types_override_reasons_in_memory(summary: ColumnSummary) -> None:
    assert skipped_column("a", summary, is_declared=True) is None


def test_a_stream_does_not_count_more_texts_than_fit() -> None:
    few, many = ColumnSummary(1000, 0, None, 901), ColumnSummary(10**6, 0, None, MANY)
    assert skipped_column("a", few, is_declared=True, is_streamed=True) is None
    found = skipped_column("a", many, is_declared=True, is_streamed=True)
    assert found is not None
    assert "at most 100,000, whatever type is declared" in found.reason


def test_a_table_in_memory_leaves_out_columns_of_very_many_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selection, "MOST_TEXTS", 10)
    rows = np.arange(100)
    table = read(
        {"fine": [f"t{row % 11}" for row in rows], "coarse": [f"t{row % 10}" for row in rows]}
    )
    found = select_any(table, Options.of())
    assert [column.name for column in found.columns] == ["coarse"]
    assert found.skipped[0].reason.startswith("has 11 different texts")
    assert optional_columns(table, Options.of()) == {"fine"}
    declared = Options.of(types={"fine": "categorical"})
    assert len(select_any(table, declared).columns) == 2
    assert optional_columns(table, declared) == set()
