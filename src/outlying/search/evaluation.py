"""Groups of the rows of a table in memory, and the pairs of an object evaluated in them.

Conditions belong to the table: objects in the same context ask the same questions. What was found
is kept while there is room, the least recently used going first; several threads may share it.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
import functools
import math
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar

import numpy as np

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
from outlying.search.cells import (
    MISSING,
    Attribute,
    CategoricalAttribute,
    CategoryCoder,
    Codes,
    LazyValues,
    NumericAttribute,
)
from outlying.search.evidence import Claim, Claims
from outlying.search.model import Model, numbers_of
from outlying.search.sweep import LEAST_RARITY
from outlying.table.columns import Mask, Rows
from outlying.table.table import Condition
from outlying.table.values import Value, value_of

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

    #: Properties and their surprise in the whole column, the rarest first, where that is known.
    rarest: Sequence[tuple[int, float]] = ()

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


#: Bytes of rows that satisfy conditions, and of properties in contexts.
MOST_MASKS, MOST_VIEWS = 64_000_000, 256_000_000

Name = TypeVar("Name", bound=Hashable)
Thing = TypeVar("Thing", Mask, ContextView)


class Recent(Generic[Name, Thing]):
    """Things by name, made when first asked for; what was not used for longest goes first."""

    def __init__(self, most: int) -> None:
        """Take how many bytes may be kept; one thing is always kept."""
        self._most, self._size, self._lock = most, 0, threading.RLock()
        self._things: collections.OrderedDict[Name, Thing] = collections.OrderedDict()

    def get(self, name: Name, make: Callable[[], Thing]) -> Thing:
        """Return a thing; two threads that make the same one at once both get the first."""
        with self._lock:
            if name in self._things:
                self._things.move_to_end(name)
                return self._things[name]
        made = make()
        with self._lock:
            if name not in self._things:
                self._things[name] = made
                self._size += made.nbytes
            while self._size > self._most and len(self._things) > 1:
                self._size -= self._things.popitem(last=False)[1].nbytes
            return self._things.get(name, made)


class Groups:
    """The rows of a table in memory by the conditions of a model.

    The table is that of the model, or the same with a new object as its last row.
    """

    def __init__(
        self, attributes: Sequence[Attribute], model: Model, base: Groups | None = None
    ) -> None:
        """Take the attributes of the table; `base` is the table without its last row."""
        self.attributes = tuple(item.whole for item in attributes)
        self.model, self.base = model, base
        self.rows = len(self.attributes[0].column)
        self._once = LazyValues()
        self._masks: Recent[int, Mask] = Recent(MOST_MASKS)
        self._views: Recent[tuple[Attribute, Context], ContextView] = Recent(MOST_VIEWS)

    def mask(self, condition: int) -> Mask:
        """Return which rows satisfy a condition; a new object does, or it would not be asked."""
        if self.base is not None:
            return np.append(self.base.mask(condition), True)
        return self._masks.get(condition, lambda: self._mask(condition))

    def _mask(self, condition: int) -> Mask:
        span = self.model.cells.spans[condition]
        codes = self.codes(span.attribute)
        return (codes >= span.low) & (codes <= span.high)

    def codes(self, place: int) -> Codes:
        """Return the code of each row on an attribute."""
        return self._once(place, lambda: self._codes(place))

    def _codes(self, place: int) -> Codes:
        if self.model.is_whole:
            return self.model.codes[place]
        return self.model.cells.coders[place](numbers_of(self.model.attributes[place]))

    def joined(self, context: Context) -> Mask:
        """Return which rows satisfy all conditions of a context."""
        mask = np.ones(self.rows, dtype=bool)
        for condition in context:
            mask &= self.mask(condition)
        return mask

    def condition(self, number: int) -> CandidateCondition:
        """Describe a condition by what the rows that satisfy it hold."""
        return self._once(("condition", number), lambda: self._condition(number))

    def _condition(self, number: int) -> CandidateCondition:
        span, mask = self.model.cells.spans[number], self.mask(number)
        attribute, bounds = self.attributes[span.attribute], (math.nan, math.nan)
        name = attribute.column.name
        if span.high == MISSING:
            condition = Condition(name, "missing")
        elif isinstance(attribute, NumericAttribute):
            values = attribute.column.values[mask]
            bounds = float(values.min()), float(values.max())
            low, high = (value_of(attribute.column.form, bound) for bound in bounds)
            condition = Condition(name, "interval", low=low, high=high)
        else:
            value = self._category(span.attribute, span.low)
            condition = Condition(name, "equals", value=value)
        test = functools.partial(self._test, number)
        return CandidateCondition(condition, int(np.count_nonzero(mask)), test, bounds)

    def _category(self, place: int, code: int) -> Value:
        coder, attribute = self.model.cells.coders[place], self.model.attributes[place]
        assert isinstance(coder, CategoryCoder)  # noqa: S101 - or it were no category
        assert isinstance(attribute, CategoricalAttribute)  # noqa: S101
        return attribute.categories[int(np.flatnonzero(coder.places == code)[0])]

    def _test(self, number: int, rows: Rows | None = None) -> Mask:
        mask = self.mask(number)
        return mask if rows is None else mask[rows]

    def view(self, attribute: Attribute, context: Context) -> ContextView:
        """Return a context as one property sees it."""
        return self._views.get((attribute, context), lambda: self._view(attribute, context))

    def _view(self, attribute: Attribute, context: Context) -> ContextView:
        mask = self.joined(context)
        profile = attribute.profile(mask)
        overall = self.view(attribute, ()).profile if context else profile
        return ContextView.of(int(np.count_nonzero(mask)), profile, overall)


class Exact(Evaluation):
    """The pairs of an object that are told, evaluated by all rows, which are in memory."""

    def __init__(self, groups: Groups, row: int, claims: Claims) -> None:
        """Take a row of the table, and what is to be told of it."""
        self.groups, self.row = groups, row
        options = groups.model.options
        self._properties = [ObjectProperty.of(item, row, options) for item in groups.attributes]
        self._gaps: dict[int, int] = {}  # properties that a value is known, by attribute
        self.numbers = sorted({item for claim in claims.found for item in claim.context})
        own = [self._property_of(number) for number in self.numbers]
        found = [(self._place(claim.property), claim) for claim in claims.found]
        rarest = [(self._place(number), value) for number, value in claims.surprise]
        candidates = [groups.condition(number) for number in self.numbers]
        super().__init__(self._properties, candidates, own, groups.rows)
        self._found, self.rarest = found, rarest

    def _property_of(self, condition: int) -> int:
        """Return the property that a condition is shown by; a constant one has only gaps."""
        place = self.groups.model.cells.spans[condition].attribute
        own = self._properties[place].attribute
        return self._gap(place) if own.is_constant else place

    def _place(self, number: int) -> int:
        """Return the object's property that is a property of the model."""
        own = self.groups.model.properties[number]
        is_gap = self._properties[own.place].attribute.kind == "gaps"
        return own.place if own.is_gap == is_gap else self._gap(own.place)

    def _gap(self, place: int) -> int:
        """Return the property that a value is known, where others may be missing."""
        if place not in self._gaps:
            self._gaps[place] = len(self._properties)
            own = self._properties[place]
            gaps = self.groups.attributes[place].missingness
            self._properties.append(dataclasses.replace(own, attribute=gaps))
        return self._gaps[place]

    def view(self, place: int, context: Context) -> ContextView:
        """Return a context as one property sees it."""
        numbers = tuple(self.numbers[item] for item in context)
        return self.groups.view(self.properties[place].attribute, numbers)

    def outcome(self) -> Outcome:
        """Evaluate what was found; where that is nothing, what is most surprising."""
        found = (self._hit(place, claim) for place, claim in self._found)
        reported = tuple(hit for hit in found if hit is not None)
        if reported:
            return Outcome(reported, ())
        closest = (self.hit(place, (), 0.0, value) for place, value in self.rarest)
        return Outcome((), tuple(hit for hit in closest if hit is not None and hit.outlierness > 0))

    def _hit(self, place: int, claim: Claim) -> Hit | None:
        context = tuple(bisect.bisect_left(self.numbers, number) for number in claim.context)
        return self.hit(place, context, claim.strength, claim.strength)
