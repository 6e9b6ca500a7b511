"""Tables in which nothing is wrong: how many rows are called exceptional all the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.ranking import groups, noise
from benchmarks.ranking.cases import Array, Case, Recipe, Rng, Settings, seeded

TITLE = "Clean tables: rows that are called exceptional"
SHOWN = ("exceptional", "unusual", "seconds")
SIZES = {"2,000": 2_000, "100,000": 100_000}
COLUMNS = 6
GROUPS = ("five groups", "lognormal", "nested", "labels", "pairs")  # kinds of suite groups


def _months(rng: Rng, rows: int) -> dict[str, Array]:
    month = rng.integers(1, 13, (COLUMNS // 2, rows))
    degrees = 12 + 10 * np.sin((month - 4) * np.pi / 6) + rng.normal(0, 2, month.shape)
    return {f"month{i}": month[i] for i in range(len(month))} | {
        f"degrees{i}": degrees[i].round(1) for i in range(len(month))
    }


def _several(draw: Callable[[Rng, int], Array]) -> Callable[[Rng, int], dict[str, Array]]:
    return lambda rng, rows: {f"c{i}": draw(rng, rows) for i in range(COLUMNS)}


SHAPES: dict[str, Callable[[Rng, int], dict[str, Array]]] = {
    "noise": lambda rng, rows: noise.columns(rng, rows, 10),
    "normal": _several(lambda rng, rows: rng.normal(size=rows).round(3)),
    "lognormal tails": _several(lambda rng, rows: rng.lognormal(3, 1.2, rows).round(2)),
    "t3": _several(lambda rng, rows: rng.standard_t(3, rows).round(3)),
    "exponential": _several(lambda rng, rows: rng.exponential(20, rows).round(2)),
    "zero-inflated": _several(
        lambda rng, rows: np.where(rng.random(rows) < 0.7, 0, rng.lognormal(3, 0.8, rows)).round(2)
    ),
    "seasons": _months,
    "integers": _several(lambda rng, rows: rng.poisson(rng.uniform(1, 30), rows)),
}
KINDS = (*SHAPES, *(f"groups: {kind}" for kind in GROUPS))


def recipes(settings: Settings) -> list[Recipe]:
    """Return each kind in two sizes."""
    sizes = [size for size in SIZES if settings.large or SIZES[size] <= 10_000]
    kinds = [f"{kind}, {size}" for size in sizes for kind in KINDS]
    return seeded("clean", kinds, settings, seeds=1)


def make(recipe: Recipe, _settings: Settings) -> Case:
    """Return a table without any error."""
    kind, _, size = recipe.kind.partition(", ")
    rng, rows = recipe.rng(), SIZES[size]
    if kind in SHAPES:
        table = SHAPES[kind](rng, rows)
        table["label"] = noise.SHAPES["rare"](rng, rows)
        return Case.of(noise.shuffled(rng, table), {})
    return groups.clean(kind.removeprefix("groups: "), rng, rows)
