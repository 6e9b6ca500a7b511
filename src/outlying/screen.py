"""Estimates for many contexts at once: which of them deserve an exact look (method 5).

A property is cut into groups of neighbouring values. The rows of every context are counted by
group, all contexts together, as matrix products; the mean density follows from the counts and the
share of pairs of two groups that lie within a window, the density at the object from the rows near
it. Where a property has few distinct values, each is a group of its own and nothing is estimated.
"""

from __future__ import annotations

import math
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.density import Floats

Masks: TypeAlias = npt.NDArray[np.float32]  # rows by contexts, 1 where the row belongs to it
Places: TypeAlias = npt.NDArray[np.int64]

GROUPS = 64
_OUTERMOST = 8  # at each end
_STEP = math.log(2) / 4  # windows are rounded to this step of their logarithm
_POINT = 1e-4  # a group narrower than this, in standard deviations, counts as a point
_SAME = 1 + 1e-12
_MOST_SHARES = 256
_LEAST_VARIANCE = 1e-10


class Screen(Protocol):
    """One property of one object, ready to be estimated in many contexts."""

    unit: float  # what turns its densities into densities per unit of the column

    def estimate(self, left: Masks, right: Masks, cells: Places) -> tuple[Floats, Floats]:
        """Give mean(F) and f_o in each context, NaN where there is nothing to compare.

        A context is a cell of `left.T @ right`, numbered row by row: the rows in both.
        """


class Grouping:
    """Rows by group of neighbouring values, or by category."""

    def __init__(self, order: Places, starts: Places) -> None:
        self.order = order
        self.bounds = list(zip(starts, np.append(starts[1:], len(order)), strict=True))

    def counts(self, left: Masks, right: Masks, cells: Places) -> Floats:
        """Count the rows of each context by group."""
        first, second = left[self.order], right[self.order]
        table = np.empty((len(self.bounds), left.shape[1], right.shape[1]), dtype=np.float32)
        for place, (start, end) in enumerate(self.bounds):
            np.matmul(first[start:end].T, second[start:end], out=table[place])
        return table.reshape(len(table), -1)[:, cells].astype(np.float64)


class Numbers:
    """A numeric property in groups; the same for all objects."""

    def __init__(self, values: Floats) -> None:
        """Take the values of all rows, NaN where missing; they are not all equal."""
        known = np.flatnonzero(~np.isnan(values))
        order = known[np.argsort(values[known], kind="stable")]
        starts = _group_starts(values[order])
        ends = np.append(starts[1:], len(order))
        self.grouping = Grouping(order, starts)
        self.is_exact = bool(np.all(values[order[starts]] == values[order[ends - 1]]))
        self.deviation = float(np.std(values[order]))
        self.centre = 0.0 if self.is_exact else float(np.mean(values[order]))
        self.values = (values - self.centre) / self.deviation
        ordered = self.values[order]
        self.lows, self.highs = ordered[starts], ordered[ends - 1]
        rows = ends - starts
        self.means = np.add.reduceat(ordered, starts) / rows
        self.squares = np.add.reduceat(ordered * ordered, starts) / rows
        self.radii = _distances(self.lows) if self.is_exact else np.empty(0)
        self._shares: dict[int, Floats] = {}

    def spread(self, counts: Floats, known: Floats) -> Floats:
        """Give the standard deviation in each context."""
        means = self.means @ counts / known
        if self.is_exact:  # no rounding where nothing is estimated
            deviations = self.means[:, np.newaxis] - means
            variance = np.add.reduce(counts * deviations * deviations) / known
            return np.sqrt(np.where(np.count_nonzero(counts, axis=0) > 1, variance, 0.0))
        return np.sqrt(np.maximum(self.squares @ counts / known - means * means, _LEAST_VARIANCE))

    def levels(self, widths: Floats) -> tuple[Places, Floats]:
        """Give a number to windows that see the same groups, and the widths they stand for."""
        if self.is_exact:
            return np.searchsorted(self.radii, widths / 2, side="right") - 1, widths
        levels = np.rint(np.log(widths) / _STEP).astype(np.int64)
        return levels, np.exp(levels * _STEP)

    def radius(self, level: int) -> float:
        """Give half the width of a window."""
        return float(self.radii[level]) if self.is_exact else math.exp(level * _STEP) / 2

    def shares(self, level: int) -> Floats:
        """Give, for each two groups, the share of pairs of their rows within half a window."""
        if level not in self._shares:
            if len(self._shares) >= _MOST_SHARES:  # many distinct windows: keep memory bounded
                self._shares.clear()
            self._shares[level] = _shares_within(self.lows, self.highs, self.radius(level))
        return self._shares[level]


