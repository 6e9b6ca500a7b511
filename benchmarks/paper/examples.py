"""The two examples that introduce the measure: heights, and a Gaussian sample.

The text of the paper leaves some settings open: how many people have a height, and which values
are looked at. What is used here is said in the result.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from benchmarks.paper.density_score import DensityScore
from outlying.method.density import Floats, bandwidth_of, parzen, parzen_at
from outlying.reference.formulas import outlierness

HEIGHTS = NormalDist(170, 7.5)
PEOPLE = 2000
GAUSSIAN = NormalDist(0, 0.1)
SAMPLE = 100
SAMPLES = 200  # over which the Gaussian example is averaged
_POINTS = 400


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A value that is looked at."""

    name: str
    value: float
    score: DensityScore


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A density f along its axis, and the values that are looked at."""

    name: str
    unit: str
    points: Floats
    heights: Floats
    marks: tuple[Mark, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Averages:
    """The Gaussian example over many samples: its numbers depend on the sample."""

    score: float  # of the paper's measure at v1
    lowest: float
    highest: float
    joined: float  # where v1 is one more row of the sample


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Both examples."""

    centimetres: Example
    metres: Example
    gaussian: Example
    averages: Averages


def examples() -> Examples:
    """Return both examples."""
    heights = evenly(HEIGHTS, PEOPLE)
    sample = gaussian_sample(0)
    return Examples(
        centimetres=example("Heights", "cm", heights, (170.0, 200.0)),
        metres=example("Heights", "m", heights / 100, (1.7, 2.0)),
        gaussian=example("Gaussian sample", "", sample, (-1.0, 0.0)),
        averages=averages(SAMPLES),
    )


def evenly(distribution: NormalDist, count: int) -> Floats:
    """Return the quantiles of a distribution: a sample without chance."""
    return np.array([distribution.inv_cdf((rank + 0.5) / count) for rank in range(count)])


def gaussian_sample(seed: int) -> Floats:
    """Return a sample of the Gaussian example, sorted."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.normal(GAUSSIAN.mean, GAUSSIAN.stdev, SAMPLE))


def example(name: str, unit: str, values: Floats, marked: Sequence[float]) -> Example:
    """Return the density of sorted values, and marked values scored by it."""
    width = bandwidth_of(values)
    densities = np.sort(parzen(values))
    ends = min(values[0] - width, *marked), max(values[-1] + width, *marked)
    margin = 0.08 * (ends[1] - ends[0])
    points = np.linspace(ends[0] - margin, ends[1] + margin, _POINTS)
    at_marks = parzen_at(values, np.array(marked), width)
    marks = tuple(
        Mark(f"v{place}", value, DensityScore(densities, float(density)))
        for place, (value, density) in enumerate(zip(marked, at_marks, strict=True), start=1)
    )
    return Example(name, unit, points, parzen_at(values, points, width), marks)


def averages(count: int) -> Averages:
    """Return averages over samples, v1 being compared with each sample or joining it."""
    scores, joined = [], []
    for seed in range(count):
        sample = gaussian_sample(seed)
        mean = float(np.mean(parzen(sample)))
        at_object = float(parzen_at(sample, np.array([-1.0]), bandwidth_of(sample))[0])
        scores.append(outlierness(mean, at_object, "paper"))
        joined.append(_as_a_row(sample, -1.0))
    return Averages(
        score=float(np.mean(scores)),
        lowest=min(scores),
        highest=max(scores),
        joined=float(np.mean(joined)),
    )


def _as_a_row(sample: Floats, value: float) -> float:
    """Return the score of a value that joins the sample, as new objects do here."""
    values = np.sort(np.append(sample, value))
    densities = parzen(values)
    return outlierness(float(np.mean(densities)), float(densities[np.searchsorted(values, value)]))
