"""Whole-row anomalies with labels: rows of another class, often a little odd in many columns."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.ranking.cases import HALVES, Case, Recipe, Settings, Wrong, drawn, listed

TITLE = "ADBench: rows of another class"
SHOWN = (
    "planted",
    "auc",
    "ap",
    "auc_combination",
    "ap_combination",
    "auc_better",
    "ap_better",
    "exceptional",
    "hits",
    "seconds",
)
MOST_ROWS = 1_000
SEED = 0


def recipes(settings: Settings) -> list[Recipe]:
    """Return the files, by turns for choosing and for reporting."""
    names = sorted(path.stem for path in (settings.data / "adbench").glob("*.npz"))
    return listed(
        "adbench", {name: HALVES[place % 2] for place, name in enumerate(names)}, settings
    )


def make(recipe: Recipe, settings: Settings) -> Case:
    """Read a set, at most so many rows of it."""
    with np.load(settings.data / "adbench" / f"{recipe.kind}.npz") as file:
        values, labels = file["X"], file["y"]
    rows = drawn(len(labels), MOST_ROWS if settings.rows is None else settings.rows, SEED)
    frame = pd.DataFrame(values[rows], columns=[f"c{i:02d}" for i in range(values.shape[1])])
    wrong = {int(row): Wrong("anomaly") for row in np.flatnonzero(labels[rows])}
    return Case.of(frame, wrong)
