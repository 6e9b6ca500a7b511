"""Where measurements are made and kept: several fresh processes each, and the median."""

from __future__ import annotations

import dataclasses
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.speed import launch
from benchmarks.speed.spec import Spec

#: A measurement as it is stored: medians of seconds, of all cores and by stage, too; the largest
#: of the peaks.
Figure: TypeAlias = dict[str, Any]

SLOW = 60.0  # seconds; what takes longer is measured once
MEMORY = ("peak_mb", "total_mb", "children_mb")


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How large the tables are, how often things are repeated, and how long they may take."""

    rows: int = 100_000
    large: int = 1_000_000
    columns: int = 20
    objects: int = 1000
    wide: tuple[int, ...] = (50, 100, 200)
    scaling_rows: tuple[int, ...] = (1000, 10_000, 100_000, 1_000_000)
    scaling_columns: tuple[int, ...] = (10, 20, 50, 100, 200)
    scaling_conditions: tuple[int, ...] = (1, 2, 3, 4)
    scaling_table: tuple[int, int] = (2000, 12)  # for the number of conditions
    twin: tuple[tuple[int, int], ...] = ((300, 9), (2000, 20))
    related: tuple[tuple[int, int], ...] = ((10_000, 20), (2000, 100), (100_000, 20))
    repeats: int = 3
    patience: float = 3600.0
    scaling_patience: float = 60.0
    twin_patience: float = 120.0

    @property
    def middle(self) -> int:
        """The width of the wide tables of which more is measured."""
        return self.wide[len(self.wide) // 2]


SHORT = Sizes(
    rows=2000,
    large=5000,
    columns=10,
    objects=8,
    wide=(8, 12),
    scaling_rows=(500, 1000),
    scaling_columns=(5, 8),
    scaling_conditions=(1, 2),
    scaling_table=(500, 6),
    twin=((60, 5),),
    related=((500, 10),),
    repeats=1,
    patience=120.0,
    scaling_patience=20.0,
    twin_patience=30.0,
)


class Lab:
    """Runs measurements and keeps the figures of one part by name."""

    def __init__(self, sizes: Sizes, data: Path | None, folder: Path) -> None:
        """Take the paper's tables (`data`), and a folder for files that are made."""
        self.sizes, self.data, self.folder = sizes, data, folder
        self.figures: dict[str, Figure] = {}

    def measure(
        self, name: str, spec: Spec, *, repeats: int | None = None, patience: float | None = None
    ) -> Figure:
        """Run the job of a spec in fresh processes."""
        limit = self.sizes.patience if patience is None else patience
        return self._kept(name, lambda: launch.worker(spec, limit), repeats)

    def command(self, name: str, arguments: Sequence[str], repeats: int | None = None) -> Figure:
        """Time a command in fresh processes."""
        limit = self.sizes.patience
        return self._kept(name, lambda: launch.command(arguments, limit), repeats)

    def turns(self, commands: dict[str, list[str]], rounds: int) -> None:
        """Run commands that print their own seconds, turn by turn: all see the same noise."""
        runs: dict[str, list[launch.Run]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, arguments in commands.items():
                runs[name].append(launch.printed(arguments, self.sizes.patience))
        for name, found in runs.items():
            self._kept(name, iter(found).__next__, rounds)

    def skip(self, name: str, why: str) -> None:
        """Note what is not measured."""
        self.figures[name] = {"skipped": why}

    def _kept(self, name: str, run: Callable[[], launch.Run], repeats: int | None) -> Figure:
        self.figures[name] = figure = combined(run, repeats or self.sizes.repeats)
        told = f"{figure['seconds']:.3f} s" if "seconds" in figure else str(figure)
        print(f"  {name}: {told}", file=sys.stderr, flush=True)
        return figure


def combined(run: Callable[[], launch.Run], repeats: int) -> Figure:
    """Repeat a run, unless it is slow, and summarise."""
    runs: list[launch.Run] = []
    while len(runs) < repeats:
        runs.append(run())
        if runs[-1].get("seconds", SLOW) >= SLOW:  # slow, stopped or failed
            break
    if "seconds" not in runs[-1]:
        return runs[-1]
    stages = runs[0].get("stages", {})
    return {
        **{name: _median(runs, name) for name in ("seconds", "cpu") if name in runs[0]},
        "runs": [one["seconds"] for one in runs],
        "stages": {
            stage: statistics.median(one["stages"][stage] for one in runs) for stage in stages
        },
        **{name: max(one[name] for one in runs) for name in MEMORY if name in runs[0]},
        "facts": runs[0]["facts"],
    }


def _median(runs: Sequence[launch.Run], name: str) -> float:
    return float(statistics.median(one[name] for one in runs))
