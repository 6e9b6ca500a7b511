"""The pairs of an object, evaluated by what a pass over all rows has counted."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from outlying.method.density import Counts
from outlying.method.distribution import Bounds, Distribution
from outlying.method.profiles import CategoricalProfile, NumericProfile
from outlying.search.attributes import Attribute
from outlying.search.evaluation import Exact, Groups
from outlying.search.scoring import CandidateCondition, Context, ContextView
from outlying.stream.contexts import Conjunction, Predicate
from outlying.stream.histograms import Answer, LabelHistogram, MissingCount
from outlying.stream.planning import Query, Question, VerifyPlan
from outlying.stream.verify_pass import Verified
from outlying.table.columns import Mask
from outlying.table.table import Condition
from outlying.table.values import Form, Value, value_of


class Answers:
    """What all rows say to what was asked of them; what is made of it is made once."""

    def __init__(self, plan: VerifyPlan, verified: Verified) -> None:
        self.plan = plan
        self.histograms = dict(zip(plan.queries, verified.answers, strict=True))
        self.counts = dict(zip(plan.counts, verified.counts, strict=True))
        self.ranges = dict(zip(plan.ranges, verified.ranges, strict=True))
        self._groups: dict[tuple[Query, Form], Group] = {}

    def group(self, query: Query, form: Form) -> Group:
        """Return the rows that were asked about."""
        if (query, form) not in self._groups:
            exponent = self.plan.columns[query.column].exponent
            self._groups[query, form] = group_of(self.histograms[query], form, exponent)
        return self._groups[query, form]

    def count(self, context: Conjunction) -> int:
        """Return how many rows are in a context."""
        return self.counts[context]

    def bounds(self, own: Predicate) -> tuple[float, float]:
        """Return the least and the greatest number of the rows in an interval."""
        return self.ranges[own]


@dataclasses.dataclass(frozen=True, eq=False)
class CategoricalGroup:
    """A property in a context by its categories, or by the question whether it is missing."""

    rows: int
    labels: Sequence[Value]
    counts: Counts

    @functools.cached_property
    def profile(self) -> CategoricalProfile:
        """What a description needs."""
        return CategoricalProfile(self.counts, self.labels)

    @functools.cached_property
    def rows_of(self) -> dict[Value, int]:
        """The rows of each category."""
        return dict(zip(self.labels, self.counts.tolist(), strict=True))

    def holds(self, place: Value) -> bool:
        """Return whether a row is like the object, as the object itself is."""
        return self.rows_of.get(place, 0) > 0

    def joined(self, place: Value) -> CategoricalGroup:
        """Take in one more row, a new object."""
        rows = self.rows_of | {place: self.rows_of.get(place, 0) + 1}
        labels = tuple(sorted(rows, key=str))
        return CategoricalGroup(self.rows + 1, labels, np.array([rows[label] for label in labels]))

    def view(self, overall: Group) -> ContextView:
        """Compare with all rows, whose categories are counted here as well."""
        assert isinstance(overall, CategoricalGroup)  # noqa: S101 - of the same column
        counts = np.array([self.rows_of.get(label, 0) for label in overall.labels], dtype=np.int64)
        profile = CategoricalProfile(counts, overall.labels)
        return ContextView.of(self.rows, profile, overall.profile)


@dataclasses.dataclass(frozen=True, eq=False)
class NumericGroup:
    """A numeric property in a context; values are divided by 2**exponent."""

    rows: int
    form: Form
    exponent: int
    found: Distribution

    @functools.cached_property
    def profile(self) -> NumericProfile | None:
        """What a description needs; None where all values are equal."""
        if len(self.found.values) < 2:
            return None
        return NumericProfile(self.found, self.form, self.exponent)

    def bounds(self, place: Value) -> Bounds:
        """Return what bins leave open."""
        return Bounds(self.found, self._scaled(place))

    def holds(self, place: Value) -> bool:
        """Return whether a row may be where the object is, as the object itself is."""
        value, found = self._scaled(place), self.found
        return bool(np.any((found.lows <= value) & (found.highs >= value)))

    def joined(self, place: Value) -> NumericGroup:
        """Take in one more row, a new object."""
        more = self.found.joined(self._scaled(place))
        return dataclasses.replace(self, rows=self.rows + 1, found=more)

    def view(self, overall: Group) -> ContextView:
        """Compare with all rows."""
        return ContextView.of(self.rows, self.profile, overall.profile)

    def _scaled(self, place: Value) -> float:
        return float(np.ldexp(float(place), -self.exponent))  # type: ignore[arg-type]


Group: TypeAlias = CategoricalGroup | NumericGroup


def group_of(seen: Answer, form: Form, exponent: int) -> Group:
    """Make a group of what was counted."""
    if isinstance(seen, MissingCount):
        counts = np.array([seen.known, seen.missing])
        return CategoricalGroup(seen.known + seen.missing, ("known", "missing"), counts)
    if isinstance(seen, LabelHistogram):
        return CategoricalGroup(seen.rows, seen.labels, seen.counts)
    found = Distribution(seen.values, seen.counts, seen.lows, seen.highs)
    return NumericGroup(seen.rows, form, exponent, found)


class VerifiedGroups(Groups):
    """The rows of a stream by the conditions of a model, as far as was asked for an object."""

    def __init__(self, question: Question, answers: Answers, rows: int) -> None:
        """Take how many rows there are in all."""
        super().__init__(question.attributes, question.model)
        self.question, self.answers = question, answers
        self.rows = rows + question.is_new

    def mask(self, condition: int) -> Mask:
        """Return which of the rows that the model is made of satisfy a condition."""
        return self.model.cells.mask(condition, self.model.codes)

    def _condition(self, number: int) -> CandidateCondition:
        own, is_new = self.question.predicate(number), self.question.is_new
        column = self.attributes[self.model.cells.spans[number].attribute].column
        bounds = (math.nan, math.nan)
        if own.kind == "missing":
            condition = Condition(column.name, "missing")
        elif own.kind == "interval":
            bounds = self.answers.bounds(own)
            if is_new:
                value = self.question.numeric_places[own.column]
                bounds = min(bounds[0], value), max(bounds[1], value)
            low, high = (value_of(column.form, bound) for bound in bounds)
            condition = Condition(column.name, "interval", low=low, high=high)
        else:
            condition = Condition(column.name, "equals", value=own.label)
        rows = self.answers.count((own,)) + is_new
        test = functools.partial(self._test, number)
        return CandidateCondition(condition, rows, test, bounds)

    def group(self, attribute: Attribute, context: Context) -> Group:
        """Return a property in a context, the object included."""
        query = self.question.query(attribute, context)
        group = self.answers.group(query, attribute.column.form)
        if self.question.is_new:
            group = group.joined(attribute.place(self.question.row))
        return group

    def _view(self, attribute: Attribute, context: Context) -> ContextView:
        return self.group(attribute, context).view(self.group(attribute, ()))


class Verification(Exact):
    """The pairs of an object that are told, evaluated by what was counted of all rows."""

    groups: VerifiedGroups

    def __init__(self, groups: VerifiedGroups) -> None:
        super().__init__(groups, groups.question.row, groups.question.claims)

    @property
    def hold_object(self) -> bool:
        """Whether the object is among the rows that were counted, as it must be."""
        question = self.groups.question
        return question.is_new or all(
            self._group(place, tuple(map(self.numbers.index, claim.context))).holds(
                self.properties[place].place
            )
            for place, claim in self._found
        )

    def _group(self, place: int, context: Context) -> Group:
        numbers = tuple(self.numbers[item] for item in context)
        return self.groups.group(self.properties[place].attribute, numbers)

    def bounds(self, place: int, context: Context) -> Bounds | None:
        """Return what is left open of a property in a context; None where all is counted."""
        overall, inside = self._group(place, ()), self._group(place, context)
        if isinstance(inside, CategoricalGroup) or isinstance(overall, CategoricalGroup):
            return None
        if overall.found.is_exact:
            return None
        return inside.bounds(self.properties[place].place)
