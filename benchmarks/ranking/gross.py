"""Errors in one of a hundred rows of real tables at once; the tables ship inside packages."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from benchmarks.quality.errors import tables
from benchmarks.quality.errors.injector import inject
from benchmarks.ranking.cases import (
    Case,
    Recipe,
    Settings,
    Wrong,
    drawn,
    seeded,
)

TITLE = "Errors in 1% of the rows of real tables"
SHOWN = ("planted", "ap", "ap_gross", "auc", "exceptional", "hits", "named", "seconds")
KINDS = ("decimal", "sign", "swap", "unit", "code", "category")
SHARE, LEAST = 0.01, 4
MOST_ROWS = 2_000


def recipes(settings: Settings) -> list[Recipe]:
    """Return the tables whose packages are there."""
    found = seeded("gross", tables.names(), settings, seeds=2)
    there = {name for name in tables.names() if _is_there(name)}
    return [
        recipe
        for recipe in found
        if recipe.kind in there and tables.half_of(recipe.kind) == recipe.half
    ]


def make(recipe: Recipe, settings: Settings) -> Case:
    """Return a real table with errors of all kinds in different rows."""
    rng = recipe.rng()
    most = MOST_ROWS if settings.rows is None else settings.rows
    whole = tables.load(recipe.kind)
    rows = drawn(len(next(iter(whole.values()))), most, recipe.seed)
    table = {name: column[rows] for name, column in whole.items()}
    wrong: dict[int, Wrong] = {}
    while len(wrong) < max(LEAST, round(SHARE * len(rows))):
        error = inject(table, KINDS[rng.integers(len(KINDS))], rng)
        if error is None or error.row in wrong:
            continue
        table = error.planted(table)
        column = next(iter(error.values)) if len(error.values) == 1 else None
        wrong[error.row] = Wrong(error.kind, column, error.kind != "category")
    return Case.of(pd.DataFrame(table), wrong)


def _is_there(name: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(np.size(next(iter(tables.load(name).values()))))
        except ImportError:
            return False
