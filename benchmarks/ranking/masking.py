"""Values 20 standard deviations off beside codes for "unknown" that are far larger."""

from __future__ import annotations

import itertools

from benchmarks.ranking import noise
from benchmarks.ranking.cases import Case, Recipe, Settings, Wrong, seeded

TITLE = "Masking: five 20-sigma values beside codes for unknown"
SHOWN = ("planted", "ap", "spikes", "worst", "exceptional", "hits", "seconds")
SIZES = {"999": 999.0, "99999": 99_999.0, "1e9": 1e9}
COUNTS = (1, 5, 30)
KINDS = tuple(f"{count} x {size}" for size, count in itertools.product(SIZES, COUNTS))
ROWS, SPIKES = 1_000, 5
SPIKE, CODE = "20 sigma", "code"


def recipes(settings: Settings) -> list[Recipe]:
    """Return one table of each size and number of codes."""
    return seeded("masking", KINDS, settings, seeds=1)


def make(recipe: Recipe, _: Settings) -> Case:
    """Return a column of 100 +- 10 with both kinds of wrong values, among noise."""
    rng = recipe.rng()
    count, size = recipe.kind.split(" x ")
    values = rng.normal(100, 10, ROWS).round(1)
    rows = rng.permutation(ROWS)[: SPIKES + int(count)].tolist()
    values[rows[:SPIKES]] = (100 + rng.uniform(195, 205, SPIKES)).round(1)
    values[rows[SPIKES:]] = SIZES[size]
    table = {"value": values} | noise.columns(rng, ROWS, 4)
    kinds = [SPIKE] * SPIKES + [CODE] * int(count)
    wrong = {row: Wrong(kind, "value") for row, kind in zip(rows, kinds, strict=True)}
    return Case.of(noise.shuffled(rng, table), wrong)
