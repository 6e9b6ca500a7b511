"""How long it takes: natural intervals and search apart, and the search by numbers of conditions.

Times are those of the machine that runs it; only their proportions mean something beyond.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from benchmarks.paper import published
from benchmarks.paper.published import Claim
from outlying.api import Explainer
from outlying.table.table import Table

REPEATS = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Seconds:
    """The least time of some runs, in seconds, for intervals and for the search."""

    intervals: float
    search: float


@dataclasses.dataclass(frozen=True, slots=True)
class Timed:
    """The times of one table.

    Searches with at most 1, 2, ... conditions are those of the paper's options: with the usual
    threshold, where what is reported need not be extended, and with one that hardly any pair
    reaches, so that (nearly) all contexts are visited.
    """

    claim: Claim
    paper: Seconds  # by the paper's options
    defaults: float  # by ours, all rows judged and the object explained
    by_conditions: tuple[float, ...]
    all_visited: tuple[float, ...]


def timed(table: Table, claim: Claim, on_step: Callable[[], None]) -> Timed:
    """Return the times of one table; `on_step` is called before each measurement."""

    def measured(**changed: Any) -> Seconds:
        on_step()
        return _seconds(table, claim, {"preset": "paper"} | changed)

    levels = range(1, claim.attributes + 1)
    usual = [measured(max_conditions=level) for level in levels]
    every = [measured(max_conditions=level, min_outlierness=1.0) for level in levels]
    on_step()
    ours = _seconds(table, claim, {})
    return Timed(
        claim=claim,
        paper=usual[published.CONDITIONS - 1],
        defaults=ours.intervals + ours.search,
        by_conditions=tuple(seconds.search for seconds in usual),
        all_visited=tuple(seconds.search for seconds in every),
    )


def measurements(claim: Claim) -> int:
    """Return how many measurements `timed` takes."""
    return 2 * claim.attributes + 1


def _seconds(table: Table, claim: Claim, options: dict[str, Any]) -> Seconds:
    runs = [_once(table, claim.object - 1, options) for _ in range(REPEATS)]
    return Seconds(*(min(parts) for parts in zip(*runs, strict=True)))


def _once(table: Table, row: int, options: dict[str, Any]) -> tuple[float, float]:
    explainer = Explainer(table, **options)
    begin = time.perf_counter()
    explainer.prepare()
    middle = time.perf_counter()
    explainer.explain(row=row)
    return middle - begin, time.perf_counter() - middle
