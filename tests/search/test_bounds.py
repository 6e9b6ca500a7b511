"""Bounds of what counts against rows: never too low, and low enough for most rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from outlying.search.bounds import StrengthBounds
from outlying.search.cells import Numbers
from outlying.search.model import Model
from tests import models


def others(model: Model, rng: np.random.Generator, rows: int) -> list[Numbers]:
    """Make rows of cells of the table and of others: gaps, new categories, values far out."""
    made = []
    for own in model.numbers:
        found = rng.choice(own, rows)
        wild = rng.random(rows) < 0.2
        if own.dtype == np.int32:
            found[wild] = rng.integers(-1, own.max() + 2, wild.sum())
        else:
            far = rng.normal(0, 10 * (1 + np.nanmax(np.abs(own), initial=0.0)), wild.sum())
            found[wild] = np.where(rng.random(wild.sum()) < 0.1, np.nan, far)
        made.append(found)
    return made


@settings(max_examples=60)
@given(
    table=models.tables(most_rows=300),
    seed=st.integers(0, 10**6),
    share=st.floats(0.5, 1.0),
    depth=st.sampled_from([1, 2, 4]),
)
def test_no_row_that_is_strong_enough_is_lost(
    table: models.Table, seed: int, share: float, depth: int
) -> None:
    model = models.model_of(table, max_conditions=depth)
    numbers = others(model, np.random.default_rng(seed), 400)
    evidence = model.judged(numbers)
    strengths, combinations = evidence.strongest, evidence.combination
    lines = float(np.quantile(strengths, share)), float(np.quantile(combinations, share))
    bounds = StrengthBounds(model, *lines)
    found = set(bounds.candidates(numbers).tolist())
    wanted = np.flatnonzero((strengths >= lines[0]) | (combinations >= lines[1]))
    assert found >= set(wanted.tolist())
    higher = (1 + share) / 2  # what has become the least since
    raised = float(np.quantile(strengths, higher)), float(np.quantile(combinations, higher))
    wanted = np.flatnonzero((strengths >= raised[0]) | (combinations >= raised[1]))
    assert found >= set(bounds.candidates(numbers, *raised).tolist()) >= set(wanted.tolist())
    alone = set(StrengthBounds(model, lines[0], np.inf).candidates(numbers).tolist())
    assert alone >= set(np.flatnonzero(strengths >= lines[0]).tolist())


def test_most_rows_are_not_looked_at() -> None:
    kinds = ["normal", "group", "by group", "tied", "tied", "heavy", "labels", "bits"]
    table = models.random_table(1, 20_000, kinds)
    model = models.model_of(table)
    strengths = np.sort(model.evidence.strongest)
    combinations = np.sort(model.evidence.combination)
    found = StrengthBounds(model, strengths[-20], combinations[-20]).candidates(model.numbers)
    assert len(found) < 2_000
