"""Columns that have nothing to do with anything, in many shapes, for all generated tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.ranking.cases import Array, Frame, Rng

START = np.datetime64("2023-01-01")


def _labels(*shares: float) -> Callable[[Rng, int], Array]:
    names = np.array(["ash", "birch", "cedar", "elm", "fir", "larch"], dtype=object)
    return lambda rng, rows: names[rng.choice(len(shares), rows, p=shares)]


SHAPES: dict[str, Callable[[Rng, int], Array]] = {
    "normal": lambda rng, rows: rng.normal(50, 12, rows).round(2),
    "exponential": lambda rng, rows: rng.exponential(3, rows).round(3),
    "lognormal": lambda rng, rows: rng.lognormal(2, 1, rows).round(2),
    "t4": lambda rng, rows: rng.standard_t(4, rows).round(3),
    "uniform": lambda rng, rows: rng.uniform(0, 1, rows).round(4),
    "digits": lambda rng, rows: rng.integers(0, 10, rows),
    "counts": lambda rng, rows: rng.poisson(4, rows),
    "rounded": lambda rng, rows: (rng.normal(100, 15, rows) / 5).round() * 5,
    "zeros": lambda rng, rows: np.where(rng.random(rows) < 0.6, 0, rng.gamma(2, 9, rows).round(1)),
    "balanced": _labels(0.25, 0.25, 0.25, 0.25),
    "rare": _labels(0.6, 0.3, 0.07, 0.02, 0.01),
    "days": lambda rng, rows: START + rng.integers(0, 700, rows).astype("timedelta64[D]"),
}


def columns(rng: Rng, rows: int, count: int) -> dict[str, Array]:
    """Return noise columns of different shapes."""
    shapes = rng.permutation(list(SHAPES))[:count]
    return {f"n_{shape}": SHAPES[shape](rng, rows) for shape in shapes.tolist()}


def shuffled(rng: Rng, table: dict[str, Array]) -> Frame:
    """Return a frame with the columns in any order."""
    return pd.DataFrame({name: table[name] for name in rng.permutation(list(table)).tolist()})
