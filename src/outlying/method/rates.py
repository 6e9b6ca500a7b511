"""An error rate that one can choose: p-values of strengths, and Benjamini-Hochberg (method 5e)."""

from __future__ import annotations

import math

import numpy as np

from outlying.table.columns import Floats

#: The tail is fitted between these quantiles, which a few percent of wrong rows hardly move.
INNER, OUTER = 0.9, 0.95
#: Nats up to which a strength only says that there is a finding: new rows have such more often than
#: those that a model is made of.
PLAIN = math.log(10)
#: Slopes in nats. Strengths fall no faster than chance, and those of heavy tails not much slower:
#: a slope beyond that is one of wrong rows.
LEAST_SLOPE, MOST_SLOPE = 1.0, 1.5


def p_values(strengths: Floats, usual: Floats) -> Floats:
    """Return how likely an ordinary row is at least so strong, by an exponential tail.

    `usual` are the strengths of all rows, or of those of a model.
    """
    if not (usual > 0).any():
        return np.ones(len(strengths))
    inner, outer = np.quantile(usual, [INNER, OUTER]).tolist()
    slope = (outer - inner) / math.log((1 - INNER) / (1 - OUTER))
    slope = min(max(slope, LEAST_SLOPE), MOST_SLOPE)
    outer = max(outer, PLAIN)
    tail = (1 - OUTER) * np.exp(-np.maximum(strengths - outer, 0.0) / slope)
    return np.where(strengths > outer, tail, 1.0)


def discovery_line(strengths: Floats, usual: Floats, level: float) -> float:
    """Return from which strength on rows are discoveries at a level (Benjamini, Hochberg 1995)."""
    order = np.sort(np.maximum(strengths, 0.0))[::-1]
    p = p_values(order, usual)
    rejected = np.flatnonzero((p <= level * np.arange(1, len(p) + 1) / len(p)) & (order > 0))
    return float(order[rejected[-1]]) if len(rejected) else math.inf
