"""Planted tables: the first pair names the true columns (benchmarks/planted_run.py has more)."""

from __future__ import annotations

import pytest

import outlying
from benchmarks.planted import KINDS, plant

SEEDS = range(20)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_first_pair_names_the_planted_columns(kind: str) -> None:
    right = 0
    for seed in SEEDS:
        planted = plant(kind, seed, rows=600, noise=6)
        first = outlying.explain(planted.data, row=planted.row).pairs[0]
        named = {first.property, *(condition.attribute for condition in first.conditions)}
        right += named == planted.columns and first.exceptional
    assert right >= 0.95 * len(SEEDS)
