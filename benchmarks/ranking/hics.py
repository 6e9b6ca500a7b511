"""The HiCS tables: rows that are odd in known sets of columns jointly, and in no column alone."""

from __future__ import annotations

import pandas as pd

from benchmarks.quality import hics
from benchmarks.ranking.cases import HALVES, Case, Recipe, Settings, Wrong, listed

TITLE = "HiCS: rows that are odd in several columns jointly"
SHOWN = ("planted", "auc", "ap", "exceptional", "hits", "seconds")


def recipes(settings: Settings) -> list[Recipe]:
    """Return the files; even numbers are for choosing, odd ones for reporting."""
    names = sorted(path.stem for path in (settings.data / "hics").glob("hics_*.csv"))
    return listed("hics", {name: HALVES[int(name[-3:]) % 2] for name in names}, settings)


def make(recipe: Recipe, settings: Settings) -> Case:
    """Read a table."""
    known = hics.read(settings.data / "hics" / f"{recipe.kind}.csv")
    wrong = {target.row: Wrong("subspace") for target in known.targets}
    return Case.of(pd.DataFrame(known.data), wrong)
