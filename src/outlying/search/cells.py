"""The conditions of a table: a small whole number for each cell, and ranges of these (method 5c).

A condition is a range of codes of one attribute: a natural interval at several scales, a window of
ranks where there is no structure, a category, one of few numbers, or that the value is missing.
They belong to the table, not to a row, so that what is found in a context serves every row in it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.derived.calendar import CalendarDerivation
from outlying.kernel.tally import Listing, Small
from outlying.method.intervals import MOST_SCALES, WINDOW_SHARE, Segments
from outlying.search.attributes import Attribute, NumericAttribute
from outlying.table.columns import Floats, Mask
from outlying.table.table import Part

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
            np.array([_part_of_calendar(item) for item in attributes], dtype=np.int32),
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
        return [self._listed(place) for place in range(len(self.coders))]

    def _listed(self, attribute: int) -> tuple[Small, Small]:
        own = [(k, s) for k, s in enumerate(self.spans) if s.attribute == attribute]
        pairs = sorted((code, k) for k, s in own for code in range(s.low, s.high + 1))
        codes = np.array([code for code, _ in pairs], dtype=np.int64)
        first = np.searchsorted(codes, np.arange(self.coders[attribute].count + 1))
        return first.astype(np.int32), np.array([k for _, k in pairs], dtype=np.int32)

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
    def pairs(self) -> tuple[Small, Small]:
        """All pairs of conditions on different columns."""
        first, second = np.triu_indices(len(self.spans), 1)
        differ = self.owners[first] != self.owners[second]
        return first[differ].astype(np.int32), second[differ].astype(np.int32)

    def mask(self, condition: int, codes: Sequence[Codes]) -> Mask:
        """Return which of coded rows satisfy a condition."""
        span = self.spans[condition]
        own = codes[span.attribute]
        return (own >= span.low) & (own <= span.high)


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
        found = attribute.segments()
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

    What runs along a time says nothing of the time: a number that jumps is no wrong date.
    """
    for attribute in attributes:
        origin = attribute.column.origin
        if origin is None:
            continue
        for name in origin.follows:
            yield families[origin.parent], families[name]
            if not origin.is_mutual:
                yield families[name], families[origin.parent]


def _part_of_calendar(attribute: Attribute) -> int:
    origin = attribute.column.origin
    return list(Part).index(origin.part) if isinstance(origin, CalendarDerivation) else -1
