"""How far a model that is kept is from its table, of whose rows it keeps 20,000.

python -m benchmarks.big.kept --rows 20000 100000 1000000

2,000 new rows, 100 of them with a wrong cell, are judged by the model and by the whole table.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import outlying

_NEW, _WRONG = 2_000, 100
_HEAD = (
    "| rows of the table | size of the model | difference of strengths: median | 95% | largest "
    "| exceptional by the table | by the model | by both "
    "| of 100 wrong cells by the table | by the model |"
)


def rows(count: int, seed: int) -> dict[str, Any]:
    """Return rows with groups, tails, gaps, dates, a line and a product."""
    rng = np.random.default_rng(seed)
    site = rng.choice(12, count, p=np.arange(1, 13) / 78)
    load = rng.lognormal(3, 0.6, count)
    quantity = rng.poisson(3, count) + 1
    price = np.round(rng.lognormal(2, 0.5, count), 2)
    humidity = rng.normal(50, 8, count)
    humidity[rng.random(count) < 0.05] = np.nan
    days = np.datetime64("2022-01-01") + rng.integers(0, 900, count)
    return {
        "site": np.array([f"site {place}" for place in range(12)])[site],
        "temp": np.round(10 + 3.0 * site + rng.normal(size=count), 2),
        "load": load,
        "cost": 3 * load + rng.normal(0, 4, count),
        "quantity": quantity,
        "price": price,
        "total": np.round(quantity * price, 2),
        "humidity": humidity,
        "day": days.astype("M8[s]"),
        "grade": rng.integers(0, 7, count),
        "kind": rng.choice(["new", "old", "lost"], count, p=[0.7, 0.28, 0.02]),
        "noise": rng.normal(size=count),
    }


def with_wrong_cells(table: dict[str, Any]) -> dict[str, Any]:
    """Spoil a cell in each of the first rows, in five ways by turns."""
    changes: dict[str, Callable[[Any], Any]] = {
        "temp": lambda own: own + 18,
        "cost": lambda own: 1.8 * own + 40,
        "total": lambda own: np.round(0.9 * own, 2),
        "humidity": lambda own: np.full(len(own), 160.0),
        "noise": lambda own: own + 9,
    }
    for turn, (name, changed) in enumerate(changes.items()):
        table[name][turn:_WRONG:5] = changed(table[name][turn:_WRONG:5])
    return table


def measured(count: int, folder: Path) -> str:
    """Judge new rows by a model and by its table; return a line of the report."""
    path = folder / f"{count}.outlying"
    whole = outlying.Explainer(rows(count, 1))
    whole.save(path)
    new = with_wrong_cells(rows(_NEW, 2))
    by_table, by_model = (outlying.Explainer(new, against=base) for base in (whole, path))
    apart = np.abs(by_table.strengths() - by_model.strengths())
    first, second = (set(outlying.detect(own, top=1).exceptional) for own in (by_table, by_model))
    wrong = set(range(_WRONG))
    figures = [f"{figure:.2g}" for figure in np.quantile(apart, [0.5, 0.95, 1.0])]
    found = map(len, (first, second, first & second, first & wrong, second & wrong))
    size = f"{path.stat().st_size / 1e6:.1f} MB"
    return f"| {' | '.join([f'{count:,}', size, *figures, *map(str, found)])} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.big.kept", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 100_000, 1_000_000])
    print(_HEAD + "\n|" + " --- |" * 10)
    with tempfile.TemporaryDirectory() as folder:
        for count in parser.parse_args().rows:
            print(measured(count, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
