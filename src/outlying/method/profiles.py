"""A property in a context as descriptions need it: how rare its values are, which are typical."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

import numpy as np

from outlying.kernel.sweep import median_step, ranges
from outlying.method import measure as outlierness
from outlying.method.density import Counts, Floats, frequencies
from outlying.method.distribution import Distribution
from outlying.method.measure import Summary
from outlying.method.sketches import (
    MOST_SKETCH_BYTES,
    NumericSketch,
    numeric_sketch,
    ranked_as,
)
from outlying.table.values import Form, Value, value_of

TYPICAL_SHARE = 0.9
_GAPS_IN_A_RANGE = 3
_SIDES: tuple[Literal["left"], Literal["right"]] = "left", "right"

Ranges: TypeAlias = tuple[tuple[Value, Value], ...]


class NumericProfile:
    """A numeric property in a context: how rare its values are, and where most of them lie."""

    def __init__(self, found: Distribution, form: Form, exponent: int) -> None:
        """Take values that were divided by 2**exponent, and find where 90% of them lie.

        These are the values of highest density. A range of them ends where the next one is further
        off than the window of the density can see, or than three usual steps between values
        (rounded values have steps wider than the window). Of fewer than ten rows, nearly all is not
        all.
        """
        self.found, self.form, self.exponent = found, form, exponent
        self.known = found.known
        self._ranks: dict[int, tuple[Floats, Counts, Counts]] = {}
        ranked, _, counted = self._ranked(1)
        share = TYPICAL_SHARE * self.known
        rank = math.ceil(share - 1e-9) if self.known >= 10 else math.floor(share)
        place = np.searchsorted(counted, self.known - rank, side="right")
        self.least = float(ranked[place]) * (1 - outlierness.SAME_DENSITY)
        self.widest_gap = max(found.width, _GAPS_IN_A_RANGE * median_step(found.values))
        self._sketches: dict[int, NumericSketch] = {}

    @property
    def nbytes(self) -> int:
        """How much memory it takes, with its sketch."""
        ranks, values = 3 * self._ranked(1)[0].nbytes, 4 * self.found.values.nbytes
        return ranks + values + MOST_SKETCH_BYTES

    def tail(self, summary: Summary) -> float:
        """Return the share of rows at least as rare as an object, at the scale of its summary."""
        ranked, _, counted = self._ranked(summary.scale)
        limit = summary.at_object * (1 + outlierness.SAME_DENSITY)
        place = int(np.searchsorted(ranked, limit, side="right"))
        return int(counted[place - 1]) / self.known if place else 0.0

    def areas(self, summary: Summary) -> tuple[float, float]:
        """Return the areas above and below the cdf of the densities, at the scale of a summary."""
        ranked, rows, _ = self._ranked(summary.scale)
        return outlierness.areas(ranked, summary.at_object, rows)

    def _ranked(self, scale: int) -> tuple[Floats, Counts, Counts]:
        """Return the densities at a scale from the rarest on, their rows, and these added up."""
        if scale not in self._ranks:
            ranked, rows = self.found.ranked(scale)
            self._ranks[scale] = ranked, rows, np.cumsum(rows)
        return self._ranks[scale]

    def sketch(self, scale: int = 1) -> NumericSketch:
        """Return what a picture needs, once; rows are ranked by the densities at a scale."""
        if scale not in self._sketches:
            self._sketches[scale] = self._sketched(scale)
        return self._sketches[scale]

    def _sketched(self, scale: int) -> NumericSketch:
        ranked = self._ranked(scale)[:2]
        if scale > 1:
            return ranked_as(self.sketch(), *ranked)
        return numeric_sketch(self.found, self.form, self.exponent, ranked)

    def gap(self, place: Value) -> tuple[Value, Value] | None:
        """Return the nearest other values below and above that of an object.

        None where others share it, where it is at an end, and where values were counted in bins.
        """
        found, value = self.found, self._scaled(place)
        first, last = (int(np.searchsorted(found.values, value, side)) for side in _SIDES)
        shared = int(found.rows[first:last].sum())
        if not found.is_exact or shared > 1 or first == 0 or last == len(found.values):
            return None
        return self._shown(float(found.values[first - 1])), self._shown(float(found.values[last]))

    def typical(self, place: Value, at_object: float) -> Ranges:
        """Say where the 90% of highest density lie; ranges end where the object lies between."""
        point = self._scaled(place) if at_object < self.least else math.nan
        values, densities = self.found.values, self.found.densities()
        starts, stops = ranges(values, densities, self.least, self.widest_gap, point)
        return tuple(
            (self._shown(float(low)), self._shown(float(high)))
            for low, high in zip(starts, stops, strict=True)
        )

    def _scaled(self, place: Value) -> float:
        """Return a number of the column on this scale."""
        return float(np.ldexp(cast(float, place), -self.exponent))

    def _shown(self, number: float) -> Value:
        """Return a number of this scale as people know it."""
        return value_of(self.form, float(np.ldexp(number, self.exponent)))


class CategoricalProfile:
    """A categorical property in a context: how many rows each category has."""

    def __init__(self, counts: Counts, labels: Sequence[Value]) -> None:
        self.counts, self.labels, self.known = counts, labels, int(counts.sum())

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.counts.nbytes

    def tail(self, summary: Summary) -> float:
        """Return the share of rows at least as rare as an object."""
        return outlierness.tail(frequencies(self.counts), summary.at_object, self.counts)

    def areas(self, summary: Summary) -> tuple[float, float]:
        """Return the areas above and below the cdf of the frequencies."""
        return outlierness.areas(frequencies(self.counts), summary.at_object, self.counts)

    def gap(self, place: Value) -> tuple[Value, Value] | None:  # noqa: ARG002
        """Return None: categories have no order."""
        return None

    def typical(self, place: Value, at_object: float) -> tuple[Value, ...]:  # noqa: ARG002
        """Name the most frequent categories that hold 90% of the rows."""
        order = np.argsort(-self.counts, kind="stable")
        shares = np.cumsum(self.counts[order]) / self.known
        codes = order[: int(np.searchsorted(shares, TYPICAL_SHARE - 1e-9)) + 1]
        return tuple(self.labels[code] for code in codes)


Profile: TypeAlias = NumericProfile | CategoricalProfile
