"""What is asked of all rows for an object: the pairs that are told of it, in columns and values.

Everything is asked in terms of columns and their values, so that whoever reads the rows needs to
know nothing of objects, pairs and conditions.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator
from typing import cast

import numpy as np

from outlying.search.attributes import Attribute, NumericAttribute
from outlying.search.cells import MISSING, OTHER, CategoryCoder, NumberCoder
from outlying.search.evidence import Claims
from outlying.search.model import Model
from outlying.search.scoring import Context
from outlying.stream.verify.plan import Query
from outlying.stream.verify.predicates import Conjunction, Label, Predicate, conjunction


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """An object, the model that judged it, and what is to be told of it.

    A new object is one more row, which whoever reads the others does not see.
    """

    model: Model
    attributes: tuple[Attribute, ...]  # of the table in memory that the object is a row of
    row: int
    claims: Claims
    is_new: bool = False

    def queries(self) -> Iterator[Query]:
        """Return the histograms that are needed: of pairs, and of all columns that are shown."""
        for claim in self.claims.found:
            own = self._attribute(claim.property)
            yield self.query(own, ())
            yield self.query(own, claim.context)
            for condition in claim.context:
                yield self.query(self._shown(condition), ())
        for number, _ in self.claims.surprise[: self.model.options.top]:
            yield self.query(self._attribute(number), ())

    def predicates(self) -> Iterator[Predicate]:
        """Return the conditions that are told of."""
        for claim in self.claims.found:
            yield from map(self.predicate, claim.context)

    def query(self, attribute: Attribute, context: Context) -> Query:
        """Ask how an attribute is distributed in a context of conditions of the model."""
        inside = self.conjunction(context)
        if attribute.kind == "gaps":
            return Query(attribute.column.key, "missing", inside)
        return Query(attribute.column.key, attribute.kind, inside)

    def conjunction(self, context: Context) -> Conjunction:
        """Return what the rows of a context satisfy."""
        return conjunction(map(self.predicate, context))

    def predicate(self, condition: int) -> Predicate:
        """Return what the rows of a condition satisfy: a range of codes, in values."""
        span = self.model.cells.spans[condition]
        own, coder = self.model.attributes[span.attribute], self.model.cells.coders[span.attribute]
        key = own.column.key
        if span.high == MISSING:
            return Predicate(key, "missing")
        if isinstance(coder, CategoryCoder):
            assert not isinstance(own, NumericAttribute)  # noqa: S101 - as its coder is none
            category = own.categories[int(np.flatnonzero(coder.places == span.low)[0])]
            return Predicate(key, "equals", label=cast(Label, category))
        assert isinstance(own, NumericAttribute)  # noqa: S101 - as its coder is
        return Predicate(key, "interval", *_ends(own, coder, span.low - OTHER, span.high - OTHER))

    def _attribute(self, number: int) -> Attribute:
        """Return a property of the model, seen in the table of the object."""
        own = self.model.properties[number]
        attribute = self.attributes[own.place]
        return attribute.missingness if own.is_gap else attribute

    def _shown(self, condition: int) -> Attribute:
        """Return the property that a condition is shown by; see `Exact`."""
        attribute = self.attributes[self.model.cells.spans[condition].attribute]
        is_gap = attribute.is_constant or attribute.column.is_missing(self.row)
        return attribute.missingness if is_gap else attribute

    @functools.cached_property
    def numeric_places(self) -> dict[str, float]:
        """What the object holds in columns of numbers."""
        return {
            own.column.key: float(own.column.values[self.row])
            for own in self.attributes
            if isinstance(own, NumericAttribute) and not own.column.is_missing(self.row)
        }


def _ends(
    attribute: NumericAttribute, coder: NumberCoder, first: int, last: int
) -> tuple[float, float]:
    """Return the closed interval, in the column's own unit, of a range between borders.

    A number at a border belongs to what lies below it.
    """
    borders = coder.borders
    low, high = -math.inf, math.inf
    if first > 0:
        low = float(np.nextafter(attribute.unscaled(borders[first - 1]), math.inf))
    if last < len(borders):
        high = attribute.unscaled(borders[last])
    return low, high
