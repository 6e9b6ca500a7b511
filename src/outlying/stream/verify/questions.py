"""What the pairs of an object ask of all rows: looks at distributions, and counts.

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
from outlying.stream.verify.rules import Rule, Rules, rule_set
from outlying.stream.verify.tallies import Label
from outlying.stream.verify.verify_pass import Look


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

    def looks(self) -> Iterator[Look]:
        """Return the distributions that are needed, those without conditions included."""
        for place, context in () if self.is_estimated else self.short.pairs:
            yield self.look(place, context)
            for other in (place, *(self.asked.own[item] for item in context)):
                yield self.look(other, ())

    def counts(self) -> Iterator[Rules]:
        """Return the counts that are needed where the rest is estimated."""
        for place, context in self.short.estimates:
            yield from self.sizes(place, context)

    def look(self, place: int, context: Context) -> Look:
        """Ask for the distribution of a property in a context."""
        own = self.asked.properties[place]
        return Look(own.name, own.attribute.kind, self.rules(context))

    def sizes(self, place: int, context: Context) -> tuple[Rules, ...]:
        """Ask for the rows of a context, those that have a property, those near the object."""
        own, rules = self.asked.properties[place], self.rules(context)
        known = () if own.value is None else (Rule(own.name, "known"),)
        near = self._near(own, self.short.estimates[place, context].reach)
        return rules, rule_set((*rules, *known)), rule_set((*rules, near))

    def rules(self, context: Context) -> Rules:
        """Return the conditions of a context."""
        return rule_set(_rule(self.asked.candidates[item]) for item in context)

    @staticmethod
    def _near(own: ObjectProperty, reach: float) -> Rule:
        """Return the rule of the rows near the object."""
        attribute = own.attribute
        if attribute.kind == "numbers":
            low, high = own.position - reach, own.position + reach
            return Rule(own.name, "interval", attribute.unscaled(low), attribute.unscaled(high))
        if attribute.kind == "gaps":
            return Rule(own.name, "missing")
        return Rule(own.name, "equals", label=cast(Label, own.value))


def _rule(candidate: CandidateCondition) -> Rule:
    condition = candidate.condition
    if condition.kind == "interval":
        return Rule(condition.attribute, "interval", *candidate.bounds)
    if condition.kind == "missing":
        return Rule(condition.attribute, "missing")
    return Rule(condition.attribute, "equals", label=cast(Label, condition.value))
