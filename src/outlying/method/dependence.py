"""How far the values of a row lie from what its other columns together say (method 5d).

Values count by their ranks. Whole numbers are summed up, so that no order of rows or threads
changes a bit of what comes out.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.table.columns import Floats

#: Scores are whole numbers of such parts of a standard deviation; they fit into a byte.
STEPS = 24
#: Normal scores by Tukey's lambda distribution: p**POWER - (1 - p)**POWER, in units of WIDTH.
POWER, WIDTH = 0.135, 0.1975
#: Correlations count half: few rows, or many columns, make some by chance.
SHRINKAGE = 0.5
#: Weights are rounded to such parts, so that products with scores are exact.
PARTS = 2.0**30
#: So many rows are summed up at once.
ROWS = 4_096

Scores: TypeAlias = npt.NDArray[np.int8]

#: Of what has no order.
NO_SCORES: Scores = np.zeros(1, dtype=np.int8)


def rank_scores(counts: npt.NDArray[np.int64]) -> Scores:
    """Return the normal score of each bin, given its rows, and last that of a missing value: 0."""
    middle = (counts.cumsum() - counts / 2) / max(int(counts.sum()), 1)
    scores = (middle**POWER - (1 - middle) ** POWER) / WIDTH
    return np.append(np.rint(STEPS * scores), 0).astype(np.int8)


def residual_weights(scores: Scores) -> Floats:
    """Return the weights that turn scores, columns x rows, into residuals.

    Each column is compared with what a ridge regression on all others expects; of what is left,
    the standard deviation is 1. A column whose scores are all 0 takes no part.
    """
    width, rows = scores.shape
    moments = np.zeros((width, width))
    for start in range(0, rows, ROWS):
        some = scores[:, start : start + ROWS].astype(np.float64)
        moments += some @ some.T
    scale = np.sqrt(np.where(moments.diagonal() > 0, moments.diagonal() / max(rows, 1), np.inf))
    correlations = moments / max(rows, 1) / np.outer(scale, scale)
    shrunk = SHRINKAGE * correlations
    np.fill_diagonal(shrunk, 1.0)
    inverse = np.linalg.inv(shrunk)
    spread = np.sqrt(np.einsum("ij,ik,kj->j", inverse, correlations, inverse, optimize=True))
    weights = inverse / np.where(spread > 0, spread, np.inf) / scale[:, None]
    return np.asarray(np.rint(PARTS * weights) / PARTS)


def residual_nats(scores: Scores, weights: Floats) -> Floats:
    """Return how surprising residuals are, rows x columns, as if they were normal."""
    return np.asarray((scores @ weights) ** 2 / 2)


def total_nats(scores: Scores, weights: Floats) -> Floats:
    """Return the sum of these for each row."""
    total = np.zeros(len(scores))
    for start in range(0, len(scores), ROWS):
        some = scores[start : start + ROWS].T.astype(np.float64)
        for residuals in weights.T @ some:  # in a fixed order, however many rows there are
            total[start : start + ROWS] += residuals**2 / 2
    return total
