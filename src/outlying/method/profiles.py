"""A property in a context as descriptions need it: how rare its values are, which are typical."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np

from outlying.method import measure as outlierness
from outlying.method.density import Counts, frequencies
from outlying.method.distribution import Distribution
from outlying.method.sketches import NumericSketch, numeric_sketch
from outlying.options import Bandwidth
from outlying.table.values import Form, Value, value_of

TYPICAL_SHARE = 0.9
_GAPS_IN_A_RANGE = 3

Ranges: TypeAlias = tuple[tuple[Value, Value], ...]


class NumericProfile:
    """A numeric property in a context: how rare its values are, and where most of them lie."""

    def __init__(
        self, found: Distribution, form: Form, exponent: int, bandwidth: Bandwidth = "fixed"
    ) -> None:
        """Take values that were divided by 2**exponent, and find where 90% of them lie.

        These are the values of highest density. A range of them ends where the next one is further
        off than the window of the density can see, or than three usual steps between values
        (rounded values have steps wider than the window). Of fewer than ten rows, nearly all is not
        all.
        """
        self.found, self.form, self.exponent = found, form, exponent
        self.known = found.known
        densities = found.densities(bandwidth)
        order = np.argsort(densities, kind="stable")
        self.ranked, self.rows = densities[order], found.rows[order]
        self.counted = np.cumsum(self.rows)
        share = TYPICAL_SHARE * self.known
        rank = math.ceil(share - 1e-9) if self.known >= 10 else math.floor(share)
        place = np.searchsorted(self.counted, self.known - rank, side="right")
        self.least = float(self.ranked[place]) * (1 - outlierness.SAME_DENSITY)
        self.kept = found.values[densities >= self.least]
        self.ends = np.flatnonzero(np.diff(self.kept) > _widest_gap(found))
        self.sketch: NumericSketch = numeric_sketch(
            found, form, exponent, bandwidth, (self.ranked, self.rows)
        )

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        own = 3 * self.ranked.nbytes + self.kept.nbytes + self.ends.nbytes
        return own + 4 * self.found.values.nbytes + self.sketch.nbytes

    def tail(self, at_object: float) -> float:
        """Return the share of rows at least as rare as an object."""
        limit = at_object * (1 + outlierness.SAME_DENSITY)
        place = int(np.searchsorted(self.ranked, limit, side="right"))
        return int(self.counted[place - 1]) / self.known if place else 0.0

    def areas(self, at_object: float) -> tuple[float, float]:
        """Return the areas above and below the cdf of the densities."""
        return outlierness.areas(self.ranked, at_object, self.rows)

    def typical(self, place: Value, at_object: float) -> Ranges:
        """Say where the 90% of highest density lie; ranges end where the object lies between."""
        kept, ends = self.kept, self.ends
        if at_object < self.least:
            before = int(np.searchsorted(kept, self._scaled(place))) - 1
            if 0 <= before < len(kept) - 1:
                ends = np.union1d(ends, [before])
        starts, stops = kept[np.append(0, ends + 1)], kept[np.append(ends, len(kept) - 1)]
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

    def tail(self, at_object: float) -> float:
        """Return the share of rows at least as rare as an object."""
        return outlierness.tail(frequencies(self.counts), at_object, self.counts)

    def areas(self, at_object: float) -> tuple[float, float]:
        """Return the areas above and below the cdf of the frequencies."""
        return outlierness.areas(frequencies(self.counts), at_object, self.counts)

    def typical(self, place: Value, at_object: float) -> tuple[Value, ...]:  # noqa: ARG002
        """Name the most frequent categories that hold 90% of the rows."""
        order = np.argsort(-self.counts, kind="stable")
        shares = np.cumsum(self.counts[order]) / self.known
        codes = order[: int(np.searchsorted(shares, TYPICAL_SHARE - 1e-9)) + 1]
        return tuple(self.labels[code] for code in codes)


Profile: TypeAlias = NumericProfile | CategoricalProfile


def _widest_gap(found: Distribution) -> float:
    return max(found.width, _GAPS_IN_A_RANGE * float(np.median(np.diff(found.values))))
