"""Tables whose minority groups have ranges of their own, with about eight wrong cells each.

An ordinary member of a minority is not odd, however far it lies from the rest of its column; what
is wrong lies outside of the range of its own group, mostly inside that of another one.
"""

from __future__ import annotations

from benchmarks.ranking import group_kinds, noise
from benchmarks.ranking.cases import Case, Recipe, Rng, Settings, Wrong, seeded

TITLE = "Minority groups with ranges of their own"
SHOWN = ("planted", "ap", "auc", "exceptional", "hits", "named", "seconds")
KINDS = tuple(group_kinds.KINDS)


def recipes(settings: Settings) -> list[Recipe]:
    """Return some tables of each kind."""
    return seeded("groups", KINDS, settings, seeds=2)


def make(recipe: Recipe, _: Settings) -> Case:
    """Return a table with wrong cells, and noise."""
    rng = recipe.rng()
    return _case(recipe.kind, rng, int(rng.integers(1_000, 2_001)), with_errors=True)


def clean(kind: str, rng: Rng, rows: int) -> Case:
    """Return a table of the same kind without any error."""
    return _case(kind, rng, rows, with_errors=False)


def _case(kind: str, rng: Rng, rows: int, with_errors: bool) -> Case:
    table, edits = group_kinds.KINDS[kind](rng, rows)
    wrong = {}
    for edit in edits if with_errors else ():
        table[edit.column][edit.row] = edit.value
        wrong[edit.row] = Wrong(edit.kind, edit.column)
    table |= noise.columns(rng, rows, int(rng.integers(4, 8)))
    return Case.of(noise.shuffled(rng, table), wrong)
