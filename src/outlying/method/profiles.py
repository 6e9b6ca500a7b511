"""A property in a context as descriptions and pictures need it.

A profile knows how rare values are and which are typical. A sketch is what a picture needs, in a
few hundred numbers: a finding carries those of its property, in the context and over the whole
table, and of the attributes of its conditions. So every picture, like every sentence, is a view of
the finding alone. Heights share one unknown unit per attribute: they are drawn, never read off.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

import numpy as np

from outlying.method import measure
from outlying.method.density import Counts, Floats, frequencies, mean_matches
from outlying.method.distribution import Distribution
from outlying.method.measure import SCALES, Summary, may_reach
from outlying.table.values import Form, Value, value_of

TYPICAL_SHARE = 0.9
_GAPS_IN_A_RANGE = 3
_SIDES: tuple[Literal["left"], Literal["right"]] = "left", "right"

_MICROSECONDS_PER_DAY = 86_400e6
_FORMS_IN_DAYS: tuple[Form, ...] = ("date", "datetime", "instant", "time", "duration")

Ranges: TypeAlias = tuple[tuple[Value, Value], ...]

#: Of these shares of the rows a sketch knows the value: enough to choose an axis.
SHARES = (0.0, 0.005, 0.05, 0.5, 0.95, 0.995, 1.0)
#: The most categories that a picture can show.
MOST_BARS = 8

_EVEN_POINTS, _RANKED_POINTS = 97, 65
_MOST_RANKS = 257
#: The most memory that a sketch of numbers takes.
MOST_SKETCH_BYTES = 8 * (_MOST_RANKS + 4 * (_EVEN_POINTS + _RANKED_POINTS))
_ENOUGH_ROWS = 4096  # more rows, evenly taken by value, change no picture
_LEAST_RATIO = 10.0  # values closer together look the same on a logarithmic axis
_MAY_BE_LOGARITHMIC: tuple[Form, ...] = ("number", "integer", "duration")


# --- profiles ------------------------------------------------------------------------------------


def unit_of(form: Form, exponent: int) -> float:
    """Return what turns densities of values divided by 2**exponent into those per unit."""
    per_unit = np.ldexp(1.0, min(-exponent, 1023))
    return float(per_unit * (_MICROSECONDS_PER_DAY if form in _FORMS_IN_DAYS else 1))


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
        self.least = float(ranked[place]) * (1 - measure.SAME_DENSITY)
        self.widest_gap = max(
            found.width, _GAPS_IN_A_RANGE * float(np.median(np.diff(found.values)))
        )
        self._sketches: dict[int, NumericSketch] = {}

    @property
    def nbytes(self) -> int:
        """How much memory it takes, with its sketch."""
        ranks, values = 3 * self._ranked(1)[0].nbytes, 4 * self.found.values.nbytes
        return ranks + values + MOST_SKETCH_BYTES

    def lift(self, overall: Profile) -> float:
        """Return how much tighter values are here than in the whole table; NaN: they are equal."""
        return self.found.lift(cast(NumericProfile, overall).found)

    def summary(self, place: Value, lift: float, needed: float) -> Summary:
        """Return how rare an object is at the scale at which it is rarest.

        Windows wider than the first count only where they can show the `needed` rarity.
        """
        found, value = self.found, self._scaled(place)
        near: list[float] = []
        for scale in SCALES:
            rows = max(1.0, found.near(value, scale * found.width / 2))
            if near and not may_reach(rows, self.known, needed):
                break
            near.append(rows)
        return Summary.at_rarest(
            [found.mean_neighbours(scale) for scale in SCALES[: len(near)]],
            near,
            known=self.known,
            width=found.width,
            unit=unit_of(self.form, self.exponent),
            lift=lift,
            reach=float(np.ldexp(found.width / 2, self.exponent)),
        )

    def tail(self, summary: Summary) -> float:
        """Return the share of rows at least as rare as an object, at the scale of its summary."""
        ranked, _, counted = self._ranked(summary.scale)
        limit = summary.at_object * (1 + measure.SAME_DENSITY)
        place = int(np.searchsorted(ranked, limit, side="right"))
        return int(counted[place - 1]) / self.known if place else 0.0

    def areas(self, summary: Summary) -> tuple[float, float]:
        """Return the areas above and below the cdf of the densities, at the scale of a summary."""
        ranked, rows, _ = self._ranked(summary.scale)
        return measure.areas(ranked, summary.at_object, rows)

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

    def neighbours(self, place: Value) -> tuple[Value, Value]:
        """Return the nearest other values below and above that of an object; None at an end."""
        found, value = self.found, self._scaled(place)
        first, last = (int(np.searchsorted(found.values, value, side)) for side in _SIDES)
        below = self._shown(float(found.values[first - 1])) if first else None
        above = self._shown(float(found.values[last])) if last < len(found.values) else None
        return below, above

    def beyond(self, place: Value) -> int | None:
        """Count the rows from the value of an object on, towards the end that is nearer by rows.

        None where values were counted in bins.
        """
        found, value = self.found, self._scaled(place)
        if not found.is_exact:
            return None
        first, last = (int(np.searchsorted(found.values, value, side)) for side in _SIDES)
        return int(min(found.before[last], found.known - found.before[first]))

    def typical(self, place: Value, at_object: float) -> Ranges:
        """Say where the 90% of highest density lie; ranges end where the object lies between."""
        point = self._scaled(place) if at_object < self.least else math.nan
        values, densities = self.found.values, self.found.densities()
        starts, stops = _ranges(values, densities, self.least, self.widest_gap, point)
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

    def lift(self, overall: Profile) -> float:
        """Return how much more often rows share a category than in the whole table.

        NaN where there is only one; `overall` counts the same categories among all rows.
        """
        everywhere = cast(CategoricalProfile, overall)
        if np.count_nonzero(self.counts) < 2:
            return math.nan
        inside = mean_matches(self.counts, self.counts) / self.known
        return measure.lift(inside, mean_matches(self.counts, everywhere.counts) / everywhere.known)

    def summary(self, place: Value, lift: float, needed: float) -> Summary:  # noqa: ARG002
        """Return how rare the category of an object is."""
        usual = mean_matches(self.counts, self.counts)
        near = max(1, int(self.counts[self.labels.index(place)]))
        return Summary.at_rarest([usual], [near], known=self.known, width=1.0, unit=1.0, lift=lift)

    def tail(self, summary: Summary) -> float:
        """Return the share of rows at least as rare as an object."""
        return measure.tail(frequencies(self.counts), summary.at_object, self.counts)

    def areas(self, summary: Summary) -> tuple[float, float]:
        """Return the areas above and below the cdf of the frequencies."""
        return measure.areas(frequencies(self.counts), summary.at_object, self.counts)

    def gap(self, place: Value) -> tuple[Value, Value] | None:  # noqa: ARG002
        """Return None: categories have no order."""
        return None

    def neighbours(self, place: Value) -> tuple[Value, Value]:  # noqa: ARG002
        """Return nothing: categories have no order."""
        return None, None

    def beyond(self, place: Value) -> int | None:  # noqa: ARG002
        """Return None: categories have no order."""
        return None

    def typical(self, place: Value, at_object: float) -> tuple[Value, ...]:  # noqa: ARG002
        """Name the most frequent categories that hold 90% of the rows."""
        order = np.argsort(-self.counts, kind="stable")
        shares = np.cumsum(self.counts[order]) / self.known
        codes = order[: int(np.searchsorted(shares, TYPICAL_SHARE - 1e-9)) + 1]
        return tuple(self.labels[code] for code in codes)


def _ranges(
    values: Floats, densities: Floats, least: float, widest: float, point: float
) -> tuple[Floats, Floats]:
    """Join ascending values that are dense enough to ranges: return where they begin and end.

    They end where the next value is too far off, and at a point between two values.
    """
    kept = values[densities >= least]
    is_between = (kept[:-1] < point) & (point <= kept[1:])
    ends = np.flatnonzero((np.diff(kept) > widest) | is_between)
    return kept[np.append(0, ends + 1)], kept[np.append(ends, len(kept) - 1)]


Profile: TypeAlias = NumericProfile | CategoricalProfile


# --- sketches ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A density along an axis, by some of its points."""

    points: Floats
    heights: Floats


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NumericSketch:
    """How the values of a group are spread.

    `logarithmic` is the density per factor, not per unit, where all values are positive and far
    enough apart. `ranked` are the densities of the rows as multiples of their mean, from the rarest
    row to the commonest, at even shares of the rows: the cdf G, turned on its side.
    """

    form: Form
    known: int
    quantiles: tuple[float, ...]  # at SHARES
    curve: Curve
    logarithmic: Curve | None
    ranked: Floats


