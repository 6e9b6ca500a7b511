"""The conditions of a table: a small whole number for each cell, and ranges of these (method 5c).

A condition is a range of codes of one attribute: a natural interval at several scales, a window of
ranks where there is no structure, a category, one of few numbers, or that the value is missing.
They belong to the table, not to a row, so that what is found in a context serves every row in it.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from outlying.derived.calendar import CalendarDerivation
from outlying.kernel.tally import Listing, Small
from outlying.method.density import Counts
from outlying.method.distribution import Distribution
from outlying.method.intervals import MOST_SCALES, WINDOW_SHARE, Segments, segments
from outlying.method.profiles import CategoricalProfile, NumericProfile, unit_of
from outlying.table.columns import Column, Derivation, Floats, Mask, NumericColumn, Rows, frozen
from outlying.table.table import Part
from outlying.table.values import Value

Made = TypeVar("Made")


class LazyValues:
    """Values by name, each made once, when it is first asked for; copies begin without any."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._lock = threading.RLock()

    def __call__(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """Return a value by its name, or make it."""
        if name not in self._values:
            with self._lock:
                if name not in self._values:
                    self._values[name] = make()
        return cast(Made, self._values[name])

    def __reduce__(self) -> tuple[type[LazyValues], tuple[()]]:
        return LazyValues, ()


_SAFE_EXPONENT = 900  # beyond, a product might lose digits
_VANISHING = 1020  # what is smaller than the largest value by more powers of two loses its digits
_MOST = 1e100  # a new value, however far off: products of it stay finite


def exponent_of(largest: float) -> int:
    """Return the power of two by which to divide values, the largest of them given."""
    return int(np.frexp(largest)[1])


def _largest(values: Floats) -> float:
    """Return the largest number without its sign; 0 where there is none."""
    return max(
        float(np.fmax.reduce(values, initial=0.0)), -float(np.fmin.reduce(values, initial=0.0))
    )


class BaseAttribute:
    """What both kinds of attribute have in common."""

    column: Column

    def __init__(self, column: Column, rows: Rows | None) -> None:
        self.column, self._rows = column, rows
        self._once = LazyValues()

    @property
    def missingness(self) -> CategoricalAttribute:
        """The question whether this attribute is missing."""
        return self._once("missingness", self._missingness)

    def _missingness(self) -> CategoricalAttribute:
        codes = self.column.missing().astype(np.int32)  # 0 for known, 1 for missing
        names = "known", "missing"
        return CategoricalAttribute(self.column, codes, names, self._rows, kind="gaps")


class CategoricalAttribute(BaseAttribute):
    """A categorical column, or the question whether a column is missing, as codes."""

    kind: Literal["labels", "gaps"]
    exponent = 0

    def __init__(
        self,
        column: Column,
        codes: npt.NDArray[np.int32],
        categories: Sequence[Value],
        rows: Rows | None = None,
        *,
        kind: Literal["labels", "gaps"] = "labels",
    ) -> None:
        """Take the code of each row, -1 where missing, and what the codes stand for."""
        super().__init__(column, rows)
        self.codes, self.categories, self.kind = codes, categories, kind

    @property
    def whole(self) -> CategoricalAttribute:
        """The same column with all its rows."""
        if self._rows is None:
            return self
        given = self.column, self.codes, self.categories
        return self._once("whole", lambda: CategoricalAttribute(*given, kind=self.kind))

    @property
    def is_constant(self) -> bool:
        """Whether there is only one category."""
        return len(self.categories) == 1

    def number_of(self, other: Column, row: int) -> npt.NDArray[np.int32]:
        """Return the code of a row of another table; one more than all of a category not known."""
        value, known = other.value(row), len(self.categories)
        code = self.categories.index(value) if value in self.categories else known
        return np.array([-1 if value is None else code], dtype=np.int32)

    def place(self, row: int) -> Value:
        """Return the category of a row."""
        return self.categories[int(self.codes[row])]

    def counts(self, mask: Mask) -> Counts:
        """Count the known rows of a context by category."""
        codes = self.codes[mask]
        return np.bincount(codes[codes >= 0], minlength=len(self.categories))

    def profile(self, mask: Mask) -> CategoricalProfile:
        """Describe the categories in a context."""
        return CategoricalProfile(self.counts(mask), self.categories)


class NumericAttribute(BaseAttribute):
    """A numeric column, sorted and scaled; of a large table, only the rows that were drawn."""

    column: NumericColumn
    kind: ClassVar[Literal["numbers"]] = "numbers"

    def __init__(self, column: NumericColumn, rows: Rows | None = None) -> None:
        super().__init__(column, rows)
        values = column.values if rows is None else column.values[rows]
        self.exponent = max(
            exponent_of(_largest(values)), exponent_of(_largest(column.values)) - _SAFE_EXPONENT
        )
        held = self._without_vanishing(column.values)
        if held is not column.values:
            self.column = dataclasses.replace(column, values=frozen(held))
        self.unit = unit_of(column.form, self.exponent)

    def _without_vanishing(self, values: Floats) -> Floats:
        """Return numbers of the column with 0 for what vanishes beside the largest of them.

        Or densities would overflow, and a row would not lie in the interval of its scaled value.
        """
        least = np.ldexp(1.0, self.exponent - _VANISHING)
        vanishes = (np.abs(values) < least) & (values != 0.0)
        return np.where(vanishes, 0.0, values) if vanishes.any() else values

    @property
    def sorted(self) -> Floats:
        """The known values on the scale of this attribute, ascending."""
        return self._once("sorted", self._sorted)

    def _sorted(self) -> Floats:
        values = self.column.values if self._rows is None else self.column.values[self._rows]
        ordered = np.sort(values) + 0.0  # what is missing comes last; there is one zero
        ordered = ordered[: len(ordered) - np.count_nonzero(np.isnan(ordered))]
        return self._rescaled(ordered)

    @property
    def factor(self) -> float | None:
        """What brings values to the scale of this attribute; None where a product might not."""
        return 2.0**-self.exponent if abs(self.exponent) < _SAFE_EXPONENT else None

    @property
    def whole(self) -> NumericAttribute:
        """The same column with all its rows."""
        if self._rows is None:
            return self
        return self._once("whole", lambda: NumericAttribute(self.column))

    @property
    def is_constant(self) -> bool:
        """Whether all known values are equal."""
        return len(self.sorted) == 0 or bool(self.sorted[0] == self.sorted[-1])

    @property
    def order(self) -> Rows:
        """The rows that have a value, by value."""
        return self._once("order", self._order)

    def _order(self) -> Rows:
        known = np.flatnonzero(~self.column.missing())
        return np.asarray(known[np.argsort(self.column.values[known])])

    def _rescaled(self, values: Floats) -> Floats:
        """Divide values by the power of two of this attribute, exactly."""
        if self.factor is not None:
            return values * self.factor
        return np.ldexp(values, -self.exponent)

    def rescaled(self, rows: Rows | None = None) -> Floats:
        """Return the values of all or some rows on the scale of this attribute; one zero."""
        values = self.column.values if rows is None else self.column.values[rows]
        return self._rescaled(values) + 0.0

    def place(self, row: int) -> float:
        """Return the value of a row as a number of the column."""
        return float(self.column.values[row])

    def scaled(self, row: int) -> float:
        """Return the value of a row on the scale of this attribute."""
        return math.ldexp(self.column.values[row], -self.exponent)

    def unscaled(self, number: float) -> float:
        """Return a number of this scale in the column's own unit, exactly."""
        return float(np.ldexp(number, self.exponent))

    def number_of(self, other: Column, row: int) -> Floats:
        """Return the value of a row of another table on the scale of this attribute."""
        own = self._rescaled(np.array([cast(NumericColumn, other).values[row]]))
        return np.clip(own, -_MOST, _MOST) + 0.0

    def profile(self, mask: Mask) -> NumericProfile | None:
        """Describe the values in a context; None where all are equal."""
        values = self.sorted[mask[self.order]]
        if len(values) == 0 or values[0] == values[-1]:
            return None
        return NumericProfile(Distribution.of(values), self.column.form, self.exponent)


Attribute: TypeAlias = NumericAttribute | CategoricalAttribute


def attribute_of(column: Column, rows: Rows | None = None) -> Attribute:
    """Prepare a column of either kind, by all its rows or by some."""
    if column.is_numeric:
        return NumericAttribute(column, rows)
    return CategoricalAttribute(column, column.codes, column.labels, rows)


#: A number with no more distinct values is compared value by value.
FEW_VALUES = 12
#: The codes that a window over an attribute without structure is wide.
WINDOW_CODES = 2
#: In tables of more attributes such windows do not overlap: pairs of conditions are too many.
WIDE = 50
#: So many categories of an attribute are conditions, the most frequent ones.
MOST_CATEGORIES = 1024
#: A condition that nearly all rows satisfy says nothing.
NEARLY_ALL = 0.97
#: The code of a missing value, and of a category that is no condition.
MISSING, OTHER = 0, 1

Codes: TypeAlias = npt.NDArray[np.uint16]
Numbers: TypeAlias = npt.NDArray[Any]  # numbers of an attribute's scale, or codes of categories
Ranges: TypeAlias = set[tuple[int, int]]


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """A range of codes of an attribute: what a condition is made of."""

    attribute: int
    low: int
    high: int


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NumberCoder:
    """Codes numbers by the borders between them."""

    borders: Floats

    @property
    def count(self) -> int:
        """How many codes there are."""
        return len(self.borders) + OTHER + 1

    def __call__(self, numbers: Numbers) -> Codes:
        """Return the code of each number."""
        codes = np.searchsorted(self.borders, numbers, "left") + OTHER
        codes[np.isnan(numbers)] = MISSING
        return codes.astype(np.uint16)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CategoryCoder:
    """Codes categories: those that are conditions have codes of their own."""

    places: npt.NDArray[np.int64]  # by category; then for one that is new, and for none

    @property
    def count(self) -> int:
        """How many codes there are."""
        return int(self.places.max()) + 1

    def __call__(self, numbers: Numbers) -> Codes:
        """Return the code of each category."""
        return self.places[np.minimum(numbers, len(self.places) - 2)].astype(np.uint16)


Coder: TypeAlias = NumberCoder | CategoryCoder


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """How the cells of a table are coded, and the conditions on them."""

    coders: tuple[Coder, ...]  # of each attribute
    families: Small  # of each attribute: its column, with what is derived from it
    calendar: Small  # of each attribute: which part of a moment it is; -1: none
    followed: frozenset[tuple[int, int]]  # families, and others that a relation says they follow
    spans: tuple[Span, ...]  # the conditions
    sizes: Small  # rows of each
    rows: int

    @classmethod
    def of(
        cls,
        attributes: Sequence[Attribute],
        numbers: Sequence[Numbers],
        least: int,
        compares_by: Callable[[str], bool] = lambda _: True,
    ) -> Cells:
        """Code the cells of a table, and keep conditions that enough rows satisfy, but not all.

        `compares_by` tells of which columns of the table there may be conditions.
        """
        names: dict[str, int] = {}
        families = [names.setdefault(item.column.family, len(names)) for item in attributes]
        origins = (item.column.origin for item in attributes)
        keys = {name for origin in origins if origin is not None for name in origin.keys}
        rows = len(numbers[0]) if len(numbers) else 0
        coders, spans, sizes = [], [], []
        for place, (attribute, own) in enumerate(zip(attributes, numbers, strict=True)):
            is_name = attribute.column.name in keys
            step = 1 if len(attributes) <= WIDE else 2
            coder, ranges = _coder(attribute, own, least, step, is_name=is_name)
            coders.append(coder)
            if not compares_by(attribute.column.family):
                continue
            before = np.concatenate([[0], np.bincount(coder(own)).cumsum()])
            for low, high in sorted(ranges):
                end = min(high + 1, len(before) - 1)
                size = int(before[end] - before[min(low, end)])
                if least <= size < NEARLY_ALL * rows:
                    spans.append(Span(place, low, high))
                    sizes.append(size)
        return cls(
            tuple(coders),
            np.array(families, dtype=np.int32),
            np.array([_part_of_calendar(item.column.origin) for item in attributes], np.int32),
            frozenset(_followed(attributes, names)),
            tuple(spans),
            np.array(sizes, dtype=np.int32),
            rows,
        )

    def codes(self, numbers: Sequence[Numbers]) -> tuple[Codes, ...]:
        """Code rows, attribute by attribute."""
        return tuple(coder(own) for coder, own in zip(self.coders, numbers, strict=True))

    @functools.cached_property
    def attributes(self) -> Small:
        """The attribute of each condition."""
        return np.array([span.attribute for span in self.spans], dtype=np.int32)

    @functools.cached_property
    def owners(self) -> Small:
        """The family of each condition."""
        return self.families[self.attributes].astype(np.int32)

    def contexts_of(self, attribute: int) -> Mask:
        """Return which conditions may be contexts of an attribute: none on its own column.

        Nor those on the same part of another moment, as hours of hours: what begins before midnight
        and ends after it is no error. How moments lie to each other, they tell themselves. Nor
        those on numbers that a relation says it follows: the relation tells it better.
        """
        part, family = self.calendar[attribute], int(self.families[attribute])
        is_same = (part >= 0) & (self.calendar[self.attributes] == part)
        others = [family, *(other for own, other in self.followed if own == family)]
        return np.asarray(~np.isin(self.owners, others) & ~is_same)

    @functools.cached_property
    def listed(self) -> list[tuple[Small, Small]]:
        """By attribute: where the conditions of each code begin, and these."""
        found = []
        for attribute, coder in enumerate(self.coders):
            own = [(k, s) for k, s in enumerate(self.spans) if s.attribute == attribute]
            pairs = sorted((code, k) for k, s in own for code in range(s.low, s.high + 1))
            codes = np.array([code for code, _ in pairs], dtype=np.int64)
            first = np.searchsorted(codes, np.arange(coder.count + 1)).astype(np.int32)
            found.append((first, np.array([k for _, k in pairs], dtype=np.int32)))
        return found

    @functools.cached_property
    def listing(self) -> Listing:
        """The conditions of each code of all attributes."""
        firsts, listed, offsets, before = [], [], [0], 0
        for first, own in self.listed:
            offsets.append(offsets[-1] + len(first))
            firsts.append(first + before)
            listed.append(own)
            before += len(own)
        low, high = ([getattr(span, end) for span in self.spans] for end in ("low", "high"))
        arrays = (offsets, np.concatenate(firsts), np.concatenate(listed), low, high)
        return Listing(*(np.asarray(array, dtype=np.int32) for array in arrays))

    @functools.cached_property
    def is_pair(self) -> Mask:
        """Which conditions are on different columns: conditions x later ones."""
        return np.triu(self.owners[:, None] != self.owners)

    def mask(
        self, condition: int, codes: Sequence[Codes], rows: Rows | slice = slice(None)
    ) -> Mask:
        """Return which of coded rows, or of some of them, satisfy a condition."""
        span = self.spans[condition]
        own = codes[span.attribute][rows]
        return (own >= span.low) & (own <= span.high)

    def held(self, codes: Sequence[Codes]) -> Mask:
        """Return which conditions any of coded rows satisfies."""
        listing, found = self.listing, np.zeros(len(self.spans), dtype=bool)
        places = np.array(codes) + listing.offsets[:-1, None]
        first, last = listing.first[places].ravel(), listing.first[places + 1].ravel()
        sizes = last - first
        begins = np.repeat(first - sizes.cumsum() + sizes, sizes)
        found[listing.listed[begins + np.arange(len(begins))]] = True
        return found


def _coder(
    attribute: Attribute, numbers: Numbers, least: int, step: int, *, is_name: bool
) -> tuple[Coder, Ranges]:
    """Return how an attribute is coded, and the ranges of codes that are conditions."""
    coder: Coder
    origin = attribute.column.origin
    gives_conditions = origin is None or origin.gives_conditions
    if not isinstance(attribute, NumericAttribute):
        coder, ranges = _of_categories(numbers, len(attribute.categories), least)
    elif is_name:
        coder, ranges = _of_names(numbers, least)
    elif gives_conditions:
        coder, ranges = _of_numbers(attribute, step)
    else:
        coder, ranges = NumberCoder(np.zeros(0)), set()
    if origin is not None:  # that its parent is missing, the parent says
        return coder, ranges if gives_conditions else set()
    return coder, ranges | {(MISSING, MISSING)}


def _of_categories(codes: Numbers, count: int, least: int) -> tuple[CategoryCoder, Ranges]:
    totals = np.bincount(codes[codes >= 0], minlength=count)
    large = np.flatnonzero(totals >= least)
    kept = np.sort(large[np.argsort(-totals[large], kind="stable")][:MOST_CATEGORIES])
    places = np.full(count + 2, OTHER)
    places[kept] = np.arange(len(kept)) + OTHER + 1
    places[-1] = MISSING  # the code -1
    return CategoryCoder(places), {(int(k), int(k)) for k in places[kept]}


def _of_names(numbers: Numbers, least: int) -> tuple[NumberCoder, Ranges]:
    """Return codes of numbers that name things: a range of them says nothing, each of them may."""
    distinct, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    between = (distinct[:-1] + distinct[1:]) / 2
    large = np.flatnonzero(counts >= least)
    kept = np.sort(large[np.argsort(-counts[large], kind="stable")][:MOST_CATEGORIES])
    around = np.unique([*kept[kept > 0] - 1, *kept[kept < len(between)]]).astype(np.int64)
    borders = between[around]
    codes = np.searchsorted(borders, distinct[kept], "left") + OTHER
    return NumberCoder(borders), {(int(k), int(k)) for k in codes}


def _of_numbers(attribute: NumericAttribute, step: int) -> tuple[NumberCoder, Ranges]:
    known = attribute.sorted
    distinct = known[np.flatnonzero(np.diff(known, prepend=-np.inf))]
    if len(distinct) <= FEW_VALUES:
        borders = (distinct[:-1] + distinct[1:]) / 2
        ranges = {(place, place) for place in range(len(distinct))}
    else:
        found = segments(known)
        borders, ranges = _windows(known, step) if len(found) == 1 else _intervals(found)
    return NumberCoder(borders), {(low + OTHER, high + OTHER) for low, high in ranges}


def _intervals(found: Segments) -> tuple[Floats, Ranges]:
    """Return the borders of natural intervals, and the finest and the two coarsest around each."""
    begins = {low: place for place, low in enumerate(found.lows.tolist())}
    ends = {high: place for place, high in enumerate(found.highs.tolist())}
    ranges = {(own, own) for own in range(len(found))}
    for wider in found.coarser:
        ranges |= {(begins[low], ends[high]) for low, high in wider[-(MOST_SCALES - 1) :]}
    return (found.highs[:-1] + found.lows[1:]) / 2, ranges


def _windows(known: Floats, step: int) -> tuple[Floats, Ranges]:
    """Return windows of equal shares of the ranks, a step of codes apart."""
    count = round(WINDOW_CODES / WINDOW_SHARE)
    cuts = np.arange(1, count) * len(known) // count
    borders = np.unique((known[cuts - 1] + known[cuts]) / 2)
    last = len(borders) - WINDOW_CODES + 1
    return borders, {(k, k + WINDOW_CODES - 1) for k in range(0, last + 1, step)}


def _followed(
    attributes: Sequence[Attribute], families: Mapping[str, int]
) -> Iterator[tuple[int, int]]:
    """Return which families follow which others, as relations say that take part.

    What runs along a time says nothing of the time: a number that jumps is no wrong date. Of two
    moments, how long one comes after the other tells more than a range of either.
    """
    for attribute in attributes:
        origin = attribute.column.origin
        if origin is None:
            continue
        for name in origin.follows:
            yield families[origin.parent], families[name]
            if origin.is_both_ways:
                yield families[name], families[origin.parent]


def _part_of_calendar(origin: Derivation | None) -> int:
    return list(Part).index(origin.part) if isinstance(origin, CalendarDerivation) else -1
