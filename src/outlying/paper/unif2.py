"""Unif2: an object between two clusters, by bins and by densities.

The paper's point against bins: whether the object looks exceptional hangs on how many bins there
are, and a density needs no such choice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import get_args

import numpy as np

from outlying.method.density import Floats, bandwidth_of, parzen, parzen_at
from outlying.method.discretise import bin_numbers, histogram
from outlying.method.measure import outlierness
from outlying.options import Discretise, Measure
from outlying.paper.scored import Scored

VALUES = 20_000
BINS = tuple(range(2, 51))
SHOWN = (10, 11, 12)
_POINTS = 600


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Bins of equal width with the share of rows in each, and where the object is."""

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
    scored: Scored
    histograms: tuple[Histogram, ...]
    samples: tuple[Drawn, ...]

    @property
    def first(self) -> Drawn:
        """The sample that is shown."""
        return self.samples[0]


def sample(seed: int) -> Floats:
    """Draw two uniform clusters, [-1.1, -0.1] and [0.1, 1.1], with the object 0; sorted."""
    rng = np.random.default_rng(seed)
    half = VALUES // 2
    clusters = rng.uniform(-1.1, -0.1, half), rng.uniform(0.1, 1.1, VALUES - half - 1)
    return np.sort(np.concatenate((*clusters, [0.0])))


def shown(seed: int = 0) -> tuple[Floats, Floats, Scored, tuple[Histogram, ...]]:
    """Return what the figures of one sample show."""
    values = sample(seed)
    points = np.linspace(-1.3, 1.3, _POINTS)
    heights = parzen_at(values, points, bandwidth_of(values))
    return points, heights, density_of(values), tuple(bars(values, bins) for bins in SHOWN)


def density_of(values: Floats) -> Scored:
    """Score the object by the density of the values."""
    densities = parzen(values)
    return Scored(np.sort(densities), float(densities[np.searchsorted(values, 0.0)]))


def bars(values: Floats, bins: int) -> Histogram:
    """Cut the values into bins of equal width."""
    edges, shares = histogram(values, "equi-width", bins)
    own = int(bin_numbers(np.zeros(1), edges[1:-1])[0])
    scores = binned_scores(values, "equi-width", bins)
    return Histogram(bins, edges, shares, own, *scores)


def binned_scores(values: Floats, kind: Discretise, bins: int) -> tuple[float, float]:
    """Score the object by the frequency of its bin, by the paper's measure and free of units."""
    edges, shares = histogram(values, kind, bins)
    own = int(bin_numbers(np.zeros(1), edges[1:-1])[0])
    mean, at_object = float(np.dot(shares, shares)), float(shares[own])
    return outlierness(mean, at_object, "paper"), outlierness(mean, at_object, "relative")


def drawn(seed: int) -> Drawn:
    """Score the object of one sample in all ways."""
    values = sample(seed)
    scored = density_of(values)
    return Drawn(seed, tuple(_binned(values)), scored.paper, scored.relative)


def _binned(values: Floats) -> Iterator[Binned]:
    for kind in get_args(Discretise):
        scores = [binned_scores(values, kind, bins) for bins in BINS]
        yield Binned(kind, *(tuple(column) for column in zip(*scores, strict=True)))