@dataclasses.dataclass(frozen=True, slots=True)
class Bar:
    """A category and how many rows of a group have it."""

    label: Value
    count: int


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CategoricalSketch:
    """How often the categories of a group are; `ranked` as above, of frequencies."""

    known: int
    bars: tuple[Bar, ...]
    others: int  # categories without a bar that occur
    rest: int  # rows of these
    ranked: Floats


Sketch: TypeAlias = NumericSketch | CategoricalSketch


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RelationSketch:
    """Some rows beside what a relation expects of them; y are numbers of the column it tells of.

    `given` names the column along x; it is empty where x is what several columns predict, and None
    where there is no x, but the other rows of the same thing. `band` are places along x, with the
    least and the greatest y that is expected there; `own` is where the row is.
    """

    given: str | None
    x: Floats
    y: Floats
    band: tuple[Floats, Floats, Floats]
    own: tuple[float, float]
    sketches: tuple[NumericSketch, NumericSketch] | None = None  # of x and y, over the whole table
    is_series: bool = False  # rows of one thing in time, one after the other


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """Everything that the pictures of one pair show besides the pair itself.

    `place` is the object's value as a number of the column, or its category. Densities are
    multiples of mean(F): `densities` are f_o in the context and over the whole table, `areas` those
    above and below G in the context (paper, section 4); their difference is the relative
    outlierness.
    """

    place: float | Value
    inside: Sketch
    overall: Sketch
    densities: tuple[float, float]
    areas: tuple[float, ...]
    context: tuple[Sketch, ...]  # of each condition's attribute, over the whole table
    places: tuple[float | Value, ...]  # of the object in these
    relation: RelationSketch | CategoricalSketch | None = None  # of a property that is a relation


