"""Pairs of context and property, evaluated in value space over all rows (method 3 and 5).

A context is an ascending tuple of places in the list of conditions that the object satisfies, a
property a place in the list of its properties. Both lists are ordered by the names of attributes,
so that these places decide between ties. How strong a pair is, the evidence says; here are the
numbers by which people are told: rarity, lift, tail, what is typical.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from outlying.method.distribution import Bounds
from outlying.method.measure import DECIMALS, Summary
from outlying.method.profiles import (
    NumericProfile,
    Profile,
    Sketch,
    categorical_sketch,
    shown_categories,
)
from outlying.options import Options
from outlying.search.attributes import Attribute
from outlying.search.sweep import LEAST_RARITY
from outlying.table.columns import Mask, Rows
from outlying.table.table import Condition
from outlying.table.values import Value

Context: TypeAlias = tuple[int, ...]
Progress: TypeAlias = Callable[[int, int], None]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CandidateCondition:
    """A condition that the object satisfies, and which other rows do."""

    condition: Condition
    rows: int  # that satisfy it
    test: Callable[[Rows | None], Mask]  # tells which of some rows, or of all, satisfy it
    bounds: tuple[float, float] = (math.nan, math.nan)  # of an interval, as numbers of the column

    @property
    def attribute(self) -> str:
        """The attribute it is about."""
        return self.condition.attribute


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ObjectProperty:
    """A property of the object: an attribute seen from its row."""

    attribute: Attribute
    row: int
    options: Options

    @classmethod
    def of(cls, attribute: Attribute, row: int, options: Options) -> ObjectProperty:
        """Return the property of a row in an attribute: its value, or that it has none."""
        is_missing = attribute.column.is_missing(row)
        return cls(attribute.missingness if is_missing else attribute, row, options)

    @property
    def name(self) -> str:
        """The attribute it belongs to."""
        return self.attribute.column.name

    @property
    def key(self) -> str:
        """What a pass over all rows knows the attribute by."""
        return self.attribute.column.key

    @property
    def family(self) -> str:
        """The column of the table it is about: of a derived attribute, its parent."""
        return self.attribute.column.family

    @property
    def value(self) -> Value:
        """The object's value; None where the property is that it is missing."""
        return self.attribute.column.value(self.row)

    @property
    def place(self) -> float | Value:
        """The object's value as a number of the column, or its category."""
        return self.attribute.place(self.row)


@dataclasses.dataclass(frozen=True, slots=True)
class Hit:
    """A property evaluated in a context."""

    property: int
    context: Context
    group: int
    summary: Summary
    overall: Summary  # the same property without conditions
    outlierness: float
    strength: float
    score: float  # what hits are ordered by, rounded so that ties are ties


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What was found on an object; where there is nothing, what comes closest."""

    reported: tuple[Hit, ...]
    closest: tuple[Hit, ...]

    @property
    def best(self) -> tuple[Hit, ...]:
        """What is given."""
        return self.reported or self.closest


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ContextView:
    """A context as one property sees it."""

    rows: int
    profile: Profile | None  # None where all values are equal
    lift: float = math.nan  # NaN where there is nothing to compare

    @classmethod
    def of(cls, rows: int, profile: Profile | None, overall: Profile | None) -> ContextView:
        """Compare a property in a context with the same in the whole table."""
        if profile is None or overall is None:
            return cls(rows, None)
        return cls(rows, profile, profile.lift(overall))

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return 0 if self.profile is None else self.profile.nbytes

    def summary(self, own: ObjectProperty) -> Summary | None:
        """Return how rare an object is at the scale at which it is rarest."""
        if self.profile is None or math.isnan(self.lift):
            return None
        return self.profile.summary(own.place, self.lift, LEAST_RARITY)


class Evaluation:
    """The pairs of one object; who looks at all rows, in memory or not, is left open."""

    def __init__(
        self,
        properties: Sequence[ObjectProperty],
        candidates: Sequence[CandidateCondition],
        property_of_condition: Sequence[int],
        rows: int,
    ) -> None:
        """Take what is true of an object, and to which property each condition belongs."""
        self.properties, self.candidates, self.rows = properties, candidates, rows
        self.property_of_condition = property_of_condition
        names = sorted({item.family for item in properties})
        self._names = {name: place for place, name in enumerate(names)}
        self.families = [self._names[item.family] for item in properties]

    def view(self, place: int, context: Context) -> ContextView:
        """Return a context as one property sees it."""
        raise NotImplementedError

    def profile(self, place: int, context: Context) -> Profile:
        """Return what a description needs of a property in a context of which there is a hit."""
        found = self.view(place, context).profile
        assert found is not None  # noqa: S101 - or there were no hit
        return found

    def bounds(self, place: int, context: Context) -> Bounds | None:  # noqa: ARG002
        """Return what is left open of a property in a context; None where all is counted."""
        return None

    def sketch(self, place: int, shown: Sequence[Value] | None = None) -> Sketch:
        """Sketch a property over the whole table, with the given categories or the usual ones."""
        profile = self.profile(place, ())
        if isinstance(profile, NumericProfile):
            return profile.sketch()
        labels = profile.labels
        if shown is not None:
            return categorical_sketch(profile.counts, labels, [labels.index(s) for s in shown])
        own = labels.index(self.properties[place].place)
        return categorical_sketch(profile.counts, labels, shown_categories(profile.counts, own))

    def families_of(self, place: int, context: Context) -> tuple[int, ...]:
        """Return the columns of the table that a pair is about, that of its property first.

        A column and what is derived from it are one family: they tell of the same cell.
        """
        families = self.families
        told = (families[self.property_of_condition[item]] for item in context)
        return tuple(dict.fromkeys((families[place], *self._given(place), *told)))

    def _given(self, place: int) -> Iterator[int]:
        """Return the columns that a property tells of beside its own, as a relation does."""
        origin = self.properties[place].attribute.column.origin
        for name in () if origin is None else origin.given:
            if name in self._names:
                yield self._names[name]

    def hit(self, place: int, context: Context, strength: float, score: float) -> Hit | None:
        """Evaluate a property in a context; None where there is nothing to compare."""
        own, view = self.properties[place], self.view(place, context)
        summary, overall = view.summary(own), self.view(place, ()).summary(own)
        if summary is None or overall is None:
            return None
        outlierness = summary.outlierness()
        score = round(score, DECIMALS)
        return Hit(place, context, view.rows, summary, overall, outlierness, strength, score)


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""
