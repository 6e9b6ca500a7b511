"""An error rate that one can choose: p-values of strengths, and Benjamini-Hochberg (method 5e)."""

from __future__ import annotations

import math

import numpy as np

from outlying.table.columns import Floats

#: The tail begins at this quantile of all strengths,
OUTER = 0.95
#: but not below so many nats: up to there a strength only says that there is a finding, which new
#: rows have more often than those that a model is made of.
PLAIN = math.log(10)
#: At least so many rows are taken to be in it, as new ones may be where none of a model is.
LEAST_SHARE = 0.01
#: Slopes in nats. Strengths fall no faster than chance, and those of heavy tails not much slower:
#: a slope beyond that is one of wrong rows.
LEAST_SLOPE, MOST_SLOPE = 1.0, 1.5


def p_values(strengths: Floats, usual: Floats) -> Floats:
    """Return how likely an ordinary row is at least so strong, by an exponential tail.

    `usual` are the strengths of all rows, or of those of a model. The median of those in the tail
    gives its slope, which the wrong rows among them, if they are fewer than half, hardly move.
    """
    if not (usual > 0).any():
        return np.ones(len(strengths))
    outer = max(float(np.quantile(usual, OUTER)), PLAIN)
    beyond = usual[usual > outer] - outer
    slope = float(np.median(beyond)) / math.log(2) if len(beyond) else LEAST_SLOPE
    slope = min(max(slope, LEAST_SLOPE), MOST_SLOPE)
    share = max(len(beyond) / len(usual), LEAST_SHARE)
    tail = share * np.exp(-np.maximum(strengths - outer, 0.0) / slope)
    return np.where(strengths > outer, tail, 1.0)


def discovery_line(strengths: Floats, usual: Floats, level: float) -> float:
    """Return from which strength on rows are discoveries at a level (Benjamini, Hochberg 1995)."""
    order = np.sort(np.maximum(strengths, 0.0))[::-1]
    p = p_values(order, usual)
    rejected = np.flatnonzero((p <= level * np.arange(1, len(p) + 1) / len(p)) & (order > 0))
    return float(order[rejected[-1]]) if len(rejected) else math.inf
