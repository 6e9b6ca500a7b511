"""Everyday tables with eight planted problems each, beside clocks, codes and heavy tails."""

from __future__ import annotations

from benchmarks.ranking import noise
from benchmarks.ranking.cases import Case, Recipe, Settings, Wrong, seeded
from benchmarks.ranking.everyday_kinds import KINDS

TITLE = "Everyday tables: eight planted problems beside clocks, codes and heavy tails"
SHOWN = ("planted", "first10", "first15", "ap", "exceptional", "hits", "named", "seconds")
ROWS = (1_500, 4_000)


def recipes(settings: Settings) -> list[Recipe]:
    """Return some tables of each kind."""
    return seeded("everyday", list(KINDS), settings, seeds=2)


def make(recipe: Recipe, _: Settings) -> Case:
    """Return a table; a code for what is unknown is an oddity, too, but not a planted problem."""
    rng = recipe.rng()
    columns, edits, coded = KINDS[recipe.kind](rng, int(rng.integers(*ROWS)))
    for edit in edits:
        columns[edit.column][edit.row] = edit.value
    wrong = {edit.row: Wrong(edit.kind, edit.column) for edit in edits}
    wrong |= {row: Wrong("code", is_gross=False) for row in coded}
    return Case.of(noise.shuffled(rng, columns), wrong)
