"""Faint stories: one value of a row lies 2 to 6 standard deviations from where it belongs.

- alone: from the mean of its column, which is normal.
- category: from the level of its category; the levels spread four times as far as the rows do.
- linear: from the line that ties it to another column, which spreads ten times as far.

Six columns that have nothing to do with the story stand around it.
"""

from __future__ import annotations

import numpy as np

from benchmarks.quality.cases import Array, Target, Truth
from benchmarks.quality.errors.copies import ErrorCase, rng_of
from benchmarks.quality.errors.injector import Rng

RELATIONS = ("alone", "category", "linear")
DEVIATIONS = (2, 3, 4, 5, 6)
ROWS = 1000
WRONG = 3  # rows of a table
LABELS = np.array(["ash", "birch", "cedar", "elm", "fir", "larch"], dtype=object)


def make(relation: str, deviations: int, number: int, seed: int = 0) -> ErrorCase:
    """Return a table with a few faint rows; the same arguments, the same table."""
    rng = rng_of(seed, "faint", relation, 100 * deviations + number)
    middle, context = _relation(relation, rng)
    rows = rng.choice(ROWS, WRONG, replace=False).tolist()
    errors = rng.normal(size=ROWS)
    errors[rows] = deviations * rng.choice([-1, 1], WRONG)
    scale = 10.0 ** rng.integers(-2, 4)
    table = context | {"value": scale * (middle + errors)} | _noise(rng)
    truth = Truth(frozenset({"value", *context}), "value")
    return ErrorCase(
        suite="faint",
        kind=f"{deviations} sd",
        name=f"faint/{relation}/{deviations}/{seed}-{number}",
        data={name: table[name] for name in rng.permutation(list(table)).tolist()},
        targets=tuple(Target(row, (truth,)) for row in rows),
        source=relation,
        half="report",
    )


def _relation(relation: str, rng: Rng) -> tuple[Array, dict[str, Array]]:
    """Return where each value belongs, and the column that decides it, if any."""
    if relation == "alone":
        return np.zeros(ROWS), {}
    if relation == "linear":
        other = rng.normal(0, 10, ROWS)
        return other, {"partner": other + 50}
    codes = rng.integers(len(LABELS), size=ROWS)
    return rng.normal(0, 4, len(LABELS))[codes], {"group": LABELS[codes]}


def _noise(rng: Rng) -> dict[str, Array]:
    letters = np.array(["k", "l", "m", "n"], dtype=object)
    return {
        "normal": rng.normal(100, 15, ROWS),
        "uniform": rng.uniform(0, 1, ROWS),
        "skewed": rng.lognormal(3, 0.8, ROWS),
        "counts": rng.poisson(4, ROWS).astype(np.float64),
        "modes": rng.normal(np.array([0.0, 8.0])[rng.integers(2, size=ROWS)], 1),
        "letter": letters[rng.choice(4, ROWS, p=[0.4, 0.3, 0.2, 0.1])],
    }
