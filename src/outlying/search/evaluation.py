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
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np

from outlying.search.attributes import Attribute, CategoricalAttribute, NumericAttribute
from outlying.search.cells import MISSING, CategoryCoder, Codes
from outlying.search.evidence import Claim, Claims
from outlying.search.model import Model, numbers_of
from outlying.search.scoring import (
    CandidateCondition,
    Context,
    ContextView,
    Evaluation,
    Hit,
    ObjectProperty,
    Outcome,
)
from outlying.search.threads import LazyValues
from outlying.table.columns import Mask, Rows
from outlying.table.table import Condition
from outlying.table.values import Value, value_of

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
        self._found, self._rarest = found, rarest

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
        closest = (self.hit(place, (), 0.0, value) for place, value in self._rarest)
        return Outcome((), tuple(hit for hit in closest if hit is not None and hit.outlierness > 0))

    def _hit(self, place: int, claim: Claim) -> Hit | None:
        context = tuple(bisect.bisect_left(self.numbers, number) for number in claim.context)
        return self.hit(place, context, claim.strength, claim.strength)
