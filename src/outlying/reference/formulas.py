"""The paper's formulas, section by section: arrays in, arrays and numbers out.

Section 3, the density f of one attribute: f(x) = (1/n) sum_i (1/b_i) K((x - x_i) / b_i), where
K(u) = 1 for |u| <= 1/2 and 0 elsewhere; b_i = h * beta_i, h = 1.06 * std * n**(-1/5), and beta_i of
geometric mean 1, by default 1. Elsewhere in the package outliers do not widen the windows.

Section 4, outlierness: F = f(X) is the density at a random row, G its cdf. `above` is the integral
of 1 - G from f_o on, `below` that of G up to f_o (`method.measure.areas`), and above - below =
mean(F) - f_o: so neither G nor the order of the densities is needed to score a pair.

Section 5.1, natural intervals: a mixture of Gaussians labels the values of an attribute, runs of
equal labels are its segments (`method.intervals`).

Section 6, the older method, which knows categories only (Angiulli, Fassetti, Palopoli 2009):
numbers are cut into bins, closed on the right; equal values are never separated.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np

from outlying.method import measure
from outlying.method.density import Counts, Floats, parzen
from outlying.method.distribution import Distribution
from outlying.method.intervals import MOST_SCALES, WINDOW_SHARE, Segments
from outlying.method.measure import Summary
from outlying.options import Bandwidth, Discretise, Measure, PaperOptions
from outlying.table.columns import CategoricalColumn, Codes, Column, frozen
from outlying.table.values import Form, text_of, value_of

Ends = tuple[float, float]

_WINDOWS = 17  # of an attribute without structure, evenly spread over the ranks


# --- section 3: densities -----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class ParzenDistribution(Distribution):
    """Values with windows of one width, h."""

    @functools.cached_property
    def width(self) -> float:
        """The paper's h."""
        return self._width_of(self.values)


@dataclasses.dataclass(frozen=True, eq=False)
class AdaptiveDistribution(ParzenDistribution):
    """Values with windows of their own: Abramson's beta_i are proportional to pilot_i**(-1/2)."""

    @functools.cached_property
    def widths(self) -> Floats:
        """The b_i."""
        logs = np.log(parzen(self.values))
        beta = np.exp(-0.5 * (logs - logs.mean()))
        return np.asarray(self.width * beta)

    def densities(self, scale: int = 1) -> Floats:  # noqa: ARG002 - windows are what they are
        """Return f at each value."""
        return self.densities_at(self.values)

    def densities_at(self, points: Floats) -> Floats:
        """Return f at any points: weights 1/b_i of intervals begun less those that ended."""
        b = self.widths
        begun = _weight_before(self.values - b / 2, 1 / b, points, "right")
        ended = _weight_before(self.values + b / 2, 1 / b, points, "left")
        return np.asarray((begun - ended) / len(self.values))

    def ranked(self, scale: int = 1) -> tuple[Floats, Counts]:
        """Return F in order, and the rows of each density: one."""
        return np.sort(self.densities(scale)), self.rows


def distribution(values: Floats, bandwidth: Bandwidth) -> Distribution:
    """Return the distribution of ascending values, with windows of the chosen kind."""
    if bandwidth == "fixed":
        return ParzenDistribution.of(values)
    return AdaptiveDistribution(values, np.ones(len(values), dtype=np.int64), values, values)


def _weight_before(ends: Floats, weights: Floats, points: Floats, side: Any) -> Floats:
    order = np.argsort(ends, kind="stable")
    totals = np.concatenate(([0.0], np.cumsum(weights[order])))
    return np.asarray(totals[np.searchsorted(ends[order], points, side=side)])


# --- section 4: outlierness ---------------------------------------------------------------------


def omega(x: float) -> float:
    """Squash above - below into [0, 1): Omega(x) = (1 - e^-x) / (1 + e^-x), 0 below 0."""
    return math.tanh(x / 2) if x > 0 else 0.0


def outlierness(mean: float, f_o: float, by: Measure = "paper") -> float:
    """Return Omega(mean(F) - f_o), which has a unit, or 1 - f_o / mean(F), which has none.

    An object as dense as the mean scores 0: a tiny unit would blow rounding up to 1.
    """
    if by == "relative":
        return measure.outlierness(mean, f_o)
    return 0.0 if measure.is_ordinary(mean, f_o) else omega(mean - f_o)


@dataclasses.dataclass(frozen=True, slots=True)
class OmegaSummary(Summary):
    """A property in a context whose outlierness is the paper's."""

    def outlierness(self) -> float:
        """Return Omega of the difference of areas, per unit of the column."""
        return outlierness(self.mean * self.unit, self.at_object * self.unit)


