"""Unif2: an object between two clusters, by bins and by densities.

The paper's point against bins: whether the object looks exceptional hangs on how many bins there
are, and a density needs no such choice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import get_args

import numpy as np

from benchmarks.paper.density_score import DensityScore
from outlying.method.density import Floats, bandwidth_of, parzen, parzen_at
from outlying.options import Discretise, Measure
from outlying.reference.formulas import bin_numbers, inner_edges, outlierness

VALUES = 20_000
BINS = tuple(range(2, 51))
SHOWN = (10, 11, 12)
_POINTS = 600


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Bins with the share of rows in each, that of the object, and its score by them."""

    bins: int
    edges: Floats
    shares: Floats
    own: int
    paper: float
    relative: float


@dataclasses.dataclass(frozen=True, slots=True)
class Binned:
    """The older method over numbers of bins."""

    kind: Discretise
    paper: tuple[float, ...]  # one for each of BINS
    relative: tuple[float, ...]

    def scores(self, measure: Measure) -> tuple[float, ...]:
        """Return the scores by one of the measures."""
        return self.paper if measure == "paper" else self.relative


@dataclasses.dataclass(frozen=True, slots=True)
class Drawn:
    """One sample: the older method for all numbers of bins, and the density's single value."""

    seed: int
    binned: tuple[Binned, ...]
    paper: float
    relative: float

    def score(self, measure: Measure) -> float:
        """Return the density's value by one of the measures."""
        return self.paper if measure == "paper" else self.relative


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Unif2:
    """The experiment: the first sample in full, all samples in numbers."""

    points: Floats
    heights: Floats
    score: DensityScore
    histograms: tuple[Histogram, ...]
    samples: tuple[Drawn, ...]

    @property
    def first(self) -> Drawn:
        """The sample that is shown."""
        return self.samples[0]


def sample(seed: int) -> Floats:
    """Return two uniform clusters, [-1.1, -0.1] and [0.1, 1.1], with the object 0; sorted."""
    rng = np.random.default_rng(seed)
    half = VALUES // 2
    clusters = rng.uniform(-1.1, -0.1, half), rng.uniform(0.1, 1.1, VALUES - half - 1)
    return np.sort(np.concatenate((*clusters, [0.0])))


def shown(seed: int = 0) -> tuple[Floats, Floats, DensityScore, tuple[Histogram, ...]]:
    """Return what the figures of one sample show."""
    values = sample(seed)
    points = np.linspace(-1.3, 1.3, _POINTS)
    heights = parzen_at(values, points, bandwidth_of(values))
    return (
        points,
        heights,
        density_of(values),
        tuple(binned(values, "equi-width", bins) for bins in SHOWN),
    )


def density_of(values: Floats) -> DensityScore:
    """Return the score of the object by the density of the values."""
    densities = parzen(values)
    return DensityScore(np.sort(densities), float(densities[np.searchsorted(values, 0.0)]))


def binned(values: Floats, kind: Discretise, bins: int) -> Histogram:
    """Return the values in bins, and the score of the object by the frequency of its bin."""
    edges, shares = histogram(values, kind, bins)
    own = int(bin_numbers(np.zeros(1), edges[1:-1])[0])
    mean, at_object = float(np.dot(shares, shares)), float(shares[own])
    scores = (outlierness(mean, at_object, measure) for measure in ("paper", "relative"))
    return Histogram(bins, edges, shares, own, *scores)


def histogram(ordered: Floats, kind: Discretise, bins: int) -> tuple[Floats, Floats]:
    """Return the edges of a histogram, outer ones included, and the share of rows in each bin."""
    edges = inner_edges(ordered, kind, bins)
    shares = np.bincount(bin_numbers(ordered, edges), minlength=len(edges) + 1) / len(ordered)
    return np.concatenate((ordered[:1], edges, ordered[-1:])), shares


def drawn(seed: int) -> Drawn:
    """Return the scores of the object in one sample, by bins and by the density."""
    values = sample(seed)
    score = density_of(values)
    return Drawn(seed, tuple(_by_bins(values)), score.paper, score.relative)


def _by_bins(values: Floats) -> Iterator[Binned]:
    for kind in get_args(Discretise):
        found = [binned(values, kind, bins) for bins in BINS]
        yield Binned(
            kind, tuple(item.paper for item in found), tuple(item.relative for item in found)
        )
