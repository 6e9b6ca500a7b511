"""What other columns say a number should be: robust additive fits, chosen out of sample (6b).

A relation predicts a number by one to three others: along lines, lines bent at knots, or by
category, in plain or logarithmic space, where products are sums. Predictors are chosen greedily by
what half of the rows says of the other half. All works on a sample of rows, in a given order.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Collection, Sequence
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from outlying.method.density import Floats
from outlying.method.distances import (
    DUST,
    EXPECTED,
    MOST_EXCEPTIONS,
    Distances,
    least_usual,
    share_of_exceptions,
    unit_of,
)

Codes: TypeAlias = npt.NDArray[np.int32]
Values: TypeAlias = Floats | Codes
Places: TypeAlias = tuple[int, ...]

#: Predictors of a relation.
MOST_PREDICTORS = 3
#: Relations of a column, with different predictors each.
MOST_RELATIONS = 2
#: The explained share from which on a relation is kept.
LEAST_EXPLAINED = 0.6
#: What a first look may underestimate it by.
DOUBT = 0.15
#: What each predictor must explain of what is left.
LEAST_GAIN = 0.15
#: Fewer rows, or fewer distinct values of what is predicted, tell nothing.
LEAST_ROWS, LEAST_DISTINCT = 60, 8
#: Bins of a number while predictors are chosen; knots of a bent line then, and when it is fitted.
BINS, FEW_KNOTS, KNOTS = 12, 4, 6
#: Knots must leave so much less unexplained.
MUCH_LESS = 0.8
#: Logarithms must save so many nats a value: where both spaces do as well, units must not decide.
NATS_SAVED = 0.02
#: Bisquare weights: where they end, in robust standard deviations.
BISQUARE, MAD = 4.685, 1.4826
ROUNDS = 6
#: Logarithms are taken of columns of which so many are positive, and that vary by this factor.
POSITIVE, VARIES = 0.98, 1.5
#: Values are clipped so many ranges between quartiles around the median while fits begin.
CLIPPED = 5.0
#: Residuals are clipped here, in usual distances.
FARTHEST = 1e9


def is_known(values: Values) -> npt.NDArray[np.bool_]:
    """Return which rows have a number, or a category."""
    return ~np.isnan(values) if values.dtype.kind == "f" else np.asarray(values >= 0)


def spread(values: Floats) -> float:
    """Return the mean distance from the median without the outermost 2.5%: robust, and rarely 0."""
    if len(values) < LEAST_DISTINCT:
        return 0.0
    away, inner = np.abs(values - np.median(values)), max(1, int(0.975 * len(values)))
    return float(np.partition(away, inner - 1)[:inner].mean())


def clipped(values: Floats) -> Floats:
    """Return values without what is far outside; NaN stays."""
    known = values[~np.isnan(values)]
    q01, q25, q50, q75, q99 = np.quantile(known, (0.01, 0.25, 0.5, 0.75, 0.99))
    width = max(q75 - q25, (q99 - q01) / 6)
    return np.clip(values, q50 - CLIPPED * width, q50 + CLIPPED * width) if width > 0 else values


def least_logarithm(values: Floats) -> float | None:
    """Return what stands for values that are not positive; None where there is no logarithm."""
    known = values[~np.isnan(values)]
    positive = known[known > 0]
    if len(positive) == 0 or len(positive) < POSITIVE * len(known):
        return None
    low, high = np.quantile(positive, (0.01, 0.99))
    return float(positive.min()) / 10 if high >= VARIES * low else None


def logarithm(values: Floats, least: float | None) -> Floats:
    """Return logarithms; the values themselves where `least` is None."""
    return values if least is None else np.log(np.maximum(values, least))


@dataclasses.dataclass(frozen=True, eq=False)
class Variable:
    """A column on the sample: numbers, NaN where missing, or codes of categories, -1 for others."""

    values: Values
    is_quantity: bool = True  # whether logarithms and ratios make sense, unlike those of dates

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.values.dtype.kind == "f"

    @property
    def numbers(self) -> Floats:
        """The values of a numeric variable."""
        return cast(Floats, self.values)

    @functools.cached_property
    def known(self) -> npt.NDArray[np.bool_]:
        """The rows that have a value."""
        return is_known(self.values)

    @functools.cached_property
    def least(self) -> float | None:
        """What the logarithm of smaller values is taken of; None where there is none."""
        usable = self.is_numeric and self.is_quantity and self.known.any()
        return least_logarithm(self.numbers) if usable else None

    @functools.cached_property
    def unit(self) -> float:
        """What its numbers are rounded to; 0 where they are not."""
        return unit_of(self.numbers[self.known]) if self.is_numeric and self.is_quantity else 0.0

    @functools.cached_property
    def can_be_predicted(self) -> bool:
        """Whether it is worth the while to predict it."""
        if not self.is_numeric or np.count_nonzero(self.known) < LEAST_ROWS:
            return False
        return len(np.unique(self.values[self.known])) >= LEAST_DISTINCT

    @functools.cached_property
    def bins(self) -> Codes | None:
        """The bin of each row, 0 where it is missing; None where there are too few."""
        if not self.is_numeric:
            return np.asarray(self.values + 1, dtype=np.int32)
        known = self.values[self.known]
        if len(known) < LEAST_ROWS / 2:
            return None
        cuts = np.unique(np.quantile(known, np.linspace(0, 1, BINS + 1)[1:-1]))
        found = np.searchsorted(cuts, self.values, side="right") + 1
        return np.where(self.known, found, 0).astype(np.int32)

    def scaled(self, *, is_log: bool) -> Floats | None:
        """Return numbers without far ones, of mean 0 and deviation 1, 0 where missing."""
        if not self.is_numeric or not self.known.any():
            return None
        own = clipped(logarithm(self.numbers, self.least if is_log else None))
        deviation = float(np.nanstd(own))
        if deviation <= 0 or not math.isfinite(deviation):
            return None
        return np.where(self.known, (own - np.nanmean(own)) / deviation, 0.0)


@dataclasses.dataclass(frozen=True, eq=False)
class Term:
    """How a predictor enters a fit: a line, bent at knots, or a step for each category."""

    least: float | None = None
    middle: float = 0.0
    width: float = 1.0
    knots: Floats = dataclasses.field(default_factory=lambda: np.zeros(0))
    categories: int = 0  # 0 stands for numbers
    unit: float = 0.0  # that numbers are rounded to; 0: they are not
    spreads: Floats | None = None  # of categories: how many usual distances are usual there

    @classmethod
    def of(cls, variable: Variable, count: int, *, is_log: bool) -> Term:
        """Lay knots at quantiles of a number; give each category a step."""
        if not variable.is_numeric:
            return cls(categories=int(variable.values.max()) + 1)
        least = variable.least if is_log else None
        known = logarithm(variable.numbers[variable.known], least)
        low, middle, high = np.quantile(known, (0.02, 0.5, 0.98))
        width = float(high - low) or 1.0
        knots = np.unique(np.quantile(known, np.linspace(0, 1, count + 2)[1:-1]))
        inner = knots[(knots > low) & (knots < high)] if count else knots[:0]
        return cls(least, float(middle), width, (inner - middle) / width, unit=variable.unit)

    def design(self, values: Values) -> Floats:
        """Return the columns of the design matrix; 0 where a value is missing."""
        if self.categories:
            return np.asarray(values[:, None] == np.arange(self.categories), dtype=np.float64)
        own = self._scaled(values)
        bent = (np.maximum(0.0, own - knot) for knot in self.knots)
        return np.asarray(np.column_stack([own, *bent]), dtype=np.float64)

    def share(self, values: Values, weights: Floats) -> Floats:
        """Return what its columns of the design matrix add up to, given their weights.

        Row by row, so that the same row gives the same bits in every batch.
        """
        if self.categories:
            is_known = (values >= 0) & (values < self.categories)
            places = np.where(is_known, values, 0).astype(int)
            return np.asarray(np.where(is_known, weights[places], 0.0))
        own = self._scaled(values)
        found: Floats = own * weights[0]
        for knot, weight in zip(self.knots, weights[1:], strict=True):
            found += np.maximum(0.0, own - knot) * weight
        return found

    def _scaled(self, values: Values) -> Floats:
        own = (logarithm(cast(Floats, values), self.least) - self.middle) / self.width
        return np.asarray(np.clip(np.where(np.isnan(own), 0.0, own), -1e6, 1e6))

    def with_spreads(self, values: Values, away: Floats) -> Term:
        """Learn from distances from what is expected, in usual ones, where rows are farther off."""
        if not self.categories:
            return self
        kinds = [away[values == kind] for kind in range(self.categories)]
        return dataclasses.replace(self, spreads=np.array([least_usual(own) for own in kinds]))

    def usual(self, values: Values) -> Floats:
        """Return how many usual distances are usual for each row."""
        if self.spreads is None:
            return np.ones(len(values))
        return np.append(self.spreads, 1.0)[np.where(values < self.categories, values, -1)]

    @property
    def columns(self) -> int:
        """How many columns of the design matrix are its own."""
        return self.categories or 1 + len(self.knots)

    def rounding(self, values: Values, weights: Floats) -> Floats:
        """Return how far rounding of the predictor may move what is expected."""
        if self.categories or not self.unit:
            return np.zeros(len(values))
        own, half = cast(Floats, values), self.unit / 2
        low, high = (self.share(own + side, weights) for side in (-half, half))
        return np.asarray(np.abs(high - low) / 2)


def _design(terms: Sequence[Term], inputs: Sequence[Values]) -> Floats:
    parts = [term.design(values) for term, values in zip(terms, inputs, strict=True)]
    return np.concatenate([np.ones((len(inputs[0]), 1)), *parts], axis=1)


@dataclasses.dataclass(frozen=True, eq=False)
class Fit:
    """A robust additive fit, ready to say what is expected of any rows."""

    terms: tuple[Term, ...]
    weights: Floats
    least: float | None  # of the logarithm of what is predicted; None in plain space
    centre: float
    scale: float
    distances: Distances  # on the scale of the fit
    explained: float
    exceptions: float  # the share of rows that are far from what is expected
    code_length: float  # nats that a value takes, given what is expected
    unit: float = 0.0  # that what is predicted is rounded to; 0: it is not

    @property
    def counts(self) -> bool:
        """Whether it explains enough, with rare exceptions."""
        return self.explained >= LEAST_EXPLAINED and self.exceptions <= MOST_EXCEPTIONS

    def _expected(self, inputs: Sequence[Values]) -> tuple[Floats, Floats]:
        expected, start = np.full(len(inputs[0]), self.weights[0]), 1
        for term, values in zip(self.terms, inputs, strict=True):
            expected += term.share(values, self.weights[start : start + term.columns])
            start += term.columns
        usual = self.distances.usual(expected) * _usual_by_category(self.terms, inputs)
        return expected, np.maximum(usual, self._rounding(expected, inputs) / EXPECTED)

    def _rounding(self, expected: Floats, inputs: Sequence[Values]) -> Floats:
        """Return how far apart both may be by the rounding of all numbers alone."""
        size = np.full(len(expected), self.unit / 2 / self.scale)
        if self.least is not None:
            size /= np.exp(np.clip(expected * self.scale + self.centre, -700, 700))
        start = 1
        for term, values in zip(self.terms, inputs, strict=True):
            size = size + term.rounding(values, self.weights[start : start + term.columns])
            start += term.columns
        return size

    def residuals(self, values: Floats, inputs: Sequence[Values]) -> Floats:
        """Return how far values are from what is expected, in usual distances; NaN: not known."""
        expected, usual = self._expected(inputs)
        away = (logarithm(values, self.least) - self.centre) / self.scale - expected
        known = np.logical_and.reduce([is_known(own) for own in inputs])
        away = np.where(known, away, np.nan)
        found = np.where(np.abs(away) <= DUST, 0.0 * away, away / usual)
        return np.clip(found, -FARTHEST, FARTHEST)

    def expected(self, inputs: Sequence[Values]) -> tuple[Floats, Floats]:
        """Return the least and the greatest number that is expected of each row."""
        middle, usual = self._expected(inputs)
        ends = [(middle + sign * EXPECTED * usual) * self.scale + self.centre for sign in (-1, 1)]
        if self.least is not None:
            ends = [np.exp(np.clip(end, -700, 700)) for end in ends]
        return ends[0], ends[1]


def fit(target: Variable, given: Sequence[Variable], *, is_log: bool) -> Fit | None:
    """Fit a number by others; with knots only where these leave much less unexplained."""
    rows = np.logical_and.reduce([target.known, *(item.known for item in given)])
    least = target.least if is_log else None
    values = logarithm(target.numbers[rows], least)
    if len(values) < LEAST_ROWS:
        return None
    # What has no logarithm stands for the least one: it does not tell how well either space does.
    counts = target.numbers[rows] > 0
    if target.least is None or not counts.any():
        counts = np.ones(len(values), dtype=np.bool_)
    best: Fit | None = None
    for knots in (KNOTS, 0):
        terms = tuple(Term.of(item, knots, is_log=is_log) for item in given)
        found = _fitted(terms, [item.values[rows] for item in given], values, least, counts)
        if found is None:
            continue
        found = dataclasses.replace(found, unit=target.unit)
        if best is None or 1 - found.explained < (1 - best.explained) / MUCH_LESS:
            best = found
    return best


def _fitted(
    terms: tuple[Term, ...],
    inputs: Sequence[Values],
    values: Floats,
    least: float | None,
    counts: npt.NDArray[np.bool_],
) -> Fit | None:
    """Fit by iteratively reweighted least squares with bisquare weights."""
    design = _design(terms, inputs)
    if design.shape[1] > len(values) / 8:
        return None
    centre, scale = float(np.median(values)), spread(values)
    if scale <= 0:
        return None
    wanted = (values - centre) / scale
    ridge = 1e-6 * len(values) * np.eye(design.shape[1])
    ridge[0, 0] = 0.0
    weights, own = np.ones(len(values)), clipped(wanted)
    for _ in range(ROUNDS):
        weighted = design * weights[:, None]
        gram = weighted.T @ design + ridge
        beta: Floats = np.asarray(np.linalg.solve(gram, weighted.T @ own), dtype=np.float64)
        away = wanted - design @ beta
        robust = max(MAD * float(np.median(np.abs(away))), 1e-9)
        before, own = weights, wanted
        weights = np.maximum(1e-6, (1 - np.minimum(1.0, (away / (BISQUARE * robust)) ** 2)) ** 2)
    leverage = before * ((design @ np.linalg.inv(gram)) * design).sum(axis=1)
    left_out = away / (1 - np.minimum(0.9, leverage))
    explained = 1 - (spread(left_out) / spread(wanted)) ** 2
    expected = design @ beta
    distances = Distances.of(expected, np.abs(left_out))
    off = np.abs(left_out) / distances.usual(expected)
    exceptions = share_of_exceptions(off, *_codes(inputs))
    terms = tuple(term.with_spreads(own, off) for term, own in zip(terms, inputs, strict=True))
    usual = distances.usual(expected) * _usual_by_category(terms, inputs)
    nats = np.log(usual * scale) + np.log1p((left_out / usual) ** 2)
    nats += 0.0 if least is None else values  # distances between logarithms are shares of a value
    length = float(nats[counts].mean())
    return Fit(terms, beta, least, centre, scale, distances, explained, exceptions, length)


def _usual_by_category(terms: Sequence[Term], inputs: Sequence[Values]) -> Floats:
    """Return how many usual distances are usual for each row, by the categories that predict."""
    found = [term.usual(values) for term, values in zip(terms, inputs, strict=True)]
    return np.asarray(np.maximum.reduce(found), dtype=np.float64)


def _codes(inputs: Sequence[Values]) -> list[Codes]:
    return [np.asarray(own, dtype=np.int32) for own in inputs if own.dtype.kind != "f"]


class Screen:
    """Chooses predictors: by what half of the sample says of the other half."""

    def __init__(self, variables: Sequence[Variable], *, is_log: bool) -> None:
        self.variables, self.is_log = variables, is_log
        self.lines = [item.scaled(is_log=is_log) for item in variables]
        self.halves = [_halves(item.bins) for item in variables]

    def choose(
        self, targets: Sequence[int], banned: Collection[tuple[int, int]]
    ) -> dict[int, Places]:
        """Return the predictors of each target that has some, and may explain enough."""
        wanted = {}
        for target in targets:
            own = self.lines[target]
            if own is not None and not (self.is_log and self.variables[target].least is None):
                wanted[target] = own
        chosen: dict[int, Places] = dict.fromkeys(wanted, ())
        left = dict(wanted)
        active = list(wanted)
        for _ in range(MOST_PREDICTORS):
            if not active:
                break
            errors = self._errors(np.column_stack([left[item] for item in active]))
            going = []
            for place, target in enumerate(active):
                taken = {target, *chosen[target]}
                taken |= {other for own, other in banned if own == target}
                errors[sorted(taken), place] = np.inf
                best, now = int(np.argmin(errors[:, place])), float(left[target] @ left[target])
                if errors[best, place] > (1 - LEAST_GAIN) * now:
                    continue
                chosen[target] = (*chosen[target], best)
                left[target] = self._left(wanted[target], target, chosen[target])
                if left[target] @ left[target] > 1e-6 * (wanted[target] @ wanted[target]):
                    going.append(target)
            active = going
        least = 1 - (LEAST_EXPLAINED - DOUBT)
        return {
            target: places
            for target, places in chosen.items()
            if places and left[target] @ left[target] <= least * (wanted[target] @ wanted[target])
        }

    def _errors(self, left: Floats) -> Floats:
        """Return the squared errors of each predictor for each target: as a line, or by bins."""
        errors = np.full((len(self.variables), left.shape[1]), np.inf)
        total = (left**2).sum(axis=0)
        for place, (line, halves) in enumerate(zip(self.lines, self.halves, strict=True)):
            if halves is not None:
                sums = [own.sums(left[half::2]) for half, own in enumerate(halves)]
                rows = [own.rows[:, None] for own in halves]
                errors[place] = total
                for own, other in ((0, 1), (1, 0)):
                    said = sums[other] / (rows[other] + 1)
                    errors[place] += (rows[own] * said**2 - 2 * said * sums[own]).sum(axis=0)
            if line is not None:
                products = [line[half::2] @ left[half::2] for half in (0, 1)]
                squares = [max(1e-9, float(line[half::2] @ line[half::2])) for half in (0, 1)]
                found = total.copy()
                for own, other in ((0, 1), (1, 0)):
                    slope = products[other] / squares[other]
                    found += slope**2 * squares[own] - 2 * slope * products[own]
                errors[place] = np.minimum(errors[place], found)
        return errors

    def _left(self, wanted: Floats, target: int, places: Places) -> Floats:
        """Return what a joint fit of several predictors leaves of a target."""
        given = [self.variables[place] for place in places]
        terms = [Term.of(item, FEW_KNOTS, is_log=self.is_log) for item in given]
        design = _design(terms, [item.values for item in given])
        gram = design.T @ design + 1e-3 * np.eye(design.shape[1])
        left = wanted - design @ np.linalg.solve(gram, design.T @ wanted)
        return np.where(self.variables[target].known, left, 0.0)


class _Bins:
    """Rows by their bins, -1 being none: threads would only wait to multiply matrices so small."""

    def __init__(self, bins: Codes, count: int) -> None:
        order = np.argsort(bins, kind="stable")
        self.order = order[np.searchsorted(bins[order], 0) :]
        self.rows = np.bincount(bins[self.order], minlength=count)

    def sums(self, columns: Floats) -> Floats:
        """Return the sum of each column in each bin."""
        found, held = np.zeros((len(self.rows), columns.shape[1])), self.rows > 0
        starts = (self.rows.cumsum() - self.rows)[held]
        if len(starts):
            found[held] = np.add.reduceat(columns[self.order], starts)
        return found


def _halves(bins: Codes | None) -> list[_Bins] | None:
    """Return the bins of every other row; None where there is but one."""
    if bins is None or bins.max(initial=0) < 1:
        return None
    return [_Bins(bins[half::2], int(bins.max()) + 1) for half in (0, 1)]


@dataclasses.dataclass(frozen=True, eq=False)
class Related:
    """A number, what predicts it, and how."""

    target: int
    given: Places
    fit: Fit


def find(variables: Sequence[Variable]) -> list[Related]:
    """Return the relations between columns of a sample: at most two of each."""
    screens = [Screen(variables, is_log=is_log) for is_log in (False, True)]
    targets = [place for place, item in enumerate(variables) if item.can_be_predicted]
    banned: set[tuple[int, int]] = set()
    found: list[Related] = []
    for _ in range(MOST_RELATIONS):
        choices = [(screen, screen.choose(targets, banned)) for screen in screens]
        best: dict[int, Related] = {}
        for screen, chosen in choices:
            for target, places in chosen.items():
                given = [variables[place] for place in places]
                own = fit(variables[target], given, is_log=screen.is_log)
                if own is not None and own.counts:
                    known = best.get(target)
                    if known is None or own.code_length < known.fit.code_length - NATS_SAVED:
                        best[target] = Related(target, places, own)
        found += best.values()
        banned |= {(item.target, place) for item in best.values() for place in item.given}
        targets = list(best)
    return found
