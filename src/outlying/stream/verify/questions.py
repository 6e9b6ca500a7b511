"""What the pairs of an object ask of all rows: histograms, and counts.

Everything is asked in terms of columns and their values, so that whoever reads the rows needs to
know nothing of objects, pairs and conditions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import cast

from outlying.search.objects import CandidateCondition, ObjectProperty
from outlying.search.scoring import Context, Evaluation
from outlying.search.shortlist import Shortlist
from outlying.stream.verify.plan import Query
from outlying.stream.verify.predicates import Conjunction, Label, Predicate, conjunction


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Question:
    """An object by its properties and conditions, and what its shortlist asks.

    A new object is one more row, which whoever reads the others does not see.
    """

    asked: Evaluation
    short: Shortlist
    is_new: bool = False

    @property
    def is_estimated(self) -> bool:
        """Whether counts are enough, as the rest is estimated by the sample."""
        return bool(self.short.estimates)

    def queries(self) -> Iterator[Query]:
        """Return the histograms that are needed, those without conditions included."""
        if self.is_estimated:
            yield from {self.query(place, ()): None for place, _ in self.short.small}
            return
        for place, context in self.short.estimated:
            yield self.query(place, context)
        for place, context in self.short.pairs:
            for other in (place, *(self.asked.own[item] for item in context)):
                yield self.query(other, ())

    def small(self) -> Iterator[tuple[Query, int]]:
        """Return what is asked of small groups, and how many rows of each were drawn."""
        for place, context in self.short.small:
            yield self.query(place, context), self.asked.candidates[context[0]].rows

    def counts(self) -> Iterator[Conjunction]:
        """Return the counts that are needed where the rest is estimated."""
        for place, context in self.short.estimates:
            yield from self.sizes(place, context)

    def query(self, place: int, context: Context) -> Query:
        """Ask how a property is distributed in a context."""
        own = self.asked.properties[place]
        if own.value is None:
            return Query(own.key, "missing", self._conjunction(context))
        if own.attribute.column.is_numeric:
            return Query(own.key, "numbers", self._conjunction(context))
        return Query(own.key, "labels", self._conjunction(context))

    def sizes(self, place: int, context: Context) -> tuple[Conjunction, ...]:
        """Ask for the rows of a context, those that have a property, those near the object."""
        own, inside = self.asked.properties[place], self._conjunction(context)
        known = () if own.value is None else (Predicate(own.key, "known"),)
        near = self._near(own, self.short.estimates[place, context].reach)
        return inside, conjunction((*inside, *known)), conjunction((*inside, near))

    def _conjunction(self, context: Context) -> Conjunction:
        asked = self.asked
        return conjunction(
            _predicate(asked.properties[asked.own[item]].key, asked.candidates[item])
            for item in context
        )

    @staticmethod
    def _near(own: ObjectProperty, reach: float) -> Predicate:
        """Return what the rows near the object satisfy."""
        attribute = own.attribute
        if attribute.kind == "numbers":
            low, high = own.position - reach, own.position + reach
            return Predicate(own.key, "interval", attribute.unscaled(low), attribute.unscaled(high))
        if own.value is None:
            return Predicate(own.key, "missing")
        return Predicate(own.key, "equals", label=cast(Label, own.value))


def _predicate(column: str, premise: CandidateCondition) -> Predicate:
    condition = premise.condition
    if condition.kind == "interval":
        return Predicate(column, "interval", *premise.bounds)
    if condition.kind == "missing":
        return Predicate(column, "missing")
    return Predicate(column, "equals", label=cast(Label, condition.value))
