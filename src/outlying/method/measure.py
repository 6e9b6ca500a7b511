"""The measure: how exceptional is a density among the densities of a population (paper, section 4).

`F` are the densities at the rows of the population, `f_o` that at the object, `G` the cdf of F.
The paper's score is built on two areas under G; their difference is mean(F) - f_o, so that a mean
is all that a search needs. Rarity, lift, strength and the threshold are written here and nowhere
else; who asks for them looks at one context or at many.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from outlying.method.density import Counts, Floats, Number, density_at

#: Densities closer than this (relatively) are the same density: summation order must not decide.
SAME_DENSITY = 1e-9
#: Scores closer than this are the same score, also where they meet a threshold.
SAME_SCORE = 1e-9
#: Strengths count in an order up to so many decimals.
DECIMALS = 9
#: What one more condition costs in the order of results (method 5).
CONDITION_PENALTY = 0.3
#: How many windows wide rows look around themselves: distance counts (method 3).
SCALES = (1, 2, 4, 8, 16, 32)
#: By how much a larger context must be stronger than one that it contains (method 5).
MUCH_STRONGER = math.log(3)


@dataclasses.dataclass(frozen=True, slots=True)
class Summary:
    """A property in one context, as one object sees it, at the scale at which it is rarest.

    `scale` is how many Parzen windows wide the object looks around itself, and the rows of the
    context around themselves.
    """

    mean: float  # mean(F), on the scale of the attribute
    at_object: float  # f_o
    unit: float  # what turns these into densities per unit of the column
    lift: float  # how much tighter the property is here than in the whole population
    scale: int = 1
    near: int = 0  # rows within the window around the object, itself included
    reach: float | None = None  # half of that window, in the column's unit; None for categories

    @classmethod
    def at_rarest(
        cls,
        neighbours: Sequence[float],
        near: Sequence[float],
        *,
        known: int,
        width: float,
        unit: float,
        lift: float,
        reach: float | None = None,
    ) -> Summary:
        """Summarise a context for an object, at the scale at which that is rarest.

        Given are, by scale, the rows that a member has on average within its window, itself
        included, and those around the object; `known` rows have a value, `width` is that of the
        narrowest window, `reach` half of it in the unit of the column.
        """
        place = rarest([usual / rows for usual, rows in zip(neighbours, near, strict=True)])
        scale = SCALES[place]
        mean, own = (
            density_at(float(rows[place]), known, scale * width) for rows in (neighbours, near)
        )
        far = None if reach is None else scale * reach
        return cls(mean, own, unit, lift, scale, round(near[place]), far)

    @property
    def rarity(self) -> float:
        """How many times rarer the object is than a typical member."""
        return rarity(self.mean, self.at_object)

    def strength(self, conditions: int) -> float:
        """Return the strength of the pair, given the number of conditions."""
        return strength(self.rarity, self.lift, conditions)

    def excess(self) -> float:
        """Return the paper's difference of areas."""
        return excess(self.mean, self.at_object, self.unit)

    def outlierness(self) -> float:
        """Score the object, from 0 to 1, whatever the unit."""
        return outlierness(self.mean, self.at_object)


def rarity(mean: Number, at_object: Number) -> Number:
    """Return mean(F) / f_o: how many times rarer the object is than a typical member."""
    return mean / at_object


def may_reach(near: Number, known: Number, needed: float) -> Any:
    """Tell whether a window with so many rows near the object can show the needed rarity.

    A typical member has no more rows near it than there are. Windows wider than the first count
    only where they can: so most of them need not be looked at (method 3).
    """
    return near * (needed * (1 - SAME_DENSITY)) <= known


def rarest(rarities: Sequence[float]) -> int:
    """Return the place of the largest rarity, the first of equals: narrow windows come first."""
    most = max(rarities) * (1 - SAME_DENSITY)
    return next(place for place, rarity in enumerate(rarities) if rarity >= most)


def lift(inside: Number, around: Number) -> Number:
    """Return how much tighter a property is inside a context than around the same values.

    The mean share of the context's rows within a window of a member, and of all rows (method 5).
    """
    return inside / around


def strength(rarity: Number, lift: Number, conditions: Number) -> Number:
    """Order pairs: ln(rarity) + ln(lift) less a price for each condition (method 5)."""
    return _log(rarity) + _log(lift) - CONDITION_PENALTY * conditions


def _log(number: Number) -> Number:
    """Return the logarithm; of a single number, as exact as the system knows it."""
    return math.log(number) if isinstance(number, float) else np.log(number)


def excess(mean: Number, at_object: Number, unit: float) -> Number:
    """Return mean(F) - f_o per unit of the column: the area above G less that below it."""
    return (mean - at_object) * unit


def outlierness(mean: float, at_object: float) -> float:
    """Score an object by the mean density of its population and its own density: 1 - f_o / mean(F).

    An object as dense as the mean, up to rounding, scores 0.
    """
    return 0.0 if is_ordinary(mean, at_object) else 1.0 - at_object / mean


def is_ordinary(mean: float, at_object: float) -> bool:
    """Return whether an object is as dense as the mean, up to rounding, or denser."""
    return at_object >= mean * (1 - SAME_DENSITY)


def reaches(score: float, threshold: float) -> bool:
    """Return whether an outlierness reaches the threshold."""
    return score >= threshold - SAME_SCORE


def areas(densities: Floats, at_object: float, rows: Counts | None = None) -> tuple[float, float]:
    """Return the area above the cdf from f_o on, and the area below it up to f_o.

    The integral of 1 - G from f_o on is the mean excess of F over f_o; that of G up to f_o is the
    mean shortfall. Each density stands for one row, or for as many as `rows` says.
    """
    if rows is None:
        rows = np.ones(len(densities), dtype=np.int64)
    number = float(np.add.reduce(rows))
    above, below = (np.maximum(sign * (densities - at_object), 0.0) for sign in (1.0, -1.0))
    return (
        float(np.add.reduce(above * rows) / number),
        float(np.add.reduce(below * rows) / number),
    )


def tail(densities: Floats, at_object: float, rows: Counts | None = None) -> float:
    """Return G(f_o): the share of the population that is at least as rare as the object.

    Each density stands for one row, or for as many as `rows` says.
    """
    rare = densities <= at_object * (1 + SAME_DENSITY)
    if rows is None:
        return float(np.count_nonzero(rare) / len(densities))
    return float(rows[rare].sum() / rows.sum())