class NumericScreen:
    """A numeric property, seen from one object."""

    def __init__(self, numbers: Numbers, value: float, unit: float) -> None:
        self.numbers, self.unit = numbers, unit / numbers.deviation
        distances = np.abs(numbers.values - (value - numbers.centre) / numbers.deviation)
        order = numbers.grouping.order
        self.nearest = order[np.argsort(distances[order], kind="stable")]
        self.distances = distances[self.nearest]

    def estimate(self, left: Masks, right: Masks, cells: Places) -> tuple[Floats, Floats]:
        """Give mean(F) and f_o in each context (method 5, "Screen")."""
        numbers = self.numbers
        counts = numbers.grouping.counts(left, right, cells)
        known = np.add.reduce(counts)
        with np.errstate(divide="ignore", invalid="ignore"):
            widths = 1.06 * numbers.spread(counts, known) * known**-0.2
        usable = np.flatnonzero(widths > 0)
        mean, at_object = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
        if len(usable):
            levels, widths = numbers.levels(widths[usable])
            order = np.argsort(levels, kind="stable")
            usable = usable[order]
            pairs, near = self._by_level(
                levels[order], counts[:, usable], left, right, cells[usable]
            )
            scale = 1 / (known[usable] * widths[order])
            mean[usable], at_object[usable] = pairs / known[usable] * scale, near * scale
        return mean, at_object

    def _by_level(
        self, levels: Places, counts: Floats, left: Masks, right: Masks, cells: Places
    ) -> tuple[Floats, Floats]:
        """Count pairs of neighbours, and neighbours of the object; contexts come by level."""
        pairs, near = np.empty(len(cells)), np.empty(len(cells))
        distinct, starts = np.unique(levels, return_index=True)
        ends = np.append(starts[1:], len(levels))
        radii = np.array([self.numbers.radius(int(level)) for level in distinct])
        within = np.searchsorted(self.distances, radii * _SAME, side="right")
        rows = self.nearest[: within[-1]]
        first, second = left[rows], right[rows]
        reached, seen = np.zeros((left.shape[1], right.shape[1]), dtype=np.float32), 0
        for level, start, end, upto in zip(distinct, starts, ends, within, strict=True):
            here = slice(start, end)
            pairs[here] = _pairs_within(counts[:, here], self.numbers.shares(int(level)))
            reached += first[seen:upto].T @ second[seen:upto]
            seen = upto
            near[here] = reached.ravel()[cells[here]]
        return pairs, np.maximum(near, 1.0)


class CategoricalScreen:
    """A categorical property, seen from one object; only very rare categories are left out."""

    unit = 1.0

    def __init__(self, codes: npt.NDArray[np.int32], own: int) -> None:
        totals = np.bincount(codes[codes >= 0])
        frequent = np.argsort(-totals, kind="stable")[:GROUPS]
        chosen = np.append(own, frequent[(frequent != own) & (totals[frequent] > 0)])
        ranks = np.full(len(totals) + 1, -1)
        ranks[chosen] = np.arange(len(chosen))
        ranked = ranks[codes]
        order = np.argsort(ranked, kind="stable")[np.count_nonzero(ranked < 0) :]
        self.grouping = Grouping(order, np.searchsorted(ranked[order], np.arange(len(chosen))))
        self.known = np.flatnonzero(codes >= 0) if len(chosen) < np.count_nonzero(totals) else None

    def estimate(self, left: Masks, right: Masks, cells: Places) -> tuple[Floats, Floats]:
        """Give mean(F) and f_o in each context."""
        counts = self.grouping.counts(left, right, cells)
        if self.known is None:
            known = np.add.reduce(counts)
        else:
            known = (left[self.known].T @ right[self.known]).ravel()[cells].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.add.reduce(counts * counts) / (known * known)
            at_object = np.maximum(counts[0], 1.0) / known
        several = counts.max(axis=0) < known
        return np.where(several, mean, np.nan), np.where(several, at_object, np.nan)


def _group_starts(values: Floats) -> Places:
    """Begin a group at each distinct value, or at about equal numbers of rows.

    The outermost values stay groups of their own: a few of them can make most of the variance.
    """
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf))
    if len(starts) <= GROUPS:
        return starts
    wanted = np.arange(GROUPS - 2 * _OUTERMOST) * len(values) // (GROUPS - 2 * _OUTERMOST)
    inner = starts[np.searchsorted(starts, wanted, side="right") - 1]
    return np.unique(np.concatenate([inner, starts[: _OUTERMOST + 1], starts[-_OUTERMOST:]]))


def _distances(points: Floats) -> Floats:
    return np.unique(np.abs(points[:, np.newaxis] - points))


def _shares_within(lows: Floats, highs: Floats, radius: float) -> Floats:
    """Give, for each two groups, the share of pairs of their rows at most `radius` apart.

    Rows are taken as evenly spread over their group, so that the share is that of the strip
    |x - y| <= radius in a rectangle. Where one of the groups is next to a point, both are.
    """
    widths = highs - lows
    middles = (lows + highs) / 2
    apart = np.abs(middles[:, np.newaxis] - middles)
    points = (widths < _POINT)[:, np.newaxis] | (widths < _POINT)

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
    return np.where(points, apart <= radius * _SAME, area / whole)


def _pairs_within(counts: Floats, shares: Floats) -> Floats:
    """Count ordered pairs of rows within a window, each row with itself included."""
    own = np.diagonal(shares)
    everything = np.add.reduce(counts * (shares @ counts))
    return np.asarray(everything + (1 - own) @ counts)
