"""Pairs of rows within a window, by groups of neighbouring values.

Shares of pairs are whole numbers of some thousandth parts: so a sum of them is
exact, in whatever order it is taken, be it by a library of linear algebra or by compiled code.
Other sums are taken in eight lanes, an order that both can keep.
"""

from __future__ import annotations

import math

import numpy as np

from outlying.method.density import Floats
from outlying.search.screen.bitsets import Places

#: Sums of fractions: the numbers of every eighth group, then those of the lanes.
LANES = 8
#: A share of pairs is a whole number of so many parts; with up to MOST_ROWS rows, sums are exact.
PARTS = float(1 << 14)
MOST_ROWS = (1 << 15) - 1
#: Windows on the ladder grow by the root of 2, between these powers of 2.
LEAST_POWER, MOST_POWER = -24, 13
RUNGS = 2 * (MOST_POWER - LEAST_POWER) + 1
SAME = 1 + 1e-12  # distances, up to rounding
POINT = 1e-4  # a group narrower than this, in standard deviations, counts as a point

_HALF_ROOT = math.sqrt(0.5)
_LEAST, _MOST = math.ldexp(1.0, LEAST_POWER), math.ldexp(1.0, MOST_POWER) * (1 - 1e-9)


def in_lanes(products: Floats) -> Floats:
    """Return the sums of the rows of an array, taken in lanes."""
    lanes = np.zeros((len(products), LANES))
    for start in range(0, products.shape[1], LANES):
        some = products[:, start : start + LANES]
        lanes[:, : some.shape[1]] += some
    lanes = lanes[:, :4] + lanes[:, 4:]
    lanes = lanes[:, :2] + lanes[:, 2:]
    return np.asarray(lanes[:, 0] + lanes[:, 1])


def rungs_of(widths: Floats) -> tuple[Places, Floats]:
    """Return the rung at or below each window, and how far it is on the way to the next one."""
    mantissas, powers = np.frexp(np.minimum(np.maximum(widths, _LEAST), _MOST))
    is_upper = mantissas >= _HALF_ROOT
    low, high = np.where(is_upper, _HALF_ROOT, 0.5), np.where(is_upper, 1.0, _HALF_ROOT)
    rungs = 2 * (powers.astype(np.int64) - 1 - LEAST_POWER) + is_upper
    return rungs, (mantissas - low) / (high - low)


def radius_of(rung: int) -> float:
    """Return half of a window on the ladder."""
    power, is_upper = divmod(rung, 2)
    return math.ldexp(_HALF_ROOT if is_upper else 0.5, power + LEAST_POWER)


def parts_within(lows: Floats, highs: Floats, radius: float) -> Floats:
    """Return, for each two groups, the share of pairs of their rows at most `radius` apart.

    In parts. Rows are taken as evenly spread over their group, so that the share is that of the
    strip |x - y| <= radius in a rectangle. Where one of the groups is next to a point, both are.
    """
    widths = highs - lows
    middles = (lows + highs) / 2
    apart = np.abs(middles[:, np.newaxis] - middles)
    points = (widths < POINT)[:, np.newaxis] | (widths < POINT)

    def below(distance: Floats) -> Floats:  # twice integrated: 1 within the strip, 0 outside
        inside = np.minimum(np.maximum(distance + radius, 0.0), 2 * radius)
        return np.asarray(inside * inside / 2 + 2 * radius * np.maximum(distance - radius, 0.0))

    column_lows, column_highs = lows[:, np.newaxis], highs[:, np.newaxis]
    area = (
        below(column_highs - lows)
        - below(column_lows - lows)
        - below(column_highs - highs)
        + below(column_lows - highs)
    )
    whole = np.where(points, 1.0, widths[:, np.newaxis] * widths)
    shares = np.where(points, apart <= radius * SAME, area / whole)
    shares = np.where(highs - column_lows <= radius, 1.0, shares)
    parts = np.triu(np.clip(np.rint(shares * PARTS), 0.0, PARTS))  # the rest differs by rounding
    return np.asarray(parts + np.triu(parts, 1).T)
