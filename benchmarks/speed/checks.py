"""What is wanted of the figures. All of it refers to the full sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from benchmarks.speed.lab import Figure
from benchmarks.speed.parts import PAPER_ROWS, STORIES

Figures: TypeAlias = dict[str, Figure]

LARGE = 1024.0  # MB


@dataclasses.dataclass(frozen=True)
class Check:
    """A figure and its limit; no value where it was not measured."""

    what: str
    value: float | None
    limit: float
    unit: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the figure keeps its limit; None where there is none."""
        return None if self.value is None else self.value <= self.limit


def checks(part: str, figures: Figures) -> list[Check]:
    """Return what is wanted of a part."""
    return list(_CHECKS[part](figures)) if part in _CHECKS else []


def at_least(figure: Figure | None) -> float | None:
    """Return the seconds of a figure, or after how many it was stopped."""
    if figure is None:
        return None
    seconds = figure.get("seconds", figure.get("stopped"))
    return None if seconds is None else float(seconds)


def ratio(one: Figure | None, other: Figure | None) -> float | None:
    """Return one time by another, at most; the first must have come to its end.

    Times are CPU seconds, which other work on the machine hardly changes, where they are known.
    """
    if one is None or "seconds" not in one:
        return None
    if other is not None and other.get("cpu") and "cpu" in one:
        return float(one["cpu"] / other["cpu"])
    below = at_least(other)
    return float(one["seconds"]) / below if below else None


def memory_of(figure: Figure | None) -> float | None:
    """Return the peak of a process and of the largest one that it started."""
    if figure is None or "total_mb" not in figure:
        return None
    return float(figure["total_mb"] + figure.get("children_mb", 0.0))


def worst(values: Iterable[float | None]) -> float | None:
    """Return the largest value; None where any is not known."""
    found = list(values)
    known = [value for value in found if value is not None]
    return max(known) if known and len(known) == len(found) else None


def _one(figures: Figures) -> Iterator[Check]:
    for peer, most in (("OutlierTree", 0.08), ("IF + SHAP", 1.0)):
        times = (
            ratio(figures.get(f"{kind}/outlying"), figures.get(f"{kind}/{peer}"))
            for kind in STORIES
        )
        yield Check(f"one row: time by that of {peer}", worst(times), most)
    held = (memory_of(figures.get(f"{kind}/outlying")) for kind in STORIES)
    yield Check("one row: peak memory", worst(held), 400, "MB")


def _fresh(figures: Figures) -> Iterator[Check]:
    each = [figures.get(f"{kind}/command line") for kind in STORIES]
    yield Check("one row by the command line", worst(map(_seconds, each)), 2, "s")


def _judged(figures: Figures) -> Iterator[Check]:
    for name, most in (("long", 1.0), ("wide", 4.0), ("large", 1.0)):
        by_tree = ratio(figures.get(f"{name}/outlying"), figures.get(f"{name}/OutlierTree"))
        yield Check(f"all rows of a {name} table: time by one fit of OutlierTree", by_tree, most)
    held = memory_of(figures.get("large/outlying"))
    yield Check("all rows of a large table: peak memory", held, LARGE, "MB")


def _million(figures: Figures) -> Iterator[Check]:
    small, large = figures.get("small/outlying"), figures.get("large/outlying")
    by_tree = ratio(large, figures.get("large/OutlierTree"))
    yield Check("one row of a large table: time by that of OutlierTree", by_tree, 1 / 20)
    yield Check("one row of a large table: peak memory", memory_of(large), LARGE, "MB")
    yield Check("one row: growth with ten times the rows", ratio(large, small), 4)


def _limit(figures: Figures) -> Iterator[Check]:
    by_scan = ratio(figures.get("outlying"), figures.get("DuckDB"))
    yield Check("large file: time by that of reading and counting it", by_scan, 2.5)


def _many(figures: Figures) -> Iterator[Check]:
    by_one = ratio(figures.get("many"), figures.get("one"))
    yield Check("many rows: time by that of one", by_one, 6)


def _paper(figures: Figures) -> Iterator[Check]:
    for name in PAPER_ROWS:
        yield Check(f"{name} at the paper's settings", _seconds(figures.get(name)), 1, "s")


def _wide(figures: Figures) -> Iterator[Check]:
    all_rows = next((name for name in figures if name.endswith("all outlying rows")), "")
    columns = all_rows.split("/")[0]
    tree = figures.get(f"{columns}/OutlierTree")
    one = ratio(figures.get(f"{columns}/command line"), tree)
    yield Check("one row of a wide table, command line: time by one fit of OutlierTree", one, 2)
    by_tree = ratio(figures.get(all_rows), tree)
    yield Check("all outlying rows of a wide table: time by one fit of OutlierTree", by_tree, 4)


def _detection(figures: Figures) -> Iterator[Check]:
    wide, long = figures.get("wide/outlying"), figures.get("long/outlying")
    yield Check("every row of a wide table ranked", _seconds(wide), 15, "s")
    yield Check("every row of a long table ranked", _seconds(long), 90, "s")
    by_scan = ratio(figures.get("stream/outlying"), figures.get("stream/DuckDB"))
    yield Check("every row of a stream ranked: time by reading and counting it", by_scan, 20)


def _seconds(figure: Figure | None) -> float | None:
    return None if figure is None else figure.get("seconds")


_CHECKS: dict[str, Callable[[Figures], Iterator[Check]]] = {
    "one": _one,
    "fresh": _fresh,
    "judged": _judged,
    "million": _million,
    "limit": _limit,
    "many": _many,
    "paper": _paper,
    "wide": _wide,
    "detection": _detection,
}
