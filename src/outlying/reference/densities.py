"""The density f of one attribute inside a population (paper, section 3; method 2).

f(x) = (1/n) sum_i (1/b_i) K((x - x_i) / b_i), where K(u) = 1 for |u| <= 1/2 and 0 elsewhere. The
widths are b_i = h * beta_i with h = 1.06 * std * n**(-1/5), and beta_i of geometric mean 1. By
default beta_i = 1. Elsewhere in the package a few outliers do not widen the windows; here they do.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from outlying.method.density import Counts, Floats, parzen
from outlying.method.distribution import Distribution
from outlying.options import Bandwidth


@dataclasses.dataclass(frozen=True, eq=False)
class ParzenDistribution(Distribution):
    """Values with windows of one width, h."""

    @functools.cached_property
    def width(self) -> float:
        """The paper's h."""
        return self._width_of(self.values)


@dataclasses.dataclass(frozen=True, eq=False)
class AdaptiveDistribution(ParzenDistribution):
    """Values with windows of their own: wide ones in thin places.

    Abramson's beta_i are proportional to pilot_i**(-1/2), where the pilot is f with beta_i = 1.
    """

    @functools.cached_property
    def widths(self) -> Floats:
        """The b_i."""
        logs = np.log(parzen(self.values))
        beta = np.exp(-0.5 * (logs - logs.mean()))
        return np.asarray(self.width * beta)

    def densities(self, scale: int = 1) -> Floats:  # noqa: ARG002 - windows are what they are
        """Return f at each value."""
        return self.densities_at(self.values)

    def densities_at(self, points: Floats) -> Floats:
        """Return f at any points.

        Each value spreads the weight 1/b_i over the interval of width b_i around it: the weights
        that cover a point are those that have begun less those that have ended.
        """
        b = self.widths
        begun = _weight_before(self.values - b / 2, 1 / b, points, "right")
        ended = _weight_before(self.values + b / 2, 1 / b, points, "left")
        return np.asarray((begun - ended) / len(self.values))

    def ranked(self, scale: int = 1) -> tuple[Floats, Counts]:
        """Return F in order, and the rows of each density: one."""
        return np.sort(self.densities(scale)), self.rows


def distribution(values: Floats, bandwidth: Bandwidth) -> Distribution:
    """Return the distribution of ascending values, with windows of the chosen kind."""
    if bandwidth == "fixed":
        return ParzenDistribution.of(values)
    return AdaptiveDistribution(values, np.ones(len(values), dtype=np.int64), values, values)


def _weight_before(ends: Floats, weights: Floats, points: Floats, side: Any) -> Floats:
    order = np.argsort(ends, kind="stable")
    totals = np.concatenate(([0.0], np.cumsum(weights[order])))
    return np.asarray(totals[np.searchsorted(ends[order], points, side=side)])
