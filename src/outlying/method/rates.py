"""An error rate that one can choose: p-values of strengths, and Benjamini-Hochberg (method 5e)."""

from __future__ import annotations

import math

import numpy as np

from outlying.table.columns import Floats

#: The tail is fitted between these quantiles, which a few percent of wrong rows hardly move.
INNER, OUTER = 0.5, 0.9
#: A strength is in nats: its tail is no lighter than that of chance.
LEAST_SLOPE = 1.0


def p_values(strengths: Floats, usual: Floats) -> Floats:
    """Return how likely an ordinary row is at least so strong, by an exponential tail.

    `usual` are the strengths of all rows, or of those of a model; where fewer than half of them
    have any finding, the quantiles are of those that have.
    """
    found = usual[usual > 0]
    if not len(found):
        return np.ones(len(strengths))
    known = usual if len(found) >= len(usual) / 2 else found
    inner, outer = np.quantile(known, [INNER, OUTER]).tolist()
    slope = max((outer - inner) / math.log((1 - INNER) / (1 - OUTER)), LEAST_SLOPE)
    share = len(known) / len(usual) * (1 - OUTER)
    tail = share * np.exp(-np.maximum(strengths - outer, 0.0) / slope)
    return np.where(strengths > outer, tail, 1.0)


def discovery_line(strengths: Floats, usual: Floats, level: float) -> float:
    """Return from which strength on rows are discoveries at a level (Benjamini, Hochberg 1995)."""
    order = np.sort(np.maximum(strengths, 0.0))[::-1]
    p = p_values(order, usual)
    rejected = np.flatnonzero((p <= level * np.arange(1, len(p) + 1) / len(p)) & (order > 0))
    return float(order[rejected[-1]]) if len(rejected) else math.inf
