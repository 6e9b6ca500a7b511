"""How far rows usually are from what is expected of them, and who are exceptions (method 6b)."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from outlying.method.density import Floats

#: The usual distance from what is expected: a quantile of absolute residuals.
USUAL = 0.6
#: Rows by which the usual distance is known at a place, and the most places.
LOCAL_ROWS, MOST_PLACES = 40, 12
#: The usual distance at a place is no less than this share of that of all rows.
LEAST_SPREAD = 0.2
#: What is expected, in usual distances: 95 of 100 normal values.
EXPECTED = 2.5
#: What is twice as far off is an exception; more of them than this share are no errors of single
#: rows, but a state of its own (cancelled, not paid) that the relation does not know.
MOST_EXCEPTIONS = 0.02
#: Where the outermost of what is expected begins: beyond, hardly any row tells what is usual.
OUTERMOST = (0.01, 0.99)
#: Residuals below this share of the spread of the column are rounding errors.
DUST = 1e-7
#: Decimals that a column may be rounded to; so many of its values are.
MOST_DECIMALS, ROUNDED = 6, 0.99


@dataclasses.dataclass(frozen=True, eq=False)
class Distances:
    """How far rows usually are from what is expected of them, along what is expected."""

    places: Floats
    spreads: Floats
    ends: tuple[float, float]

    @classmethod
    def of(cls, expected: Floats, away: Floats) -> Distances:
        """Look how far rows are, in parts along what is expected."""
        low, high = np.quantile(expected, OUTERMOST)
        return cls(*_local_spreads(expected, away), (float(low), float(high)))

    def usual(self, expected: Floats) -> Floats:
        """Return the usual distance; beyond the ends, it is as uncertain as that is far."""
        low, high = self.ends
        beyond = np.maximum(np.maximum(low - expected, expected - high), 0.0)
        return np.interp(expected, self.places, self.spreads) + beyond


def share_of_exceptions(residuals: Floats, *categories: npt.NDArray[np.int32]) -> float:
    """Return the share of rows that are far from what is expected, given usual distances.

    Where that is most rows of a category which predicts them, all are: the fit has left that
    category out as if each of its rows were an error.
    """
    is_far = np.abs(residuals) > 2 * EXPECTED
    for codes in categories:
        rows, far = np.bincount(codes), np.bincount(codes, weights=is_far)
        if np.any(far > rows / 2):
            return 1.0
    return float(np.mean(is_far))


def least_usual(away: Floats) -> float:
    """Return how far the rows of a category usually are at least, as sure as so few can tell.

    In usual distances, and no less than one: two standard errors below the quantile that is usual.
    """
    share = USUAL - 1 / np.sqrt(max(len(away), 1))
    return max(1.0, float(np.quantile(away, share))) if share > 0 else 1.0


def _local_spreads(expected: Floats, away: Floats) -> tuple[Floats, Floats]:
    """Return places along what is expected, and how far rows usually are from it there."""
    usual = max(float(np.quantile(away, USUAL)), DUST)
    rounded = expected.round(9)  # what is expected alike stays together
    order = np.argsort(rounded, kind="stable")
    count = max(4, min(MOST_PLACES, len(away) // LOCAL_ROWS))
    cuts = rounded[order[np.arange(1, count) * len(away) // count]]
    starts = np.searchsorted(rounded[order], np.unique(cuts), "left")
    parts = [part for part in np.split(order, starts) if len(part)]
    places = np.array([np.median(expected[part]) for part in parts])
    own = np.array([max(np.quantile(away[part], USUAL), LEAST_SPREAD * usual) for part in parts])
    if len(own) < 3:
        return places, own
    inner = np.median(np.stack([own[:-2], own[1:-1], own[2:]]), axis=0)
    return places, np.concatenate([[own[:2].max()], inner, [own[-2:].max()]])


def unit_of(values: Floats) -> float:
    """Return the unit that numbers are rounded to; 0 where they are not."""
    for decimals in range(MOST_DECIMALS + 1):
        scaled = values * 10.0**decimals
        if np.mean(np.abs(scaled - np.round(scaled)) <= 1e-6) >= ROUNDED:
            return float(10.0**-decimals)
    return 0.0
