"""What the limits of the mixture do: segments found, message length and time, without each.

    python -m benchmarks.intervals_study -o benchmarks/results/intervals.md

The figures of docs/decisions/0002 come from here.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.machine import header
from outlying.kernel.library import VARIABLE
from outlying.method import intervals, mixture
from outlying.method.density import Counts, Floats


def _at_once(state: mixture._State) -> None:
    """Update all components at once, and kill those without rows: a sweep of another kind."""
    shares = state.parts * (state.counts / state.total)
    mass = np.add.reduce(shares, axis=1)
    state.means = shares @ state.values / mass
    shares *= np.square(state.values - state.means[:, None])
    state.widths = np.maximum(state.floor, np.sqrt(np.add.reduce(shares, axis=1) / mass))
    state.weights = (mass - mixture.PARAMETERS / 2) / state.rows
    state.keep(state.weights > 0)


#: What to change; the first setting changes nothing.
SETTINGS: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "default": (),
    "2,048 points (512)": ((intervals, "MOST_POINTS", 2048),),
    "all rows (4,096)": ((mixture, "MOST_ROWS", 10**9),),
    "all components one by one (8)": ((mixture, "FEW_COMPONENTS", mixture.MOST_COMPONENTS),),
    "coarse tolerance 0.5 (2)": ((mixture, "COARSE_TOLERANCE", 0.5),),
    "one by one, tolerance 0.5": (
        (mixture, "FEW_COMPONENTS", mixture.MOST_COMPONENTS),
        (mixture, "COARSE_TOLERANCE", 0.5),
    ),
    "all at once to the end": ((mixture._State, "sweep", _at_once),),
}
ROWS = mixture.MOST_ROWS  # for which message lengths are given, whatever the setting


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
    os.environ[VARIABLE] = "numpy"  # whose limits can be changed
    lines = [
        header("Natural intervals under other limits"),
        f"Segments found over {args.seeds} seeds (least to most), by how much the message is "
        f"longer than by default (mean; of all values, weighed as {ROWS:,} rows at most), and mean "
        "seconds per fit. The default stands in parentheses.\n",
        "| column | " + " | ".join(SETTINGS) + " |",
        "| --- |" + " --- |" * len(SETTINGS),
    ]
    print("\n".join(lines))
    for name in shapes(0):
        found = [
            [fitted(name, seed, setting) for seed in range(args.seeds)] for setting in SETTINGS
        ]
        lines.append(f"| {name} | " + " | ".join(cell(fits, found[0]) for fits in found) + " |")
        print(lines[-1], flush=True)
    if args.output:
        args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def fitted(name: str, seed: int, setting: str) -> tuple[int, float, float]:
    """Fit one shape; give the number of segments, the message length and the seconds taken."""
    values = np.sort(shapes(seed)[name])
    with _changed(setting), _recorded() as fits:
        start = time.perf_counter()
        found = len(intervals.segments(values))
        taken = time.perf_counter() - start
    return found, length(fits[-1], values), taken


def cell(fits: list[tuple[int, float, float]], default: list[tuple[int, float, float]]) -> str:
    """Return what a setting found, beside the default."""
    segments, lengths, taken = zip(*fits, strict=True)
    longer = np.mean(lengths) - np.mean([length for _, length, _ in default])
    told = "" if fits is default else f"{longer:+.1f}, "
    return f"{min(segments)} to {max(segments)} ({told}{np.mean(taken):.3f} s)"


def length(found: mixture.Mixture, values: npt.NDArray[Any]) -> float:
    """Return the message length of a mixture for all values, none of them grouped."""
    rows = min(len(values), ROWS)
    logs = mixture._log_parts(found.weights, found.means, found.widths, values)
    likelihood = np.logaddexp.reduce(logs, axis=0) - 0.5 * math.log(2 * math.pi)
    weights = found.weights / found.weights.sum()
    return mixture.message_length(weights, float(likelihood.mean()) * rows, rows)


@contextlib.contextmanager
def _changed(setting: str) -> Iterator[None]:
    """Apply a setting for a while."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in SETTINGS[setting]]
    for owner, name, value in SETTINGS[setting]:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


@contextlib.contextmanager
def _recorded() -> Iterator[list[mixture.Mixture]]:
    """Keep the mixtures that are fitted for a while."""
    fit, found = mixture.fit, list[mixture.Mixture]()

    def kept(
        values: Floats, counts: Counts, floor: float, seed: int | None = None
    ) -> mixture.Mixture:
        found.append(fit(values, counts, floor, seed))
        return found[-1]

    mixture.fit = kept
    try:
        yield found
    finally:
        mixture.fit = fit


if __name__ == "__main__":
    main()
