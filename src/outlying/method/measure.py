"""The measure: how exceptional is a density among the densities of a population (paper, section 4).

`F` are the densities at the rows of the population, `f_o` that at the object, `G` the cdf of F.
The paper's score is built on two areas under G; their difference is mean(F) - f_o, so that a mean
is all that a search needs.
"""

from __future__ import annotations

import math

import numpy as np

from outlying.method.density import Counts, Floats
from outlying.options import Measure

#: Densities closer than this (relatively) are the same density: summation order must not decide.
SAME_DENSITY = 1e-9
#: Scores closer than this are the same score, also where they meet a threshold.
SAME_SCORE = 1e-9
#: What one more condition costs in the order of results (method 5).
CONDITION_PENALTY = 0.3


def areas(densities: Floats, at_object: float, rows: Counts | None = None) -> tuple[float, float]:
    """Return the area above the cdf from f_o on, and the area below it up to f_o.

    The integral of 1 - G from f_o on is the mean excess of F over f_o; that of G up to f_o is the
    mean shortfall. Each density stands for one row, or for as many as `rows` says.
    """
    excess = densities - at_object
    above = float(np.average(np.maximum(excess, 0.0), weights=rows))
    below = float(np.average(np.maximum(-excess, 0.0), weights=rows))
    return above, below


def omega(difference: float) -> float:
    """Squash a difference of areas into [0, 1): (1 - e^-x) / (1 + e^-x), 0 below 0."""
    return math.tanh(difference / 2) if difference > 0 else 0.0


def outlierness(mean: float, at_object: float, measure: Measure = "relative") -> float:
    """Score an object by the mean density of its population and its own density.

    An object as dense as the mean, up to rounding, scores 0: in a tiny unit the paper's measure
    would blow the rounding up to 1.
    """
    if at_object >= mean * (1 - SAME_DENSITY):
        return 0.0
    if measure == "paper":
        return omega(mean - at_object)
    return 1.0 - at_object / mean


def tail(densities: Floats, at_object: float, rows: Counts | None = None) -> float:
    """Give G(f_o): the share of the population that is at least as rare as the object.

    Each density stands for one row, or for as many as `rows` says.
    """
    rare = densities <= at_object * (1 + SAME_DENSITY)
    if rows is None:
        return float(np.count_nonzero(rare) / len(densities))
    return float(rows[rare].sum() / rows.sum())


def strength(mean: float, at_object: float, overall_mean: float, conditions: int) -> float:
    """Order pairs: ln(rarity) + ln(lift) less a price for each condition (method 5)."""
    return (
        math.log(mean / at_object) + math.log(mean / overall_mean) - CONDITION_PENALTY * conditions
    )


def rounded(score: float, measure: Measure) -> float:
    """Return a score as far as it counts in an order: nine decimals, or nine significant digits.

    A strength is free of units; the paper's difference of areas is not, so decimals would make its
    order depend on the unit more than it does anyway.
    """
    return float(f"{score:.8e}") if measure == "paper" else round(score, 9)
