"""Columns that take no part: the reasons, from whatever counts they follow."""

from __future__ import annotations

import numpy as np
import pytest

from outlying.options import Options
from outlying.sources import read
from outlying.table import selection
from outlying.table.selection import Grounds, chosen, optional, reason_to_skip

MANY = 100_001


@pytest.mark.parametrize(
    ("grounds", "words"),
    [
        (Grounds(10, 10, None, None), "has no value in any row"),
        (Grounds(10, 0, 3.5, None), "has the same value in every row: 3.5"),
        (Grounds(10, 0, False, None), "has the same value in every row: false"),
        (Grounds(1000, 0, None, 901), "is an identifier"),
        (Grounds(2 * MANY, 0, None, MANY), "has 100,001 distinct texts, too many to compare ("),
        (Grounds(10**9, 0, None, 123_456, is_exact=False), "has about 123,000 distinct texts"),
    ],
)
def test_reasons_are_said(grounds: Grounds, words: str) -> None:
    assert reason_to_skip(grounds, is_declared=False).startswith(words)
    assert reason_to_skip(grounds, is_declared=False, is_streamed=True).startswith(words)


@pytest.mark.parametrize(
    "grounds",
    [
        Grounds(10, 9, None, None),
        Grounds(1000, 0, None, 900),
        Grounds(19, 0, None, 19),
        Grounds(10**6, 0, None, 100_000),
    ],
)
def test_other_columns_take_part(grounds: Grounds) -> None:
    assert reason_to_skip(grounds, is_declared=False, is_streamed=True) == ""


@pytest.mark.parametrize("grounds", [Grounds(1000, 0, None, 901), Grounds(10**6, 0, None, MANY)])
def test_declared_types_override_reasons_in_memory(grounds: Grounds) -> None:
    assert reason_to_skip(grounds, is_declared=True) == ""


def test_a_stream_does_not_count_more_texts_than_fit() -> None:
    few, many = Grounds(1000, 0, None, 901), Grounds(10**6, 0, None, MANY)
    assert reason_to_skip(few, is_declared=True, is_streamed=True) == ""
    reason = reason_to_skip(many, is_declared=True, is_streamed=True)
    assert "at most 100,000, whatever type is declared" in reason


def test_a_table_in_memory_leaves_out_columns_of_very_many_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selection, "MOST_TEXTS", 10)
    rows = np.arange(100)
    table = read(
        {"fine": [f"t{row % 11}" for row in rows], "coarse": [f"t{row % 10}" for row in rows]}
    )
    found = chosen(table, Options.of())
    assert [column.name for column in found.columns] == ["coarse"]
    assert found.skipped[0].reason.startswith("has 11 distinct texts")
    assert optional(table, Options.of()) == {"fine"}
    declared = Options.of(types={"fine": "categorical"})
    assert len(chosen(table, declared).columns) == 2
    assert optional(table, declared) == set()