def score(summary: Summary, conditions: int) -> float:
    """Return what pairs are ordered by, as far as it counts.

    Omega saturates at 1, so that the paper's order is that of above - below; it has a unit, and
    counts to nine digits.
    """
    if isinstance(summary, OmegaSummary):
        return float(f"{summary.excess():.8e}")
    return round(summary.strength(conditions), measure.DECIMALS)


# --- section 5.1: natural intervals -------------------------------------------------------------


def natural_intervals(
    values: Floats, found: Segments, value: float, least: float, options: PaperOptions
) -> list[Ends]:
    """Return the intervals around o[a], the finest first; of a single run, a window of ranks."""
    if len(found) == 1:
        return [] if options.scales == "one" else [_around(values, found, value, least)]
    own = int(np.searchsorted(found.lows, value, side="right")) - 1
    same = [own]  # alone, the run of values around o[a]
    if options.interval == "span":  # all of its component: the paper's literal reading
        same = np.flatnonzero(found.labels == found.labels[own]).tolist()
    finest = float(found.lows[same[0]]), float(found.highs[same[-1]])
    if options.scales == "one":
        return [finest]
    return list(dict.fromkeys([finest, *found.coarser[own][-(MOST_SCALES - 1) :]]))


def window_rows(least: float, rows: int) -> float:
    """Return how many rows a window of ranks holds: a fifth, or as many as a context must."""
    return max(least, WINDOW_SHARE * rows)


def _around(values: Floats, found: Segments, value: float, rows: float) -> Ends:
    """Return the window around o[a], in the direction that ties are decided in."""
    if found.is_backwards:
        low, high = _window(-values[::-1], -value, rows)
        return -high, -low
    return _window(values, value, rows)


def _window(values: Floats, value: float, rows: float) -> Ends:
    """Return the window of ranks whose middle is nearest to o[a], of some evenly spread ones."""
    size = min(len(values), math.ceil(rows - 1e-9))
    first, last = np.searchsorted(values, value), np.searchsorted(values, value, side="right") - 1
    starts = (len(values) - size) * np.arange(_WINDOWS) // (_WINDOWS - 1)
    start = starts[np.argmin(np.abs(first + last - (2 * starts + size - 1)))]
    return float(values[start]), float(values[start + size - 1])


# --- section 6: bins ----------------------------------------------------------------------------


def binned(column: Column, kind: Discretise | None, bins: int) -> Column:
    """Return a numeric column cut into bins that are named by their ends; others as they are."""
    if kind is None or not column.is_numeric:
        return column
    known = ~column.missing()
    values = column.values[known] + 0.0  # no negative zero
    ordered = np.sort(values)
    edges = inner_edges(ordered, kind, bins)
    used, firsts = np.unique(bin_numbers(ordered, edges), return_index=True)
    lasts = np.append(firsts[1:], len(ordered)) - 1
    codes: Codes = np.full(len(column), -1, dtype=np.int32)
    codes[known] = np.searchsorted(used, bin_numbers(values, edges))
    labels = _bin_labels(column.form, ordered[firsts], ordered[lasts])
    return CategoricalColumn(column.name, "text", frozen(codes), labels)


def inner_edges(ordered: Floats, kind: Discretise, bins: int) -> Floats:
    """Return the inner edges of bins: at even distances, or at the ranks N/bins, 2 N/bins, ..."""
    numbers = np.arange(1, bins)
    if kind == "equi-depth":
        return np.unique(ordered[-(-len(ordered) * numbers // bins) - 1])
    exponent = int(np.frexp(np.max(np.abs(ordered[[0, -1]])))[1])  # huge values do not overflow
    low, high = np.ldexp(ordered[[0, -1]], -exponent)
    return np.asarray(np.ldexp(low + (high - low) * numbers / bins, exponent))


def bin_numbers(values: Floats, edges: Floats) -> Codes:
    """Return the bin of each value: the first one that does not end before it."""
    return np.searchsorted(edges, values, side="left").astype(np.int32)


def _bin_labels(form: Form, lows: Floats, highs: Floats) -> tuple[str, ...]:
    """Return bins named by their ends; in full where short names would be the same."""
    bins = list(zip(lows.tolist(), highs.tolist(), strict=True))
    for shown in (lambda end: text_of(value_of(form, end)), repr):
        ends = [(shown(low), shown(high)) for low, high in bins]
        names = tuple(low if low == high else f"{low} to {high}" for low, high in ends)
        if len(set(names)) == len(names):
            break
    return names
