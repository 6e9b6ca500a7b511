"""Where a finding stands among those of all rows, and options that no longer decide it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlying
from outlying.results.stories import Rank
from outlying.search.evidence import Standing

STRENGTHS = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 7.5]), min_size=1, max_size=60)


@given(STRENGTHS, st.sampled_from([0.0, 0.3, 0.5, 7.5, 9.0]), st.booleans())
def test_other_rows_are_counted(strengths: list[float], own: float, is_judged: bool) -> None:
    """Rows without a finding are never as strong, not even as no finding at all."""
    everyone = [*strengths, own] if is_judged else strengths
    rank = Rank.of(Standing.of(np.array(everyone)), own, is_judged)
    assert rank.as_strong == sum(other >= own and other > 0 for other in strengths)
    assert rank.judged == len(everyone)
    assert not (rank.exceptional and rank.unusual)


@pytest.mark.parametrize(
    ("strength", "exceptional", "unusual"),
    [(0.0, False, False), (3.0, False, False), (3.1, False, True), (8.0, True, False)],
)
def test_the_lines_decide(strength: float, exceptional: bool, unusual: bool) -> None:
    rank = Rank.of(Standing(np.arange(10.0), 8.0, 3.0), strength, is_judged=False)
    assert (rank.exceptional, rank.unusual) == (exceptional, unusual)


def test_no_finding_is_nothing_where_there_is_no_line() -> None:
    rank = Rank.of(Standing(np.zeros(5), math.inf, 0.0), 0.0, is_judged=True)
    assert rank == Rank(0, 5)


@pytest.mark.parametrize("given", [{"references": 0}, {"min_confidence": 0.5}], ids=str)
def test_options_without_effect_are_named(given: dict[str, Any]) -> None:
    table = {"a": [1.0, 2.0, 3.0, 2.0, 1.5, 9.0]}
    usual, told = outlying.explain(table, row=5), outlying.explain(table, row=5, **given)
    (note,) = set(told.notes) - set(usual.notes)
    assert note.startswith(f"{next(iter(given))} no longer has any effect")
    assert told.stories == usual.stories
    assert told.options.to_dict() == usual.options.to_dict()
