"""Twenty rows that break relations among 20 columns of a large table."""

from __future__ import annotations

import numpy as np

from benchmarks.ranking import noise
from benchmarks.ranking.cases import Array, Case, Floats, Recipe, Rng, Settings, Wrong, seeded

TITLE = "Twenty planted stories among 20 columns"
SHOWN = ("planted", "rows20", "ap", "exceptional", "hits", "named", "seconds")
ROWS = {"10,000 rows": 10_000, "100,000 rows": 100_000}
NAMES = np.array(["ash", "birch", "cedar", "elm", "fir"], dtype=object)


def recipes(settings: Settings) -> list[Recipe]:
    """Return one table of each size."""
    kinds = [kind for kind, rows in ROWS.items() if settings.large or rows <= 10_000]
    return seeded("planted", kinds, settings, seeds=1)


def make(recipe: Recipe, _: Settings) -> Case:
    """Return twelve columns of six relations and eight of noise; twenty rows break a relation."""
    rng, rows = recipe.rng(), ROWS[recipe.kind]
    odd = rng.permutation(rows)[:20]
    table: dict[str, Array] = {}
    wrong: dict[int, Wrong] = {}
    for (name, story), few in zip(STORIES.items(), np.split(odd, CUTS), strict=True):
        made = story(rng, rows, few)
        table |= {f"{name}_{part}": column for part, column in made.items()}
        wrong |= {int(row): Wrong(name, f"{name}_value") for row in few}
    table |= noise.columns(rng, rows, 20 - len(table))
    return Case.of(noise.shuffled(rng, table), wrong)


def _levels(rng: Rng, count: int) -> Floats:
    return rng.permutation(np.cumsum(rng.uniform(8, 12, count)))


def _category(rng: Rng, rows: int, odd: Array) -> dict[str, Array]:
    """Levels by category; odd rows have the level of another one."""
    codes, levels = rng.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1]), _levels(rng, 4)
    values = levels[codes] + rng.normal(size=rows)
    values[odd] = levels[(codes[odd] + 1) % 4] + rng.uniform(-1, 1, len(odd))
    return {"group": NAMES[codes], "value": values.round(3)}


def _interval(rng: Rng, rows: int, odd: Array) -> dict[str, Array]:
    """Levels by clusters of another number."""
    codes, levels, centres = rng.integers(0, 3, rows), _levels(rng, 3), _levels(rng, 3)
    values = levels[codes] + rng.normal(size=rows)
    values[odd] = levels[(codes[odd] + 1) % 3] + rng.uniform(-1, 1, len(odd))
    return {
        "by": (centres[codes] + rng.normal(size=rows)).round(3),
        "value": values.round(3),
    }


def _xor(rng: Rng, rows: int, odd: Array) -> dict[str, Array]:
    """Levels by two categories jointly, by neither of them alone."""
    one, two = rng.integers(0, 2, (2, rows))
    side = (one ^ two).astype(np.float64)
    side[odd] = 1 - side[odd]
    values = 10 * side + np.clip(rng.normal(size=rows), -3, 3)
    return {"one": NAMES[one], "two": NAMES[two + 2], "value": values.round(3)}


def _gap(rng: Rng, rows: int, odd: Array) -> dict[str, Array]:
    """Between the two modes of one category, where the other categories live."""
    codes = rng.choice(3, rows, p=[0.4, 0.3, 0.3])
    codes[odd] = 0
    modes = np.where(rng.random(rows) < 0.5, -12, 12)
    values = np.where(codes == 0, modes, 0) + rng.normal(size=rows)
    values[odd] = rng.uniform(-1, 1, len(odd))
    return {"group": NAMES[codes], "value": values.round(3)}


def _linear(rng: Rng, rows: int, odd: Array) -> dict[str, Array]:
    """Off the line that ties two columns, ordinary in each of them."""
    by = rng.uniform(0, 100, rows)
    values = 2 * by + rng.normal(0, 4, rows)
    values[odd] = 2 * ((by[odd] + rng.uniform(35, 65, len(odd))) % 100)
    return {"by": by.round(3), "value": values.round(3)}


def _global(rng: Rng, rows: int, odd: Array) -> dict[str, Array]:
    """Odd over the whole table."""
    values = rng.normal(100, 10, rows)
    values[odd] = 100 + rng.choice([-1, 1], len(odd)) * rng.uniform(100, 150, len(odd))
    return {"value": values.round(2)}


STORIES = {
    "category": _category,
    "interval": _interval,
    "xor": _xor,
    "gap": _gap,
    "linear": _linear,
    "global": _global,
}
CUTS = (4, 8, 11, 14, 17)
