"""All results of the page as plain values, computed step by step with progress."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from benchmarks.paper import detection, examples, tables, timing, unif2
from benchmarks.paper.detection import Detected
from benchmarks.paper.examples import Examples
from benchmarks.paper.published import CLAIMS
from benchmarks.paper.tables import Reproduced
from benchmarks.paper.timing import Timed
from benchmarks.paper.unif2 import Drawn, Unif2

OnProgress: TypeAlias = Callable[[str, int, int], None]  # the step, how many are done, of how many


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Results:
    """What the page shows. All but the times is the same in each run."""

    seeds: int
    examples: Examples
    tables: tuple[Reproduced, ...]
    detections: tuple[Detected, ...]  # of each table as it is, then scaled
    times: tuple[Timed, ...]
    unif2: Unif2


class _Steps:
    """Counts steps, and reports each as it begins."""

    def __init__(self, total: int, on_progress: OnProgress) -> None:
        self.done, self.total, self._on_progress = 0, total, on_progress

    def named(self, name: str) -> Callable[[], None]:
        """Return what to call as each step of a kind begins."""

        def begin() -> None:
            self._on_progress(name, self.done, self.total)
            self.done += 1

        return begin


def compute(folder: Path, seeds: int, on_progress: OnProgress) -> Results:
    """Return all results, computed from the tables of a folder."""
    tables.check_files(folder)
    loaded = [(tables.load(folder, claim), claim) for claim in CLAIMS]
    bagged = len(CLAIMS) * seeds * len(detection.SCALES)
    measured = sum(timing.measurements(claim) for claim in CLAIMS)
    steps = _Steps(1 + bagged + len(CLAIMS) + measured + seeds, on_progress)
    detections: list[Detected] = []
    for table, claim in loaded:
        step = steps.named(f"{claim.name}, detection")
        detections += detection.detected(table, claim, seeds, step)
    steps.named("examples")()
    shown = examples.examples()
    explained = []
    for table, claim in loaded:
        steps.named(f"{claim.name}, explanation")()
        explained.append(tables.reproduced(table, claim, seeds))
    times = tuple(
        timing.timed(table, claim, steps.named(f"{claim.name}, times")) for table, claim in loaded
    )
    samples = tuple(_drawn(seed, steps.named("Unif2")) for seed in range(seeds))
    clusters = Unif2(*unif2.shown(), samples)
    return Results(seeds, shown, tuple(explained), tuple(detections), times, clusters)


def _drawn(seed: int, begin: Callable[[], None]) -> Drawn:
    begin()
    return unif2.drawn(seed)
