"""What the limits of the mixture do: segments found and time, with and without them.

    python -m benchmarks.intervals_study -o benchmarks/results/intervals.md

The figures of docs/decisions/0002 come from here.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.machine import header
from outlying import intervals, mixture

SETTINGS: dict[str, tuple[int, int]] = {
    "512 points, 4,096 rows (default)": (512, 4096),
    "2,048 points, 4,096 rows": (2048, 4096),
    "512 points, all rows": (512, 10**9),
}


def shapes(seed: int) -> dict[str, npt.NDArray[Any]]:
    """Make columns of known structure."""
    rng = np.random.default_rng(seed)
    normal = rng.normal
    return {
        "normal, 1,000": normal(size=1000),
        "normal, 100,000": normal(size=100_000),
        "uniform, 1,000": rng.uniform(size=1000),
        "uniform, 20,000": rng.uniform(size=20_000),
        "exponential, 1,000": rng.exponential(size=1000),
        "two clusters, 1,000": np.concatenate([normal(0, 1, 500), normal(10, 1, 500)]),
        "two close clusters, 1,000": np.concatenate([normal(0, 1, 500), normal(4, 1, 500)]),
        "three clusters, 100,000": np.concatenate(
            [normal(0, 1, 30_000), normal(10, 1, 30_000), normal(30, 1, 40_000)]
        ),
        "one far value, 1,000": np.append(normal(size=999), 1e6),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Study the limits of the mixture.")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, help="write the report there, too")
    args = parser.parse_args()
    lines = [
        header("Natural intervals under other limits"),
        f"Segments found over {args.seeds} seeds (least to most), and mean seconds per fit.\n",
        "| column | " + " | ".join(SETTINGS) + " |",
        "| --- |" + " --- |" * len(SETTINGS),
    ]
    print("\n".join(lines))
    for name in shapes(0):
        cells = [cell(name, args.seeds, *limits) for limits in SETTINGS.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    if args.output:
        args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def cell(name: str, seeds: int, points: int, rows: int) -> str:
    """Fit one shape under the given limits."""
    intervals.MOST_POINTS, mixture.MOST_ROWS = points, rows
    found, taken = [], 0.0
    for seed in range(seeds):
        values = np.sort(shapes(seed)[name])
        start = time.perf_counter()
        found.append(len(intervals.segments(values)))
        taken += time.perf_counter() - start
    return f"{min(found)} to {max(found)} ({taken / seeds:.2f} s)"


if __name__ == "__main__":
    main()
