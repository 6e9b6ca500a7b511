"""Outlierness: how exceptional the density f_o of the object is (paper, section 4; method 3).

F = f(X) is the density at a random row, G its cdf. `above` is the integral of 1 - G from f_o on,
`below` that of G up to f_o (`method.measure.areas`), and above - below = mean(F) - f_o: so neither
G nor the order of the densities is needed to score a pair.
"""

from __future__ import annotations

import dataclasses
import math

from outlying.method import measure
from outlying.method.measure import Summary
from outlying.options import Measure


def omega(x: float) -> float:
    """Squash above - below into [0, 1): Omega(x) = (1 - e^-x) / (1 + e^-x), 0 below 0."""
    return math.tanh(x / 2) if x > 0 else 0.0


def outlierness(mean: float, f_o: float, by: Measure = "paper") -> float:
    """Return Omega(mean(F) - f_o), which has a unit, or 1 - f_o / mean(F), which has none.

    An object as dense as the mean scores 0: a tiny unit would blow rounding up to 1.
    """
    if by == "relative":
        return measure.outlierness(mean, f_o)
    return 0.0 if measure.is_ordinary(mean, f_o) else omega(mean - f_o)


@dataclasses.dataclass(frozen=True, slots=True)
class OmegaSummary(Summary):
    """A property in a context whose outlierness is the paper's."""

    def outlierness(self) -> float:
        """Return Omega of the difference of areas, per unit of the column."""
        return outlierness(self.mean * self.unit, self.at_object * self.unit)


def score(summary: Summary, conditions: int) -> float:
    """Return what pairs are ordered by, as far as it counts.

    Omega saturates at 1, so that the paper's order is that of above - below; it has a unit, and
    counts to nine digits. The relative order is that of the default search, without a unit.
    """
    if isinstance(summary, OmegaSummary):
        return float(f"{summary.excess():.8e}")
    return round(summary.strength(conditions), measure.DECIMALS)