def numeric_sketch(
    found: Distribution,
    form: Form,
    exponent: int,
    ranked: tuple[Floats, Counts] | None = None,
) -> NumericSketch:
    """Sketch values that were divided by 2**exponent.

    `ranked` are the densities at them, sorted, with their rows, where these are known already.
    """
    low, high, reach = found.values[0], found.values[-1], found.width / 2
    points = _points(low - reach, high + reach, found)
    return NumericSketch(
        form=form,
        known=found.known,
        quantiles=tuple(np.ldexp(_at_shares(found), exponent).tolist()),
        curve=Curve(_unscaled(points, exponent), found.densities_at(points)),
        logarithmic=_logarithmic(found, form, exponent),
        ranked=_at_even_shares(*(ranked or _ranked(found))),
    )


def ranked_as(sketch: NumericSketch, densities: Floats, rows: Counts) -> NumericSketch:
    """Return the sketch of a group with its rows ranked by other densities."""
    return dataclasses.replace(sketch, ranked=_at_even_shares(densities, rows))


def _ranked(found: Distribution) -> tuple[Floats, Counts]:
    """Return the densities of some rows, sorted, one row each."""
    densities = np.sort(found.densities_at(_thinned(found)))
    return densities, np.ones(len(densities), dtype=np.int64)


def _at_even_shares(densities: Floats, rows: Counts) -> Floats:
    """Return densities at even shares of the rows, as multiples of their mean.

    Those of tiny values are huge; scaled by a power of 2, their sum is no infinity.
    """
    densities = np.ldexp(densities, -int(np.frexp(densities.max())[1]))
    counted = np.cumsum(rows)
    total = int(counted[-1])
    places = np.linspace(0, total - 1, min(total, _MOST_RANKS)).round().astype(np.int64)
    chosen = densities[np.searchsorted(counted, places, side="right")]
    return np.asarray(chosen / (np.add.reduce(densities * rows) / float(np.add.reduce(rows))))


def _thinned(found: Distribution) -> Floats:
    """Return the values of many rows, evenly by rank, the first and the last included."""
    number = min(found.known, _ENOUGH_ROWS)
    return found.at_ranks(np.linspace(0, found.known - 1, number).astype(np.int64))


def _at_shares(found: Distribution) -> Floats:
    return found.at_ranks(np.round(np.multiply(SHARES, found.known - 1)).astype(np.int64))


def _points(low: float, high: float, found: Distribution) -> Floats:
    """Choose where to know a density: evenly along the axis, and where the values are."""
    number = min(found.known, _RANKED_POINTS)
    at_ranks = found.at_ranks(np.linspace(0, found.known - 1, number).astype(np.int64))
    return np.unique(np.concatenate((np.linspace(low, high, _EVEN_POINTS), at_ranks)))


def _logarithmic(found: Distribution, form: Form, exponent: int) -> Curve | None:
    low, high = found.values[[0, -1]]
    if form not in _MAY_BE_LOGARITHMIC or low <= 0 or high < _LEAST_RATIO * low:
        return None
    logs = Distribution.of(np.log2(_thinned(found)))
    reach = logs.width / 2
    points = _points(logs.values[0] - reach, logs.values[-1] + reach, logs)
    return Curve(_unscaled(np.exp2(points), exponent), logs.densities_at(points))


def _unscaled(points: Floats, exponent: int) -> Floats:
    """Return points in the unit of the column; a window may end beyond the largest number."""
    with np.errstate(over="ignore"):
        largest = np.finfo(np.float64).max
        return np.clip(np.ldexp(points, exponent), -largest, largest)


def shown_categories(counts: Counts, own: int) -> list[int]:
    """Choose the categories to show: the most frequent ones, and always the object's."""
    order = np.argsort(-counts, kind="stable")
    shown = [int(code) for code in order[:MOST_BARS] if counts[code]]
    if own not in shown:
        shown[MOST_BARS - 1 :] = [own]
    return shown


def categorical_sketch(
    counts: Counts, labels: Sequence[Value], shown: Sequence[int]
) -> CategoricalSketch:
    """Sketch the categories of a group by their counts."""
    known = int(counts.sum())
    bars = tuple(Bar(labels[code], int(counts[code])) for code in shown)
    others = np.count_nonzero(counts) - sum(bar.count > 0 for bar in bars)
    ordered = np.sort(counts)
    places = np.linspace(0, known - 1, min(known, _MOST_RANKS)).round()
    at_places = ordered[np.searchsorted(np.cumsum(ordered), places, side="right")]
    return CategoricalSketch(
        known=known,
        bars=bars,
        others=int(others),
        rest=known - sum(bar.count for bar in bars),
        ranked=at_places * (known / np.add.reduce(np.square(ordered, dtype=np.float64))),
    )
